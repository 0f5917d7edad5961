// Regions between offsets, as the rows of a matrix in CSR form: of 32 and 64 bits, on the host and computed by an earlier launch, with empty rows, rows in any order, one row and none; of kernels, templates and plain functions.
// RUN: %kmmcc --target=host -O1 %san -Wno-kmm-unproven -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=16K KMM_JOIN=0 %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_FRAME=16K KMM_CHECK=access %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:2 KMM_CHECK=result %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:2 %not %t mistakes 2>&1 | FileCheck --check-prefix=MISTAKE %s
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { ROWS = 20000, BLOCK = 64 };

template <typename I>
__global__ void sums(int rows, const I *rowptr, const int *val, int *y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    y[r] = 0;
    for (I k = rowptr[r]; k < rowptr[r + 1]; k++)
        y[r] += val[k];
}

// Rows of r % 5 elements, of which the host knows nothing until the launch.
__global__ void make_rows(int rows, int *rowptr)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r <= rows)
        rowptr[r] = r / 5 * 10 + (r % 5) * (r % 5 - 1) / 2;
}

__global__ void add_to(int n, const int64_t *ends, int *val)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n)
        for (int64_t k = ends[2 * r]; k < ends[2 * r + 1]; k++)
            val[k] += r;
}

static void add_rows(int lo, int hi, const unsigned *rowptr, int *val)
{
    for (int r = lo; r < hi; r++)
        for (unsigned k = rowptr[r]; k < rowptr[r + 1]; k++)
            val[k] += r;
}

static void add_values(int n, const long *rowptr, const int *val, int *y)
{
    for (int r = 0; r < n; r++)
        for (long k = rowptr[r]; k < rowptr[r + 1]; k++)
            y[r] += val[k];
}

template <typename T>
static T *on_device(const std::vector<T> &v)
{
    T *p;
    cudaMalloc(&p, (v.size() + 1) * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}

static int blocks(int n) { return (n + BLOCK) / BLOCK; }

static std::vector<int> on_host(const int *p, size_t n)
{
    std::vector<int> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost);
    return v;
}

// `each` elements in each row on average, many rows without any.
template <typename I>
static std::vector<I> random_rows(int rows, int each)
{
    std::vector<I> rowptr(1, 0);
    for (int r = 0; r < rows; r++)
        rowptr.push_back(rowptr[r] + (rand() % 3 ? 0 : rand() % (6 * each)));
    return rowptr;
}

template <typename I>
static long wrong_sums(const std::vector<I> &rowptr, const std::vector<int> &val, const int *y)
{
    long wrong = 0;
    std::vector<int> got = on_host(y, rowptr.size() - 1);
    for (size_t r = 0; r + 1 < rowptr.size(); r++) {
        int sum = 0;
        for (I k = rowptr[r]; k < rowptr[r + 1]; k++)
            sum += val[k];
        wrong += got[r] != sum;
    }
    return wrong;
}

template <typename I>
static long test_sums(int rows, bool of_device)
{
    std::vector<I> rowptr = random_rows<I>(rows, 20);
    std::vector<int> val(rowptr[rows] + 1);
    for (int &v : val)
        v = rand();
    I *d_rowptr = on_device(rowptr);
    const I *h_rowptr = rowptr.data();
    int *d_val = on_device(val), *y = on_device(std::vector<int>(rows + 1));
    if (of_device) {
        #pragma kmm parallel(r = 0:rows) chunk(rows / 8) \
                    read(d_rowptr[r:2], d_val[d_rowptr[r] : d_rowptr[r + 1] - d_rowptr[r]]) write(y[r])
        sums<<<blocks(rows), BLOCK>>>(rows, d_rowptr, d_val, y);
    } else {
        #pragma kmm parallel(r) chunk(rows / 8) bounded shape(h_rowptr[rows + 1]) \
                    read(d_rowptr[r:2], d_val[h_rowptr[r] : h_rowptr[r + 1] - h_rowptr[r]]) update(y[r])
        sums<<<blocks(rows), BLOCK>>>(rows, d_rowptr, d_val, y);
    }
    long wrong = wrong_sums(rowptr, val, y);
    cudaFree(d_rowptr), cudaFree(d_val), cudaFree(y);
    return wrong;
}

// The offsets are what a launch before computes.
static long test_in_flight()
{
    long wrong = 0;
    std::vector<int> rowptr(ROWS + 1), val(ROWS * 2 + 10, 3);
    for (int r = 0; r <= ROWS; r++)
        rowptr[r] = r / 5 * 10 + (r % 5) * (r % 5 - 1) / 2;
    int *d_rowptr = on_device(std::vector<int>(ROWS + 1)), *d_val = on_device(val),
        *y = on_device(std::vector<int>(ROWS));
    for (int k = 0; k < 5; k++) {
        cudaMemset(d_rowptr, 0, (ROWS + 1) * sizeof(int));
        #pragma kmm parallel(r = 0:ROWS + 1) chunk(ROWS / 8) write(d_rowptr[r])
        make_rows<<<blocks(ROWS), BLOCK>>>(ROWS, d_rowptr);
        #pragma kmm parallel(r = 0:ROWS) chunk(ROWS / 8) \
                    read(d_rowptr[r:2], d_val[d_rowptr[r] : d_rowptr[r + 1] - d_rowptr[r]]) write(y[r])
        sums<<<blocks(ROWS), BLOCK>>>(ROWS, d_rowptr, d_val, y);
        wrong += wrong_sums(rowptr, val, y);
    }
    cudaFree(d_rowptr), cudaFree(d_val), cudaFree(y);
    return wrong;
}

// Rows in any order, each with its begin and its end: a chunk of them leaves elements out.
static long test_permuted()
{
    std::vector<int64_t> rowptr = random_rows<int64_t>(ROWS, 4), ends(2 * ROWS);
    std::vector<int> val(rowptr[ROWS]);
    for (int64_t r = 0; r < ROWS; r++) {
        int64_t at = r * 7919 % ROWS;
        ends[2 * r] = rowptr[at];
        ends[2 * r + 1] = rowptr[at + 1];
    }
    int64_t *d_ends = on_device(ends);
    int *d_val = on_device(val);
    #pragma kmm parallel(r = 0:ROWS) chunk(ROWS) \
                read(d_ends[2 * r:2]) update(d_val[d_ends[2 * r] : d_ends[2 * r + 1] - d_ends[2 * r]])
    add_to<<<blocks(ROWS), BLOCK>>>(ROWS, d_ends, d_val);
    // the other half of the rows as if there were no others
    int half = ROWS / 2;
    #pragma kmm parallel(r = 0:half) if(half < 0) \
                read(d_ends[2 * r:2]) update(d_val[d_ends[2 * r] : d_ends[2 * r + 1] - d_ends[2 * r]])
    add_to<<<blocks(half), BLOCK>>>(half, d_ends, d_val);
    std::vector<int> got = on_host(d_val, val.size());
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t k = ends[2 * r]; k < ends[2 * r + 1]; k++)
            val[k] += r < half ? 2 * r : r;
    long wrong = 0;
    for (size_t k = 0; k < val.size(); k++)
        wrong += got[k] != val[k];
    cudaFree(d_ends), cudaFree(d_val);
    return wrong;
}

static long test_functions()
{
    static unsigned rowptr[ROWS + 1];
    static long wide[ROWS + 1];
    static int y[ROWS];
    std::vector<unsigned> rows = random_rows<unsigned>(ROWS, 20);
    std::vector<int> val(rows[ROWS]);
    int *v = val.data();
    for (int r = 0; r <= ROWS; r++)
        wide[r] = rowptr[r] = rows[r];
    #pragma kmm data map(tofrom: v[0:rowptr[ROWS]], rowptr, wide)
    {
        #pragma kmm parallel(r = 0:ROWS) chunk(ROWS / 7) rebase(lo: begin(r), hi: end(r)) \
                    read(rowptr[r:2]) update(v[rowptr[r] : rowptr[r + 1] - rowptr[r]])
        add_rows(0, ROWS, rowptr, v);
        #pragma kmm parallel(r = 0:ROWS) chunk(ROWS / 7) rebase(n: r) \
                    read(wide[r:2], v[wide[r] : wide[r + 1] - wide[r]]) update(y[r])
        add_values(ROWS, wide, v, y);
    }
    long wrong = 0;
    for (int r = 0; r < ROWS; r++)
        wrong += y[r] != (int)((rowptr[r + 1] - rowptr[r]) * r);
    return wrong;
}

// Without a range, nothing says how many offsets the host may read.
static void mistakes()
{
    std::vector<int> rowptr(ROWS + 1);
    int *h_rowptr = rowptr.data(), *d_rowptr = on_device(rowptr), *d_val = on_device(rowptr), *y = on_device(rowptr);
    // MISTAKE: d_val[h_rowptr[r] : h_rowptr[r + 1] - h_rowptr[r]]: how many offsets there are is not known: give the axis its range, or the offsets their shape
    #pragma kmm parallel(r) chunk(ROWS / 8) read(d_rowptr[r:2], d_val[h_rowptr[r] : h_rowptr[r + 1] - h_rowptr[r]]) update(y[r])
    sums<<<blocks(ROWS), BLOCK>>>(ROWS, d_rowptr, d_val, y);
}

int main(int argc, char **)
{
    if (argc > 1)
        mistakes();
    // CHECK: 0 0 0 0
    printf("%ld %ld %ld %ld\n", test_sums<int>(ROWS, false), test_sums<int>(ROWS, true), test_sums<uint64_t>(ROWS, true),
           test_sums<unsigned>(ROWS, false));
    // CHECK-NEXT: 0 0 0 0
    printf("%ld %ld %ld %ld\n", test_sums<int>(1, false), test_sums<long>(1, true), test_sums<int>(0, false),
           test_sums<long>(0, true));
    // CHECK-NEXT: 0 0 0
    printf("%ld %ld %ld\n", test_in_flight(), test_permuted(), test_functions());
}
