// In a task, an array's name keeps its type, and any other way to the array leads to the same memory.
// RUN: %cc -O1 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t 2>&1 | diff %t.expected -
#include <stdio.h>
#include <string.h>

enum { N = 40000 };
static int big[N], *alias = big;
static char text[64];
#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define SHOW(a) show(#a, a, COUNT(a))
#define SIZE_OF_BIG sizeof big
#define KIND(a) _Generic(&(a), int(*)[N] : "array", default : "pointer")

static void add(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] += 1;
}

static void show(const char *name, const int *x, size_t n)
{
    long long sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    printf("%s %zu: %lld\n", name, n, sum);
}

static void by_name(void)
{
    big[3] = 1234;
}

/* Nothing of the statements loads an element, so the task may run where the program's pointers do. */
static void unseen(void (*f)(int *, size_t), int n, int (*rows)[n])
{
    int own[100] = {1}, vla[n];
    vla[0] = 5;
#pragma kmm task update(own[0:100], vla[0:n], rows[0:2][:])
    {
        f(own, sizeof own / sizeof own[0]);
        f(vla, COUNT(vla));
        f(*rows, COUNT(*rows));
    }
    printf("%d %d %d\n", own[0], vla[0], rows[0][0]);
}

static void twice(int *x, size_t n)
{
    x[0] = 2 * x[0] + (int)n;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        big[i] = i;
    int *p = big + 5, *found = NULL, rows[2][7] = {{3}};
#pragma kmm data map(tofrom: big)
    {
        for (int k = 0; k < 2; k++) {
#pragma kmm parallel(i = 0:N) chunk(N / 7) rebase(n: i) update(big[i])
            add(N, big);
#pragma kmm task update(big[0:N])
            {
                big[0] += 77;
                p[0] += 99;
                alias[7] += 11;
                by_name();
                for (int i = 0; i < N; i++)
                    if (big[i] == 5000)
                        found = &big[i];
                printf("%zu %zu %s\n", SIZE_OF_BIG, COUNT(big), KIND(big));
            }
        }
    }
    printf("%d %d\n", found ? (int)(found - big) : -1, found ? *found : 0);
#pragma kmm task read(big[0:N])
    SHOW(big);
#pragma kmm task update(text[0:64])
    {
        memset(text, 'z', sizeof text);
        snprintf(text, sizeof(text), "value %d of many", 42);
    }
    printf("%s %s\n", text, text + 40);
#pragma kmm task update(big[0:N])
    memset(big, 0, sizeof big);
    show("big", big, N);
    unseen(twice, 7, rows);
    return 0;
}
