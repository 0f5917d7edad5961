// A program that closes all descriptors, also the one of the spill file, ends with an error; it does not hang, and no other file is written.
// RUN: %kmmcc -O1 -w -D_GNU_SOURCE %s -o %t
// RUN: env KMM_DEVICES=host KMM_HOST_MEM=6M timeout 300 %t
// RUN: env KMM_DEVICES=host KMM_HOST_MEM=6M %not --crash timeout 300 %t %t.other 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host KMM_HOST_MEM=6M KMM_SPILL_IO=pread %not --crash timeout 300 %t %t.other 2>&1 | FileCheck %s
// CHECK: kmm: error: {{.*}}closed_files.c:[[#]]: add: {{.*}} of the spill file could not be {{read|written}}: Bad file descriptor
// RUN: grep -c other %t.other
#include <fcntl.h>
#include <kmm.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { N = 1 << 20 };

static void add(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] += 1;
}

int main(int argc, char **argv)
{
    int *a[4];
    for (int k = 0; k < 4; k++)
        a[k] = kmm_malloc(N * sizeof(int));
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < 4; k++) {
            int *p = a[k];
            #pragma kmm parallel(i = 0:N) chunk(N / 16) rebase(n: i) update(p[i])
            add(N, p);
        }
        #pragma kmm wait
        if (round == 1 && argc > 1) {
            for (int f = 3; f < 100; f++)
                close(f);
            for (int f = 3; f < 40; f++) /* has the numbers now */
                write(open(argv[1], O_CREAT | O_TRUNC | O_RDWR, 0600), "other\n", 6);
        }
    }
    return 0;
}
