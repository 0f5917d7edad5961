// In a task in C++, an array's name keeps its type, and references, containers and members lead to the same memory.
// RUN: %cxx -O1 -w -std=c++17 %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -std=c++17 -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t 2>&1 | diff %t.expected -
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <type_traits>
#include <vector>

enum { N = 40000 };
static int big[N];

int kind(const int *);
int kind(const int *) { return 1; }
template <size_t K> int kind(int (&)[K]) { return 2; }

struct holder {
    int *p, rows[4][3];
    int n;
    void add(int k)
    {
        for (int i = 0; i < n; i++)
            p[i] += k;
    }
    void run()
    {
        int *q = p;
#pragma kmm task update(q[0:n])
        {
            add(5);
            q[0]++;
        }
#pragma kmm task update(rows[0:4][:])
        {
            kind(rows[0]);
            for (auto &row : rows)
                row[1] = int(std::size(rows));
        }
    }
};

template <int K> static int sum_of()
{
    static int local[K];
    int sum = 0;
#pragma kmm task update(local[0:K])
    {
        for (int &v : local)
            v += 2;
        sum = kind(local) + int(sizeof local);
    }
    return sum + local[K - 1];
}

int main()
{
    int k = 0, &reference = big[9];
    auto bump = [&] { big[8] += 4; };
#pragma kmm task update(big[0:N])
    k = kind(big);
#pragma kmm task update(big[0:N])
    {
        for (int &v : big)
            v += 2;
        reference += 10;
        bump();
        static_assert(std::is_same<std::remove_reference<decltype((big))>::type, int[N]>::value, "");
        k += int(std::size(big));
    }
    std::printf("%d %d %d %d\n", k, big[8], big[9], big[N - 1]);
    int *found = nullptr;
#pragma kmm task read(big[0:N])
    found = std::find(std::begin(big), std::end(big), 12);
    std::printf("%d\n", int(found - big));
    std::vector<int> v(N, 3);
    int *p = v.data();
#pragma kmm task update(p[0:N])
    {
        for (auto &x : v)
            x += 1;
        p[0] = 50;
    }
    holder h{p, {}, N};
    h.run();
    std::printf("%d %d %d %d\n", v[0], v[1], h.rows[3][1], sum_of<12>());
    return 0;
}
