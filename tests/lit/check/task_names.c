// RUN: %not %kmmcc -fsyntax-only %s 2>&1 | FileCheck %s --implicit-check-not=error:
// What a task cannot do with the names of its arrays.
void library(float *p, unsigned long n);
#define LENGTH(a) (sizeof(a) / sizeof(*(a)))
#define WHOLE library(x, sizeof x)
void f(int n)
{
    float x[100], *p = x, *q = x;
    // CHECK: task_names.c:[[#@LINE+3]]:10: error: the task changes the pointer 'p', which an item names; change a copy of it in the task
    #pragma kmm task update(p[0:10])
    for (int i = 0; i < 10; i++)
        *p++ += 1;
    #pragma kmm task update(p[0:10])
    // CHECK: task_names.c:[[#@LINE+1]]:7: error: the task changes the pointer 'p', which an item names
    { p = q; q++; }
    #pragma kmm task update(x[0:100])
    library(x, LENGTH(x));
    #pragma kmm task update(x[0:100]) device(0)
    // CHECK: task_names.c:[[#@LINE+1]]:5: error: a macro uses the array 'x' as an array, not as a pointer, in a task that may run on a GPU; write the expression out, or add device(host)
    WHOLE;
    #pragma kmm task update(x[0:100]) device(host)
    WHOLE;
    #pragma kmm task update(x[0:100])
    { x[0] = 1; WHOLE; }
}
