// RUN: cd %S && %kmmcc --emit-source=%t.c rebase.c && grep -v "^ *// CHECK" %t.c | FileCheck %s
// RUN: %cc -std=c11 -Wall -Wextra -Werror -Wno-unused-parameter -I %S/../../../include -c %t.c -o %t.o
// How arguments move with a chunk: by the coefficient of the axis, or not at all.
#include <stdbool.h>
#include <stddef.h>
typedef double real;
enum mode { SLOW, FAST };
struct size { int w, h; };
static void rows(size_t h, long w, float (*m)[8], const float *flat, const real *v, bool b, enum mode mode, struct size s,
                 void (*done)(int), unsigned char c) {}
static void range(long lo, long hi, float *x) {}
static void block(int w, int h, float *x) {}
static void nothing(void) {}

void rebase(size_t h, long w, float (*m)[8], float *flat, const real *v, struct size s)
{
// CHECK:      struct kmm__args_[[#LINE1:]] {
// CHECK-NEXT:     long kmm__w;
// CHECK-NEXT:     float (*kmm__m)[8];
// CHECK-NEXT:     const float *kmm__flat;
// CHECK-NEXT:     const real *kmm__v;
// CHECK-NEXT:     long long kmm__b;
// CHECK-NEXT:     long long kmm__mode;
// CHECK-NEXT:     struct size kmm__s;
// CHECK-NEXT:     void (*kmm__done)(int);
// CHECK-NEXT:     long long kmm__c;
// CHECK-NEXT:     long long kmm__flat_step_0;
// CHECK-NEXT: };
// CHECK:      rows((size_t)kmm_chunk_length(kmm__chunk, 0), kmm__args->kmm__w, kmm__args->kmm__m + kmm_chunk_distance(kmm__chunk, 0), kmm__args->kmm__flat + kmm__args->kmm__flat_step_0 * kmm_chunk_distance(kmm__chunk, 0), kmm__args->kmm__v, (_Bool)kmm__args->kmm__b, (enum mode)kmm__args->kmm__mode, kmm__args->kmm__s, kmm__args->kmm__done, (unsigned char)kmm__args->kmm__c);
#pragma kmm parallel(row = 1:h - 2) rebase(h: row) update(m[row][:]) read(flat[row * w + 3:w], v[0:h])
    rows(h - 2, w, m, flat, v, true, FAST, s, NULL, 'c');
// CHECK: block((int)kmm_chunk_length(kmm__chunk, 0), (int)kmm_chunk_length(kmm__chunk, 1), kmm__args->kmm__x
// CHECK:      kmm_launch_axis(kmm__launch, "row", KMM_RANGE_0, 1, (long long)h - 2);
// CHECK:      kmm_launch_access(kmm__launch, KMM_UPDATE, "m[row][:]", m, sizeof(**(m)));
// CHECK-NEXT: kmm_launch_extent(kmm__launch, KMM_WHOLE);
// CHECK-NEXT: kmm_launch_extent(kmm__launch, sizeof(*m) / sizeof(**m));
// CHECK-NEXT: kmm_launch_index(kmm__launch, 0, 1);
// CHECK-NEXT: kmm_launch_coef(kmm__launch, 0, 1, 0);
// CHECK-NEXT: kmm_launch_index(kmm__launch, 0, KMM_WHOLE);
// CHECK-NEXT: kmm_launch_access(kmm__launch, KMM_READ, "flat[row * w + 3:w]", flat, sizeof(*(flat)));
// CHECK-NEXT: kmm_launch_index(kmm__launch, 3, w);
// CHECK-NEXT: kmm_launch_coef(kmm__launch, 0, w, 0);
// CHECK:      kmm_launch_expect(kmm__launch, "h", h - 2, (long long)h - 2);
// CHECK-NEXT: struct kmm__args_[[#LINE1]] kmm__args = { w, m, flat, v, true, FAST, s, NULL, 'c', w };

// With begin and end the pointers stay.
#pragma kmm parallel(i = 2:w) rebase(lo: begin(i), hi: end(i)) update(m[0][i])
    range(2, 2 + w, m[0]);
// CHECK: kmm_launch_expect(kmm__launch, "lo", 2, 2);
// CHECK: kmm_launch_expect(kmm__launch, "hi", 2 + w, 2 + w);

// Two dimensions: rows of a flat array.
#pragma kmm parallel(x = 0:w, y = 0:w) rebase(w: x, #2: y) shape(flat[h][w]) update(flat[y][x])
    block(w, w, flat);
#pragma kmm parallel
    nothing();
// CHECK: kmm_launch_call(kmm__launch, kmm__call_[[#@LINE-2]], NULL, 0)
}
