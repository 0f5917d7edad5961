// RUN: %kmmcc --target=host %san -std=c++17 -I %S/Inputs %s -o %t && %t
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o %}
// Where a launch may stand: one launch becomes one statement.
#include <functional>
#include "verify.h"
__global__ void set(int *x, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = k * i;
}
struct object {
    int *x, n;
    void method(int k) const
    {
        if (k > 0)
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
            set<<<BLOCKS, BLOCK>>>(x, n, k);
        else
            method(-k);
    }
    explicit object(int *x) : x(x), n(N)
    {
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, 9);
    }
};
static int choose(int *x, int n, int k)
{
    switch (k) {
    case 1:
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, 1);
        break;
    case 2:
    default:
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, 2);
    }
    return 0;
}
static int returned(int *x, int n)
{
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    return set<<<BLOCKS, BLOCK>>>(x, n, 11), 0;
}
int main()
{
    array a;
    int failed = 0, n = N, *x = a.at;
    if (n > 2000)
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, 1);
    else if (n > 1)
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, 2);
    else
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, 3);
    EXPECT(a.wrong(2));
    for (int k = 0; k < 4; k++)
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, k);
    EXPECT(a.wrong(3));
    int left = 3;
    while (left--)
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, 5 - left);
    EXPECT(a.wrong(5));
    do
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, 6);
    while (left > 0);
    EXPECT(a.wrong(6));
    for (int k : {4, 7})
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, k);
    EXPECT(a.wrong(7));
    // The pragma governs a loop or block with one launch in it.
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    for (int k = 0; k < 3; k++) {
        int twice = 2 * k;
        set<<<BLOCKS, BLOCK>>>(x, n, twice);
    }
    EXPECT(a.wrong(4));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    if (n > 3)
        set<<<BLOCKS, BLOCK>>>(x, n, 8);
    EXPECT(a.wrong(8));
    object o(x);
    EXPECT(a.wrong(9));
    o.method(-3);
    EXPECT(a.wrong(3));
    choose(x, n, 1);
    EXPECT(a.wrong(1));
    choose(x, n, 5);
    EXPECT(a.wrong(2));
    returned(x, n);
    EXPECT(a.wrong(11));
    // Expressions.
    int count = 0;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    count++, set<<<BLOCKS, BLOCK>>>(x, n, 4), count++;
    EXPECT(a.wrong(4) || count != 2);
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    (void)(set<<<BLOCKS, BLOCK>>>(x, n, 5));
    EXPECT(a.wrong(5));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    n > 5 ? set<<<BLOCKS, BLOCK>>>(x, n, 6) : (void)0;
    EXPECT(a.wrong(6));
    // Lambdas.
    auto by_value = [=](int k) {
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        set<<<BLOCKS, BLOCK>>>(x, n, k);
    };
    by_value(3);
    EXPECT(a.wrong(3));
    std::function<void()> later;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    later = [&]() { set<<<BLOCKS, BLOCK>>>(x, n, 10); };
    later();
    EXPECT(a.wrong(10));
again:
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    set<<<BLOCKS, BLOCK>>>(x, n, 12);
    EXPECT(a.wrong(12));
    if (++count < 4)
        goto again;
    return failed;
}
