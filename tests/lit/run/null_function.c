// RUN: %kmmcc %san -O1 %s -o %t && env KMM_DEVICES=host %t array && %not --crash env KMM_DEVICES=host %t 2>&1 | FileCheck %s
// A chunk moves the pointers of a plain function, and would make another pointer of a null pointer.
#include <stdio.h>
#define N 400
static void f(int n, int *o, const int *a, const int *m)
{
    for (int i = 0; i < n; i++)
        o[i] = m ? 1 : a[i];
}
static int o[N], a[N];
int main(int count, char **text)
{
    (void)text;
    int *m = count > 1 ? a : NULL;
// CHECK: null_function.c:[[#@LINE+1]]: f: argument m[i]: it is a null pointer, which is none any more where a chunk moves it; call the function without the pragma then
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(n: i) read(a[i], m[i]) write(o[i])
    f(N, o, a, m);
    return o[N - 1] - 1;
}
