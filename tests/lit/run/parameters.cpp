// Parameters whose types are of other scopes, without a name, of a template, with default members, or
// pointers to members and functions. A call that a function without a value returns.
// RUN: %cxx -O1 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -w %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=16M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t 2>&1 | diff %t.expected -
#include <cstdio>
namespace ns {
enum class E : short { a = 4 };
enum F { b = 2 };
struct V { int x; };
template <class T> struct W { T t; };
template <int (*G)(int)> struct Z { int z; int apply(int k) const { return G(k); } };
struct M { int m; int n; int f(int k) { return k + m; } };
inline int twice(int a) { return 2 * a; }
inline void f(int n, const V a[], float b[], E e, F g, V v, const W<V> *w, int M::*member)
{
    M m = {3, 4};
    for (int i = 0; i < n; i++) b[i] = a[i].x + (int)e + g + v.x + w[i].t.x + m.*member;
}
inline void h(int n, float b[], const Z<twice> *z, bool t, int (M::*method)(int), int call(int))
{
    M m = {3, 4};
    for (int i = 0; i < n; i++) b[i] += z->apply(z->z) + t + (m.*method)(1) + call(3);
}
struct S {
    enum class In { p = 9 };
    enum { q = 3 };
};
inline void one(int n, float *b, S::In in) { for (int i = 0; i < n; i++) b[i] += (int)in; }
void self(float *b)
{
    V v = {1};
    static V a[1000];
    static W<V> w[1000];
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) read(a[i], w[i]) write(b[i])
    f(1000, a, b, E::a, ns::b, v, w, &M::n);
    static Z<twice> z[1] = {{5}};
    double half = .5;
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) read(z[0:1]) update(b[i])
    h(1000, b, z, half, &M::f, twice);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(b[i])
    one(1000, b, S::In::p);
}
}
enum { un, unn } var = unn;
static void k(int n, float *b, decltype(var) v) { for (int i = 0; i < n; i++) b[i] += v; }
struct settings { int a = 1; float b = 2; struct { short q; } in{3}; int sum() const { return a + (int)b + in.q; } };
struct nested { settings s; int k[3] = {1, 2, 3}; };
static void sums(int n, float *b, settings s, nested t) { for (int i = 0; i < n; i++) b[i] += s.sum() + t.s.a + t.k[2]; }
template <class T> struct pair_of { T a = 3; T b[2] = {1, 2}; T sum() const { return a + b[0] + b[1]; } };
struct derived : nested { int l = 5; };
struct tag {};
template <class T> struct twice_of { T operator()(T a) const { return a * 2; } };
static void bases(int n, float *b, pair_of<int> p, derived d) { for (int i = 0; i < n; i++) b[i] += p.sum() + d.k[1] + d.l; }
static void functors(int n, float *b, const tag &, const twice_of<float> &f) { for (int i = 0; i < n; i++) b[i] = f(b[i]); }
template <class T, class P> static void counts(T n, P *b) { for (T i = 0; i < n; i++) b[i] += 1; }
template <class T> static void of_template(T n, float *b)
{
    #pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(b[i])
    counts((int)n, b);
}
static void returns(long n, float *b)
{
    nested t;
    t.s.a = 7;
    #pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(b[i])
    counts(n, b);
    #pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(b[i])
    if (n > 999)
        return sums((int)n, b, {}, t);
    b[n - 1] = 0;
}
// A constant expression does not get as far as the launch.
static constexpr long constant(long n, float *b)
{
    if (n > 10) {
        #pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(b[i])
        counts(n, b);
    }
    return n;
}
static_assert(constant(3, nullptr) == 3, "");
int main()
{
    static float b[1000];
    constant(1000, b);
    ns::self(b);
    std::printf("%g\n", b[999]);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(b[i])
    k(1000, b, var);
    std::printf("%g\n", b[999]);
    derived d;
    d.k[1] = 100;
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(b[i])
    bases(1000, b, pair_of<int>{7}, d);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(b[i])
    functors(1000, b, {}, twice_of<float>());
    of_template(1000, b);
    of_template(1000L, b);
    returns(1000, b);
    std::printf("%g\n", b[999]);
}
