// RUN: %kmmcc %san -std=c++11 -Wall -Wextra -Werror -Wno-kmm-unproven %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// The types of parameters, where the call has given their names to something else, and where only the call can name
// them: those of unnamed namespaces, private ones, and those of a function.
#include <cstdio>
enum class mode : int { one = 1, many = 300 };
struct pair {
    enum class which : unsigned char { last = 200 };
    int a, b;
};
namespace {
struct hidden {
    int a;
};
hidden secret[50000];
void raise(int n, hidden *h)
{
    for (int i = 0; i < n; i++)
        h[i].a++;
}
} // namespace
namespace box {
template <class T, class M> struct of {
    T value;
};
template <class T> void put(int n, int *x, of<T, mode> v, mode m)
{
    for (int i = 0; i < n; i++)
        x[i] += (int)v.value + (int)m;
}
} // namespace box
static int x[50000];
static void add(int n, int *x, mode m, pair::which w, const pair *p, void (*each)(pair *, mode))
{
    pair q = *p;
    each(&q, m);
    for (int i = 0; i < n; i++)
        x[i] += (int)m + (int)w + q.a;
}
static void twice(pair *p, mode m) { p->a *= m == mode::many ? 2 : 1; }
template <class T> void count(int n, T *p)
{
    for (int i = 0; i < n; i++)
        p[i].a++;
}
class owner
{
    struct part {
        int a;
    };
    enum class way { up, down };
    part parts[50000];
    friend void move(int n, part *p, way w);

  public:
    long run();
};
void move(int n, owner::part *p, owner::way w)
{
    for (int i = 0; i < n; i++)
        p[i].a += w == owner::way::up ? 1 : -1;
}
long owner::run()
{
    part *p = parts;
#pragma kmm parallel(i = 0:50000) chunk(7000) rebase(n: i) update(p[i])
    move(50000, p, way::up);
    long s = 0;
    for (part &e : parts)
        s += e.a;
    return s;
}
static owner one;
int main()
{
    mode m = mode::many;
    pair p = {4, 5};
    pair::which w = pair::which::last;
    box::of<pair::which, mode> v = {w};
    {
        typedef unsigned char mode;
        struct pair {
            char c;
        };
        int box = 0;
        mode small = 3;
        (void)small, (void)sizeof(pair), (void)box;
#pragma kmm parallel(i = 0:50000) chunk(7000) rebase(n: i) update(x[i]) read((&p)[0])
        add(50000, x, m, w, &p, twice);
#pragma kmm parallel(i = 0:50000) chunk(7000) rebase(n: i) update(x[i])
        put(50000, x, v, m);
    }
    struct local {
        int a, b;
    };
    static local l[50000];
#pragma kmm parallel(i = 0:50000) chunk(7000) rebase(n: i) update(l[i])
    count<local>(50000, l);
    hidden *h = secret;
#pragma kmm parallel(i = 0:50000) chunk(7000) rebase(n: i) update(h[i])
    raise(50000, h);
    // CHECK: 1008 1 1 50000
    std::printf("%d %d %d %ld\n", x[777], l[888].a, secret[999].a, one.run());
    using box::of;
    box::of<local *, mode> z = {l};
    (void)z;
}
