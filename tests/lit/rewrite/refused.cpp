// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %not %kmmcc -c %s -o %t.o -DLENGTH 2>&1 | FileCheck --check-prefix=LENGTH %s
// Calls that depend on a template's parameters; structs that do something where one is made.
template <class T> static void increase(int n, T *x) { for (int i = 0; i < n; i++) x[i] += 1; }
template <class T> void all(int n, T *x)
{
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:5: error: the call of a function that depends on a template's parameters cannot be split; call it from a function that is no template
    increase<T>(n, x);
}
#ifdef LENGTH
template <class T> static void increase_by_type(T n, int *x) { for (T i = 0; i < n; i++) x[i] += 1; }
template <class T> void all_by_type(T n, int *x)
{
// LENGTH: :[[#@LINE+1]]:38: error: the call of a function that depends on a template's parameters cannot be split; call it from a function that is no template
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by_type(n, x);
}
#endif
static int made;
struct counted { int a = ++made; };
struct placed { int a = __builtin_LINE(); };
struct constructed { int a; constructed() : a(0) {} };
struct defaults { int a = 1, b[2] = {2, 3}; };
struct alignas(128) lines { char c[128]; };
struct held { defaults d; counted c; };
template <class T> struct special { T a = 1; };
template <> struct special<char> { char a = 1; special() = default; special(const special &s) : a(s.a + 1) {} };
struct pointing { int *p; };
struct based : pointing { int a = 1; };
static void increase_by_reference(int n, int *x, const int &k) { for (int i = 0; i < n; i++) x[i] += k; }
template <class S> static void increase_by(int n, int *x, S s) { for (int i = 0; i < n; i++) x[i] += (int)sizeof(s); }
void structs(int n, int *x)
{
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by(n, x, defaults());
// CHECK: :[[#@LINE+2]]:23: error: the argument cannot be copied for each chunk: its parameter is 'counted'; a split call takes numbers, pointers and plain structs
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by(n, x, counted());
// CHECK: :[[#@LINE+2]]:23: error: the argument cannot be copied for each chunk: its parameter is 'placed'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by(n, x, placed());
// CHECK: :[[#@LINE+2]]:23: error: the argument cannot be copied for each chunk: its parameter is 'constructed'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by(n, x, constructed());
// CHECK: :[[#@LINE+2]]:23: error: the argument cannot be copied for each chunk: its parameter is aligned to 128 bytes, and at most 64 are possible
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by(n, x, lines());
// CHECK: :[[#@LINE+2]]:23: error: the argument cannot be copied for each chunk: its parameter is 'held'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by(n, x, held());
// CHECK: :[[#@LINE+2]]:23: error: the argument cannot be copied for each chunk: its parameter is 'special<char>'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by(n, x, special<char>());
// CHECK: :[[#@LINE+2]]:23: error: the argument cannot be copied for each chunk: its parameter is 'based'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by(n, x, based());
// CHECK: :[[#@LINE+2]]:33: error: the argument cannot be copied for each chunk: its parameter is 'const int &'; a split call takes numbers, pointers and plain structs; pass its members, or a pointer to it
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by_reference(n, x, x[0]);
// CHECK: :[[#@LINE+2]]:23: error: the argument cannot be copied for each chunk: its parameter is '(lambda at
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    increase_by(n, x, [n] { return n; });
}
void use(int *x) { all(10, x); }
