// A function of another file keeps a pointer that a chunk was given. A fault by it, when the array's map has ended, says so.
// RUN: %cc -O1 -c %S/Inputs/keeps_pointer.c -o %t.o
// RUN: %kmmcc -O1 %s %t.o -o %t
// RUN: env KMM_DEVICES=host:1,mem=8M %not --crash %t 2>&1 | FileCheck %s
// CHECK: kmm: error: a read of 0x{{[0-9a-f]+}} faulted with SIGSEGV: an array was there on a device, and has ended; a function has kept a pointer that a chunk was given, which is valid only in that chunk
#include <stdio.h>

enum { N = 1 << 20 };
static int x[N];
void look(int n, const int *x);
int kept_value(void);

int main(void)
{
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(n: i) read(x[i])
    look(N, x);
#pragma kmm wait
    printf("%d\n", kept_value());
    return 0;
}
