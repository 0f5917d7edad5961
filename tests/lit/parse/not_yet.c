// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// What the language has and this version does not says so by name.
void f(int n, float *x);

void not_yet(int n, float *x)
{
// CHECK: :[[#@LINE+1]]:13: error: directive 'task' is not yet supported
#pragma kmm task stream(s)
// CHECK: :[[#@LINE+1]]:13: error: directive 'declare kernel' is not yet supported
#pragma kmm declare kernel
// CHECK: :[[#@LINE+1]]:13: error: directive 'enter data' is not yet supported
#pragma kmm enter data map(to: x[0:n])
// CHECK: :[[#@LINE+1]]:13: error: directive 'exit data' is not yet supported
#pragma kmm exit data map(from: x[0:n])
// CHECK: :[[#@LINE+1]]:13: error: directive 'update' is not yet supported
#pragma kmm update to(x)
// CHECK: :[[#@LINE+1]]:17: error: wait for single arrays is not yet supported; 'wait' without a list waits for all work
#pragma kmm wait(x)
// CHECK: :[[#@LINE+4]]:31: error: clause 'device' is not yet supported
// CHECK: :[[#@LINE+3]]:43: error: clause 'schedule' is not yet supported
// CHECK: :[[#@LINE+2]]:60: error: clause 'priority' is not yet supported
// CHECK: :[[#@LINE+1]]:72: error: clause 'nowait' is not yet supported
#pragma kmm parallel(i = 0:n) device(all) schedule(cyclic) priority(1) nowait rebase(n: i) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:38: error: reduce(argmin: ...) is not yet supported
#pragma kmm parallel(i = 0:n) reduce(argmin: x[0]) rebase(n: i)
    f(n, x);
// CHECK: :[[#@LINE+1]]:5: error: _Pragma("kmm ...") is not yet supported; write '#pragma kmm' on a line of its own
    _Pragma("kmm wait");
}
