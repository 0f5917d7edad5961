// Launches of plain functions are divided among nodes: in a data region, and with memory that each launch maps. What a
// chunk needs of another node's part comes from there. The output is that of one process.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: %t > %t.one
// RUN: env KMM_NODES=1 KMM_LOG=info run_nodes -n 2 -d 300 %t > %t.two 2> %t.err && diff %t.one %t.two
// RUN: FileCheck --check-prefix=DIVIDED %s < %t.err
// RUN: env KMM_NODES=1 KMM_LOG=info run_nodes -n 4 -d 300 %t > %t.four 2> %t.err && diff %t.one %t.four
// RUN: FileCheck --check-prefix=DIVIDED %s < %t.err
// DIVIDED: node 0 of {{[24]}}: 23 launches were divided among nodes

// A trace of each node has the messages. What one has sent the other has received.
// RUN: rm -f %t.*.json && env KMM_NODES=1 KMM_TRACE=%t.%%p.json run_nodes -n 2 %t > %t.two
// RUN: %python %S/Inputs/nodes_trace.py %t.*.json

// Functions that may use more than their arguments stay on node 0; so does all under checks.
// RUN: env KMM_NODES=1 KMM_LOG=info KMM_CHECK=result run_nodes -n 2 %t 2>&1 | FileCheck --check-prefix=WHOLE %s
// WHOLE: : 0 launches were divided among nodes

// A forked process is alone.
// RUN: env KMM_NODES=1 run_nodes -n 2 %t fork > %t.fork && cat %t.one %t.one | diff - %t.fork

// What goes wrong on another node ends the program, with the node.
// RUN: %not env KMM_NODES=1 run_nodes -n 2 %t throw 2>&1 | FileCheck --check-prefix=THROWS %s
// THROWS: kmm: error: node 1: an exception leaves a chunk that runs on this node; the function cannot be divided among nodes

// A node that dies while others wait for it ends the program, with one line that says so.
// RUN: %not timeout 20 env KMM_NODES=1 run_nodes -n 3 %t fault > %t.err 2>&1; FileCheck --check-prefix=DIES %s < %t.err
// DIES-COUNT-1: kmm: error: node 2 is lost: its connection has ended; the program ends
// DIES-NOT: is lost
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static int seen;

static void blur(int n, const double *a, double *b)
{
    for (int i = 0; i < n; i++)
        b[i] = 0.25 * a[i] + 0.5 * a[i + 1] + 0.25 * a[i + 2];
}

static void back(int n, const double *b, double *a)
{
    for (int i = 0; i < n; i++)
        a[i + 1] = b[i];
}

static void add(int n, int more, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] += more;
}

static void count(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] += seen;
}

static int *behind;

static void follow(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] += behind[i];
}

static void divide(int n, const int *x, int *y)
{
    for (int i = 0; i < n; i++)
        y[i] = 1000 / x[i];
}

static void check(int n, const int *x, int *y)
{
    for (int i = 0; i < n; i++) {
        if (x[i] < 0)
            throw x[i];
        y[i] = x[i];
    }
}

int main(int argc, char **argv)
{
    const int n = 20000;
    std::vector<double> a(n + 2), b(n);
    std::vector<int> x(n), y(n);
    for (int i = 0; i < n + 2; i++)
        a[i] = i * 7919 % 1000;
    double *pa = a.data(), *pb = b.data();
    int *px = x.data(), *py = y.data();
    behind = py + n - 1;
    #pragma kmm data map(tofrom: px[0:n]) map(tofrom: py[0:n])
    {
        #pragma kmm parallel(i = 0:n) chunk(1000) rebase(n: i) update(py[i])
        add(n, 2, py);
        #pragma kmm parallel(i = 0:1) chunk(1) rebase(n: i) update(px[i])
        follow(n - n + 1, px + n - 1);
    }
    #pragma kmm data map(tofrom: pa[0:n + 2]) map(alloc: pb[0:n])
    {
        for (int t = 0; t < 10; t++) {
            #pragma kmm parallel(i = 0:n) chunk(1700) rebase(n: i) read(pa[i:3]) write(pb[i])
            blur(n, pa, pb);
            #pragma kmm parallel(i = 0:n) chunk(1700) rebase(n: i) read(pb[i]) write(pa[i + 1])
            back(n, pb, pa);
        }
    }
    #pragma kmm parallel(i = 0:n) chunk(1000) rebase(n: i) update(px[i])
    add(n, 5, px);
    seen = 3;
    #pragma kmm parallel(i = 0:n) chunk(1000) rebase(n: i) update(px[i])
    count(n, px);
    if (argc > 1 && !std::strcmp(argv[1], "throw"))
        x[n - 1] = -1;
    if (argc > 1 && !std::strcmp(argv[1], "fault")) {
        x[n - 1] = 0;
        #pragma kmm parallel(i = 0:n) chunk(1000) rebase(n: i) read(px[i]) write(py[i])
        divide(n, px, py);
    }
    if (argc > 1 && !std::strcmp(argv[1], "fork")) {
        if (fork())
            wait(nullptr);
    }
    #pragma kmm parallel(i = 0:n) chunk(1000) rebase(n: i) read(px[i]) write(py[i])
    check(n, px, py);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i + 1] * (i % 17) + y[i] * (i % 13);
    std::printf("%.17g %.17g %d\n", sum, a[n / 2], y[n - 1]);
    return 0;
}
