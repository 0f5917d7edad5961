// SPDX-License-Identifier: Apache-2.0
// A launch whose pragma has a shape for a pointer and no access clause: what the kernel reads is
// inferred, in the kernel's one dimension.
// RUN: %kmmcc --target=host --diff %s | FileCheck %s
__global__ void move(int w, int h, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = in[y * w + x];
}
void launch(int w, int h, const float *in, float *out)
{
    // CHECK: kmm_launch_access(kmm__launch, KMM_WRITE, "out[y][x]"
    // CHECK: kmm_launch_access(kmm__launch, KMM_READ, "in[x + w * y]"
#pragma kmm parallel(x = 0:w, y = 0:h) shape(in[h][w], out[h][w]) write(out[y][x])
    move<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(w, h, in, out);
}
