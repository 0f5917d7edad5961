// Each launch's exception reaches the thread that launched, also where several threads' chunks throw at once.
// RUN: %kmmcc -O1 %san -std=c++17 -Wall -Wextra -Werror %s -o %t -pthread
// RUN: env KMM_DEVICES=host %t 2>&1 | FileCheck %s --implicit-check-not=kmm
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | FileCheck %s --implicit-check-not=kmm
// RUN: env KMM_DEVICES=host %not %t ended 2>&1 | FileCheck %s --check-prefix=ENDED
// CHECK: 0 wrong, 0 elsewhere
// ENDED-DAG: exceptions_threads.cpp:[[#]]: check: the chunk at {{[0-9]+}} threw, and nothing waited for it: 1
// ENDED-DAG: exceptions_threads.cpp:[[#]]: check: the chunk at {{[0-9]+}} threw, and nothing waited for it: 3
#include <cstdio>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

enum { N = 2000 };
static int other[N], ended[4][N];

static void check(int n, int *y)
{
    for (int i = 0; i < n; i++)
        if (y[i] > 0)
            throw std::runtime_error(std::to_string(y[i]));
}

// Returns what was thrown.
static int launch(int k)
{
    std::vector<int> v(N);
    int *y = v.data();
    y[N / 2] = k % 2 ? k : 0;
    try {
#pragma kmm parallel(i = 0:N) chunk(N / 10) rebase(n: i) read(y[i])
        check(N, y);
    } catch (const std::exception &e) {
        return std::stoi(e.what());
    }
    return 0;
}

static void innocent()
{
#pragma kmm task update(other[0:N])
    other[0]++;
#pragma kmm wait
}

// The thread ends before anything waits for its launch.
static void launch_and_end(int k)
{
    int *y = ended[k];
    y[N / 2] = k % 2 ? k : 0;
#pragma kmm parallel(i = 0:N) chunk(N / 10) rebase(n: i) read(y[i]) nowait
    check(N, y);
}

int main(int argc, char **)
{
    int wrong = 0, elsewhere = 0;
    for (int round = 0; round < 30; round++) {
        std::future<int> f[4];
        for (int k = 0; k < 4; k++)
            f[k] = std::async(std::launch::async, launch, k);
        try {
            innocent();
        } catch (const std::exception &) {
            elsewhere++;
        }
        for (int k = 0; k < 4; k++)
            wrong += f[k].get() != (k % 2 ? k : 0);
    }
    std::printf("%d wrong, %d elsewhere\n", wrong, elsewhere);
    if (argc > 1)
        for (int k = 0; k < 4; k++)
            std::thread(launch_and_end, k).join();
}
