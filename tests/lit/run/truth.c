// && and || leave what the program leaves: 0 or 1, or a value that the program did not touch.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t | diff %t.expected -
#include <stdio.h>

enum { N = 5000 };
#define PROGRAMS(T) \
    static T target_##T[3]; \
    static void and_##T(int n, const int *x, T *r) { for (int i = 0; i < n; i++) r[x[i] & 1] = r[x[i] & 1] && x[i]; } \
    static void clear_##T(int n, const int *x, T *r) { for (int i = 0; i < n; i++) if (!x[i]) r[0] = 0; } \
    static void or_##T(int n, const int *x, T *r) { for (int i = 0; i < n; i++) r[x[i] & 1] = r[x[i] & 1] || x[i] > 4998; } \
    static void set_##T(int n, const int *x, T *r) { for (int i = 0; i < n; i++) if (x[i] > 4000) r[0] = 1; }
PROGRAMS(int)
PROGRAMS(float)
PROGRAMS(double)
PROGRAMS(char)
typedef _Bool truth;
PROGRAMS(truth)
static int x[N];

#define START(T, v) target_##T[0] = (T)(v), target_##T[1] = (T)(v), target_##T[2] = (T)(v)
#define SHOW(T) printf(" %g %g %g", (double)target_##T[0], (double)target_##T[1], (double)target_##T[2])
#define RUN(T, v) \
    START(T, v); \
    _Pragma("kmm parallel(i = 0:N) chunk(c) rebase(n: i) read(x[i]) reduce(&&: r[0:3])") and_##T(N, x, r); \
    SHOW(T); START(T, v); \
    _Pragma("kmm parallel(i = 0:N) chunk(c) rebase(n: i) read(x[i]) reduce(&&: r[0:3])") clear_##T(N, x, r); \
    SHOW(T); START(T, v); \
    _Pragma("kmm parallel(i = 0:N) chunk(c) rebase(n: i) read(x[i]) reduce(||: r[0:3])") or_##T(N, x, r); \
    SHOW(T); START(T, v); \
    _Pragma("kmm parallel(i = 0:N) chunk(c) rebase(n: i) read(x[i]) reduce(||: r[0:3])") set_##T(N, x, r); \
    SHOW(T);
#define ALL(T) { T *r = target_##T; for (int v = 0; v < 5; v++) { for (int c = 700; c < 10000; c += 4300) { RUN(T, v) } } printf("\n"); }

int main(void)
{
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            x[i] = round == 2 ? i : round ? 2 * i + 1 : 5;
        ALL(int) ALL(float) ALL(double) ALL(char) ALL(truth)
    }
    return 0;
}
