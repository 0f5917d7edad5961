// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Calls that depend on a template's parameters.
template <class T> static void increase(int n, T *x) { for (int i = 0; i < n; i++) x[i] += 1; }
template <class T> void all(int n, T *x)
{
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:5: error: the call of a function that depends on a template's parameters cannot be split; call it from a function that is no template
    increase<T>(n, x);
}
void use(int *x) { all(10, x); }
