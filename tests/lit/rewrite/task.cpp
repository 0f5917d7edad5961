// RUN: cd %S && %kmmcc --emit-source=%t.cpp task.cpp && grep -v "^ *// CHECK" %t.cpp | FileCheck %s
// RUN: %cxx -std=c++11 -Wall -Wextra -Werror -I %S/../../../include -c %t.cpp -o %t.o
// A task hides its arrays' names by pointers of the device, and by references to arrays; what stands alone becomes calls.
namespace work {
typedef struct stream *stream_t;
void library(stream_t s, int n, float *x, const float (*y)[4], const void *v);

template <class T> struct solver {
    T *values;
    float rows[8][4];
    void run(stream_t s, int n, float *x, const void *const v)
    {
// CHECK:      // #pragma kmm update from(x[2:n])
// CHECK-NEXT: kmm_data_update(KMM_FROM, "x[2:n]", x + (2), (kmm_size_t)(n) * sizeof(*(x)), "task.cpp", [[#@LINE+4]]);
// CHECK-NEXT: kmm_data_update(KMM_TO, "rows", rows, sizeof(rows), "task.cpp", [[#@LINE+3]]);
// CHECK-NEXT: kmm_rethrow("task.cpp", [[#]]);
// CHECK-NEXT: #line [[#@LINE+2]] "task.cpp"
#pragma kmm update from(x[2:n]) to(rows)
        if (n) {
// CHECK:      { // #pragma kmm task stream(s) device(n + 1)
// CHECK-NEXT: // update(x[0:n], x[n]) read(rows[0:8][:], v, values)
// CHECK-NEXT:     kmm_launch_t *kmm__launch = kmm_launch_begin("task", "task.cpp", [[#@LINE+19]]);
// CHECK-NEXT:     kmm_launch_device(kmm__launch, KMM_ON_DEVICE, (int)((long long)n + 1));
// CHECK:          kmm_launch_access(kmm__launch, KMM_READ, "v", v, 1);
// CHECK-NEXT:     kmm_launch_access(kmm__launch, KMM_READ, "values", values, sizeof(*(values)));
// CHECK-NEXT:     void *kmm__stream;
// CHECK-NEXT:     kmm_task_t *const kmm__task = kmm_task_begin(kmm__launch, (void *)s, &kmm__stream);
// CHECK-NEXT:     const kmm_task_scope kmm__scope(kmm__task);
// CHECK-NEXT:     float *const kmm__pointer_0 = (float *)kmm_task_pointer(kmm__task, x);
// CHECK-NEXT:     decltype(&(rows)) const kmm__pointer_2 = (decltype(&(rows)))kmm_task_pointer(kmm__task, rows);
// CHECK-NEXT:     const void *const kmm__pointer_3 = (const void *)kmm_task_pointer(kmm__task, v);
// CHECK-NEXT:     decltype(values + 0) const kmm__pointer_4 = (decltype(values + 0))kmm_task_pointer(kmm__task, values);
// CHECK-NEXT:     if (kmm__task) {
// CHECK-NEXT:         float *const x = kmm__pointer_0; (void)x;
// CHECK-NEXT:         decltype((rows)) rows = *kmm__pointer_2; (void)rows;
// CHECK-NEXT:         const void *const v = kmm__pointer_3; (void)v;
// CHECK-NEXT:         decltype(values + 0) const values = kmm__pointer_4; (void)values;
// CHECK-NEXT:         __typeof__(s) const s = (decltype(+s))kmm__stream; (void)s;
// CHECK-NEXT: #line [[#@LINE+4]] "task.cpp"
// CHECK-NEXT:     library(s, n, x, rows, v); } }
#pragma kmm task stream(s) device(n + 1) \
                update(x[0:n], x[n]) read(rows[0:8][:], v, values)
            library(s, n, x, rows, v);
        }
    }
};
template struct solver<double>;
}
