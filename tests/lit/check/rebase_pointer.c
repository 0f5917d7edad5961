// SPDX-License-Identifier: Apache-2.0
// `rebase(n: i)` must know how far each pointer moves.
// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
static void two(int n, float *y, const float *x)
{
    for (int i = 0; i < n; i++)
        y[i] = x[2 * i] + x[0];
}

struct pair {
    float a, b;
};

static void whole(int n, float *y, const float *x)
{
    for (int i = 0; i < n; i++)
        y[i] = x[2 * i];
}

void f(int n, float *y, const float *x, const struct pair *p)
{
// CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: rebase cannot tell how far argument 'x' moves: 'x[2*i]' and 'x[0:1]' move differently; pass a pointer of its own for each
#pragma kmm parallel(i = 0:n) chunk(9) rebase(n: i) write(y[i]) read(x[2*i], x[0:1])
    two(n, y, x);
// CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: rebase cannot move '(const float *)p' as 'p[i]' moves: its type is 'const float *', of 4 bytes, and the item's elements have 8; rebase begin and end instead
#pragma kmm parallel(i = 0:n) chunk(9) rebase(n: i) write(y[i]) read(p[i])
    whole(n, y, (const float *)p);
}
// CHECK: 2 errors generated
