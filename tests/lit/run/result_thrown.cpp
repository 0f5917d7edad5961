// RUN: %kmmcc %san -fno-kmm-compare -w -O1 %s -o %t
// RUN: for k in length text type only string vector tuple; do env KMM_ON_ERROR=continue KMM_CHECK=result KMM_DEVICES=host:3,mem=1M %not %t $k || exit 1; done > %t.out 2>&1 && FileCheck %s < %t.out
// RUN: for k in value same object; do env KMM_CHECK=result KMM_DEVICES=host %t $k || exit 1; done > %t.out 2>&1 && FileCheck --check-prefix=RIGHT %s < %t.out
// KMM_CHECK=result compares the exceptions of launches. The program gets that of the chunks.
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>
enum { N = 5000 };
static int x[N];
struct place { int at; };
#define BODY(THROW) { for (int i = 0; i < n; i++) { if (a[i] == 7) THROW; a[i]++; } }
static void length(int n, int *a) BODY(throw n)
static void text(int n, int *a) BODY(throw std::runtime_error("at " + std::to_string(i)))
static void type(int n, int *a) BODY(if (n > 1000) throw 1; else throw 1L)
static void only(int n, int *a) BODY(if (n < 1000) throw 1)
static void value(int n, int *a) BODY(throw a[i])
static void string(int n, int *a) BODY(throw std::string("a longer text than 16, at ") + std::to_string(i))
static void vector(int n, int *a) BODY(throw std::vector<int>(2, i))
using values = std::tuple<char, std::vector<std::string>, short, std::pair<double, long double>, bool>;
static void tuple(int n, int *a) BODY(throw values('x', {"p", std::to_string(i)}, 7, {.5, 1}, true))
static void same(int n, int *a) BODY(throw values('x', {"p", "q"}, 7, {.5, 1}, a[i] == 7))
static void object(int n, int *a) BODY(throw place{i})
static void (*volatile called)(int, int *);
static void any(int n, int *a) { called(n, a); }
/* Braces in arguments of a macro end no declaration: kmm's header stands before the macro. */
#define MADE(name, ...) static place name(int i) { return (__VA_ARGS__); }
MADE(unused, place{i})
int main(int, char **v)
{
    static const struct { const char *name; void (*f)(int, int *); } all[] = {
        {"length", length}, {"text", text}, {"type", type}, {"only", only}, {"value", value}, {"object", object},
        {"string", string}, {"vector", vector}, {"tuple", tuple}, {"same", same}};
    for (auto &k : all)
        called = strcmp(v[1], k.name) ? called : k.f;
    x[1000] = x[4000] = 7;
    try {
#pragma kmm parallel(i = 0:N) chunk(611) rebase(n: i) update(x[i])
        any(N, x);
        // CHECK: any: its chunks throw another exception than the launch as a whole: '611' for '5000', of type 'int'
        // CHECK: int 611
        // CHECK: '{{.*}}at 389' for 'at 1000', of type 'std::runtime_error'
        // CHECK: at 389
        // CHECK: its chunks throw an exception of type 'long', and the launch as a whole one of type 'int'
        // CHECK: other
        // CHECK: its chunks throw an exception, and the launch as a whole does not
        // CHECK: another exception {{.*}}: 'a longer text than 16, at 389' for 'a longer text than 16, at 1000'
        // CHECK: '{389, 389}' for '{1000, 1000}', of type 'std::vector<int
        // CHECK: '{120, {"p", "389"}, 7, {0.5, 1}, 1}' for '{120, {"p", "1000"}, 7, {0.5, 1}, 1}'
        // RIGHT: note: {{.*}}: any: KMM_CHECK=result compares only type and value of this launch's exception
        // RIGHT: int 7
        // RIGHT: note: {{.*}}: any: KMM_CHECK=result compares only type and value of this launch's exception
        // RIGHT: other
        // RIGHT: note: {{.*}}: any: KMM_CHECK=result compares only the type of this launch's exception, 'place', and neither its value nor the launch's arrays
        // RIGHT: place 389
    } catch (int e) {
        printf("int %d\n", e);
    } catch (std::exception &e) {
        puts(e.what());
    } catch (place &e) {
        printf("place %d\n", e.at);
    } catch (...) {
        puts("other");
    }
    fflush(stdout);
}
