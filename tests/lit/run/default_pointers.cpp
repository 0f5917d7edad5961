// Null pointers, functions, texts and structs of constants as defaults and arguments of plain functions.
// RUN: %cxx -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror -Wno-kmm-unproven %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t | diff %t.expected -
#include <cstdio>
#include <cstddef>
enum { N = 60000 };
static int x[N];
struct P { int a, b; };
struct Q { int a = 3, b = 4; };
static int id(int v) { return v; }
static void f1(int n, int *a, int *c = nullptr) { for (int i = 0; i < n; i++) a[i]++; if (c) *c = 1; }
static void f2(int n, int *a, int *c = NULL) { for (int i = 0; i < n; i++) a[i]++; if (c) *c = 1; }
static void f3(int n, int *a, int *c = 0, int k = {}) { for (int i = 0; i < n; i++) a[i] += k + 1; if (c) *c = 1; }
static void f4(int n, int *a, int *c = {}, P p = {}) { for (int i = 0; i < n; i++) a[i] += p.a + 1; if (c) *c = 1; }
static void f5(int n, int *a, P p = { 1, 2 }, const char *s = "abc") { for (int i = 0; i < n; i++) a[i] += p.b + s[0]; }
static void f6(int n, int *a, int (*g)(int) = id, int (*h)(int) = nullptr) { for (int i = 0; i < n; i++) a[i] += g(1) + (h ? h(1) : 0); }
static void f7(int n, int *a, P p = P(), int *q = static_cast<int *>(nullptr), int *r = (int *)0) { for (int i = 0; i < n; i++) a[i] += p.a + 1 + !q + !r; }
static void f8(int n, int *a, bool b = true, double d = -1.5, std::nullptr_t z = nullptr, char c = 'a', unsigned long long u = ~0ull) { for (int i = 0; i < n; i++) a[i] += b + (d < 0) + c + (u > 5); (void)z; }
#define R _Pragma("kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])")
int main() {
    R f1(N, x);
    R f2(N, x);
    R f3(N, x);
    R f4(N, x);
    R f5(N, x);
    R f6(N, x);
    R f7(N, x);
    R f8(N, x);
    R f1(N, x, nullptr);
    R f3(N, x, NULL);
    R f4(N, x, {}, { 3, 4 });
    R f5(N, x, P{ 5, 6 }, "x");
    long c = 0; for (int v : x) c += v;
    std::printf("%ld\n", c);
}
