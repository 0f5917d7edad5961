// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// clang resolves the names; its errors are shown in the pragma.
void f(int n, float *x);

void names(int count, float *values)
{
// CHECK: :[[#@LINE+1]]:28: error: use of undeclared identifier 'cuont'
#pragma kmm parallel(i = 0:cuont) rebase(n: i) update(values[i])
    f(count, values);
// CHECK: :[[#@LINE+2]]:20: error: use of undeclared identifier 'valeus'; did you mean 'values'?
#pragma kmm parallel(i = 0:count) rebase(n: i) \
            update(valeus[i])
    f(count, values);
// CHECK: :[[#@LINE+1]]:66: error: use of undeclared identifier 'j'
#pragma kmm parallel(i = 0:count) rebase(n: i) update(values[i + j])
    f(count, values);
// CHECK: :[[#@LINE+1]]:41: error: axis 'i' has a meaning only in the sections of items; this must be the same for the whole launch
#pragma kmm parallel(i = 0:count) chunk(i) rebase(n: i) update(values[i])
    f(count, values);
// CHECK: :[[#@LINE+1]]:41: error: axis 'i' has a meaning only in the sections of items; this must be the same for the whole launch
#pragma kmm parallel(i = 0:count, j = 0:i) rebase(n: i) update(values[i])
    f(count, values);
// CHECK: :[[#@LINE+1]]:60: error: member reference base type 'int' is not a structure or union
#pragma kmm parallel(i = 0:count) rebase(n: i) update(count.x[i])
    f(count, values);
}
