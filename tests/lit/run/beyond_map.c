// Only half of what the launch uses is mapped; and a map `from` is read before it is written, also while its end waits.
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %not --crash %t half 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: env KMM_DEVICES=host:2,mem=8M %not --crash %t half 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: env KMM_DEVICES=host %not --crash %t from 2>&1 | FileCheck %s --check-prefix=FROM
// RUN: env KMM_DEVICES=host:1,mem=8M %not --crash %t from 2>&1 | FileCheck %s --check-prefix=FROM
// RUN: env KMM_DEVICES=host:3,mem=8M %not --crash %t from 2>&1 | FileCheck %s --check-prefix=FROM
// RUN: env KMM_DEVICES=host:2,mem=8M %t halo | FileCheck %s --check-prefix=HALO
// HALF: argument x[i]: the launch's region is bytes 0 to 80000 of the mapped memory, which has 40000 bytes
// FROM: argument y[i]: is read before anything was written there, but it is mapped `from`
// HALO: halo: 0 wrong
#include <stdio.h>
#include <string.h>

enum { N = 20000 };
static float x[N], y[N];

static void add(int n, const float *in, float *out)
{
    for (int i = 0; i < n; i++)
        out[i] += 2 * in[i];
}

static void neighbours(int lo, int hi, int n, const float *in, float *out)
{
    for (int i = lo; i < hi; i++)
        out[i] = (i > 0 ? in[i - 1] : 0) + (i + 1 < n ? in[i + 1] : 0);
}

int main(int argc, char **argv)
{
    int n = N, wrong = 0;
    const char *what = argc > 1 ? argv[1] : "";
    for (int i = 0; i < n; i++)
        x[i] = y[i] = (float)(i % 100);
    if (!strcmp(what, "half")) {
#pragma kmm data map(to: x[0:n / 2]) map(tofrom: y[0:n / 2])
        {
#pragma kmm parallel(i = 0:n) chunk(n / 7) rebase(n: i) read(x[i]) update(y[i])
            add(n, x, y);
        }
    } else if (!strcmp(what, "from")) {
#pragma kmm data map(to: x[0:n]) map(from: y[0:n])
        {
#pragma kmm parallel(i = 0:n) chunk(n / 7) rebase(n: i) read(x[i]) update(y[i])
            add(n, x, y);
        }
    } else {
#pragma kmm data map(to: x[0:n]) map(from: y[0:n])
        {
#pragma kmm parallel(i = 0:n) chunk(n / 7) rebase(lo: begin(i), hi: end(i)) \
    read(x[i - 1:3]) write(y[i])
            neighbours(0, n, n, x, y);
        }
        for (int i = 0; i < n; i++)
            wrong += y[i] != (i > 0 ? x[i - 1] : 0) + (i + 1 < n ? x[i + 1] : 0);
        printf("halo: %d wrong\n", wrong);
    }
    return wrong != 0;
}
