// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Words that are no directive, clause, axis, kind of map; the nearest one is suggested.
void f(int n, float *x);

void words(int n, float *x)
{
// CHECK: :[[#@LINE+1]]:13: error: unknown directive 'paralel'; did you mean 'parallel'?
#pragma kmm paralel(i = 0:n)
    f(n, x);
// CHECK: :[[#@LINE+1]]:13: error: unknown directive 'wiat'; did you mean 'wait'?
#pragma kmm wiat
// CHECK: :[[#@LINE+1]]:13: error: unknown directive 'zebra'; there are parallel, task, {{.*}}, wait
#pragma kmm zebra
// CHECK: :[[#@LINE+1]]:12: error: expected a directive: parallel, task, declare kernel, data, enter data, exit data, update or wait
#pragma kmm
// CHECK: :[[#@LINE+1]]:13: error: expected a directive: parallel, task, declare kernel, data, enter data, exit data, update or wait
#pragma kmm 5
// CHECK: :[[#@LINE+2]]:31: error: unknown clause 'chunks'; did you mean 'chunk'?
// CHECK: :[[#@LINE+1]]:54: error: unknown clause 'wirte'; did you mean 'write'?
#pragma kmm parallel(i = 0:n) chunks(3) rebase(n: i) wirte(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:45: error: unknown axis 'idnex'; did you mean 'index'?
#pragma kmm parallel(index = 0:n) rebase(n: idnex) update(x[index])
    f(n, x);
// CHECK: :[[#@LINE+2]]:22: error: unknown kind of map 'tofrm'; did you mean 'tofrom'?
// CHECK: :[[#@LINE+1]]:37: error: unknown clause 'mapp'; did you mean 'map'?
#pragma kmm data map(tofrm: x[0:n]) mapp(x)
    {}
// CHECK: :[[#@LINE+1]]:18: error: a task is not divided; write a loop with a task for each part
#pragma kmm task parallel(i = 0:n) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:31: error: a task is not divided; write a loop with a task for each part
#pragma kmm parallel(i = 0:n) task update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:18: error: a task is not divided; write a loop with a task for each part
#pragma kmm task chunk(4) update(x[0:n])
    f(n, x);
// CHECK: :[[#@LINE+1]]:18: error: a task has no reductions; let the tasks of each device add to a copy of its own, and let a launch add the copies up
#pragma kmm task reduce(+: x[0])
    f(n, x);
// CHECK: :[[#@LINE+1]]:18: error: 'wait' has no clauses
#pragma kmm wait for
}
