// RUN: cd %S && %kmmcc --emit-source=%t.c reduce.c && grep -v "^ *// CHECK" %t.c | FileCheck %s
// RUN: cd %S && %kmmcc %san reduce.c -o %t.split && %t.split > %t.one && %cc -Wno-unknown-pragmas reduce.c -o %t.plain && %t.plain > %t.two
// RUN: diff %t.one %t.two && FileCheck --check-prefix=OUT %s < %t.one
// Reductions of complex numbers, of truth, and of structs of a value and an index, split and not.
#include <complex.h>
#include <stdio.h>

enum { N = 10000 };
struct best { float value; int index; };
struct far { long where; double key; short distance; };
typedef struct { long index; short distance; } far_t;
typedef struct { int key, value; } both_t;

static void scan(int first, int n, const float *x, float _Complex *sum, int *any, struct best *least, far_t *most, both_t *both)
{
    for (int i = 0; i < n; i++) {
        int at = first + i, v = (int)x[i];
        *sum += x[i] * I + 1;
        if (x[i] > 90)
            *any = 1;
        if (x[i] < least->value || (x[i] == least->value && at < least->index))
            *least = (struct best){ x[i], at };
        if (v > most->distance || (v == most->distance && at < most->index))
            most->distance = (short)v, most->index = at;
        if (v > both->value || (v == both->value && at < both->key))
            *both = (both_t){ at, v };
    }
}

int main(void)
{
    static float x[N];
    float _Complex sum = 3;
    int any = 0;
    struct best least = { 1000, -1 };
    far_t most = { -1, -1 };
    both_t both = { -1, -1 };
    for (int i = 0; i < N; i++)
        x[i] = (float)((i * 37 + 11) % 97);
// CHECK:      kmm_launch_reduce(kmm__launch, KMM_OP_ADD, KMM_COMPLEX_FLOAT, "(&sum)[0]", (&sum));
// CHECK:      kmm_launch_reduce(kmm__launch, KMM_OP_LOR, KMM_INT32, "(&any)[0]", (&any));
// CHECK:      kmm_launch_reduce(kmm__launch, KMM_OP_ARGMIN, KMM_FLOAT, "(&least)[0]", (&least));
// CHECK-NEXT: KMM_PAIR_BYTES(sizeof({{.*}}), 8, "line {{.*}});
// CHECK-NEXT: kmm_launch_pair(kmm__launch, 8, 0, KMM_INT32, 4);
// CHECK-NEXT: kmm_launch_index(kmm__launch, 0, 1);
// CHECK:      kmm_launch_reduce(kmm__launch, KMM_OP_ARGMAX, KMM_INT16, "(&most)[0]", (&most));
// CHECK-NEXT: KMM_PAIR_BYTES(sizeof({{.*}}), 16, "line {{.*}});
// CHECK-NEXT: kmm_launch_pair(kmm__launch, 16, 8, KMM_INT64, 0);
// CHECK:      kmm_launch_reduce(kmm__launch, KMM_OP_ARGMAX, KMM_INT32, "(&both)[0]", (&both));
// CHECK-NEXT: KMM_PAIR_BYTES(sizeof({{.*}}), 8, "line {{.*}});
// CHECK-NEXT: kmm_launch_pair(kmm__launch, 8, 4, KMM_INT32, 0);
    #pragma kmm parallel(i = 0:N) chunk(N / 7) rebase(first: begin(i), n: i) read(x[i]) \
                reduce(+: (&sum)[0]) reduce(||: (&any)[0]) reduce(argmin: (&least)[0]) reduce(argmax: (&most)[0], (&both)[0])
    scan(0, N, x, &sum, &any, &least, &most, &both);
    #pragma kmm wait
    // OUT: 10003 479932 1 0 60 96 39 96 39
    printf("%.0f %.0f %d %g %d %d %ld %d %d\n", (double)crealf(sum), (double)cimagf(sum), any, (double)least.value, least.index, most.distance,
           most.index, both.value, both.key);
    return 0;
}
