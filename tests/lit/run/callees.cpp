// Functions of namespaces, by names that only the calling function knows, and instances of templates.
// RUN: %cxx -O1 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -w %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
#include <cstdio>
namespace a { namespace b { struct V { int x; friend inline void hidden(int n, V *v) { for (int i = 0; i < n; i++) v[i].x += 5; } };
inline void over(int n, float *x) { for (int i = 0; i < n; i++) x[i] += 1; } 
template <class T> void tem(int n, T *x) { for (int i = 0; i < n; i++) x[i] += 1; } 
inline void adl(int n, V *v) { for (int i = 0; i < n; i++) v[i].x += 7; }
 }
 inline void up(int n, float *x) { for (int i = 0; i < n; i++) x[i] += 1; } 
 namespace { void anon(int n, float *x) { for (int i = 0; i < n; i++) x[i] += 1; } }
 void go(float *x) {
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  b::over(1000, x);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  up(1000, x);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  anon(1000, x);
 } }
namespace c = a::b;
static void scopes() { static float x[1000]; static a::b::V v[1000];
  using a::b::over; a::go(x);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  over(1000, x);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  (over)(1000, x);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  c::over(1000, x);
  { using namespace a;
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  b::over(1000, x);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  anon(1000, x);
  using namespace b;
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  tem<float>(1000, x);
  }
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(v[i])
  adl(1000, v);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(v[i])
  hidden(1000, v);
  namespace q = a::b;
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  q::tem(1000, x);
 std::printf("%g %d\n", x[999], v[999].x); }
template<class T> void inc(int n, T *x, T k) { for (int i = 0; i < n; i++) x[i] += k; }
template<int K, class T> static void add(int n, T x[]) { for (int i = 0; i < n; i++) x[i] += K; }
namespace ns { struct V { int a; }; template<class T> void move(int n, T *x, const V *v) { for (int i = 0; i < n; i++) x[i] += v[i].a; }
inline void over(int n, float *x) { for (int i = 0; i < n; i++) x[i] += 1; } 
inline void over(int n, int *x) { for (int i = 0; i < n; i++) x[i] += 2; } 
}
static void templates() { static float x[1000]; static int y[1000]; static ns::V v[1000];
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  inc(1000, x, 3.5f);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(y[i])
  inc<int>(1000, y, 3.5f);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  inc<float>(1000, x, 3);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  add<3>(1000, x);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i]) read(v[i])
  ns::move(1000, x, v);
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(y[i])
  ns::over(1000, y);
  using ns::over;
  #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
  ns::over(1000, x);
 std::printf("%g %d\n", x[999], y[999]); }
int main() { scopes(), templates(); }
