// RUN: %not %kmmcc -c %s -o %t.o -I %S/Inputs -isystem %S/Inputs/system 2>&1 | FileCheck --implicit-check-not=error: %s
// RUN: %not %kmmcc -c %s -o %t.o -DUNSEEN -I %S/Inputs -isystem %S/Inputs/system 2>&1 | FileCheck --check-prefix=UNSEEN --implicit-check-not=error: %s
// RUN: %not %kmmcc -c %s -o %t.o -DONCE -I %S/Inputs -isystem %S/Inputs/system 2>&1 | FileCheck --check-prefix=ONCE --implicit-check-not=error: %s
// RUN: %not %kmmcc -c %s -o %t.o -DCOPIED -I %S/Inputs -isystem %S/Inputs/system 2>&1 | FileCheck --check-prefix=COPIED --implicit-check-not=error: %s
// Uses of macros that write pragmas and have no one text, and headers with #pragma once that count twice.
#include <quoting.h>
#ifdef COPIED
// COPIED: error: '{{.*}}launches.h' has #pragma once, and '{{.*}}with_launches.h' includes it, too: besides the copy that kmmcc writes it would count twice
// COPIED: note: give it an include guard by #ifndef
#include "system/launches.h"
#include <with_launches.h>
int main(void) { return 0; }
#else
#ifdef ONCE
// ONCE: error: {{.*}}macro_uses.c:[[#@LINE+4]]: macros write pragmas of kmm, and this line is another in the copies that kmmcc preprocesses
// ONCE: note: give each header an include guard by #ifndef, no #pragma once and no #include_next; or write the pragmas themselves in this program
#include <including.h>
#include "system/included.h"
int once = INCLUDED;
#endif
enum { N = 1000 };
static int x[N];
static void inc(int n, int k, int *a) { for (int i = 0; i < n; i++) a[i] += k; }
#define TEXT(...) #__VA_ARGS__
#define PRAGMA(...) _Pragma(TEXT(__VA_ARGS__))
#define EACH(a) PRAGMA(kmm parallel(i = 0:N) rebase(n: i) update(a[i]))
#define CAT(a, b) a##b
#define CAT_2(a, b) CAT(a, b)
#define UNIQUE(a) EACH(a) inc(N, CAT_2(1, __COUNTER__), a)
#define BY(a, k) EACH(a) inc(N, k, a)
#define HALF(a) BY(a,
#define LOST(a) BY HIDDEN
#define HIDDEN EMPTY
#define EMPTY
int main(void)
{
#ifdef UNSEEN
    // UNSEEN: error: {{.*}}macro_uses.c:[[#@LINE+2]]: a macro writes a pragma of kmm, and its definition is not seen
    // UNSEEN: note: include its header by name, from a folder that -I names
    UNSEEN_WAIT
    return 0;
#endif
    // CHECK: :[[#@LINE+2]]:5: error: 'UNIQUE' writes a pragma of kmm, and uses __COUNTER__ more than once, or as a part of a name or of a string
    // CHECK: note: use __LINE__, or name what has to be unique
    UNIQUE(x);
    // CHECK: :[[#@LINE+2]]:12: error: 'BY' writes a pragma of kmm, and stands in an argument of which a macro of another header makes a string
    // CHECK: note: move it out of the argument
    QUOTED(BY(x, 1));
    // CHECK: :[[#@LINE+2]]:5: error: 'HALF' writes a pragma of kmm, and leaves a parenthesis open
    // CHECK: note: write both parentheses in the macro, or both where it is used
    HALF(x) 7);
#define ENTRY(a, k) BY(a, k);
    // CHECK: listed.h:4:1: error: 'ENTRY' writes a pragma of kmm, and expands to other code each time this file is included
    // CHECK: note: let it begin without an include guard, or write the list as a macro: #define LIST(X) X(a) X(b)
#include "listed.h"
#undef ENTRY
#define ENTRY(a, k) (a)[0] = k;
#include "listed.h"
    return 0;
}
#endif
