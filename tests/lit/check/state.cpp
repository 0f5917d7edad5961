// RUN: %not %kmmcc -std=c++20 -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// RUN: %kmmcc -std=c++20 -fno-kmm-compare -c %s -o %t.o
// REQUIRES: ir
// Functions of C++ that keep a state in objects; and some that do not.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#define F static void
static int counter;
static std::vector<int> list;
static std::map<int, int> seen;
static std::string text;
F by_reference(int n, int *y) { int &r = counter; for (int i = 0; i < n; i++) y[i] += r++; }
F by_vector(int n, const int *x) { for (int i = 0; i < n; i++) if (x[i] > 0) list.push_back(x[i]); }
F by_map(int n, const int *x) { for (int i = 0; i < n; i++) seen[x[i]]++; }
F by_string(int n, const int *x) { for (int i = 0; i < n; i++) text += (char)x[i]; }
struct log { int n = 0; int add() { return ++n; } static log &get() { static log l; return l; } };
F by_method(int n, int *y) { for (int i = 0; i < n; i++) y[i] += log::get().add(); }
F by_swap(int n, int *y) { for (int i = 0; i < n; i++) { std::swap(y[i], counter); } }
template <class T> static T of_type = 0;
F by_template(int n, int *y) { for (int i = 0; i < n; i++) y[i] += of_type<int>++; }
F by_thread(int n, int *y) { thread_local int k = 0; for (int i = 0; i < n; i++) y[i] = k++; }
extern "C" { thread_local int own = 1; }
F by_linkage(int n, int *y) { for (int i = 0; i < n; i++) y[i] += own; }
static thread_local int mine = 1;
static int value(int a = mine) { return a; }
F by_default(int n, int *y) { for (int i = 0; i < n; i++) y[i] += value(); }
struct with_default { int v = mine; };
F by_initializer(int n, int *y) { for (int i = 0; i < n; i++) { with_default d; y[i] += d.v; } }
struct adds { int *p; ~adds() { *p += mine; } };
F by_destructor(int n, int *y) { for (int i = 0; i < n; i++) { adds a{y + i}; } }
struct range { int a[12]; const int *begin() const { return a; } const int *end() const { return a + mine; } };
static const range of_range = {};
F by_range(int n, int *y) { for (int i = 0; i < n; i++) for (int k : of_range) y[i] += k; }
static int get() { return mine; }
static int (*volatile pointer)() = get;
static int (*const functions[2])() = {get, get};
F by_function(int n, int *y) { for (int i = 0; i < n; i++) y[i] += pointer(); }
F by_functions(int n, int *y) { for (int i = 0; i < n; i++) y[i] += functions[y[i] & 1](); }
struct holder { int get() const { return mine; } };
static holder held;
static int (holder::*const member)() const = &holder::get;
F by_member_pointer(int n, int *y) { for (int i = 0; i < n; i++) y[i] += (held.*member)(); }
static std::function<int()> function = [] { return mine; };
F by_std_function(int n, int *y) { for (int i = 0; i < n; i++) y[i] += function(); }
static int by_mine(const void *a, const void *b) { return mine * (*(const char *)a - *(const char *)b); }
F by_comparison(int n, unsigned *v) { for (int i = 0; i < n; i++) std::qsort(v + i, 4, 1, by_mine); }
static int &the_same() { thread_local int k = 1; return k; }
F by_local(int n, int *y) { for (int i = 0; i < n; i++) y[i] += the_same(); }
F by_exchange(int n, const int *x, int *y) { int p = 0; for (int i = 0; i < n; i++) y[i] = std::exchange(p, x[i]); }
F by_engine(int n, unsigned *y) { std::mt19937 g(1); for (int i = 0; i < n; i++) y[i] = (unsigned)g(); }
struct generator { unsigned s; unsigned operator()() { return s = s * 1664525u + 1013904223u; } };
F by_generator(int n, unsigned *y) { generator g{7}; for (int i = 0; i < n; i++) y[i] = g(); }
F by_rand(int n, int *y) { for (int i = 0; i < n; i++) y[i] += std::rand(); }
F by_stream(int n, const int *x) { for (int i = 0; i < n; i++) std::cout << x[i]; }
struct journal { void add(int k); int size() const; };
extern journal lines;
F by_journal(int n, const int *x) { for (int i = 0; i < n; i++) lines.add(x[i]); }
static std::vector<int> bins(16);
F by_element(int n, const int *x) { for (int i = 0; i < n; i++) bins[x[i] & 15]++; }
static std::atomic<double> real;
F by_sum(int n, const int *x) { for (int i = 0; i < n; i++) { double old = real; while (!real.compare_exchange_weak(old, old + x[i])) ; counter += x[i]; } }
static std::atomic<unsigned> references, version;
F by_reference_count(int n, const int *x) { unsigned v = references; while (v && !references.compare_exchange_weak(v, v + 1)) ; for (int i = 0; i < n; i++) counter += x[i]; references.fetch_sub(1); }
static std::atomic<int> calls;
static long places[5000];
F by_few_places(int n, const int *x) { int mine = calls.fetch_add(1); for (int i = 0; i < n; i++) places[mine & 3] += x[i]; }
F by_static_place(int n, const int *x) { int mine = calls.fetch_add(1); for (int i = 0; i < n; i++) places[mine] += x[i]; }
F by_pointer_place(int n, const int *x) { long *mine = &places[calls++]; for (int i = 0; i < n; i++) *mine += x[i]; }
/* right ones */
static int ring[64], kept[4096];
F by_ring(int n, const int *x) { for (int i = 0; i < n; i++) ring[calls++ & 63] = x[i]; }
F by_room(int n, int *y) { int at = calls.fetch_add(n); if (at + n > 4096) return; for (int i = 0; i < n; i++) kept[at + i] = y[i]; for (int i = 0; i < n; i++) y[i] += kept[at + i]; }
F by_version(int n, const int *x) { unsigned v = version.load(std::memory_order_relaxed); do while (v & 1) v = version.load(std::memory_order_relaxed); while (!version.compare_exchange_weak(v, v + 1, std::memory_order_acquire)); for (int i = 0; i < n; i++) counter += x[i]; version.store(v + 2, std::memory_order_release); }
static std::atomic<unsigned> word, next, serving;
F by_bits(int n, const int *x) { while (word.fetch_or(1) & 1) ; for (int i = 0; i < n; i++) counter += x[i]; word.fetch_and(~1u); }
F by_ticket(int n, const int *x) { unsigned mine = next.fetch_add(1); while (serving.load() != mine) ; for (int i = 0; i < n; i++) counter += x[i]; serving.fetch_add(1); }
static int *parts = new int[5000]();
F by_place(int n, const int *x) { unsigned mine = next.fetch_add(1); for (int i = 0; i < n; i++) parts[mine] += x[i]; }
static std::shared_ptr<const std::vector<int>> settings = std::make_shared<std::vector<int>>(4);
F by_owner(int n, int *y) { for (int i = 0; i < n; i++) { auto copy = settings; y[i] += (*copy)[1]; } }
F asks(int n, int *y) { for (int i = 0; i < n; i++) y[i] += lines.size(); }
F by_thread_id(int n, int *y) { for (int i = 0; i < n; i++) y[i] += std::this_thread::get_id() == std::thread::id(); }
static void by_handled(int n, int *y) { for (int i = 0; i < n; i++) y[i] += std::current_exception() != nullptr; }
static void handles(int n, int *y) { for (int i = 0; i < n; i++) try { if (y[i] < 0) throw 1; } catch (...) { y[i] = std::current_exception() != nullptr; } }
static std::mutex mutex;
static thread_local int room[2];
struct sets { int v = (room[0] = 3, room[0] + 1); };
F set_first(int n, int *y) { for (int i = 0; i < n; i++) { sets s; y[i] += s.v; } }
static long other_type(long k) { return k + mine; }
static long (*volatile of_other_type)(long) = other_type;
static int doubled(int k) { return 2 * k; }
static int (*volatile of_int)(int) = doubled;
F by_other_type(int n, int *y) { for (int i = 0; i < n; i++) y[i] = of_int(y[i]); }
F by_errno(int n, double *d) { for (int i = 0; i < n; i++) { errno = 0; d[i] = std::strtod("1", nullptr) + (errno != 0); } }
F by_once(int n, int *y) { static std::once_flag flag; static int k; std::call_once(flag, [] { k = 3; }); for (int i = 0; i < n; i++) y[i] += k; }
static std::atomic<int> total;
static std::vector<float> made(int n) { return std::vector<float>(n, 2); }
F guarded(int n, const int *x) { std::lock_guard<std::mutex> hold(mutex); for (int i = 0; i < n; i++) list.push_back(x[i]); }
F unique(int n, const int *x) { for (int i = 0; i < n; i++) { std::unique_lock hold(mutex); counter += x[i]; } }
F scoped(int n, const int *x) { std::scoped_lock hold(mutex); for (int i = 0; i < n; i++) counter += x[i]; }
F added(int n, const int *x) { for (int i = 0; i < n; i++) total += x[i]; }
F once(int n, float *y) { static const std::vector<float> v = made(4); for (int i = 0; i < n; i++) y[i] *= v[3]; }
F once_more(int n, float *y) { static std::vector<float> v = made(4); for (int i = 0; i < n; i++) y[i] *= v[3]; }
F scratch(int n, float *y) { thread_local std::vector<float> v; v.assign(4, 1); for (int i = 0; i < n; i++) { v[1] = y[i]; y[i] = v[1] * v[2]; } }
F seeded(int lo, int hi, unsigned *y) { for (int i = lo; i < hi; i++) { std::mt19937 g(i); y[i] = (unsigned)g(); } }
F discarded(int lo, int hi, unsigned *y) { std::mt19937 g(1); g.discard(lo); for (int i = lo; i < hi; i++) y[i] = (unsigned)g(); }
F projected(int n, const float *x, float *y) { std::mt19937 g(1); float w[16]; for (int k = 0; k < 16; k++) w[k] = (float)g(); float s = (float)g(); for (int i = 0; i < n; i++) y[i] = x[i] * w[i == 0 ? 0 : 0] * s; }
F local(int n, int *y) { std::map<int, int> m; std::string s; for (int i = 0; i < n; i++) { m.clear(); m[3]++; s = "a"; s += 'b'; y[i] += m[3] + (int)s.size(); } }
void all(int n, const int *x, int *y, unsigned *v, const float *a, float *b, double *d)
{
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_reference' changes 'counter', which all chunks share
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_reference(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_vector' changes 'list'
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_vector(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_map' changes 'seen'
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_map(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_string' changes 'text'
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_string(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_method' changes 'log::get()::l'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_method(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_swap' changes 'counter'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_swap(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_template' changes 'of_type<int>'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_template(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_thread' changes '{{.*}}k', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    by_thread(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_linkage' uses 'own', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_linkage(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_default' uses 'mine', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_default(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_initializer' uses 'mine', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_initializer(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_destructor' uses 'mine', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_destructor(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_range' uses 'mine', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_range(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_function' uses 'mine', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_function(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_functions' uses 'mine', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_functions(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_member_pointer' uses 'mine', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_member_pointer(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_std_function' uses 'mine', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_std_function(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_comparison' uses 'mine', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(v[i])
    by_comparison(n, v);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_local' uses '{{.*}}k', of which each thread has its own
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_local(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_exchange' stores what its loop carries
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    by_exchange(n, x, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_engine' stores what its loop carries
#pragma kmm parallel(i = 0:n) rebase(n: i) write(v[i])
    by_engine(n, v);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_generator' stores what its loop carries
#pragma kmm parallel(i = 0:n) rebase(n: i) write(v[i])
    by_generator(n, v);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_rand' uses 'rand'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_rand(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} warning: 'by_stream' prints
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_stream(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_journal' changes the global variable 'lines'
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_journal(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_element' changes 'bins', which all chunks share
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_element(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_sum' changes the global variable 'counter', which all chunks share
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_sum(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_reference_count' changes the global variable 'counter', which all chunks share
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_reference_count(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_static_place' changes {{.*}}; which places it uses depends on the chunks; combine in a local variable, and at the end with a parameter that `reduce` names
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_static_place(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_few_places' changes 'places', {{.*}}; which places it uses depends on the chunks
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_few_places(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} error: 'by_pointer_place' changes 'places', {{.*}}; which places it uses depends on the chunks
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_pointer_place(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} warning: 'by_thread_id' calls 'get_id', which concerns the thread that calls it
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_thread_id(n, y);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} warning: 'by_handled' calls 'current_exception'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_handled(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    handles(n, y);
// CHECK-NOT: error:
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_version(n, x);
// CHECK: state.cpp:[[#@LINE+1]]:{{.*}} warning: 'by_ring' stores to places of 'ring' that an atomic sum gives out
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_ring(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_room(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_bits(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_ticket(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_place(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_owner(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    asks(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    set_first(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_other_type(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) write(d[i])
    by_errno(n, d);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_once(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    guarded(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    unique(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    scoped(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    added(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(b[i])
    once(n, b);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(b[i])
    once_more(n, b);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(b[i])
    scratch(n, b);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(v[i])
    seeded(0, n, v);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(v[i])
    discarded(0, n, v);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(a[i]) write(b[i])
    projected(n, a, b);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    local(n, y);
}
