// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Calls of member functions, and calls in arguments of macros.
static void plain(int n, float *x) { for (int i = 0; i < n; i++) x[i] += 1; }
#define REPEAT(body) for (int k = 0; k < 2; k++) { body; }

template <class T> struct of_type {
    static void one(int n, float *x) { plain(n, x); }
    static void all(int n, float *x)
    {
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:9: error: the call of a member function, also of a static one, cannot be split; govern the call of a plain function
        one(n, x);
    }
};
struct of_none {
    static void one(int n, float *x) { plain(n, x); }
    template <class T> static void made(int n, T *x) { plain(n, x); }
    void other(int n, float *x) { plain(n, x); }
};

void members(int n, float *x)
{
    of_type<int>::all(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:5: error: the call of a member function, also of a static one,
    of_none::one(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:5: error: the call of a member function, also of a static one,
    of_none::made(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:5: error: the call of a member function, also of a static one,
    of_none().other(n, x);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the call is a part of a macro's argument, so no chunks can take its place; write out what the macro writes around it
    REPEAT(_Pragma("kmm parallel(i = 0:n) rebase(n: i) update(x[i])") plain(n, x))
}
