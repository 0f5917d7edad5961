// RUN: %kmmcc %san -fno-kmm -w %s -o %t.plain && %t.plain > %t.want
// RUN: %kmmcc %san -O1 -w %s -o %t && env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.out && diff %t.want %t.out
// RUN: %not %kmmcc -w -DWRONG -c %s -o %t.o 2>&1 | FileCheck --check-prefix=WRONG %s
// Chunks call the function that the launch names, also where C++ finds it in a namespace of the launch's arguments, and where a function of the
// same name would fit the arguments of a chunk as well.
#include <stdio.h>
enum { ALL = 1000 };
static int x[1000];
static void begin() { for (int i = 0; i < 1000; i++) x[i] = i; }
static void end(const char *what) { long s = 0; for (int i = 0; i < 1000; i++) s += (long)x[i] * (i % 7 + 1); printf("%s %ld\n", what, s); begin(); }
// Each function has a factor of its own; those that the calls do not mean have 11 and more.
#define BODY(f) { for (int i = 0; i < (int)n; i++) x[i] = x[i] * f + (int)k; }
namespace lib {
enum Size : int { MANY = 1000 };
struct Base { int v; operator int() const { return v; } };
static void up(Size n, int k, int *x) BODY(7)
static void go(int n, int k, int *x) BODY(7)
template <class T> void tmpl(Size n, T k, int *x) BODY(5)
template <class T, int F> void args(Size n, T k, int *x) BODY(F)
inline namespace v1 { static void inl(Size n, int k, int *x) BODY(3) }
extern "C" { static void cfun(Size n, int k, int *x) BODY(9) }
struct Tag { int k; friend void hidden(Size n, Tag t, int *x) { int k = t.k; BODY(6) } };
namespace deep { struct D : Base {}; static void far(int n, Base b, int *x) { int k = b.v; BODY(4) } }
}
static void up(int n, long k, int *x) BODY(2)
namespace { void anon(int n, int k, int *x) BODY(8) }
namespace q {
static void up(long n, long k, int *x) BODY(11)
static void go(long n, long k, int *x) BODY(11)
template <class T> void tmpl(long n, T k, int *x) BODY(11)
static void inl(long n, long k, int *x) BODY(11)
static void cfun(long n, long k, int *x) BODY(11)
static void far(long n, lib::Base b, int *x) { int k = b.v; BODY(11) }
namespace { void anon(long n, long k, int *x) BODY(12) }
static void all(long n, long k, int *x) BODY(13)
struct S { int *p;
  void method() {
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    go(lib::MANY, 3, x);
    end("method");
  }
};
template <class T> static void generic(T k) {
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    go(lib::MANY, 3, x);
    end("generic");
}
#ifdef WRONG
template <class T> static void depends(T k) {
// WRONG: found_functions.cpp:[[#@LINE+2]]:{{[0-9]+}}: error: which function of this name is called depends on the arguments of the template; write its namespace
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    all(1000, k, x);
}
static void all(lib::Base k) {}
#endif
static void run() {
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    up(lib::MANY, 3, x);
    end("up");
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    go(lib::MANY, 3, x);
    end("go");
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    up(ALL, 3, x);
    end("global");
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    tmpl(lib::MANY, 3, x);
    end("tmpl");
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    lib::args<int, 9>(lib::MANY, 3, x);
    end("args");
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    inl(lib::MANY, 3, x);
    end("inl");
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    cfun(lib::MANY, 3, x);
    end("cfun");
    lib::Tag t{3};
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    hidden(lib::MANY, t, x);
    end("hidden");
    lib::deep::D d; d.v = 3;
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    far(1000, d, x);
    end("far");
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    anon(1000, 3, x);
    end("anon");
    using lib::go;
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    go(1000, 3, x);
    end("using");
    S{x}.method();
    generic(3); generic(3.0);
}
}
using namespace lib;
int main() { begin(); q::run();
#pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    go(1000, 3, x);
    end("directive");
}
