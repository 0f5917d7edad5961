// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// Members of one variable are arrays of their own, also where only one of them is named.
struct view { float *in, *out; };
struct pair { struct view a, b; int n, m; };
union both { float *in, *out; };
static void twice(int n, const float *in, float *out) { for (int i = 0; i < n; i++) out[i] = in[i] * 2; }
static void count(int n, const int *x, int *y) { for (int i = 0; i < n; i++) y[0] += x[0]; }

void members(int n, struct view v, struct pair *p, union both u)
{
// CHECK: :[[#@LINE+4]]:20: error: no clause says what 'twice' does with 'v.out', its parameter 'out' (float *); add read(v.out[...]), write(v.out[...]) or update(v.out[...])
// CHECK: note: if each index changes its own element
// CHECK: update(v.out[i])
#pragma kmm parallel(i = 0:n) rebase(n: i) update(v.in[i])
    twice(n, v.in, v.out);
// CHECK: :[[#@LINE+2]]:23: error: no clause says what 'twice' does with 'p->b.in', its parameter 'out' (float *); add read((p->b.in)[...])
#pragma kmm parallel(i = 0:n) rebase(n: i) read(p->a.in[i]) update(p->b.out[i])
    twice(n, p->a.in, p->b.in);
// CHECK: :[[#@LINE+1]]:49: error: 'v.out[i]' is only read here, but 'twice' stores to it; say write(v.out[i])
#pragma kmm parallel(i = 0:n) rebase(n: i) read(v.out[i], v.in[i])
    twice(n, v.in, v.out);
// CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: no clause says what 'count' does with '&p->m', its parameter 'y' (int *)
#pragma kmm parallel(i = 0:n) rebase(n: i) read((&p->n)[0:1])
    count(n, &p->n, &p->m);
// No errors: a member is named as a part of more, or shares its memory.
#pragma kmm parallel(i = 0:n) rebase(n: i) update(u.in[i])
    twice(n, u.in, u.out);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(p->a.in[i]) write(p->a.out[i])
    twice(n, &p->a.in[0], p->a.out + 0);
}
