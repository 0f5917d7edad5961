// What --explain=json and --explain=svg say: the same as the text, and pictures of it.
// REQUIRES: ir
// RUN: cd %S && %kmmcc --target=host --explain=json explained.cu | %python Inputs/explained.py json | FileCheck --match-full-lines --strict-whitespace --check-prefix=JSON %s
// RUN: cd %S && %kmmcc --target=host --explain=svg explained.cu | %python Inputs/explained.py svg | FileCheck --match-full-lines --check-prefix=SVG %s
// RUN: %kmmcc --target=host --explain=text %s > %t.txt && %kmmcc --target=host --explain %s | cmp - %t.txt
__global__ void star(int w, int h, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        out[y * w + x] = in[(y - 1) * w + x] + in[(y + 2) * w + x] + in[y * w + x - 1] + in[y * w + x + 1];
}
__global__ void blur(int n, int r, const float *in, float *out, double *sum);
void shift(int n, const float *x, float *y);

void explain(int w, int h, int n, int r, const float *in, float *out, double *sum, dim3 g, dim3 b)
{
//      JSON:explained.cu:[[#@LINE+48]]:5: kernel star in explain
// JSON-NEXT:  axis x global.x 0 w
// JSON-NEXT:  axis y global.y 0 h
// JSON-NEXT:  chunk w / 3 elements of x rounded
// JSON-NEXT:  chunk h / 10 elements of y rounded
//      JSON:  read  in[x + w * y + 1:1 = None..None] inferred
// JSON-NEXT:    { in[x + w * y + 1] : x0 <= x < x1, y0 <= y < y1 }; None; 4
//      JSON:  update  out[x + w * y:1 = None..None] inferred
//      JSON:  if h - 1 fits int
//      JSON:  in is exact: None
// JSON-NEXT:  out is exact: None
//
// Four reads of one array are one picture: 3 columns, of more than 8 rows 5, hatched around the chunk.
//      SVG:title launch of kernel 'star'
// SVG-NEXT:small explained.cu:65
// SVG-NEXT:small 0 <= x < w (global.x), chunks of w / 3 elements
// SVG-NEXT:small 0 <= y < h (global.y), chunks of h / 10 elements
// SVG-NEXT:name reads in
// SVG-NEXT:code in[x + w * y + 1], in[x + w * y - 1], in[x + w *
// SVG-NEXT:code y + 2 * w], in[x + w * y + (-1) * w]
// SVG-NEXT:array 46..346 [[#TOP:]]..{{[0-9]+}}
// SVG-NEXT:r more 137..255 [[#TOP+51]]..[[#TOP+101]]
// SVG-NEXT:r 146..246 [[#TOP+60]]..[[#TOP+90]]
// SVG-NEXT:bound x0
// SVG-NEXT:bound x1
// SVG-NEXT:bound y0
// SVG-NEXT:bound y1
// SVG-NEXT:cell beyond its own: y 1 before, 2 after; x 1 before, 1 after
// SVG-NEXT:name updates out
// SVG-NEXT:code out[x + w * y]
// SVG-NEXT:array 402..702 [[#AT:]]..{{[0-9]+}}
// SVG-NEXT:u more 502..602 [[#AT+60]]..[[#AT+90]]
// SVG-NEXT:u 502..602 [[#AT+60]]..[[#AT+90]]
//
//      JSON:explained.cu:[[#@LINE+16]]:5: kernel blur in explain nowait
// JSON-NEXT:  axis i global.x 0 1000
// JSON-NEXT:  chunk 500 elements of i rounded
// JSON-NEXT:  read  in[i - r:2 * r + 1 = i0 - r..i1 - r + 2 * r - 1]
//      JSON:  write  out[i:1 = i0..i1 - 1]
// JSON-NEXT:    out[i0 .. i1 - 1]; 500 * 4; 4
//      JSON:  reduce + sum[0:1 = 0..0]
// JSON-NEXT:    sum[0]; 8; 8
//      SVG:title launch of kernel 'blur'
//      SVG:name reads in
//      SVG:r more 46..209 [[#BAR:]]..{{[0-9]+}}
// SVG-NEXT:r 46..196 [[#BAR]]..[[#BAR+32]]
//      SVG:cell beyond its own: i some before, some after
//      SVG:cell each chunk has a private copy
    #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w / 3, h / 10)
    star<<<g, b>>>(w, h, in, out);
    #pragma kmm parallel(i = 0:1000) chunk(500) read(in[i - r:2 * r + 1]) write(out[i]) reduce(+: sum[0]) nowait
    blur<<<g, b>>>(n, r, in, out, sum);
//      JSON:explained.cu:[[#@LINE+7]]:5: function shift in explain
// JSON-NEXT:  axis k the range's first dimension 4 4 + n
//      JSON:explained.cu:[[#@LINE+7]]:5: task None in explain
// A part that begins later than the chunk's own elements, and one that is not drawn.
//      SVG:w more 175..235 [[#ROW:]]..{{[0-9]+}}
// SVG-NEXT:w 175..226 [[#ROW]]..[[#ROW+32]]
//      SVG:small reads in[n - k] is not drawn: its elements lie in the opposite order
    #pragma kmm parallel(k = 4:n) rebase(n: k) read(in[n - k]) write(out[k + 1])
    shift(n, in, out);
    #pragma kmm task read(in[0:n])
    n = in[0] > 0;
}

// What ends lookahead in the loop.
void loop(int n, float *in, float *h)
{
    for (int t = 0; t < n; t++) {
//      JSON:explained.cu:[[#@LINE+2]]:9: function shift in loop nowait
//      JSON:  each step of [[#@LINE-2]] until [[#@LINE+3]]: 'cudaMemcpy' to the host
        #pragma kmm parallel(i = 0:n) rebase(n: i) read(in[i]) update(h[i]) nowait
        shift(n, in, h);
        cudaMemcpy(h, in, 4, cudaMemcpyDeviceToHost);
    }
}
