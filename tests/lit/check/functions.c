// RUN: %not %kmmcc -fopenmp -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// RUN: %kmmcc -fno-kmm-compare -Wno-kmm-overlap -c %s -o %t.o
// REQUIRES: ir
// Plain functions that do something else in chunks than in one call; and some that do not.
#include <math.h>
#include <stddef.h>
#define F static void
F halo(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = x[i] + x[i + 1]; }
F prefix(int n, const float *x, float *y) { for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i]; }
F prefix0(int n, const float *x, float *y) { y[0] = x[0]; for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i]; }
F carried(int n, float *y) { for (int i = 0; i < n; i++) y[i] = y[i - 1] + 1; }
F sums(int n, const float *x, float *y) { float s = 0; for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; } }
F iota(int n, float *y) { for (int i = 0; i < n; i++) y[i] = 2 * i + 1; }
F clamped(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = x[i ? i - 1 : 0]; }
F guarded(int n, const float *x, float *y) { for (int i = 0; i < n; i++) { float v = x[i]; if (i > 0) v += x[i - 1]; y[i] = v; } }
F first(int n, float *y) { for (int i = 0; i < n; i++) y[i] = 1; y[n - 1] = 0; }
static long at;
F own(int n, float *y) { for (int i = 0; i < n; i++) y[at++] = 1; }
F local(int n, float *y) { static int seed; for (int i = 0; i < n; i++) { seed = seed * 5 + 1; y[i] = seed; } }
static _Thread_local float scale = 1;
F thirds(int n, float *y) { for (int i = 0; i < n; i++) if (i % 3 == 0) y[i] += 1; }
F evens(int n, float *y) { for (int i = 0; i < n; i += 2) y[i] += 1; }
F leader(int n, float *y) { for (int i = 1; i < n; i++) y[i] += y[0]; }
F large(int n, float *y) { if (n > 50000) for (int i = 0; i < n; i++) y[i] += 1; else for (int i = 0; i < n; i++) y[i] += 2; }
F distance(int n, float *y) { for (float *p = y; p < y + n; p++) *p += (float)(p - y); }
F distance_of(int n, float *y) { for (int i = 0; i < n; i++) { float *p = &y[i]; *p += (float)(p - y); } }
static int is_large(int n) { return n > 50000; }
F large_told(int n, float *y) { if (is_large(n)) for (int i = 0; i < n; i++) y[i] += 1; else for (int i = 0; i < n; i++) y[i] += 2; }
F some(int n, float *y) { if (n < 1) return; for (int i = 0; i < n; i++) y[i] += 1; }
static float long_one[1000000];
static float long_one_of, apart = 1;
#pragma omp threadprivate(long_one_of, apart)
static float scale_of(void) { return scale; }
F privately(int n, float *y) { for (int i = 0; i < n; i++) y[i] *= apart; }
F threads(int n, float *y) { for (int i = 0; i < n; i++) y[i] *= scale_of(); }
static float G[4096];
F global(int n, float *y) { for (int i = 0; i < n; i++) y[i] = G[i]; }
F count(int n, const float *x, float *s) { for (int i = 0; i < n; i++) *s += x[i]; }
F fix(int n, float *x, const float *y) { for (int i = 0; i < n; i++) x[n - 1 - i] = y[i]; }
static const float T[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static float D[4096];
F by_name(int n, float *y) { for (int i = 0; i < n; i++) y[i] += D[i]; }
F table(int n, float *y) { for (int i = 0; i < n; i++) y[i] += T[i & 7]; }
F parity(int n, int *y) { for (int i = 0; i < n; i++) y[i] += i % 2 ? 1 : -1; }
F share(int n, float *y) { for (int i = 0; i < n; i++) y[i] /= n; }
F noise(int n, float *y) { unsigned s = 1; for (int i = 0; i < n; i++) { s = s * 1103515245 + 12345; y[i] += s >> 16; } }
F rise(int n, float *y) { float m = 0; for (int i = 0; i < n; i++) { if (y[i] > m) m = y[i]; y[i] = m; } }
F scaled(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = x[i] / n; }
/* right ones */
F table_of(int lo, int hi, float *y) { for (int i = lo; i < hi; i++) y[i] += T[i & 7] + D[i]; }
F columns(int n, int w, float *y) { for (int i = 0; i < n; i++) for (int j = 0; j < w; j++) y[i * w + j] += T[j & 7] + D[j]; }
F nearest(int n, int w, const float *x, float *y) { for (int i = 0; i < n; i++) { float m = 0; for (int j = 0; j < w; j++) if (x[i * w + j] > m) m = x[i * w + j]; y[i] = m; } }
F gather(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] += D[(int)x[i]]; }
F share_of(int n, int all, float *y) { for (int i = 0; i < n; i++) y[i] /= all; }
F aligned(int n, float *y) { for (int i = 0; i < n; i++) y[i] = (__UINTPTR_TYPE__)(y + i) % 4 == 0; }
F saxpy(int n, float a, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] += a * x[i]; }
F unrolled(int n, const float *x, float *y) { int i = 0; for (; i + 4 <= n; i += 4) { y[i] = x[i]; y[i+1] = x[i+1]; y[i+2] = x[i+2]; y[i+3] = x[i+3]; } for (; i < n; i++) y[i] = x[i]; }
F bounds(int lo, int hi, int n, const float *x, float *y) { for (int i = lo; i < hi; i++) y[i] = (i > 0 ? x[i - 1] : 0) + (i + 1 < n ? x[i + 1] : 0) + i; }
F rows(int n, int w, const float *x, float *y) { for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < w; j++) { s += x[i * w + j]; y[i * w + j] = s + j; } } }
F norm(int n, const float *x, float *s) { float t = 0; for (int i = 0; i < n; i++) t += x[i] * x[i]; *s += t; }
F offset(int n, int from, float *y) { for (int i = 0; i < n; i++) y[i] = sinf((from + i) * 0.5f); }
void all(int n, int w, float *x, float *y, float *s)
{
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'x[i]' is less than 'halo' reads: with n = {{[0-9]+}}, chunks of {{[0-9]+}}, the chunk that begins at i = {{[0-9]+}} reads x[{{[0-9]+}}], which no clause names for its chunk
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    halo(n, x, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'prefix' does not store to the same elements in chunks as in one call, such as y[{{[0-9]+}}]: its own index does not begin where the chunk does; tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) update(y[i])
    prefix(n, x, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'prefix0' does not store to the same elements in chunks as in one call
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) update(y[i])
    prefix0(n, x, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: a chunk of 'carried' reads y[{{[0-9]+}}], which another chunk stores, and chunks run in any order; call it without the pragma, or store to another array
#pragma kmm parallel(i = 0:n) rebase(n: i) read(y[i - 1]) update(y[i])
    carried(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'sums' stores what its loop carries from one iteration to the next, and that begins anew in each chunk; tell it the bounds
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    sums(n, x, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'iota' stores what its loop carries from one iteration to the next
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    iota(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'clamped' does not combine the same elements in chunks as in one call
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i - 1:3]) write(y[i])
    clamped(n, x, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'guarded' does not read the same elements in chunks as in one call
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i - 1:3]) write(y[i])
    guarded(n, x, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'first' does not store to the same elements in chunks as in one call
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    first(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'own' changes the global variable 'at', which all chunks share, and they run at once and in any order; make it a parameter
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    own(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'threads' uses 'scale', of which each thread has its own, and chunks run on threads of kmm; make it a parameter
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    threads(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'privately' uses 'apart', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    privately(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'local' changes the static variable 'seed', which all chunks share
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    local(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'global' uses 'G' by its name: there, indices do not begin where the chunk does, and the memory may not be that of the chunk; make it a parameter
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i]) read(G[i])
    global(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: several chunks of 'count' store to s[0], and chunks run at once and in any order; say reduce if they accumulate, as in reduce(+: s[0])
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) update(s[0])
    count(n, x, s);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'fix' does not combine the same elements in chunks as in one call
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) write(y[i])
    fix(n, y, x);
}
void good(int n, int w, float *x, float *y, float *s)
{
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) update(y[i])
    saxpy(n, 2, x, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    unrolled(n, x, y);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(x[i - 1:3]) write(y[i])
    bounds(0, n, n, x, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i * w:w]) write(y[i * w:w])
    rows(n, w, x, y);
#pragma kmm parallel(i = 0:n) chunk(n / 4) rebase(n: i) read(x[i]) reduce(+: s[0])
    norm(n, x, s);
#pragma kmm parallel(i = 0:n) chunk(n / 4) rebase(n: i, from: begin(i)) write(y[i])
    offset(n, 0, y);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) update(y[i])
    table_of(0, n, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) update(y[i])
    table(n, y);
#pragma kmm parallel(i = 0:n) chunk(w) rebase(n: i) update(y[i])
    table(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) shape(y[n][w]) update(y[i][:])
    columns(n, w, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) shape(x[n][w]) read(x[i][:]) write(y[i])
    nearest(n, w, x, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) update(y[i])
    gather(n, x, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    share_of(n, n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    aligned(n, y);
    int z[8];
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'by_name' stores what its loop carries from one iteration to the next
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_name(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'table' stores what its loop carries from one iteration to the next
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    table(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'table' stores what its loop carries from one iteration to the next
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(y[i])
    table(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'parity' stores what its loop carries from one iteration to the next
#pragma kmm parallel(i = 0:8) chunk(3) rebase(n: i) update(z[i])
    parity(8, z);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'share' stores what it computes from its length, which is another one in chunks; pass it a second time, as a parameter that rebase does not name
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    share(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'noise' stores what its loop carries from one iteration to the next
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    noise(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'rise' stores what its loop carries from one iteration to the next
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    rise(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'scaled' stores what it computes from its length
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    scaled(n, x, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'distance' stores what its loop carries from one iteration to the next
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    distance(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'distance_of' stores what its loop carries from one iteration to the next
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    distance_of(n, y);
    // Ranges and chunks that the source gives, and too many of them to be run.
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'thirds' stores what its loop carries from one iteration to the next, and that begins anew in each chunk
#pragma kmm parallel(i = 0:1000000) chunk(70001) rebase(n: i) update(long_one[i])
    thirds(1000000, long_one);
#pragma kmm parallel(i = 0:1000000) chunk(69999) rebase(n: i) update(long_one[i])
    thirds(1000000, long_one);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'evens' does not store to the same elements in chunks as in one call
#pragma kmm parallel(i = 0:1000000) chunk(999999 / 20) rebase(n: i) update(long_one[i])
    evens(1000000, long_one);
#pragma kmm parallel(i = 0:1000000) chunk(1000000 / 20) rebase(n: i) update(long_one[i])
    evens(1000000, long_one);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'leader' does not store to the same elements in chunks as in one call
#pragma kmm parallel(i = 0:1000000) chunk(10000) rebase(n: i) update(long_one[i])
    leader(1000000, long_one);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: warning: the length that 'large' gets decides what it stores, and a chunk's is another one than the whole range's; pass it a second time, as a parameter that rebase does not name [-Wkmm-length]
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    large(n, y);
// CHECK: functions.c:[[#@LINE+1]]:{{[0-9]+}}: warning: the length that 'large_told' gets decides what it stores
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    large_told(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    some(n, y);
}
