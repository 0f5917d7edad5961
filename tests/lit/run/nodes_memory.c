// Arrays that take four times the memory of a node, which has KMM_HOST_MEM and a disk: each node keeps its part. No
// node's resident memory, which also has the program, libkmm and what is under way, comes near that of the arrays. Both
// nodes are full while they swap halves, which are larger than what may be under way.
// REQUIRES: ir, !san
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: env KMM_DEVICES=host KMM_HOST_MEM=16M %t > %t.one
// RUN: env KMM_NODES=1 KMM_LOG=info KMM_DEVICES=host KMM_HOST_MEM=16M run_nodes -n 2 %t > %t.two 2> %t.err && diff %t.one %t.two
// RUN: FileCheck --check-prefix=SMALL %s < %t.err
// SMALL-COUNT-2: of 2: 8 launches were divided among nodes; ran {{[1-9][0-9]*}} chunks of these; held {{([1-8]?[0-9]{1,6})}} bytes that had arrived early, and was resident at most {{[1-4]?[0-9]}} MiB

// What the program copies to an array goes straight to all nodes, each of which gets an equal range. Without a limit and a
// disk, and with four nodes, none holds much more than a fourth of the arrays, also not the one that copies them out.
// RUN: %t copied > %t.one
// RUN: env KMM_NODES=1 KMM_LOG=info run_nodes -n 4 %t copied > %t.four 2> %t.err && diff %t.one %t.four
// RUN: FileCheck --check-prefix=HOMES %s < %t.err
// HOMES-COUNT-4: of 4: 7 launches were divided among nodes; ran {{[1-9][0-9]*}} chunks of these; held {{[0-9]+}} bytes that had arrived early, and was resident at most {{[1-5]?[0-9]}} MiB
#include <kmm.h>
#include <stdio.h>

enum { N = 8 << 20, PIECE = 1 << 16 };

static void fill(int n, int first, float *a)
{
    for (int i = 0; i < n; i++)
        a[i] = (float)((first + i) % 1009);
}

static void step(int n, const float *a, float *b)
{
    for (int i = 0; i < n; i++)
        b[i + 1] = 0.25f * a[i] + 0.5f * a[i + 1] + 0.25f * a[i + 2];
}

static void flip(int begin, int end, const float *a, float *b)
{
    for (int i = begin; i < end; i++)
        b[i] = a[N - 1 - i];
}

static void sum(int n, const float *a, double *total)
{
    for (int i = 0; i < n; i++)
        *total += a[i];
}

/* From memory that each piece uses again. */
static void copy_in(float *a, float *piece)
{
    for (int k = 0; k < N; k += PIECE) {
        fill(PIECE, k, piece);
        kmm_copy_in(kmm_default(), a + k, piece, PIECE * sizeof(*piece));
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    static float piece[PIECE];
    float *a = kmm_malloc(N * sizeof(*a)), *b = kmm_malloc(N * sizeof(*b));
    double total[1] = {0}, copied = 0;
    if (argc > 1) {
        copy_in(a, piece);
        kmm_fill(kmm_default(), b, 1, N * sizeof(*b));
    } else {
        #pragma kmm parallel(i = 0:N) chunk(N / 64) rebase(n: i, first: begin(i)) write(a[i])
        fill(N, 0, a);
    }
    #pragma kmm parallel(i = 0:N) chunk(N / 64) rebase(n: i, first: begin(i)) write(b[i])
    fill(N, 0, b);
    for (int t = 0; t < 2; t++) {
        #pragma kmm parallel(i = 0:N - 2) chunk(N / 64) rebase(n: i) read(a[i:3]) write(b[i + 1])
        step(N - 2, a, b);
        #pragma kmm parallel(i = 0:N - 2) chunk(N / 64) rebase(n: i) read(b[i:3]) write(a[i + 1])
        step(N - 2, b, a);
    }
    #pragma kmm parallel(i = 0:N) chunk(N / 64) rebase(begin: begin(i), end: end(i)) read(a[N - 1 - i]) write(b[i])
    flip(0, N, a, b);
    #pragma kmm parallel(i = 0:N) chunk(N / 64) rebase(n: i) read(b[i]) reduce(+: total[0])
    sum(N, b, total);
    for (int k = 0; k < N; k += PIECE) {
        kmm_copy_out(kmm_default(), piece, b + k, sizeof(piece));
        for (int i = 0; i < PIECE; i++)
            copied += piece[i] * ((k + i) % 31);
    }
    printf("%.17g %.17g\n", total[0], copied);
    kmm_free(a);
    kmm_free(b);
    return 0;
}
