// RUN: %not %kmmcc -c %s -o %t.o -I %S/Inputs -isystem %S/Inputs/system 2>&1 | FileCheck --implicit-check-not=error: %s
// RUN: %not %kmmcc -c %s -o %t.o -DUNSEEN -I %S/Inputs -isystem %S/Inputs/system 2>&1 | FileCheck --check-prefix=UNSEEN --implicit-check-not=error: %s
// RUN: %not %kmmcc -c %s -o %t.o -DWITHIN -I %S/Inputs -isystem %S/Inputs/system 2>&1 | FileCheck --check-prefix=WITHIN --implicit-check-not=error: %s
// Uses of macros that write pragmas and have no one text.
#include <quoting.h>
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
#ifdef WITHIN
    // WITHIN: listed.h:1:{{[0-9]+}}: error: the pragma governs nothing: it does not stand before a statement, or its file is included within a function; write the launch in that function, or in a macro
#define ENTRY(a, k) BY(a, k);
#include "listed.h"
#else
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
    // CHECK: listed.h:1:1: error: 'ENTRY' writes a pragma of kmm, and expands to other code each time this file is included
    // CHECK: note: write a list of this kind as a macro, not as a file: #define LIST(X) X(a) X(b)
#include "listed.h"
#undef ENTRY
#define ENTRY(a, k) (a)[0] = k;
#include "listed.h"
#endif
    return 0;
}
