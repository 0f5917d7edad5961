// Types of parameters in each version of C: what kmmcc writes compiles in all of them.
// RUN: %cc -std=c99 -O1 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -std=c99 -pedantic -Wall -Wextra -Werror -Wno-kmm-unproven -O1 %s -o %t.c99 && env KMM_DEVICES=host:3,mem=1M %t.c99 | diff %t.expected -
// RUN: %kmmcc -std=gnu11 -pedantic -Wall -Wextra -Werror -Wno-kmm-unproven -O1 %s -o %t.gnu11 && env KMM_DEVICES=host:3,mem=1M %t.gnu11 | diff %t.expected -
// RUN: %kmmcc -std=c17 -pedantic -Wall -Wextra -Werror -Wno-kmm-unproven -O1 %s -o %t.c17 && env KMM_DEVICES=host:3,mem=1M %t.c17 | diff %t.expected -
// RUN: %kmmcc -std=c2x -pedantic -Wall -Wextra -Werror -Wno-kmm-unproven -O1 %s -o %t.c2x && env KMM_DEVICES=host:3,mem=1M %t.c2x | diff %t.expected -
// RUN: %kmmcc -std=gnu2x -pedantic -Wall -Wextra -Werror -Wno-kmm-unproven -O1 %s -o %t.gnu2x && env KMM_DEVICES=host:3,mem=1M %t.gnu2x | diff %t.expected -
#include <stdio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
enum { N = 60000 };
enum mode { ONE = 1, TWO };
typedef struct { bool on; _Bool off; int v; } flags;
struct tagged { bool b[2]; };
static bool b[N], (*fp)(bool, int); static int x[N]; static flags fl[N];
static bool not(bool v, int k) { return !v ^ (k & 2); }
static void f(int n, bool *a, const _Bool *c, bool k) { for (int i = 0; i < n; i++) a[i] = !a[i] ^ (c == 0) ^ k; }
static void g(int n, int *a, bool (*h)(bool, int), enum mode m, flags fv, struct tagged t) { for (int i = 0; i < n; i++) a[i] += h(a[i] & 1, 2) + m + fv.on + t.b[1]; }
static void h(int n, bool (*a)[2], unsigned char u, long double l, float s, uint8_t w, ptrdiff_t d, size_t z, void *p) { for (int i = 0; i < n; i++) a[i][1] = !a[i][0] + u + (int)l + (int)s + w + (int)d + (int)z + !p; }
static void q(int n, __typeof__(int) *a, __typeof__(x[0]) k, double _Complex c, long long ll) { for (int i = 0; i < n; i++) a[i] += k + (int)__real__ c + (int)ll; }
static void r(int n, flags *a, const int *restrict y, int *restrict o, int k[4]) { for (int i = 0; i < n; i++) { a[i].on = !a[i].on; a[i].v += y[i]; o[i] += k[1]; } }
static bool pair[N][2]; static int out[N];
int main(void) {
    fp = not; int k[4] = { 1, 2, 3, 4 };
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(b[i])
    f(N, b, NULL, true);
    flags fv = { true, false, 3 }; struct tagged t = { { false, true } };
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    g(N, x, fp, TWO, fv, t);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(pair[i][:])
    h(N, pair, 0, 0.0L, 0.0f, 0, 0, 0, NULL);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    q(N, x, 3, 2.0, 5);
    #pragma kmm parallel(i = 0:N) chunk(N / 7) rebase(n: i) update(fl[i]) read(x[i]) update(out[i]) read(k[0:4])
    r(N, fl, x, out, k);
    long c = 0; for (int i = 0; i < N; i++) c += b[i] + x[i] + 3 * pair[i][1] + fl[i].v * fl[i].on + out[i];
    printf("%ld\n", c);
    #pragma kmm data map(tofrom: x)
    {
        #pragma kmm task update(x[0:N])
        { x[3]++; }
        #pragma kmm update from(x[0:N])
    }
    return 0;
}
