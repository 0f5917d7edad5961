// What each call returns where there is no GPU.
#include <cuda_runtime.h>
#include <stdio.h>
__global__ void k(int n, int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}
__constant__ int c[4];
__device__ int dv[4];
#define R(e) printf("%-40s %d\n", #e, (int)(e))
int main(int argc, char **)
{
    int *p = nullptr, n = 0, h[16];
    void *q; size_t pitch, a, b; cudaStream_t s = nullptr; cudaEvent_t ev = nullptr; cudaPointerAttributes at; cudaDeviceProp prop;
    float ms; cudaPitchedPtr pp; cudaFuncAttributes fa;
    R(cudaGetDeviceCount(&n));
    R(cudaGetDevice(&n));
    R(cudaSetDevice(0));
    R(cudaGetDeviceProperties(&prop, 0));
    R(cudaMalloc(&p, 64));
    R(cudaGetLastError());
    R(cudaGetLastError());
    R(cudaMallocManaged(&p, 64));
    R(cudaMallocPitch(&p, &pitch, 64, 4));
    R(cudaMalloc3D(&pp, make_cudaExtent(64, 4, 4)));
    R(cudaMallocHost(&q, 64));
    R(cudaHostAlloc(&q, 64, 0));
    R(cudaHostRegister(h, 64, 0));
    R(cudaHostUnregister(h));
    R(cudaFreeHost(nullptr));
    R(cudaMallocAsync(&q, 64, (cudaStream_t)0));
    R(cudaFreeAsync(nullptr, 0));
    R(cudaMalloc(&p, 0));
    R(cudaFree(nullptr));
    R(cudaFree(h));
    R(cudaMemcpy(h, h + 8, 16, cudaMemcpyHostToDevice));
    R(cudaMemcpy(h, h + 8, 16, cudaMemcpyDeviceToHost));
    R(cudaMemcpy(h, h + 8, 16, cudaMemcpyHostToHost));
    R(cudaMemcpy(h, h+8, 0, cudaMemcpyDefault));
    R(cudaMemcpyAsync(h, h + 8, 16, cudaMemcpyDeviceToHost, 0));
    R(cudaMemcpy2D(h, 8, h + 8, 8, 8, 2, cudaMemcpyDeviceToHost));
    R(cudaMemset(h, 0, 4));
    R(cudaMemsetAsync(h, 0, 4, 0));
    R(cudaMemset2D(h, 8, 0, 8, 2));
    R(cudaMemcpyToSymbol(c, h, 4));
    R(cudaMemcpyFromSymbol(h, dv, 4));
    R(cudaGetSymbolAddress(&q, dv));
    R(cudaGetSymbolSize(&a, dv));
    R(cudaStreamCreate(&s));
    R(cudaEventCreate(&ev));
    R(cudaEventRecord(ev, 0));
    R(cudaEventQuery(ev));
    R(cudaEventSynchronize(ev));
    R(cudaEventElapsedTime(&ms, ev, ev));
    R(cudaEventDestroy(ev));
    R(cudaStreamSynchronize(0));
    R(cudaStreamQuery(0));
    R(cudaStreamWaitEvent(0, ev, 0));
    R(cudaStreamDestroy(s));
    R(cudaDeviceSynchronize());
    R(cudaGetLastError());
    R(cudaGetLastError());
    R(cudaDeviceReset());
    R(cudaMemGetInfo(&a, &b));
    R(cudaPointerGetAttributes(&at, h));
    R(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    R(cudaFuncGetAttributes(&fa, k));
    cudaGetLastError();
    if (argc > 1) {
        k<<<1, 16>>>(16, h);
        return 0;
    }
    k<<<1, 16>>>(16, h);
    R(cudaPeekAtLastError());
    R(cudaGetLastError());
    R(cudaGetLastError());
    void *args[] = {&n, &p}; R(cudaLaunchKernel((const void *)k, dim3(1), dim3(1), args, 0, 0));
    R(cudaGetLastError());
    int sup;
    R(cudaDeviceGetAttribute(&sup, cudaDevAttrWarpSize, 0));
    R(cudaDeviceCanAccessPeer(&sup, 0, 1));
    R(cudaMemPrefetchAsync(p, 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, 0));
    return 0;
}
