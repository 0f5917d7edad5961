// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// RUN: %kmmcc -fno-kmm-compare -c %s -o %t.o
// REQUIRES: ir
// Plain functions that store what they compute from the whole chunk.
#include <string.h>
#define F static void
F share(int n, double *y) { double s = 0; for (int i = 0; i < n; i++) s += y[i]; for (int i = 0; i < n; i++) y[i] /= s; }
F above(int n, const double *x, double *y) { double m = 0; for (int i = 0; i < n; i++) if (x[i] > m) m = x[i]; for (int i = 0; i < n; i++) y[i] = x[i] / m; }
F any(int n, double *y) { int any = 0; for (int i = 0; i < n; i++) any |= y[i] < 0; if (any) for (int i = 0; i < n; i++) y[i] = 0; }
F fill(int n, char *y) { memset(y, n % 50, n); }
F shift(int n, double *y) { memmove(y, y + 1, (n - 1) * sizeof *y); }
/* right ones */
F rows(int n, int w, double *y) { for (int r = 0; r < n; r++) { double s = 0; for (int k = 0; k < w; k++) s += y[r * w + k]; for (int k = 0; k < w; k++) y[r * w + k] /= s; } }
F weights(int n, int w, const double *t, double *y) { double s = 0; for (int k = 0; k < w; k++) s += t[k]; for (int i = 0; i < n; i++) y[i] /= s; }
F clear(int n, double *y) { memset(y, 0, n * sizeof *y); }
F copy(int n, const double *x, double *y) { memcpy(y, x, n * sizeof *y); }
F two(int n, const double *x, double *y) { int i = 0; for (; i + 1 < n; i += 2) { y[i] = x[i]; y[i + 1] = x[i + 1]; } for (; i < n; i++) y[i] = x[i]; }
F counted(int n, const double *x, double *y, int *c) { int t = 0; for (int i = 0; i < n; i++) { y[i] = 2 * x[i]; t += x[i] > 0; } *c += t; }
F twice(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { y[i] = x[i]; y[i] *= x[i]; } }
void all(int n, int w, double *x, double *y, char *z, double *t, int *c)
{
// CHECK: whole.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'share' stores what a loop over all of its range computes, and a chunk has a part of that range; compute it by a launch of its own with reduce, or call it without the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    share(n, y);
// CHECK: whole.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'above' stores what a loop over all of its range computes
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    above(n, x, y);
// CHECK: whole.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'any' stores what a loop over all of its range computes
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    any(n, y);
// CHECK: whole.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'fill' stores what it computes from its length
#pragma kmm parallel(i = 0:n) rebase(n: i) write(z[i])
    fill(n, z);
// CHECK: whole.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'shift' does not store to the same elements in chunks as in one call
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    shift(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i * w:w])
    rows(n, w, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(t[0:w]) update(y[i])
    weights(n, w, t, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    clear(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    copy(n, x, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    two(n, x, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i]) reduce(+: c[0])
    counted(n, x, y, c);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    twice(n, x, y);
}
