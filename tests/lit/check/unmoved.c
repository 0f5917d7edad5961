// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// Where rebase moves pointers, one that no clause names and that is not used alike in all chunks is refused: another name of an array, too.
enum { N = 1000 };
struct pair { int *first, *second; };
struct scale { int factor, offset; };
static int x[N], y[N];

static void add(int n, const int *a, int *b)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] + 1;
}

static void scaled(int n, int *b, const int *k, const struct scale *s, const int *one)
{
    for (int i = 0; i < n; i++)
        b[i] = b[i] * k[1] + s->offset + *one + (k)[0];
}

static void through_an_alias(int n, int *b, const int *a)
{
    const int *p = a;
    for (int i = 0; i < n; i++)
        b[i] = *p++;
}

static void between(int begin, int end, int *b, const int *a)
{
    for (int i = begin; i < end; i++)
        b[i] = a[i];
}

static void lines(void)
{
    #pragma kmm parallel(i = 0:N) rebase(n: i) read(x[i]) write(y[i])
    // CHECK: :[[#@LINE+1]]:9: error: lines of the preprocessor stand within an argument of the launch; give its value to a variable before the launch
    add(N
#ifndef NAME
        + 0
#endif
        , x, y);
}

static void all(const struct scale *s, const int *k)
{
    const int *alias = x;
    struct pair pair = {x, y};
    #pragma kmm parallel(i = 0:N) rebase(n: i) read(x[i]) write(y[i])
    // CHECK: :[[#@LINE+1]]:{{.*}} error: no clause says what is read of 'alias', so rebase cannot tell whether it moves; add read(alias[i]) if each chunk reads its part of it, or read(alias) if each reads all
    add(N, alias, y);
    #pragma kmm parallel(i = 0:N) rebase(n: i) read(x[i]) write(y[i])
    // CHECK: :[[#@LINE+1]]:{{.*}} error: no clause says what is read of 'pair.first', so rebase
    add(N, pair.first, y);
    #pragma kmm parallel(i = 0:N) rebase(n: i) update(y[i])
    // CHECK: :[[#@LINE+1]]:{{.*}} error: no clause says what is read of 'alias', so rebase
    through_an_alias(N, y, alias);
    #pragma kmm parallel(i = 0:N) rebase(n: i) read(alias[i]) write(y[i])
    add(N, alias, y);
    #pragma kmm parallel(i = 0:N) rebase(n: i) read(alias) write(y[i])
    add(N, alias, y);
    #pragma kmm parallel(i = 0:N) rebase(n: i) update(y[i])
    // CHECK: :[[#@LINE+2]]:{{.*}} warning: no clause says what is read of 'k', so each chunk reads the whole array
    // CHECK: :[[#@LINE+1]]:{{.*}} warning: no clause says what is read of 's', so each chunk reads the whole array
    scaled(N, y, k, s, k);
    #pragma kmm parallel(i = 0:N) rebase(begin: begin(i), end: end(i)) write(y[i])
    // CHECK: :[[#@LINE+1]]:{{.*}} warning: no clause says what is read of 'alias', so each chunk reads the whole array
    between(0, N, y, alias);
}
