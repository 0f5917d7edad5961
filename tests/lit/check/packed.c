// RUN: %kmmcc -c %s -o %t.o
// RUN: %not %kmmcc -fpack-struct -c %s -o %t.o 2>&1 | FileCheck %s
// An element that an option packs for gcc, and a pragma for kmmcc.
#pragma pack(push, 2)
struct most { char v; int at; };
#pragma pack(pop)
static void most(int lo, int hi, const char *a, struct most *b)
{
    for (int i = lo; i < hi; i++)
        if (a[i] > b->v) {
            b->v = a[i];
            b->at = i;
        }
}
void all(int n, const char *c, struct most *m)
{
// CHECK: error: {{.*}}line [[#@LINE+1]]: m[0:1]: the compiler lays the struct out otherwise than kmmcc
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(c[i]) reduce(argmax: m[0:1])
    most(0, n, c, m);
}
