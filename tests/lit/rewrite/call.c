// RUN: cd %S && %kmmcc --emit-source=%t.c call.c && grep -v "^ *// CHECK" %t.c | FileCheck %s
// RUN: %cc -std=c11 -Wall -Wextra -Werror -I %S/../../../include -c %t.c -o %t.o
// RUN: %cc -std=c17 -Wall -Wextra -Werror -Wno-unknown-pragmas -c %s -o %t.o
// A call of a plain function: arguments in a block, a function that runs a chunk, pragmas as comments.
#include <stdlib.h>

static void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

// CHECK: #include <kmm/launch.h>
// CHECK-NEXT: #line [[#@LINE+14]] "call.c"
// CHECK-NEXT: struct kmm_args_[[#PRAGMA:]] {
// CHECK-NEXT:     double a;
// CHECK-NEXT:     const float *x;
// CHECK-NEXT:     float *y;
// CHECK-NEXT: };
// CHECK-EMPTY:
// CHECK-NEXT: static void kmm_call_[[#PRAGMA]](const kmm_chunk_t *kmm_chunk, void *kmm_args)
// CHECK-NEXT: {
// CHECK-NEXT:     const struct kmm_args_[[#PRAGMA]] *kmm = (const struct kmm_args_[[#PRAGMA]] *)kmm_args;
// CHECK-NEXT:     saxpy((int)(kmm_chunk->end[0] - kmm_chunk->begin[0]), (float)kmm->a, kmm->x + (kmm_chunk->begin[0] - kmm_chunk->lower[0]), kmm->y + (kmm_chunk->begin[0] - kmm_chunk->lower[0]));
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: #line [[#@LINE+1]] "call.c"
void run(int n, float *x, float *y)
{
// CHECK:      { // #pragma kmm parallel(i = 0:n) rebase(n: i)
// CHECK-NEXT: {{^}}    // read(x[i]) update(y[i])
// CHECK-NEXT:         kmm_launch_t *kmm = kmm_launch_begin("saxpy", "call.c", [[#PRAGMA]]);
// CHECK-NEXT:         kmm_launch_axis(kmm, "i", KMM_RANGE_0, 0, n);
// CHECK-NEXT:         kmm_launch_access(kmm, KMM_READ, "x[i]", x, sizeof(*(x)));
// CHECK-NEXT:         kmm_launch_index(kmm, 0, 1);
// CHECK-NEXT:         kmm_launch_coef(kmm, 0, 1, 0);
// CHECK-NEXT:         kmm_launch_access(kmm, KMM_UPDATE, "y[i]", y, sizeof(*(y)));
// CHECK-NEXT:         kmm_launch_index(kmm, 0, 1);
// CHECK-NEXT:         kmm_launch_coef(kmm, 0, 1, 0);
// CHECK-NEXT: #line [[#@LINE+9]] "call.c"
// CHECK-NEXT:         kmm_launch_expect(kmm, "n", n, n);
// CHECK-NEXT:         struct kmm_args_[[#PRAGMA]] kmm_args = { 2, x, y };
// CHECK-NEXT:         kmm_directive_check(kmm_launch_call(kmm, kmm_call_[[#PRAGMA]], &kmm_args, sizeof(kmm_args)), "call.c", [[#PRAGMA]]);
// CHECK-NEXT:     }
// CHECK-NEXT: #line [[#@LINE+4]] "call.c"
// CHECK-NEXT: {{^ *}}/* behind */
    #pragma kmm parallel(i = 0:n) rebase(n: i) \
 read(x[i]) update(y[i])
    saxpy(n, 2, x, y); /* behind */
// CHECK: kmm_directive_wait("call.c", [[#@LINE+1]]); // #pragma kmm wait
    #pragma kmm wait
}
