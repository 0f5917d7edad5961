// What the directives that cannot return an error say at run time.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: %not env KMM_ON_ERROR=continue %t 2>&1 | FileCheck %s
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static int x[100], y[100];
    int *middle = x + 50;
// CHECK: promises.c:[[#@LINE+1]]: update from x[0:10]: 0x{{[0-9a-f]+}} is not mapped
    #pragma kmm update from(x[0:10])
    #pragma kmm enter data map(x)
// CHECK: promises.c:[[#@LINE+1]]: data map of middle[0:60]: 240 bytes at 0x{{[0-9a-f]+}} overlap an array in part
    #pragma kmm enter data map(middle[0:60])
// CHECK: promises.c:[[#@LINE+1]]: update to middle[40:20]: 80 bytes at byte 360 of an array of 400
    #pragma kmm update to(middle[40:20])
    #pragma kmm update to(middle[0:0]) from(middle)
    #pragma kmm exit data map(x)
// CHECK: promises.c:[[#@LINE+1]]: 0x{{[0-9a-f]+}} is not mapped
    #pragma kmm exit data map(x)
    #pragma kmm wait(y, middle)
// CHECK: promises.c:[[#@LINE+1]]: task: argument middle: it is no array
    #pragma kmm task read(middle)
    printf("not reached\n");
// CHECK-NOT: not reached
    #pragma kmm task update(y[0:100])
    {
        y[3] = 4;
    }
// CHECK: at the end: 4
    printf("at the end: %d\n", y[3]);
    return 0;
}
