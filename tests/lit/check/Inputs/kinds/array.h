// SPDX-License-Identifier: Apache-2.0
// An array of 4 * N numbers on the device; the program defines N.
static float values[4 * N];
static float *array(void)
{
    float *p;
    for (int k = 0; k < 4 * N; k++)
        values[k] = k % 11;
    cudaMalloc(&p, sizeof(values));
    cudaMemcpy(p, values, sizeof(values), cudaMemcpyHostToDevice);
    return p;
}
