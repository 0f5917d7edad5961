// Names with letters beyond ASCII, where macros write pragmas; literals keep theirs.
// RUN: %kmmcc %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// RUN: %kmmcc -x c++ -std=c++14 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
#include <stdio.h>
enum { N = 1000 };
static int été[N], Ωμέγα[N], 变量[N], \u00fcber[N];
static void up(int n, int kö, int *à) { for (int i = 0; i < n; i++) à[i] += kö; }
#define TEXT(x) #x
#define DO(x, k) _Pragma(TEXT(kmm parallel(i = 0:N) chunk(100) rebase(n: i) update(x[i]))) up(N, k, x);
#define GLÜCK 3
int main(void)
{
    DO(été, 3)
    DO(Ωμέγα, GLÜCK)
    DO(变量, 4)
    DO(über, 5)
    DO(été, 'a' == '\x61' ? 1 : 2)
#pragma kmm parallel(ï = 0:N) chunk(100) rebase(n: ï) update(été[ï])
    up(N, 1, été);
    const char *text = "\U000000e9 \\U000000e9 \"é\"";
#ifdef __cplusplus
    printf("%s %s %d\n", text, R"x(\U000000e9 "é))x", 1000);
#else
    printf("%s %s %d\n", text, "\\U000000e9 \"é)", 1000);
#endif
    printf("%s %d %d %d %d\n", TEXT(été), été[999], Ωμέγα[999], 变量[0], über[500]);
}
// CHECK: é \U000000e9 "é" \U000000e9 "é) 1000
// CHECK: été 5 3 4 5
