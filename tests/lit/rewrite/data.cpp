// RUN: cd %S && %kmmcc --emit-source=%t.cpp data.cpp && grep -v "^ *// CHECK" %t.cpp | FileCheck %s
// RUN: %cxx -std=c++11 -Wall -Wextra -Werror -I %S/../../../include -c %t.cpp -o %t.o
// RUN: %cxx -std=c++17 -Wall -Wextra -Werror -Wno-unknown-pragmas -c %s -o %t.o
// C++: the block of `data` keeps the addresses it began with; calls in namespaces and methods.
#include <cstddef>
namespace work {
static void fill(std::size_t n, float value, float *x)
{
    for (std::size_t i = 0; i < n; i++)
        x[i] = value;
}
// CHECK: #include <kmm/launch.h>
// CHECK: namespace work {
struct filler {
    double value;
    void run(int n, float *x, float (&fixed)[10])
    {
        float *y = x;
// CHECK:      { // #pragma kmm data map(from: x[2:n - 2]) map(tofrom: fixed)
// CHECK-NEXT:     void *const kmm__base_0 = (void *)(x + (2));
// CHECK-NEXT:     const kmm_size_t kmm__bytes_0 = (kmm_size_t)((long long)n - 2) * sizeof(*(x));
// CHECK-NEXT:     kmm_data_open(KMM_MAP_FROM, "x[2:n - 2]", kmm__base_0, kmm__bytes_0, "data.cpp", [[#@LINE+7]]);
// CHECK-NEXT:     kmm_data_scope kmm__scope_0(kmm__base_0, kmm__bytes_0, "data.cpp", [[#@LINE+6]]);
// CHECK-NEXT:     void *const kmm__base_1 = (void *)(fixed);
// CHECK-NEXT:     const kmm_size_t kmm__bytes_1 = sizeof(fixed);
// CHECK-NEXT:     kmm_data_open(KMM_MAP_TOFROM, "fixed", kmm__base_1, kmm__bytes_1, "data.cpp", [[#@LINE+3]]);
// CHECK-NEXT:     kmm_data_scope kmm__scope_1(kmm__base_1, kmm__bytes_1, "data.cpp", [[#@LINE+2]]);
// CHECK-NEXT: #line [[#@LINE+2]] "data.cpp"
#pragma kmm data map(from: x[2:n - 2]) map(tofrom: fixed)
        {
// CHECK: struct kmm__args_[[#LINE:]] {
// CHECK-NEXT: double kmm__value;
// CHECK-NEXT: float *kmm__x;
// CHECK: struct kmm__call_[[#LINE]] {
// CHECK-NEXT: static void kmm__run(
// CHECK: fill((unsigned long)kmm_chunk_length(kmm__chunk, 0), (float)kmm__args->kmm__value, kmm__args->kmm__x + kmm_chunk_distance(kmm__chunk, 0));
// CHECK: struct kmm__args_[[#LINE]] kmm__args{}; kmm__args.kmm__value = value; kmm__args.kmm__x = y + 2;
#pragma kmm parallel(i = 0:n - 2) rebase(n: i) write(y[i + 2])
            fill(n - 2, value, y + 2);
            x = nullptr;
// CHECK: } kmm__scope_1.kmm_end(); kmm__scope_0.kmm_end(); kmm_rethrow("data.cpp", [[#]]); }
        }
        (void)x, (void)fixed;
    }
};
} // namespace work
