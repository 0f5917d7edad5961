// Macros that write pragmas, where what they expand to would mean something else in their place.
// RUN: %not %kmmcc -c %S/Inputs/copies/base.c -o %t.o 2>&1 | FileCheck --check-prefix=BASE %s
// RUN: %not %kmmcc -c %S/Inputs/copies/count.c -o %t.o 2>&1 | FileCheck --check-prefix=COUNT %s
// RUN: %not %kmmcc -c %S/Inputs/copies/push.c -o %t.o 2>&1 | FileCheck --check-prefix=PUSH %s
// RUN: %not %kmmcc -c %S/Inputs/copies/painted.c -o %t.o 2>&1 | FileCheck --check-prefix=PAINTED %s
// RUN: %not %kmmcc -c %S/Inputs/copies/once.c -o %t.o 2>&1 | FileCheck --check-prefix=ONCE %s
// RUN: %kmmcc -w -c %S/Inputs/copies/good.c -o %t.o
// BASE: base.c:7:11: error: '__BASE_FILE__' here would get another meaning, because macros write pragmas of kmm
// BASE: note: write the pragmas themselves in this program
// COUNT: count.c:2:1: error: '__COUNTER__' here would get another meaning, because macros write pragmas of kmm
// PUSH: push.c:2:9: error: 'push_macro' here would get another meaning, because macros write pragmas of kmm
// PUSH: note: write #pragma push_macro
// PAINTED: painted.c:9:5: error: 'BY' writes a pragma of kmm, and expands to the name of a macro, such as its own
// PAINTED: note: give the macro another name than what it expands to
// ONCE: once.c:12: macros write pragmas of kmm, and this line is another in the copies that kmmcc preprocesses
// ONCE: note: give each header an include guard by #ifndef
