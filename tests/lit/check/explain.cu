// RUN: cd %S && %kmmcc --target=host --explain explain.cu | grep -v "^// " | FileCheck %s --match-full-lines --strict-whitespace
// RUN: %kmmcc --target=host --explain %s -o %t.o && test ! -e %t.o
// What a launch becomes, in formulas: --explain.
__global__ void blur(int w, int h, int r, const float *in, float *out) { out[0] = in[0]; }
__global__ void sums(int n, int k, const float *x, const float *y, double *p, double *s) { p[0] = x[0] + y[0]; }
static void saxpy(int n, const float *x, float *y) { y[n - 1] += x[n - 1]; }

void explain(int w, int h, int r, int n, int k, float *in, float *out, double *p, double *s, cudaStream_t t)
{
//      CHECK:explain.cu:25: launch of kernel 'blur'
// CHECK-NEXT:  axis     x is global.x, 0 <= x < w
// CHECK-NEXT:  axis     y is global.y, 2 <= y < 2 + (h - 4)
// CHECK-NEXT:  chunk    w elements of x, rounded up to whole thread blocks: x0 <= x < x1
// CHECK-NEXT:  chunk    64 elements of y, rounded up to whole thread blocks: y0 <= y < y1
// CHECK-NEXT:           one chunk unless h > 100
// CHECK-NEXT:  reads    in[y - 2:5][w - 1 - x]
// CHECK-NEXT:           elements  in[y0 - 2 .. y1 + 1][-x1 + w .. -x0 + w - 1]
// CHECK-NEXT:           bytes     68 * w * 4
// CHECK-NEXT:           copies    in: what is not yet on the chunk's device
// CHECK-NEXT:  writes   out[y][x]
// CHECK-NEXT:           elements  out[y0 .. y1 - 1][x0 .. x1 - 1]
// CHECK-NEXT:           bytes     64 * w * 4
// CHECK-NEXT:           copies    in: nothing, since all of it is written; out: when the host or another device reads it, or its place is needed
// CHECK:  results  stay where they are; those in host memory that no 'data' maps come back before the launch returns
#pragma kmm parallel(x = 0:w, y = 2:h - 4) chunk(w, 64) if(h > 100) shape(in[h][w], out[h][w]) read(in[y - 2:5][w - 1 - x]) write(out[y][x])
    blur<<<1, 64>>>(w, h, r, in, out);
//      CHECK:explain.cu:46: launch of kernel 'sums'
// CHECK-NEXT:  axis     i is global.x, the whole grid
// CHECK-NEXT:  axis     b is block.x, the whole grid; a second name of a split
// CHECK-NEXT:  chunk    n / 10 elements of i, rounded up to whole thread blocks: i0 <= i < i1
// CHECK-NEXT:  reads    in[3 * i:k]
// CHECK-NEXT:           elements  in[3 * i0 .. 3 * i1 + k - 4]
// CHECK-NEXT:           bytes     (3 * (n / 10) + k - 3) * 4
// CHECK-NEXT:           copies    in: what is not yet on the chunk's device
// CHECK-NEXT:  reads    out[i * k:2]
// CHECK-NEXT:           elements  { out[i * k + j] : i0 <= i < i1, b0 <= b < b1, 0 <= j < 2 }
// CHECK-NEXT:           bytes     known when it runs
// CHECK-NEXT:           copies    in: what is not yet on the chunk's device
// CHECK-NEXT:  writes   p[b]
// CHECK-NEXT:           elements  p[b0 .. b1 - 1]
// CHECK-NEXT:           bytes     known when it runs
// CHECK:  reduces  s[0:k]
// CHECK-NEXT:           elements  s[0 .. k - 1]
// CHECK-NEXT:           bytes     k * 8
// CHECK-NEXT:           copies    in: nothing; a private copy begins at the identity; the copies are folded, and added to the array
#pragma kmm parallel(i, b: block.x) chunk(n / 10) read(in[3 * i:k], out[i * k:2]) write(p[b]) reduce(+: s[0:k])
    sums<<<1, 64>>>(n, k, in, out, p, s);
//      CHECK:explain.cu:57: call of function 'saxpy', on the CPU
// CHECK-NEXT:  axis     i is the range's first dimension, 0 <= i < n
// CHECK-NEXT:  chunk    chosen when it runs: an eighth of a device's memory at most, and some for each device
// CHECK-NEXT:  reads    in
// CHECK-NEXT:           elements  the whole array
// CHECK:  updates  out[i]
// CHECK-NEXT:           elements  out[i0 .. i1 - 1]
// CHECK-NEXT:           bytes     (i1 - i0) * 4
// CHECK:  results  of host memory that only this launch maps come back at 'wait'
#pragma kmm parallel(i = 0:n) rebase(n: i) read(in) update(out[i]) nowait
    saxpy(n, in, out);
//      CHECK:explain.cu:61: a task, which runs once on one device
// CHECK-NEXT:  reads    in[0:n]
#pragma kmm task stream(t) read(in[0:n])
    saxpy(0, in, out);
}

#define CHECK_CALL(call) do { if (call) *h = 0; } while (0)
__device__ float symbol;
__global__ void plain(float *x) { x[0] = 1; }
static void finish(cudaStream_t t, float *h) { CHECK_CALL(cudaStreamSynchronize(t)); }

// What ends lookahead in a loop around a launch, in its function.
void loops(int n, int steps, float *in, float *out, float *h, cudaStream_t t, cudaEvent_t e)
{
    cudaDeviceSynchronize();
    for (int r = 0; r < 2; r++) {
        int s = 0;
        while (s++ < steps) {
//      CHECK:explain.cu:[[#@LINE+10]]: call of function 'saxpy', on the CPU
//      CHECK:  lookahead ends at line [[#@LINE+11]], in each step of the loop at line [[#@LINE-2]]: 'cudaMemcpy' to the host
// CHECK-NEXT:  lookahead ends at line [[#@LINE+13]], in some steps of the loop at line [[#@LINE-3]]: 'cudaEventSynchronize'
// CHECK-NEXT:  lookahead ends at line [[#@LINE+13]], in each step of the loop at line [[#@LINE-4]]: 'cudaDeviceSynchronize'
// CHECK-NEXT:  lookahead ends at line [[#@LINE+14]], in each step of the loop at line [[#@LINE-5]]: 'finish', which calls 'cudaStreamSynchronize'
// CHECK-NEXT:  lookahead ends at line [[#@LINE+14]], in each step of the loop at line [[#@LINE-6]]: a launch of 'plain' without a pragma
// CHECK-NEXT:  lookahead ends at line [[#@LINE+14]], in each step of the loop at line [[#@LINE-7]]: 'cudaMemcpyFromSymbol' to the host
// CHECK-NEXT:  lookahead ends at line [[#@LINE+14]], in each step of the loop at line [[#@LINE-8]]: '#pragma kmm wait'
// CHECK-NEXT:  lookahead ends at line [[#@LINE+17]], in each step of the loop at line [[#@LINE-11]]: 'cudaThreadSynchronize'
// CHECK-NEXT:  results  of host memory that only this launch maps come back at 'wait'
#pragma kmm parallel(i = 0:n) rebase(n: i) read(in) update(out[i]) nowait
            saxpy(n, in, out);
            CHECK_CALL(cudaMemcpy(h, out, 4, cudaMemcpyDeviceToHost));
            cudaMemcpy(in, out, 4, cudaMemcpyDeviceToDevice);
            if (s % 10 == 0)
                cudaEventSynchronize(e);
            if (cudaDeviceSynchronize())
                return;
            finish(t, h);
            plain<<<1, 1>>>(in);
            cudaMemcpyFromSymbol(h, symbol, 4);
            #pragma kmm wait
            auto later = [=] { return cudaDeviceSynchronize(); };
        }
        cudaMemcpyAsync(h, in, 4, cudaMemcpyDeviceToHost, t);
        cudaThreadSynchronize();
    }
    do {
//      CHECK:explain.cu:[[#@LINE+3]]: call of function 'saxpy', on the CPU
//  CHECK-NOT:  lookahead
//      CHECK:  results  of host memory that only this launch maps come back at 'wait'
#pragma kmm parallel(i = 0:n) rebase(n: i) read(in) update(out[i]) nowait
        saxpy(n, in, out);
        cudaThreadSynchronize();
    } while (0);
}
