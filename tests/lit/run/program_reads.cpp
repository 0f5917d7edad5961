// RUN: %kmmcc %san -fno-kmm -std=c++20 %s -o %t.plain && %t.plain > %t.want
// RUN: %kmmcc %san -std=c++20 -O1 -Wall -Wextra -Wno-unused-but-set-variable -Werror -Wno-kmm-unproven %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// RUN: %kmmcc --emit-source -std=c++20 %s | FileCheck %s
// REQUIRES: ir
// In a data block, the program changes what chunks read by other ways than the items, as soon as the launch returns.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

enum { N = 60000 };
static int a[N], level, table[4];
static float x[N], y[N];

struct pointing { int k; const int *t; };
static void by_struct(int n, int *v, pointing c) { for (int i = 0; i < n; i++) v[i] += c.t[1] * c.k; }
struct large { int pad[8]; const int *t; };
static void by_large(int n, int *v, large c) { for (int i = 0; i < n; i++) v[i] += c.t[1] + c.pad[0]; }
struct several { const int *t[2]; };
static void by_several(int n, int *v, several c) { for (int i = 0; i < n; i++) v[i] += c.t[1][0]; }
struct holding { const int *t; };
struct nested { struct { int k[2]; holding in[1]; } at; };
static void by_nested(int n, int *v, nested c) { for (int i = 0; i < n; i++) v[i] += *c.at.in[0].t; }
union both { const int *t; long number; };
static void by_union(int n, int *v, both c) { for (int i = 0; i < n; i++) v[i] += *c.t; }
static void by_number(int n, int *v, intptr_t p) { for (int i = 0; i < n; i++) v[i] += *(int *)p; }
static void by_call(int n, int *v, int (*f)(int)) { for (int i = 0; i < n; i++) v[i] = f(v[i]); }

struct constant { const int *p; int k; };
static const constant fixed = {table, 3};
static void by_constant(int n, int *v) { for (int i = 0; i < n; i++) v[i] += fixed.p[1] * fixed.k; }
struct counting { mutable int k; };
static const counting counter = {3};
static void by_mutable(int n, int *v) { for (int i = 0; i < n; i++) v[i] += counter.k; }
static int &hidden() { static int h; return h; }
static void by_hidden(int n, int *v) { for (int i = 0; i < n; i++) v[i] += hidden(); }
struct ending { int *p; ~ending() { *p += level; } };
static void by_destructor(int n, int *v) { for (int i = 0; i < n; i++) { ending e{v + i}; } }
struct initialized { int k = level; };
static void by_initializer(int n, int *v) { for (int i = 0; i < n; i++) { initialized e; v[i] += e.k; } }
static int defaulted(int k, int by = level) { return k + by; }
static void by_default(int n, int *v) { for (int i = 0; i < n; i++) v[i] = defaulted(v[i]); }
struct converting { operator int() const { return level; } };
static void by_conversion(int n, int *v) { for (int i = 0; i < n; i++) v[i] += converting(); }
static std::vector<int> list(4);
static void by_range(int n, int *v) { for (int i = 0; i < n; i++) for (int k : list) v[i] += k; }
static int &alias = level;
static void by_alias(int n, int *v) { for (int i = 0; i < n; i++) v[i] += alias; }
static std::function<int(int)> function;
static void by_function(int n, int *v) { for (int i = 0; i < n; i++) v[i] = function(v[i]); }
struct base { virtual int get() const { return 0; } virtual ~base() {} };
struct derived : base { int k = 0; int get() const override { return k; } };
static derived object;
static const base *pointer = &object;
static void by_virtual(int n, int *v) { for (int i = 0; i < n; i++) v[i] += pointer->get(); }
static std::atomic<int> atom;
static void by_atomic(int n, int *v) { for (int i = 0; i < n; i++) v[i] += atom.load(); }
static volatile int changing;
static void by_volatile(int n, int *v) { for (int i = 0; i < n; i++) v[i] += changing; }
template <class T> struct holder { static inline T value; };
static void by_template(int n, int *v) { for (int i = 0; i < n; i++) v[i] += holder<int>::value; }
static int deep(int k) { return k ? deep(k - 1) : level; }
static void by_recursion(int n, int *v) { for (int i = 0; i < n; i++) v[i] += deep(3); }
static void by_environment(int n, int *v) { for (int i = 0; i < n; i++) v[i] += std::getenv("LEVEL")[0]; }
__attribute__((weak)) int weak(int k) { return k; }
static void by_weak(int n, int *v) { for (int i = 0; i < n; i++) v[i] = weak(v[i]); }
static std::unique_ptr<int> owned = std::make_unique<int>(0);
static void by_owner(int n, int *v) { for (int i = 0; i < n; i++) v[i] += *owned; }
static void by_lambda(int n, int *v) { auto f = [&](int i) { return v[i] + level; }; for (int i = 0; i < n; i++) v[i] = f(i); }
static void by_assembly(int n, int *v) { for (int i = 0; i < n; i++) { int k; asm volatile("movl %1, %0" : "=r"(k) : "m"(level)); v[i] += k; } }

#define DATA _Pragma("kmm data map(tofrom: a)") { for (int k = 0, t[2]; k < 12; k++)
#define SHOW(name) show(#name)
static void show(const char *name)
{
    unsigned s = 0;
    for (int i = 0; i < N; i++)
        s = s * 31 + (unsigned)a[i];
    std::printf("%s %u\n", name, s);
}
static int plus(int v) { return v + level; }

#define LAUNCH(...) _Pragma("kmm parallel(i = 0:N) chunk(3000) rebase(n: i) update(a[i])") __VA_ARGS__

static void arguments()
{
    DATA { t[1] = k; pointing c = {2, t}; LAUNCH(by_struct(N, a, c)); t[1] = 1 << 20; } } SHOW(by_struct);
    DATA { int *h = (int *)std::malloc(8); t[0] = 0; h[1] = k + t[0]; LAUNCH(by_struct(N, a, pointing{2, h})); std::memset(h, 0x55, 8); std::free(h); } } SHOW(freed);
    DATA { t[1] = k; large c = {{1}, t}; LAUNCH(by_large(N, a, c)); t[1] = 1 << 20; } } SHOW(by_large);
    DATA { t[1] = k; several c = {{t, t + 1}}; LAUNCH(by_several(N, a, c)); t[1] = 1 << 20; } } SHOW(by_several);
    DATA { t[1] = k; both c = {t + 1}; LAUNCH(by_union(N, a, c)); t[1] = 1 << 20; } } SHOW(by_union);
    DATA { t[1] = k; nested c; c.at.in[0].t = t + 1; LAUNCH(by_nested(N, a, c)); t[1] = 1 << 20; } } SHOW(by_nested);
    DATA { t[1] = k; LAUNCH(by_number(N, a, (intptr_t)&t[1])); t[1] = 1 << 20; } } SHOW(by_number);
    DATA { t[0] = level = k; LAUNCH(by_call(N, a, plus)); level = 1 << 20; } } SHOW(by_call);
}

static void globals()
{
    DATA { t[0] = table[1] = k; LAUNCH(by_constant(N, a)); table[1] = 1 << 20; } } SHOW(by_constant);
    DATA { t[0] = counter.k = k; LAUNCH(by_mutable(N, a)); counter.k = 1 << 20; } } SHOW(by_mutable);
    DATA { t[0] = hidden() = k; LAUNCH(by_hidden(N, a)); hidden() = 1 << 20; } } SHOW(by_hidden);
    DATA { t[0] = level = k; LAUNCH(by_destructor(N, a)); level = 1 << 20; } } SHOW(by_destructor);
    DATA { t[0] = level = k; LAUNCH(by_initializer(N, a)); level = 1 << 20; } } SHOW(by_initializer);
    DATA { t[0] = level = k; LAUNCH(by_default(N, a)); level = 1 << 20; } } SHOW(by_default);
    DATA { t[0] = level = k; LAUNCH(by_conversion(N, a)); level = 1 << 20; } } SHOW(by_conversion);
    DATA { t[0] = list[1] = k; LAUNCH(by_range(N, a)); list[1] = 1 << 20; list.resize(list.size() + 1000); list.resize(4); list.shrink_to_fit(); } } SHOW(by_range);
    DATA { t[0] = level = k; LAUNCH(by_alias(N, a)); level = 1 << 20; } } SHOW(by_alias);
    DATA { t[0] = k; function = [&t](int v) { return v + t[0]; }; LAUNCH(by_function(N, a)); t[0] = 1 << 20; function = nullptr; } } SHOW(by_function);
    DATA { t[0] = object.k = k; LAUNCH(by_virtual(N, a)); object.k = 1 << 20; } } SHOW(by_virtual);
    DATA { t[0] = atom = k; LAUNCH(by_atomic(N, a)); atom = 1 << 20; } } SHOW(by_atomic);
    DATA { changing = t[0] = k; LAUNCH(by_volatile(N, a)); changing = 1 << 20; } } SHOW(by_volatile);
    DATA { t[0] = holder<int>::value = k; LAUNCH(by_template(N, a)); holder<int>::value = 1 << 20; } } SHOW(by_template);
    DATA { t[0] = level = k; LAUNCH(by_recursion(N, a)); level = 1 << 20; } } SHOW(by_recursion);
    DATA { char s[2] = {(char)('a' + k), 0}; t[0] = setenv("LEVEL", s, 1); LAUNCH(by_environment(N, a)); t[0] = setenv("LEVEL", "zz", 1); } } SHOW(by_environment);
    DATA { t[0] = k; LAUNCH(by_weak(N, a)); } } SHOW(by_weak);
    DATA { t[0] = k; owned = std::make_unique<int>(k); LAUNCH(by_owner(N, a)); *owned = 1 << 20; owned.reset(); } } SHOW(by_owner);
    DATA { t[0] = level = k; LAUNCH(by_lambda(N, a)); level = 1 << 20; } } SHOW(by_lambda);
#ifdef __x86_64__
    DATA { t[0] = level = k; LAUNCH(by_assembly(N, a)); level = 1 << 20; } } SHOW(by_assembly);
#endif
}

// What these read is theirs: the launches return early.
// CHECK-LABEL: static void early(
struct scale { float by; int unused; };
struct lines { const float *from; float *to; };
static const float weight[3] = {1, 2, 3};
static constexpr int steps[] = {1, 2};
struct square { float operator()(float v) const { return v * v; } };
template <class F> static float apply(F f, float v) { return f(v); }
static void saxpy(int n, float s, const float *v, float *w) { for (int i = 0; i < n; i++) w[i] += s * v[i]; }
static void scaled(int n, scale s, float *w) { for (int i = 0; i < n; i++) w[i] *= s.by; }
static void lined(int lo, int hi, lines l) { for (int i = lo; i < hi; i++) l.to[i] += l.from[i]; }
static void rows(int n, int m, const float *v, float *w) { for (int i = 0; i < n; i++) { float t[8]; for (int k = 0; k < m; k++) t[k] = v[i * m + k] * weight[k % 3]; w[i * m] = t[m / 2]; } }
static void roots(int n, float *w) { for (int i = 0; i < n; i++) w[i] = std::sqrt(std::abs(w[i])) + sinf(w[i]) + std::min(w[i], 2.0f) + steps[i & 1] * 0; }
static void applied(int n, float *w) { float by = 2; auto f = [&](float v) { return v * by; }; for (int i = 0; i < n; i++) w[i] = apply(f, apply(square(), w[i])); }
static void copied(int n, const float *v, float *w) { std::copy(v, v + n, w); std::memmove(w, v, n * sizeof *v); }
static void transformed(int n, const float *v, float *w) { std::transform(v, v + n, w, w, [](float p, float q) { return p + q; }); }
static void complexes(int n, float *w) { for (int i = 0; i < n; i++) { std::complex<float> c(w[i], 1); w[i] = std::norm(c * c); } }
static void buffered(int n, const float *v, float *w) { for (int i = 0; i < n; i++) { std::vector<float> b(4, v[i]); w[i] += b[3]; } }
static void early()
{
    #pragma kmm data map(to: x) map(tofrom: y)
    {
        // CHECK-NOT: {{^ *}}kmm_launch_await(
        #pragma kmm parallel(i = 0:N) chunk(3000) rebase(n: i) read(x[i]) update(y[i])
        saxpy(N, 2, x, y);
        #pragma kmm parallel(i = 0:N) chunk(3000) rebase(n: i) update(y[i])
        scaled(N, scale{0.5f, 0}, y);
        lines l = {x, y};
        #pragma kmm parallel(i = 0:N) chunk(3000) rebase(lo: begin(i), hi: end(i)) read(l.from[i]) update(l.to[i])
        lined(0, N, l);
        #pragma kmm parallel(i = 0:N / 8) chunk(500) rebase(n: i) read(x[8 * i:8]) update(y[8 * i:8])
        rows(N / 8, 8, x, y);
        #pragma kmm parallel(i = 0:N) chunk(3000) rebase(n: i) update(y[i])
        roots(N, y);
        #pragma kmm parallel(i = 0:N) chunk(3000) rebase(n: i) update(y[i])
        applied(N, y);
        #pragma kmm parallel(i = 0:N) chunk(3000) rebase(n: i) read(x[i]) write(y[i])
        copied(N, x, y);
        #pragma kmm parallel(i = 0:N) chunk(3000) rebase(n: i) read(x[i]) update(y[i])
        transformed(N, x, y);
        #pragma kmm parallel(i = 0:N) chunk(3000) rebase(n: i) update(y[i])
        complexes(N, y);
        // CHECK-LABEL: buffered(
        #pragma kmm parallel(i = 0:N) chunk(3000) rebase(n: i) read(x[i]) update(y[i])
        buffered(N, x, y);
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += y[i];
    std::printf("early %.9g\n", sum);
}

int main()
{
    for (int i = 0; i < N; i++)
        x[i] = i % 97, y[i] = i % 13;
    arguments();
    globals();
    early();
}
