// Four random doubles at once, Poisson numbers, constants, complex numbers, pools of memory, and names of errors.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <math_constants.h>
#include <nvToolsExt.h>
#include <stdio.h>
#include <string.h>

struct drawn { double4 u, n, l; unsigned raw[12]; };

__global__ void draw(unsigned long long seed, drawn *d)
{
    curandStatePhilox4_32_10_t s, raw;
    curand_init(seed, 5, 3, &s);
    raw = s;
    for (unsigned &w : d->raw)
        w = curand(&raw);
    d->u = curand_uniform4_double(&s);
    d->n = curand_normal4_double(&s);
    d->l = curand_log_normal4_double(&s, 0.5, 0.25);
}
/* The mean of many. */
__global__ void poisson(double lambda, double *mean, double *square)
{
    curandStatePhilox4_32_10_t s;
    curand_init(77, threadIdx.x, 0, &s);
    double sum = 0, squares = 0;
    for (int k = 0; k < 256; k++) {
        const uint4 p = curand_poisson4(&s, lambda);
        for (unsigned v : {p.x, p.y, p.z, p.w}) {
            sum += v;
            squares += (double)v * v;
        }
    }
    atomicAdd(mean, sum / (1024.0 * blockDim.x));
    atomicAdd(square, squares / (1024.0 * blockDim.x));
}
__global__ void constants(double *o)
{
    const cuFloatComplex z = cuCmulf(make_cuFloatComplex(1, 2), make_cuFloatComplex(3, -1));
    o[0] = CUDART_PI - M_PI; o[1] = CUDART_INF > 1e300 && CUDART_NAN != CUDART_NAN ? 0 : 1; o[2] = (double)CUDART_PI_F - (float)M_PI;
    o[3] = CUDART_MAX_NORMAL_F < CUDART_INF_F && CUDART_MIN_DENORM_F > 0 ? 0 : 1; o[4] = CUDART_SQRT_TWO - sqrt(2.0); o[5] = z.x - 5; o[6] = z.y - 5;
    o[7] = CUDART_LN2 - log(2.0);
}

static double unit(unsigned x, unsigned y) { return (double)(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54; }

static void random_numbers()
{
    drawn *device, d;
    cudaMalloc(&device, sizeof(d));
    draw<<<1, 1>>>(1234, device);
    cudaMemcpy(&d, device, sizeof(d), cudaMemcpyDeviceToHost);
    const double u[4] = {d.u.x, d.u.y, d.u.z, d.u.w}, n[4] = {d.n.x, d.n.y, d.n.z, d.n.w}, l[4] = {d.l.x, d.l.y, d.l.z, d.l.w};
    int wrong = 0;
    for (int k = 0; k < 4; k++)
        wrong += k < 2 ? u[k] != unit(d.raw[2 * k], d.raw[2 * k + 1]) : !(u[k] > 0 && u[k] <= 1);
    for (int k = 0; k < 4; k++)
        wrong += !(fabs(n[k]) < 9) || !(l[k] > 0 && fabs((log(l[k]) - 0.5) / 0.25) < 9);
    double *moments, own[2];
    cudaMalloc(&moments, sizeof(own));
    for (double lambda : {0.5, 20.0, 300.0, 9000.0}) {
        cudaMemset(moments, 0, sizeof(own));
        poisson<<<1, 32>>>(lambda, moments, moments + 1);
        cudaMemcpy(own, moments, sizeof(own), cudaMemcpyDeviceToHost);
        wrong += fabs(own[0] - lambda) > 5 * sqrt(lambda / 32768);            // the mean
        wrong += fabs(own[1] - own[0] * own[0] - lambda) > 0.1 * lambda;      // the variance
    }
    printf("random numbers: %d wrong\n", wrong);
    // CHECK: random numbers: 0 wrong
}

static void pools()
{
    cudaMemPool_t pool, made;
    unsigned long long threshold = ~0ull, seen = 0;
    int supported = 0, *x, *y, v = 3, w = 0;
    cudaMemPoolProps p;
    memset(&p, 0, sizeof(p));
    p.allocType = cudaMemAllocationTypePinned;
    p.location.type = cudaMemLocationTypeDevice;
    int failed = cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0) || !supported || cudaDeviceGetDefaultMemPool(&pool, 0) ||
                 cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) ||
                 cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &seen) || seen != threshold || cudaMemPoolCreate(&made, &p) ||
                 cudaMallocAsync((void **)&x, sizeof(int), 0) || cudaMallocFromPoolAsync(&y, sizeof(int), made, 0) ||
                 cudaMemcpyAsync(y, &v, sizeof(v), cudaMemcpyHostToDevice, 0) || cudaMemcpyAsync(x, y, sizeof(v), cudaMemcpyDeviceToDevice, 0) ||
                 cudaMemcpy(&w, x, sizeof(w), cudaMemcpyDeviceToHost) || w != 3 || cudaFreeAsync(x, 0) || cudaFreeAsync(y, 0) ||
                 cudaMemPoolTrimTo(made, 0) || cudaMemPoolDestroy(made) || cudaMemPoolDestroy(pool) != cudaErrorInvalidValue ||
                 cudaDeviceGetDefaultMemPool(&pool, 99) != cudaErrorInvalidDevice;
    printf("pools: %s\n", failed ? "wrong" : "right");
    // CHECK: pools: right
}

static void names()
{
    int failed = 0;
#define NAMED(e) failed += strcmp(cudaGetErrorName(e), #e) != 0 || !*cudaGetErrorString(e);
    NAMED(cudaSuccess) NAMED(cudaErrorInvalidPitchValue) NAMED(cudaErrorInvalidSymbol) NAMED(cudaErrorInsufficientDriver) NAMED(cudaErrorNoDevice)
    NAMED(cudaErrorNoKernelImageForDevice) NAMED(cudaErrorSymbolNotFound) NAMED(cudaErrorLaunchOutOfResources) NAMED(cudaErrorLaunchTimeout)
    NAMED(cudaErrorAssert) NAMED(cudaErrorMisalignedAddress) NAMED(cudaErrorHostMemoryAlreadyRegistered) NAMED(cudaErrorCooperativeLaunchTooLarge)
    NAMED(cudaErrorStreamCaptureUnsupported) NAMED(cudaErrorGraphExecUpdateFailure) NAMED(cudaErrorECCUncorrectable) NAMED(cudaErrorTimeout)
    failed += cudaErrorAssert != 710 || cudaErrorMisalignedAddress != 716 || cudaErrorLaunchOutOfResources != 701 || cudaErrorUnknown != 999;
    failed += strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered") != 0;
    failed += strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code") != 0;
    cudaDeviceProp p;
    failed += cudaGetDeviceProperties(&p, 0) || p.major < 1 || p.clusterLaunch || p.cooperativeLaunch || p.hostRegisterSupported != 1;
    failed += cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceMapHost) != cudaSuccess;
    int value = 7;
    failed += cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0) || value || cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0) != cudaErrorInvalidValue;
    printf("names: %d wrong\n", failed);
    // CHECK: names: 0 wrong
}

int main()
{
    double *o, own[8];
    int wrong = 0;
    nvtxRangePushA("main");
    random_numbers();
    pools();
    names();
    cudaMalloc(&o, sizeof(own));
    constants<<<1, 1>>>(o);
    cudaMemcpy(own, o, sizeof(own), cudaMemcpyDeviceToHost);
    for (double v : own)
        wrong += !(fabs(v) < 1e-15);
    nvtxRangePop();
    printf("constants: %d wrong\n", wrong);
    // CHECK: constants: 0 wrong
    return wrong;
}
