// RUN: %kmmcc %san -Wall -Wextra -Werror -I %S/Inputs %s -o %t && %t
// RUN: %not %kmmcc -DWRONG -I %S/Inputs -c %s -o %t.o 2>&1 | FileCheck %s
// A pragma of a header in C; messages name the header.
#include "launch.h"
#ifdef WRONG
#include "wrong.h"
#endif
// CHECK: {{.*}}wrong.h:3:55: error: use of undeclared identifier 'm'
int main(void)
{
    float x[100], y[100];
    for (int i = 0; i < 100; i++)
        x[i] = (float)i, y[i] = 1;
    run_saxpy(100, 2, x, y);
    for (int i = 0; i < 100; i++)
        if (y[i] != 2 * (float)i + 1)
            return 1;
    return 0;
}
