// RUN: rm -rf %t && mkdir -p %t/bin %t/lib && cp %kmm_build/bin/kmmcc %t/bin && ln -s %kmm_build/include %t/include
// RUN: ln -s %kmm_build/lib/libkmm* %t/lib
// RUN: sed '/pragma/d' %s > %t/plain.c
// RUN: %t/bin/kmmcc -c %t/plain.c -o %t/plain.o 2>&1 | count 0
// RUN: %not %t/bin/kmmcc -c %s -o %t/program.o 2>&1 | FileCheck %s
// Only files with pragmas need the module that uses libclang.
// CHECK: error: a part of kmmcc cannot be loaded: {{.*}}kmm-frontend.so
static void one(int begin, int end, float *x)
{
    for (int i = begin; i < end; i++)
        x[i] = 1;
}
void launch(int n, float *x)
{
    #pragma kmm parallel(i = 0:n) write(x[i])
    one(0, n, x);
}
