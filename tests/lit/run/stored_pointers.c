// Functions that follow a pointer which lies in memory: right where an array has one address, and refused where a device has another.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=4M KMM_FRAME=64K KMM_JOIN=0 KMM_ON_ERROR=continue %not %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host KMM_CHECK=access KMM_ON_ERROR=continue %not %t 2>&1 | FileCheck %s
#include <stdio.h>

enum { N = 100000 };
struct view { int n, *p; };
struct outer { struct view *view; };
static int x[N], table[2] = {1, 2};

static void by_value(int begin, int end, struct view v)
{
    for (int i = begin; i < end; i++)
        v.p[i] += 1;
}

static void by_pointer(int begin, int end, const struct view *v)
{
    for (int i = begin; i < end; i++)
        v->p[i] += 1;
}

static void through_another(int begin, int end, struct outer o)
{
    by_pointer(begin, end, o.view);
}

static void pointer_to_pointer(int begin, int end, int **p)
{
    for (int i = begin; i < end; i++)
        (*p)[i] += 1;
}

/* Uses no pointer that lies in memory. */
static void only_the_number(int begin, int end, int *y, const struct view *v)
{
    for (int i = begin; i < end; i++)
        y[i] += v->n;
}

/* Follows one that leads to no array. */
static void to_a_table(int begin, int end, int *restrict y, const struct view *v)
{
    for (int i = begin; i < end; i++)
        y[i] += v->p[i & 1];
}

static void print(const char *what)
{
    long long sum = 0;
    for (int i = 0; i < N; i++)
        sum += x[i];
    printf("%s: %lld\n", what, sum);
    fflush(stdout);
}

int main(void)
{
    struct view v = {3, x}, w = {4, table};
    struct outer o = {&v};
    int *p = x;
    for (int k = 0; k < 2; k++) {
        #pragma kmm parallel(i = 0:N) chunk(N / 8) rebase(begin: begin(i), end: end(i)) update(v.p[i])
        by_value(0, N, v);
    }
    // CHECK: by value: 200000
    print("by value");
    #pragma kmm data map(tofrom: x)
    {
        #pragma kmm parallel(i = 0:N) chunk(N / 8) rebase(begin: begin(i), end: end(i)) update(x[i]) read((&v)[0])
        only_the_number(0, N, x, &v);
        #pragma kmm parallel(i = 0:N) chunk(N / 8) rebase(begin: begin(i), end: end(i)) update(x[i]) read((&w)[0])
        to_a_table(0, N, x, &w);
    }
    // CHECK: others: 650000
    print("others");
    // CHECK: stored_pointers.c:[[#@LINE+1]]: by_pointer: the memory of (&v)[0] holds a pointer into the array {{.*}}, which has another address on a device; pass the pointer as an argument, or in a struct by value
    #pragma kmm parallel(i = 0:N) chunk(N / 8) rebase(begin: begin(i), end: end(i)) update(v.p[i]) read((&v)[0])
    by_pointer(0, N, &v);
    #pragma kmm data map(tofrom: x)
    {
        // CHECK: stored_pointers.c:[[#@LINE+1]]: through_another: the memory of o.view[0] holds a pointer
        #pragma kmm parallel(i = 0:N) chunk(N / 8) rebase(begin: begin(i), end: end(i)) update(x[i]) read(o.view[0])
        through_another(0, N, o);
        // CHECK: stored_pointers.c:[[#@LINE+1]]: pointer_to_pointer: the memory of (&p)[0] holds a pointer
        #pragma kmm parallel(i = 0:N) chunk(N / 8) rebase(begin: begin(i), end: end(i)) update(x[i]) read((&p)[0])
        pointer_to_pointer(0, N, &p);
    }
    print("by pointer");
    return 0;
}
