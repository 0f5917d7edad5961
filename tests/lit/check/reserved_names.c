// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Names that begin with kmm__ are those of generated code. In the program they are refused, so that none can be hidden.
static void fill(int n, int *x, int k)
{
    for (int i = 0; i < n; i++)
        x[i] = k;
}
// CHECK: [[#@LINE+1]]:{{.*}}error: 'kmm__three' begins with kmm__, as the names in code that kmmcc writes do; rename it
#define THREE kmm__three
void run(int n, int *x)
{
    // CHECK: [[#@LINE+1]]:{{.*}}error: 'kmm__launch' begins with kmm__
    int kmm__launch = 1, own_kmm__launch = 2, THREE = 3;
#pragma kmm parallel(i = 0:n) rebase(n: i) write(x[i])
    // CHECK: [[#@LINE+1]]:{{.*}}error: 'kmm__launch' begins with kmm__
    fill(n, x, kmm__launch + own_kmm__launch + THREE);
}
// CHECK-NOT: error: {{'}}
