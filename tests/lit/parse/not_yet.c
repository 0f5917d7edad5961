// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// What the language has and this version does not says so by name.
void f(int n, float *x);

void not_yet(int n, float *x)
{
// CHECK: :[[#@LINE+1]]:13: error: directive 'declare kernel' is not yet supported
#pragma kmm declare kernel
}
