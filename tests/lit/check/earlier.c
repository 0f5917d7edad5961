// RUN: %kmmcc -O1 -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=warning: %s
// RUN: %not %kmmcc -O1 -Wno-kmm-update -DWRONG -c %s -o %t.o 2>&1 | FileCheck --check-prefix=WRONG --implicit-check-not=error: %s
// REQUIRES: ir
// Elements that a function stores in a loop before it reads them, under write; and functions whose
// loop before leaves out some of what is read.
static void softmax(int rows, int w, const float *in, float *out)
{
    for (int r = 0; r < rows; r++) {
        float s = 0;
        for (int k = 0; k < w; k++) {
            out[r * w + k] = in[r * w + k] * in[r * w + k];
            s += out[r * w + k];
        }
        for (int k = 0; k < w; k++)
            out[r * w + k] /= s;
    }
}
static void ranks(int n, const float *restrict x, float *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            y[i] += x[j] < x[i];
}
static void whole_rows(int rows, int w, const float *in, float *out)
{
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < w; k++)
            out[r * w + k] = in[r * w + k];
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < w; k++)
            out[r * w + k] *= 2;
}
static void guarded(int rows, int w, const float *in, float *out, int clear)
{
    for (int r = 0; r < rows; r++) {
        if (clear)
            for (int k = 0; k < w; k++)
                out[r * w + k] = in[r * w + k];
        for (int k = 0; k < w; k++)
            out[r * w + k] += 1;
    }
}
static void by_data(int rows, int w, const float *in, float *out)
{
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < w; k++)
            if (in[r * w + k] > 0)
                out[r * w + k] = 0;
        for (int k = 0; k < w; k++)
            out[r * w + k] += 1;
    }
}
static void until(int rows, int w, const float *in, float *out)
{
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < w; k++) {
            out[r * w + k] = 0;
            if (in[r * w + k] > 0)
                break;
        }
        for (int k = 0; k < w; k++)
            out[r * w + k] += 1;
    }
}
static void shorter(int rows, int w, const float *in, float *out)
{
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < w - 1; k++)
            out[r * w + k] = in[r * w + k];
        for (int k = 0; k < w; k++)
            out[r * w + k] += 1;
    }
}
static void afterwards(int rows, int w, const float *in, float *out)
{
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < w; k++)
            out[r * w + k] += 1;
        for (int k = 0; k < w; k++)
            out[r * w + k] = in[r * w + k] + out[r * w + k];
    }
}
static void backwards(int rows, int w, const float *in, float *out)
{
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < w; k++)
            out[r * w + w - 1 - k] = in[r * w + k];
        for (int k = 0; k < w; k += 2)
            out[r * w + k] += 1;
    }
}
void all(int h, int w, float *a, float *b, int clear)
{
#define ROWS _Pragma("kmm parallel(r = 0:h) chunk(20) rebase(rows: r) read(a[r*w:w]) write(b[r*w:w])")
    ROWS softmax(h, w, a, b);
    ROWS whole_rows(h, w, a, b);
// CHECK: warning: {{.*}} but 'guarded' depends on them; say update
    ROWS guarded(h, w, a, b, clear);
// CHECK: warning: {{.*}} but 'by_data' depends on them; say update
    ROWS by_data(h, w, a, b);
// CHECK: warning: {{.*}} but 'until' depends on them; say update
    ROWS until(h, w, a, b);
// CHECK: warning: {{.*}} but 'shorter' depends on them; say update
    ROWS shorter(h, w, a, b);
#ifdef WRONG
// WRONG: error: {{.*}} but 'afterwards' reads them
    ROWS afterwards(h, w, a, b);
#endif
// CHECK: warning: {{.*}} but 'backwards' depends on them; say update
    ROWS backwards(h, w, a, b);
// The pairs of two chunks are in none.
// CHECK: warning: it is not proven that chunks of 'ranks' {{.*}} since it has a loop over the range inside of another one
#pragma kmm parallel(i = 0:h) chunk(400) rebase(n: i) read(a[i]) write(b[i])
    ranks(h, a, b);
}
