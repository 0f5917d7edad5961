// Mathematical functions are as exact as CUDA's documentation says of its own: random arguments against 60 digits.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t
// RUN: %t > %t.names
// RUN: %python %S/Inputs/precise.py make %t.names %t.in 60
// RUN: %t %t.in %t.out
// RUN: %python %S/Inputs/precise.py check %t.names %t.in %t.out
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define LIST(X)                                                                                    \
    X(rsqrt(x)) X(rcbrt(x)) X(sinpi(x)) X(cospi(x)) X(norm3d(x, y, z)) X(rnorm3d(x, y, z)) X(norm4d(x, y, z, x)) X(rhypot(x, y)) \
    X(norm(3, p)) X(rnorm(3, p)) X(normcdf(x)) X(erfcx(x)) X(erfinv(x)) X(erfcinv(x)) X(normcdfinv(x)) X(cyl_bessel_i0(x)) \
    X(cyl_bessel_i1(x)) X(exp10(x))
#define FLOATS(X)                                                                                  \
    X((double)rsqrtf(x)) X((double)sinpif(x)) X((double)cospif(x)) X((double)normcdff(x)) X((double)norm3df(x, y, z)) \
    X((double)normf(3, q)) X((double)cyl_bessel_i0f(x)) X((double)cyl_bessel_i1f(x)) X((double)erfcxf(x))

__global__ void all(int count, const double *in, double *out)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count)
        return;
    int column = 0;
#define OUT(expression)                                                                            \
    {                                                                                              \
        const double *p = in + 3 * ((size_t)column * count + at);                                  \
        const double x = p[0], y = p[1], z = p[2];                                                 \
        (void)x, (void)y, (void)z;                                                                          \
        out[(size_t)column++ * count + at] = expression;                                           \
    }
    LIST(OUT)
#define OUT_FLOAT(expression)                                                                      \
    {                                                                                              \
        const double *p = in + 3 * ((size_t)column * count + at);                                  \
        const float x = (float)p[0], y = (float)p[1], z = (float)p[2], q[3] = {x, y, z};           \
        (void)y, (void)z, (void)q;                                                                                   \
        out[(size_t)column++ * count + at] = expression;                                           \
    }
    FLOATS(OUT_FLOAT)
}

int main(int argc, char **argv)
{
    static const char *const names[] = {
#define NAME(expression) #expression,
        LIST(NAME) FLOATS(NAME)
    };
    enum { COLUMNS = sizeof(names) / sizeof(*names), MOST = 1 << 20 };
    for (int k = 0; argc == 1 && k < COLUMNS; k++)
        puts(names[k]);
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : nullptr;
    if (!file)
        return argc != 1;
    static double in[MOST], out[MOST];
    const int count = (int)fread(in, 3 * sizeof(*in), MOST / 3, file) / COLUMNS;
    fclose(file);
    double *device_in, *device_out;
    cudaMalloc(&device_in, 3 * sizeof(*in) * COLUMNS * count);
    cudaMalloc(&device_out, sizeof(*out) * COLUMNS * count);
    cudaMemcpy(device_in, in, 3 * sizeof(*in) * COLUMNS * count, cudaMemcpyHostToDevice);
    all<<<(count + 31) / 32, 32>>>(count, device_in, device_out);
    cudaMemcpy(out, device_out, sizeof(*out) * COLUMNS * count, cudaMemcpyDeviceToHost);
    file = fopen(argv[2], "wb");
    if (!file || fwrite(out, sizeof(*out), (size_t)COLUMNS * count, file) != (size_t)COLUMNS * count || fclose(file))
        return 1;
    return cudaGetLastError() != cudaSuccess;
}
