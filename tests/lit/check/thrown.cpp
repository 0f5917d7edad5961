// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// REQUIRES: ir
// Exceptions that functions make of their own index or length, and others.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#define F static void
#define EACH for (int i = 0; i < n; i++)
enum { N = 5000 };
static int x[N];
struct place { int value; long at; };
[[noreturn]] F fail(long at) { throw std::out_of_range("index " + std::to_string(at)); }
F length(int n, int *a) { EACH if (a[i]++ == 7) throw n; }
F index(int n, int *a) { EACH if (a[i]++ == 7) throw place{a[i], i}; }
F text(size_t n, int *a) { for (size_t i = 0; i < n; i++) if (a[i]++ == 7) throw std::runtime_error(std::to_string(i)); }
F called(int n, int *a) { EACH if (a[i]++ == 7) fail(i); }
F distance(int n, int *a) { for (int *p = a; p < a + n; p++) if ((*p)++ == 7) throw long(p - a); }
F sum(int n, int *a) { int s = 0; EACH { s += a[i]; if (a[i]++ == 7) throw s; } }
F before(int n, int *a) { int p = 0; EACH { if (a[i] == 7) throw p; p = a[i]++; } }
F place_of(int n, int *a) { int at = -1; EACH { if (a[i]++ == 7) at = i; } if (at >= 0) throw at; }
F end(int lo, int hi, int *a) { for (int i = lo; i < hi; i++) if (a[i]++ == 7) throw hi; }
F own(int lo, int hi, int *a) { for (int i = lo; i < hi; i++) if (a[i]++ == 7) throw i - lo; }

F number(int n, int *a) { EACH if (a[i]++ == 7) throw 7; }
F element(int n, int *a) { EACH if (a[i]++ == 7) throw std::runtime_error("value " + std::to_string(a[i])); }
F inner(int n, int *a) { EACH for (int j = 0; j < 3; j++) if (a[i] == j) throw j; else a[i] += 9; }
F caught(int n, int *a) { EACH try { if (a[i]++ == 7) throw i; } catch (int) { a[i] = 1; } }
F stops(int n, int *a) { int v = 0; EACH { v = a[i]++; if (v == 7) break; } if (v == 7) throw v; }
F room(int n, int *a) { std::string s(5, 'x'); int *t = (int *)std::malloc(n * sizeof(int)); EACH { t[i] = a[i]++; if (t[i] == 7) { std::free(t); throw std::runtime_error(s); } } std::free(t); }
F bounds(int lo, int hi, int *a) { for (int i = lo; i < hi; i++) if (a[i]++ == 7) throw std::runtime_error(std::to_string(i)); }
F prints(int n, int *a) { EACH if (a[i]++ == 7) { std::fprintf(stderr, "%d\n", i); throw 1; } }
#define CALL(f) _Pragma("kmm parallel(i = 0:N) chunk(611) rebase(n: i) update(x[i])") f(N, x)
#define PART(f) _Pragma("kmm parallel(i = 0:N) chunk(611) rebase(lo: begin(i), hi: end(i)) update(x[i])") f(0, N, x)
int main()
{
    // CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: 'length' throws what it computes from its length
    // CHECK: thrown.cpp:14:{{[0-9]+}}: note: it throws it here
    CALL(length);
    // CHECK: error: 'index' throws what it computes from its own index
    CALL(index);
    // CHECK: error: 'text' throws what it computes from its own index
    CALL(text);
    // CHECK: error: 'called' throws
    CALL(called);
    // CHECK: error: 'distance' throws
    CALL(distance);
    // CHECK: error: 'sum' throws
    CALL(sum);
    // CHECK: error: 'before' throws
    CALL(before);
    // CHECK: error: 'place_of' throws
    CALL(place_of);
    // CHECK: error: 'end' throws what it computes from where its chunk begins or ends
    PART(end);
    // CHECK: error: 'own' throws what it computes from where its chunk begins or ends
    PART(own);
    CALL(number);
    CALL(element);
    CALL(inner);
    CALL(caught);
    CALL(stops);
    CALL(room);
    CALL(prints);
    PART(bounds);
}
