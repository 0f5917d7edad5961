// SPDX-License-Identifier: Apache-2.0
#define BY(k) _Pragma("kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])") inc(1000, k, x)
static int x[1000];
static void inc(int n, int k, int *a) { for (int i = 0; i < n; i++) a[i] += k; }
#include "once.h"
#define ONCE_AGAIN
#include "once.h"
#define UNIQUE_(a, b) a##b
#define UNIQUE(a, b) UNIQUE_(a, b)
static int UNIQUE(u, __COUNTER__);
// The header counts once. In copies, where its _Pragma has no effect, it would count twice.
int main(void) { BY(VALUE); return VALUE; }
