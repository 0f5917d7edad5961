// Types of parameters in each version of C++.
// RUN: %cxx -std=c++14 -O1 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -std=c++14 -pedantic -Wall -Wextra -Werror -Wno-kmm-unproven -O1 %s -o %t.cxx14 && env KMM_DEVICES=host:3,mem=1M %t.cxx14 | diff %t.expected -
// RUN: %kmmcc -std=gnu++17 -pedantic -Wall -Wextra -Werror -Wno-kmm-unproven -O1 %s -o %t.gnuxx17 && env KMM_DEVICES=host:3,mem=1M %t.gnuxx17 | diff %t.expected -
// RUN: %kmmcc -std=c++23 -pedantic -Wall -Wextra -Werror -Wno-kmm-unproven -O1 %s -o %t.cxx23 && env KMM_DEVICES=host:3,mem=1M %t.cxx23 | diff %t.expected -
#include <cstdio>
#include <cstddef>
#include <cstdint>
enum { N = 60000 };
enum class mode : short { one = 1, two };
namespace app { struct flags { bool on; int v; }; using alias = flags; template <class T> struct box { T v; }; }
static bool b[N]; static int x[N]; static app::flags fl[N]; static bool pairs[N][2];
static bool inverse(bool v, int k) { return !v != !(k & 2); }
static void f(int n, bool *a, const bool *c, bool k) { for (int i = 0; i < n; i++) a[i] = !a[i] ^ (c == nullptr) ^ k; }
static void g(int n, int *a, bool (*h)(bool, int), mode m, app::flags fv, app::box<double> t, std::nullptr_t) { for (int i = 0; i < n; i++) a[i] += h(a[i] & 1, 2) + (int)m + fv.on + (int)t.v; }
static void h(int n, bool (*a)[2], decltype(1u) u, long double l, float s, std::uint8_t w, std::ptrdiff_t d, char16_t z, void *p) { for (int i = 0; i < n; i++) a[i][1] = !a[i][0] + u + (int)l + (int)s + w + (int)d + z + !p; }
static void r(int n, app::alias *a, const int *__restrict y, const volatile int *k) { for (int i = 0; i < n; i++) { a[i].on = !a[i].on; a[i].v += y[i] + *k; } }
int main() {
    constexpr int three = 3; int k = 2;
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(b[i])
    f(N, b, nullptr, true);
    app::flags fv = { true, false };
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    g(N, x, inverse, mode::two, fv, app::box<double>{ 2.5 }, nullptr);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(pairs[i][:])
    h(N, pairs, 0, three, 0.0f, 0, 0, u'\0', nullptr);
    #pragma kmm parallel(i = 0:N) chunk(N / 7) rebase(n: i) update(fl[i]) read(x[i]) read((&k)[0:1])
    r(N, fl, x, &k);
    long c = 0; for (int i = 0; i < N; i++) c += b[i] + x[i] + 3 * pairs[i][1] + fl[i].v * fl[i].on;
    std::printf("%ld\n", c);
    #pragma kmm data map(tofrom: x)
    {
        #pragma kmm task update(x[0:N])
        { x[3]++; }
        #pragma kmm update from(x[0:N])
    }
}
