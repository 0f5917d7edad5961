// A directive that cannot return its error ends the program; what that has printed before is not lost.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: %not --crash %t 2> %t.err | FileCheck %s
// RUN: FileCheck --check-prefix=ERROR --input-file=%t.err %s
#include <stdio.h>

static void set(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] = 1;
}

int main(void)
{
    static int x[100];
    // CHECK: printed before
    printf("printed before\n");
    // ERROR: kmm: error: {{.*}}ends.c:[[#@LINE+1]]: set: argument n is 99, but the launch's range says 100
    #pragma kmm parallel(i = 0:100) rebase(n: i) write(x[i])
    set(99, x);
    // CHECK-NOT: not reached
    printf("not reached\n");
    return 0;
}
