// Exceptions out of chunks, tasks and data blocks reach the program, and the runtime stays usable.
// RUN: %cxx -O1 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t | diff %t.expected -
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror -Wno-kmm-unproven -DNO_WAIT %s -o %t && env KMM_DEVICES=host %not %t 2>&1 | FileCheck %s
// CHECK: exceptions.cpp:[[#]]: check: the chunk at {{[0-9]+}} threw, and nothing waited for it: {{[0-9]+}}
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror -fno-exceptions -DNO_EXCEPTIONS %s -o %t && env KMM_DEVICES=host %t
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

enum { N = 1000 };
static float x[N];
#ifdef NO_EXCEPTIONS
static void check(int n, float *p) { for (int i = 0; i < n; i++) p[i] += 1; }
int main()
{
#pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) update(x[i])
    check(N, x);
#pragma kmm task update(x[0:N])
    { x[0] += 1; }
    return x[0] != 2;
}
#else
static void check(int n, float *p)
{
    for (int i = 0; i < n; i++) {
        if (p[i] >= 77 && int(p[i]) % 100 == 77)
            throw std::runtime_error(std::to_string(int(p[i])));
        p[i] += 0;
    }
}

static void add(int n, float *p) { for (int i = 0; i < n; i++) p[i] += 1; }

// Throws where the plain program throws, or at the wait.
static void in_a_chunk(float *y)
{
    try {
#pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) update(y[i])
        check(N, y);
#pragma kmm wait
        std::puts("not thrown");
    } catch (const std::exception &e) {
        std::printf("chunk %s\n", e.what());
    }
}

static void in_a_map(float *y)
{
    try {
#pragma kmm data map(tofrom: y[0:N])
        {
#pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) update(y[i])
            check(N, y);
        }
        std::puts("not thrown");
    } catch (const std::exception &e) {
        std::printf("map %s\n", e.what());
    }
}

static void out_of_a_map(float *y)
{
    try {
#pragma kmm data map(tofrom: y[0:N])
        {
#pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) update(y[i])
            add(N, y);
            throw 5;
        }
    } catch (int e) {
        std::printf("out of a map %d\n", e);
    }
}

static void out_of_a_task(float *y)
{
    for (int round = 0; round < 2; round++)
        try {
#pragma kmm task update(y[0:N])
            {
                y[round] += 1;
                if (round == 0)
                    throw std::string("task");
            }
            std::puts("whole");
        } catch (const std::string &e) {
            std::printf("%s\n", e.c_str());
        }
}

int main()
{
    for (int i = 0; i < N; i++)
        x[i] = float(i);
#ifdef NO_WAIT
#pragma kmm enter data map(tofrom: x[0:N])
#pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) update(x[i]) nowait
    check(N, x);
    return 0;
#endif
    in_a_chunk(x);
    in_a_map(x);
    in_a_chunk(x);
    float y[N];
    std::memcpy(y, x, sizeof(y));
    out_of_a_task(y);
    out_of_a_map(y);
    out_of_a_map(y);
    for (int i = 0; i < N; i++)
        if (int(y[i]) % 100 == 77)
            y[i] = 0;
    in_a_chunk(y);
    std::printf("%g %g %g\n", y[0], y[1], y[5]);
    return 0;
}
#endif
