// What the tests of launch forms share: an array on the device, and whether each element has its own number.
#ifndef VERIFY_H
#define VERIFY_H
#include <cstdio>
#include <cuda_runtime.h>
enum { N = 1000, BLOCK = 32, BLOCKS = (N + BLOCK - 1) / BLOCK };
struct array {
    int *at = nullptr;
    array() { clear(); }
    void clear()
    {
        if (!at)
            cudaMalloc((void **)&at, N * sizeof(int));
        cudaMemset(at, 0, N * sizeof(int));
    }
    // The number of elements that are not factor * index + offset; clears.
    int wrong(int factor = 1, int offset = 0)
    {
        int host[N], count = 0;
        cudaMemcpy(host, at, sizeof(host), cudaMemcpyDeviceToHost);
        for (int k = 0; k < N; k++)
            count += host[k] != factor * k + offset;
        clear();
        return count;
    }
};
#define EXPECT(...) do { int wrong = (__VA_ARGS__); if (wrong) { printf("line %d: %d are wrong\n", __LINE__, wrong); failed = 1; } } while (0)
#endif
