// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// A macro that writes several arguments of a call.
enum { N = 60000 };
static int x[N];
static void add(int n, int *a, int k) { for (int i = 0; i < n; i++) a[i] += k; }
#define BOTH N, x
void launch(void)
{
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    // CHECK: :[[#@LINE+2]]:5: error: argument 1 comes from a macro; write it out
    // CHECK: :[[#@LINE+1]]:5: error: argument 2 comes from a macro; write it out
    add(BOTH, 7);
}
