// Plain functions that store pointers in memory that a clause names: the program finds its own addresses there.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror -Wno-kmm-unproven %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=4M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=4M KMM_FRAME=64K KMM_JOIN=0 %not --crash %t follow 2>&1 | FileCheck %s
#include <stdint.h>
#include <stdio.h>

enum { N = 60000 };
struct node {
    struct node *next;
    const int *at;
    int value;
};
struct range {
    int *begin, *end;
};
static int x[N], *table[N], *empty[N];
static struct node nodes[N];
static struct range ranges[N / 100];
static uintptr_t numbers[N];
/* Pointers at bytes 1 and 11 of 19, and at byte 4 of 16. */
struct __attribute__((packed)) tight {
    char kind;
    int *at;
    short value;
    int *end;
};
struct __attribute__((packed)) even {
    int value;
    int *at;
    int more;
};
static struct tight tights[N];
static struct even evens[N];

static void addresses(int n, int **t, int *a)
{
    for (int i = 0; i < n; i++)
        t[i] = &a[i];
}

static void put(int **t, int *a)
{
    *t = a;
}

static void by_callee(int n, int **t, int *a)
{
    for (int i = 0; i < n; i++)
        put(&t[i], a + i);
}

static void structs(int n, struct node *v, const int *a)
{
    for (int i = 0; i < n; i++)
        v[i] = (struct node){v + i, a + i, a[i]};
}

static void ends(int begin, int end, struct range *r, int *a)
{
    for (int i = begin; i < end; i++) {
        r[i].begin = a + i * 100;
        r[i].end = a + (i + 1) * 100;
    }
}

static void packed(int n, struct tight *v, struct even *e, int *a)
{
    for (int i = 0; i < n; i++) {
        v[i] = (struct tight){1, a + i, 2, a + i + 1};
        e[i] = (struct even){3, a + i, 4};
    }
}

static void integers(int n, uintptr_t *v, int *a)
{
    for (int i = 0; i < n; i++)
        v[i] = (uintptr_t)(a + i) + 1;
}

static void follow(int n, int **t)
{
    for (int i = 0; i < n; i++)
        ++*t[i];
}

static void count(void)
{
    int c[8] = {0};
    for (int i = 0; i < N; i++) {
        c[0] += table[i] == &x[i];
        c[1] += nodes[i].next == &nodes[i];
        c[2] += nodes[i].at == &x[i];
        c[3] += numbers[i] == (uintptr_t)&x[i] + 1;
        c[6] += tights[i].at == &x[i] && tights[i].end == &x[i + 1];
        c[7] += evens[i].at == &x[i];
    }
    for (int i = 0; i < N / 100; i++) {
        c[4] += ranges[i].begin == x + 100 * i;
        c[5] += ranges[i].end == x + 100 * (i + 1);
    }
    printf("%d %d %d %d %d %d %d %d\n", c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
}

int main(int argc, char **argv)
{
    (void)argv;
    #pragma kmm data map(tofrom: x, table, nodes, ranges, tights, evens)
    {
        #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) write(tights[i], evens[i]) update(x[i])
        packed(N, tights, evens, x);
        #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) write(table[i]) update(x[i])
        addresses(N, table, x);
        #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) write(nodes[i]) read(x[i])
        structs(N, nodes, x);
        #pragma kmm parallel(i = 0:N / 100) chunk(70) rebase(begin: begin(i), end: end(i)) write(ranges[i]) update(x[100 * i:100])
        ends(0, N / 100, ranges, x);
    }
    count();
    for (int i = 0; i < N; i++)
        table[i] = NULL;
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(table[i]) update(x[i])
    by_callee(N, table, x);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) write(numbers[i]) update(x[i])
    integers(N, numbers, x);
    count();
    if (argc == 1)
        return 0;
    // The host's copy of the table has no pointers when this is submitted: libkmm brings them.
    #pragma kmm data map(tofrom: x, empty)
    {
        #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) write(empty[i]) update(x[i])
        addresses(N, empty, x);
        // CHECK: stored_addresses.c:[[#@LINE+1]]: follow: the memory of empty[i] holds a pointer into the array at {{.*}}, which has another address on a device; pass the pointer as an argument, or in a struct by value
        #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) read(empty[i])
        follow(N, empty);
    }
    return 0;
}
