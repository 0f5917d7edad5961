// Headers that macros name: by the command line, by one of several definitions, by strings made of words, in angle brackets.
// RUN: rm -rf %t && mkdir %t
// RUN: %kmmcc %san -Wall -Wextra -Werror -I %S/Inputs '-DHEADER="launch.h"' %s -o %t/option && %t/option
// RUN: %kmmcc %san -Wall -Wextra -Werror -I %S/Inputs -D CHOICE=1 %s -o %t/one && %t/one
// RUN: %kmmcc %san -Wall -Wextra -Werror -I %S/Inputs -DCHOICE=2 %s -o %t/two && %t/two
// RUN: %kmmcc %san -Wall -Wextra -Werror -I %S/Inputs -DCHOICE=3 %s -o %t/three && %t/three
// RUN: %kmmcc -I %S/Inputs '-DHEADER="launch.h"' --emit-source=%t/option.c %s && FileCheck --input-file=%t/option.c %s
// RUN: %kmmcc -I %S/Inputs -DCHOICE=1 --emit-source=%t/one.c %s && FileCheck --input-file=%t/one.c %s
// RUN: %kmmcc -I %S/Inputs -DCHOICE=2 --emit-source=%t/two.c %s && FileCheck --input-file=%t/two.c %s
// RUN: %kmmcc -I %S/Inputs -DCHOICE=3 --emit-source=%t/three.c %s && FileCheck --check-prefix=CHAIN --input-file=%t/three.c %s
// RUN: cat %t/kmm_*_chain.h | FileCheck --check-prefix=COPY %s
// RUN: cat %t/kmm_*_launch.h | FileCheck --check-prefix=LAUNCH %s
// LAUNCH: kmm_launch_begin("saxpy"
// COPY: #include "kmm_[[#]]_launch.h"
enum { BEFORE }; // a declaration before an #include
#define TEXT(x) #x
#define NAME(x) TEXT(x)
#define PLACE .
#if CHOICE == 1
#define HEADER <launch.h>
#elif CHOICE == 2
#define HEADER NAME(PLACE/launch.h) // made of words
#elif CHOICE == 3
#define HEADER "chain.h"
#endif
// CHECK: {{^}}#include "kmm_[[#]]_launch.h"
// CHAIN: {{^}}#include "kmm_[[#]]_chain.h"
#include HEADER

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
