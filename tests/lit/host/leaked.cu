// An address of an array, used where nothing is mapped at it: by a kernel of a device with memory of its own that finds it in memory, and by
// lacks: arrays that kernels find by pointers in memory, where `KMM_DEVICES` says several devices or limits their memory
// the program itself. Sanitizers have handlers of their own.
// RUN: %if !san %{ %kmmcc --target=host -O1 %s -o %t %}
// RUN: %if !san %{ env KMM_DEVICES=host:2,mem=16M %not --crash %t 2>&1 | FileCheck %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:2,mem=16M %not --crash %t host 2>&1 | FileCheck %s %}
// RUN: %if !san %{ %t && %t handler %}
#include <cuda_runtime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void rows(int **table) { table[blockIdx.x][threadIdx.x] = 1; }

static void own(int) { _Exit(0); }

int main(int argc, char **argv)
{
    int *row, **table;
    if (argc > 1 && argv[1][2] == 'n')
        signal(SIGSEGV, own);
    cudaMalloc(&row, 256 * sizeof(*row));
    cudaMalloc(&table, sizeof(row));
    cudaMemcpy(table, &row, sizeof(row), cudaMemcpyHostToDevice);
    if (argc > 1 && argv[1][2] == 's')
        row[100] = 1;
    // CHECK: kmm: error: {{(rows: )?}}nothing is mapped at 0x{{.*}}, byte {{[0-9]+}} of the array of 1024 bytes at 0x
    rows<<<1, 256>>>(table);
    return cudaDeviceSynchronize();
}
