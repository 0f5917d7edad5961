#ifndef LIBRARY_H
#define LIBRARY_H
#include "kernels.cuh"
#include "../deep/kernels.cuh"
struct library {
    int *x, n;
    void run() const { deep::launch(x, n, 2); }
};
#endif
