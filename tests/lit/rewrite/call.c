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
// CHECK-NEXT: struct kmm__args_[[#PRAGMA:]] {
// CHECK-NEXT:     double kmm__a;
// CHECK-NEXT:     const float *kmm__x;
// CHECK-NEXT:     float *kmm__y;
// CHECK-NEXT: };
// CHECK-EMPTY:
// CHECK-NEXT: static void kmm__call_[[#PRAGMA]](const kmm_chunk_t *kmm__chunk, void *kmm__block)
// CHECK-NEXT: {
// CHECK-NEXT:     const struct kmm__args_[[#PRAGMA]] *kmm__args = (const struct kmm__args_[[#PRAGMA]] *)kmm__block;
// CHECK-NEXT:     saxpy((int)kmm_chunk_length(kmm__chunk, 0), (float)kmm__args->kmm__a, kmm__args->kmm__x + kmm_chunk_distance(kmm__chunk, 0), kmm__args->kmm__y + kmm_chunk_distance(kmm__chunk, 0));
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: #line [[#@LINE+1]] "call.c"
void run(int n, float *x, float *y)
{
// CHECK:      { // #pragma kmm parallel(i = 0:n) rebase(n: i)
// CHECK-NEXT: {{^}}    // read(x[i]) update(y[i])
// CHECK-NEXT:         kmm_launch_t *kmm__launch = kmm_launch_begin("saxpy", "call.c", [[#PRAGMA]]);
// CHECK-NEXT:         kmm_launch_axis(kmm__launch, "i", KMM_RANGE_0, 0, n);
// CHECK-NEXT:         kmm_launch_access(kmm__launch, KMM_READ, "x[i]", x, sizeof(*(x)));
// CHECK-NEXT:         kmm_launch_index(kmm__launch, 0, 1);
// CHECK-NEXT:         kmm_launch_coef(kmm__launch, 0, 1, 0);
// CHECK-NEXT:         kmm_launch_access(kmm__launch, KMM_UPDATE, "y[i]", y, sizeof(*(y)));
// CHECK-NEXT:         kmm_launch_index(kmm__launch, 0, 1);
// CHECK-NEXT:         kmm_launch_coef(kmm__launch, 0, 1, 0);
// CHECK-NEXT: #line [[#@LINE+9]] "call.c"
// CHECK-NEXT:         kmm_launch_expect(kmm__launch, "n", n, n);
// CHECK-NEXT:         struct kmm__args_[[#PRAGMA]] kmm__args = { 2, x, y };
// CHECK-NEXT:         kmm_directive_check(kmm_launch_call(kmm__launch, kmm__call_[[#PRAGMA]], &kmm__args, sizeof(kmm__args)), "call.c", [[#PRAGMA]]);
// CHECK-NEXT:     }
// CHECK-NEXT: #line [[#@LINE+4]] "call.c"
// CHECK-NEXT: {{^ *}}/* behind */
    #pragma kmm parallel(i = 0:n) rebase(n: i) \
 read(x[i]) update(y[i])
    saxpy(n, 2, x, y); /* behind */
// CHECK: kmm_directive_wait("call.c", [[#@LINE+1]]); // #pragma kmm wait
    #pragma kmm wait
}
