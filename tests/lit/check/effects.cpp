// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// Expressions of clauses are evaluated as often as it takes.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <tuple>
#include <vector>
void f(int n, float *x);
int next();

void effects(int n, float *x, std::vector<float> &v)
{
// CHECK: :[[#@LINE+1]]:28: error: the call of 'next' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:next()) rebase(n: i) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:57: error: the call of 'next' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + next()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(std::min(n, 3)) update(x[i + (long)v.size()])
    f(n, x);
// CHECK: :[[#@LINE+1]]:60: error: the call of 'next' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i]) if(next() > 2)
    f(n, x);
}

// A const member function may change what pointers lead to, and `mutable` members.
static int calls;
struct pure {
    int v[4];
    int *p;
    pure(int a) : v{a, 2} { p = nullptr; v[2] = a; }
    int size() const { int s = 0; for (int k : v) s += k; return s; }
    int most() const { const int *m = std::max_element(v, v + 4); return *m; }
    int twice(int a = 3) const { pure t(a); t.v[1] = 2; return 2 * t.v[0]; }
    operator int() const { return v[0]; }
    int operator[](int k) const { return v[k]; }
    int operator*() const { return *p; }
};
static int next_call() { return calls++; }
struct counter {
    int *p;
    mutable int m;
    std::atomic<int> *a;
    int through() const { return (*p)++; }
    int global() const { calls++; return m; }
    int changes(int k) const { m += k; return m; }
    int unseen() const;
    virtual int over() const { return m; }
    int atomic() const { return a->fetch_add(1); }
    int ordered() const { return __atomic_fetch_add(p, 1, 0); }
    int operator[](int k) { m++; return k; }
    int operator*() const { ++*p; return m; }
    int defaults(int k = next_call()) const { return k; }
};
struct converts { int s; operator int() { return s++; } };
struct initializes { int v; initializes(int a) : v(a + calls++) {} };
struct member_default { int v = calls++; member_default() {} };
struct ends { int v; ends(int a) : v(a) {} ~ends() { calls++; } };
struct holds { ends e; holds(int a) : e(a) {} int get() const { return e.v; } };
static ends make(int k);
static ends one(1);
static ends &refers(int) { return one; }
template <class T> struct view { std::vector<T> v; T *p; int at(int k) const { return (int)v[k] + p[k]; } };

void objects(int n, float *x, pure a, counter &c, converts nc, std::vector<int> &v, view<int> &w, std::map<int, int> &m,
             std::unique_ptr<int> &u, std::shared_ptr<pure> &s, std::unique_ptr<float[]> &y, std::tuple<int, long> &t, std::array<int, 3> &r)
{
    auto it = v.begin();
    auto lambda = [&] { return calls++; };
    auto constant = [=] { int k = n; k++; return k; };
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + a.size()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + a.twice()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + a.most()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + a])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + a[1]])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + *a])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + v[0]])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + (int)v.size()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + *v.data()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + *it])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + it[1]])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + (v.end() - v.begin())])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + *u])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + *u.get()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + s->size()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + (*s).size()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + s.get()->v[0]])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + m[3]])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + w.at(1)])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + std::get<0>(t) + std::get<1>(r) + v.at(2)])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + refers(1).v])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + one.v])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + constant()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update((y.get())[i])
    f(n, y.get());
// CHECK: error: the call of 'c.through' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + c.through()])
    f(n, x);
// CHECK: error: the call of 'c.global' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + c.global()])
    f(n, x);
// CHECK: error: the call of 'c.changes' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + c.changes(2)])
    f(n, x);
// CHECK: error: the call of 'c.unseen' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + c.unseen()])
    f(n, x);
// CHECK: error: the call of 'c.over' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + c.over()])
    f(n, x);
// CHECK: error: the call of 'c.atomic' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + c.atomic()])
    f(n, x);
// CHECK: error: the call of 'c.ordered' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + c.ordered()])
    f(n, x);
// CHECK: error: the call of 'c.defaults' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + c.defaults()])
    f(n, x);
// CHECK: error: 'c[2]' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + c[2]])
    f(n, x);
// CHECK: error: '*c' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + *c])
    f(n, x);
// CHECK: error: the call of 'lambda' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + lambda()])
    f(n, x);
// CHECK: error: 'i + nc' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + nc])
    f(n, x);
// CHECK: error: the call of 'initializes' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + initializes(3).v])
    f(n, x);
// CHECK: error: the call of 'member_default' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + member_default().v])
    f(n, x);
// CHECK: error: the call of 'ends' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + ends(3).v])
    f(n, x);
// CHECK: error: the call of 'holds(3).get' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + holds(3).get()])
    f(n, x);
// CHECK: error: the call of 'make' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + make(3).v])
    f(n, x);
    volatile int device = 0;
    std::atomic<int> count{0};
// CHECK: error: {{.*}} may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + device])
    f(n, x);
// CHECK: error: {{.*}} may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + count.load()])
    f(n, x);
// CHECK: error: {{.*}} may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + count])
    f(n, x);
}

// Offsets in a container are what data() points to.
void sums(int lo, int hi, const int *offsets, const float *x, float *y);
void offsets(int n, const std::vector<int> &rows, const float *x, float *y)
{
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read((rows.data())[i:2], x[rows.data()[i] : rows.data()[i + 1] - rows.data()[i]]) write(y[i])
    sums(0, n, rows.data(), x, y);
// CHECK: error: 'rows' is no pointer to integers of 32 or 64 bits, but 'const std::vector<int>': offsets are such integers, one behind the other; those of a container are its data()
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(x[rows[i] : rows[i + 1] - rows[i]]) write(y[i])
    sums(0, n, rows.data(), x, y);
}
