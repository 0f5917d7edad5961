// RUN: cd %S && %kmmcc --emit-source=%t.cpp task.cpp && grep -v "^ *// CHECK" %t.cpp | FileCheck %s
// RUN: %cxx -std=c++11 -Wall -Wextra -Werror -I %S/../../../include -c %t.cpp -o %t.o
// A task hides its arrays' names by pointers of the device; what stands alone becomes calls.
namespace work {
typedef struct stream *stream_t;
void library(stream_t s, int n, float *x, const float (*y)[4], const void *v);

template <class T> struct solver {
    T *values;
    float rows[8][4];
    void run(stream_t s, int n, float *x, const void *const v)
    {
// CHECK:      // #pragma kmm update from(x[2:n])
// CHECK-NEXT: kmm_data_update(KMM_FROM, "x[2:n]", x + (2), (size_t)(n) * sizeof(*(x)), "task.cpp", [[#@LINE+4]]);
// CHECK-NEXT: kmm_data_update(KMM_TO, "rows", rows, sizeof(rows), "task.cpp", [[#@LINE+3]]);
// CHECK-NEXT: kmm_rethrow("task.cpp", [[#]]);
// CHECK-NEXT: #line [[#@LINE+2]] "task.cpp"
#pragma kmm update from(x[2:n]) to(rows)
        if (n) {
// CHECK:      { // #pragma kmm task stream(s) device(n + 1)
// CHECK-NEXT: // update(x[0:n], x[n]) read(rows[0:8][:], v, values)
// CHECK-NEXT:     kmm_launch_t *kmm = kmm_launch_begin("task", "task.cpp", [[#@LINE+19]]);
// CHECK-NEXT:     kmm_launch_device(kmm, KMM_ON_DEVICE, (int)((long long)n + 1));
// CHECK:          kmm_launch_access(kmm, KMM_READ, "v", v, 1);
// CHECK-NEXT:     kmm_launch_access(kmm, KMM_READ, "values", values, sizeof(*(values)));
// CHECK-NEXT:     void *kmm_stream;
// CHECK-NEXT:     kmm_task_t *const kmm_task = kmm_task_begin(kmm, (void *)s, &kmm_stream);
// CHECK-NEXT:     const kmm_task_scope kmm_scope(kmm_task);
// CHECK-NEXT:     float *const kmm_pointer_0 = (float *)kmm_task_pointer(kmm_task, x);
// CHECK-NEXT:     decltype(&*rows) const kmm_pointer_2 = (decltype(&*rows))kmm_task_pointer(kmm_task, rows);
// CHECK-NEXT:     const void *const kmm_pointer_3 = (const void *)kmm_task_pointer(kmm_task, v);
// CHECK-NEXT:     T *const kmm_pointer_4 = (T *)kmm_task_pointer(kmm_task, values);
// CHECK-NEXT:     if (kmm_task) {
// CHECK-NEXT:         float *const x = kmm_pointer_0; (void)x;
// CHECK-NEXT:         decltype(&*rows) const rows = kmm_pointer_2; (void)rows;
// CHECK-NEXT:         const void *const v = kmm_pointer_3; (void)v;
// CHECK-NEXT:         T *const values = kmm_pointer_4; (void)values;
// CHECK-NEXT:         stream_t const s = (stream_t)kmm_stream; (void)s;
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
