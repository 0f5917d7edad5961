// RUN: %kmmcc %san -fno-kmm %s -o %t.plain && %t.plain > %t.want
// RUN: %kmmcc %san -O1 -Wall -Wextra -Wno-kmm-calls %s -o %t 2>&1 | FileCheck --implicit-check-not="cannot be written" --implicit-check-not=error: %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three 2>&1 && diff %t.want %t.three
// REQUIRES: ir
// Variables that plain functions read in all the ways in which C++ names them, while a launch computes them under another name.
#include <array>
#include <cstdio>
#include <thread>

enum { N = 20000 };
static int x[N], y[N];
namespace outer { inline namespace v1 { int table[N]; } namespace { int hidden[N]; } struct S { static int table[N]; }; int S::table[N]; }
static int aliased[N], (&alias)[N] = aliased, *const fixed = aliased;
static union { int ints[N]; unsigned bits[N]; };
struct grid { int pad; std::array<int, N> cells; int at(int k) const { return cells[k]; } };
static grid g;
template <class T> T pattern[N];
template <class T> struct family { static T table[N]; };
template <class T> T family<T>::table[N];
static int limit;

static void fill(int n, const int *a, int *t) { for (int i = 0; i < n; i++) { int s = 0; for (int k = 0; k < 50; k++) s += a[i] + k; t[i] = s; } }
#define FROM(name, e) static void name(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = (e)[a[i]]; }
FROM(from_namespace, outer::table)
FROM(from_hidden, outer::hidden)
FROM(from_static, outer::S::table)
FROM(from_alias, alias)
FROM(from_fixed, fixed)
FROM(from_union, bits)
FROM(from_member, g.cells)
FROM(from_pattern, pattern<int>)
FROM(from_family, family<int>::table)
static void from_method(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = g.at(a[i]); }
static void from_lambda(int n, const int *a, int *b) { auto f = [](int k) { return alias[k] + limit; }; for (int i = 0; i < n; i++) b[i] = f(a[i]); }

static void make(const int *a, int *t)
{
#pragma kmm parallel(i = 0:N) chunk(2000) rebase(n: i) read(a[i]) write(t[i]) nowait
    fill(N, a, t);
}
void from_friend(int n, const int *a, int *b);
class secret {
    static int table[N];
    friend void from_friend(int n, const int *a, int *b);
public:
    static int *get() { return table; }
    static void run()
    {
#pragma kmm parallel(i = 0:N) chunk(2000) rebase(n: i) read(x[i]) write(y[i])
        from_friend(N, x, y);
    }
};
int secret::table[N];
void from_friend(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = secret::table[a[i]]; }
static void show(const char *what, int *t)
{
    long s = 0;
#pragma kmm wait
    for (int i = 0; i < N; i++) {
        s += y[i] * (long)(i % 7 + 1);
        t[i] = 0;
    }
    std::printf("%s %ld\n", what, s);
}
#define LAUNCH(f) _Pragma("kmm parallel(i = 0:N) chunk(2000) rebase(n: i) read(x[i]) write(y[i])") f(N, x, y)
template <class T> void in_template(T *a, T *b)
{
    int table = 3; // hides nothing of what the function reads
#pragma kmm parallel(i = 0:N) chunk(2000) rebase(n: i) read(a[i]) write(b[i])
    from_namespace(N, a, b);
    (void)table;
}
int main()
{
    for (int i = 0; i < N; i++)
        x[i] = i * 31 % 1000;
    make(x, outer::table); LAUNCH(from_namespace); show("namespace", outer::table);
    make(x, outer::hidden); LAUNCH(from_hidden); show("hidden", outer::hidden);
    make(x, outer::S::table); LAUNCH(from_static); show("static", outer::S::table);
    make(x, aliased); LAUNCH(from_alias); show("alias", aliased);
    make(x, aliased); LAUNCH(from_fixed); show("fixed", aliased);
    make(x, ints); LAUNCH(from_union); show("union", ints);
    make(x, g.cells.data()); LAUNCH(from_member); show("member", g.cells.data());
    make(x, g.cells.data()); LAUNCH(from_method); show("method", g.cells.data());
    make(x, aliased); LAUNCH(from_lambda); show("lambda", aliased);
    make(x, secret::get()); secret::run(); show("private", secret::get());
    make(x, outer::table); in_template(x, y); show("template", outer::table);
    // CHECK: by_name.cpp:[[#@LINE+1]]:{{.*}} warning: it is not proven that chunks of 'from_friend' give what one call gives, since it reads 'table' by its name, which cannot be written where the launch stands, so that libkmm cannot tell whether a launch writes it
    LAUNCH(from_friend);
    // CHECK: warning: {{.*}} 'from_pattern' {{.*}} 'pattern' by its name, which cannot be written
    LAUNCH(from_pattern);
    // CHECK: warning: {{.*}} 'from_family' {{.*}} 'table' by its name, which cannot be written
    LAUNCH(from_family);
}
