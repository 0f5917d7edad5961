// Reductions into C11 atomics and volatile elements are those of their values.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror -Wno-kmm-unproven %s -o %t
// RUN: %t 2>&1 | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t 2>&1 | diff %t.expected -
#include <stdatomic.h>
#include <stdio.h>

static void add(int n, const int *x, _Atomic int *s, volatile long *t, atomic_ullong *u)
{
    for (int i = 0; i < n; i++) {
        if (x[i] & 1)
            *s += 1;
        *t += x[i];
        atomic_fetch_add(&u[x[i] % 3], 1);
    }
}

enum { N = 300011 };

int main(void)
{
    static int x[N];
    _Atomic int s = 4;
    volatile long t[2] = {1, 2};
    static atomic_ullong u[3];
    for (int i = 0; i < N; i++)
        x[i] = i;
    #pragma kmm parallel(i = 0:N) chunk(N / 9) rebase(n: i) read(x[i]) reduce(+: (&s)[0], t[1], u[0:3])
    add(N, x, &s, t + 1, u);
    printf("%d %ld %ld %llu %llu\n", (int)s, t[0], t[1], (unsigned long long)u[0], (unsigned long long)u[2]);
    return 0;
}
