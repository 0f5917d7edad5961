// UNSUPPORTED: san
// RUN: %kmmcc --compiler=gcc -g -O1 -fsanitize=address,undefined %s -o %t
// RUN: env KMM_DEVICES=host %t 3 | FileCheck --check-prefix=RIGHT %s
// RUN: env KMM_DEVICES=host:2,mem=1M %t 3 | FileCheck --check-prefix=RIGHT %s
// RUN: %not env KMM_DEVICES=host %t 5 2>&1 | FileCheck %s
// Sanitizers know annotated programs on the CPU, and name the lines of the source.
// RIGHT: 3996
// CHECK: ERROR: AddressSanitizer: heap-buffer-overflow
// CHECK: in pick {{.*}}asan.c:[[# @LINE + 6]]
#include <stdio.h>
#include <stdlib.h>
static void pick(int begin, int end, int n, const int *from, const int *x, int *y)
{
    for (int i = begin; i < end; i++)
        y[i] = x[from[i] % n];
}
int main(int argc, char **argv)
{
    int n = 1000, worst = argc > 1 ? atoi(argv[1]) : 0;
    int *x = malloc(n * sizeof(int)), *from = malloc(n * sizeof(int)), *y = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) {
        x[i] = 4 * i;
        from[i] = n - 1 - i;
    }
    int limit = worst > 4 ? 2 * n : n;
    from[7] = worst > 4 ? n : from[7];
    #pragma kmm parallel(i = 0:n) chunk(n / 4) rebase(begin: begin(i), end: end(i)) \
                read(from[i], x[0:n]) write(y[i])
    pick(0, n, limit, from, x, y);
    printf("%d\n", y[0]);
    free(x), free(from), free(y);
    return 0;
}
