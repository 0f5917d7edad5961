// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// Where rebase moves pointers, an argument of which kmmcc cannot tell how far it moves is refused, in whatever form the program writes it.
enum { N = 60000 };
static int x[N];
struct pointer { int *p; int k; };

static void add(int n, int *a)
{
    for (int i = 0; i < n; i++)
        a[i]++;
}

static void add_void(int n, void *a)
{
    for (int i = 0; i < n; i++)
        static_cast<int *>(a)[i]++;
}

static void add_struct(int n, pointer v)
{
    for (int i = 0; i < n; i++)
        v.p[i] += v.k;
}

struct owner {
    int *p = x;
    void run()
    {
        #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(p[i])
        // CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: rebase cannot tell how far argument 'this->p' moves
        add(N, this->p);
    }
};

void forms(int choice)
{
    int *p = x;
    pointer v = {x, 1}, *r = &v;
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(p[i])
    // CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: rebase cannot tell how far argument 'choice ? p : nullptr' moves
    add(N, choice ? p : nullptr);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(p[i])
    // CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: rebase cannot tell how far argument '*&p' moves
    add(N, *&p);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(p[i])
    // CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: rebase cannot tell how far argument 'p++' moves
    add(N, p++);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(r->p[i])
    // CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: rebase cannot tell how far argument '(*r).p' moves
    add(N, (*r).p);
    // CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: rebase cannot move 'x' as 'x[i]' moves: its type is 'void *'
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    add_void(N, x);
    // CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: rebase cannot move 'v.p[i]' to where a chunk begins, because 'v' is a struct
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(v.p[i])
    add_struct(N, v);
}

// These are right.
void right()
{
    int *p = x;
    #pragma kmm parallel(i = 0:N - 5) chunk(7000) rebase(n: i) update((p + 5)[i])
    add(N - 5, p + 5);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(p[i])
    add(N, &p[0]);
}
