// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck %s
// A task is left at its end, and its arrays go by their names.
#include <cuda_runtime.h>
struct box { float *data; };
int use(float *x);
void library(cudaStream_t s, float *x);

int task(int n, float *x, box b, cudaStream_t *streams)
{
    for (int k = 0; k < n; k++) {
#pragma kmm task update(x[0:n])
        {
            if (k == 1)
// CHECK: :[[#@LINE+1]]:17: error: this would leave the task before it has ended; leave it at its end
                break;
            if (k == 2)
// CHECK: :[[#@LINE+1]]:17: error: this would leave the task before it has ended; leave it at its end
                continue;
            for (int j = 0; j < n; j++)
                if (j == 3)
                    break;
        }
#pragma kmm task update(x[0:n])
// CHECK: :[[#@LINE+1]]:9: error: this would leave the task before it has ended; leave it at its end
        return use(x);
    }
// CHECK: :[[#@LINE+1]]:26: error: inside a task an array goes by its own name, but 'b.data' is no name of a variable; declare a pointer before the pragma
#pragma kmm task   write(b.data)
    use(b.data);
// CHECK: :[[#@LINE+1]]:25: error: stream names a variable, which inside the task is its stream; declare one before the pragma: cudaStream_t s = ...
#pragma kmm task stream(streams[0]) update(x)
    library(streams[0], x);
#pragma kmm task update(x)
    {
// CHECK: :[[#@LINE+1]]:13: error: 'wait' stands inside a task, where arrays are plain memory of a device; put it before or behind the task
#pragma kmm wait
        use(x);
    }
// CHECK: :[[#@LINE+1]]:18: error: a task has no reductions; let the tasks of each device add to a copy of its own, and let a launch add the copies up
#pragma kmm task reduce(+: x[0])
    use(x);
// CHECK: :[[#@LINE+1]]:35: error: 'b' is no pointer or array, but 'box'
#pragma kmm task read(x[0:n])read(b)
    use(x);
// CHECK: :[[#@LINE+1]]:25: error: 'b' must be an integer, but it is 'box'
#pragma kmm task device(b) read(x)
    use(x);
// CHECK: :[[#@LINE+1]]:26: error: a task runs on one device
#pragma kmm task device(0, 1) read(x)
    use(x);
    return 0;
}
