/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for trace.py and report.py: launches in chunks over three arrays, on pretend devices,
 * fake GPUs or the CPU. It prints what the devices' statistics say.
 *
 *     trace_work WHAT DEVICES ELEMENTS CHUNKS
 *
 * WHAT is `work`; `steps`, where the program waits for each launch and then does something itself
 * for 40 ms; `copies`, where it copies an element after each of the first two launches of a round;
 * `twice`, which has two runtimes, one after the other; `gate`, where no chunk runs
 * before all are submitted; `endless`; `forever`, where a chunk does not end; or `fork`, where a
 * child that was forked does the same as its parent.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kmm.h>

#include "fake_gpu.h"

enum { BLOCK = 64, ROUNDS = 3 };
static _Atomic bool gate_is_open = true, is_forever;

static void await_gate(void)
{
    while (!atomic_load(&gate_is_open) || atomic_load(&is_forever))
        nanosleep(&(struct timespec){0, 100000}, NULL);
}

/* dst[i] = src[i] + 1 */
static void step(int64_t block, int64_t n, int32_t *dst, const int32_t *src)
{
    await_gate();
    for (int64_t i = block * BLOCK; i < (block + 1) * BLOCK && i < n; i++)
        dst[i] = src[i] + 1;
}

/* dst[0] += src[i], as blocks do at the same time */
static void sum(int64_t block, int64_t n, int32_t *dst, const int32_t *src)
{
    for (int64_t i = block * BLOCK; i < (block + 1) * BLOCK && i < n; i++)
        __atomic_fetch_add(&dst[0], src[i], __ATOMIC_RELAXED);
}

typedef void block_t(int64_t block, int64_t n, int32_t *dst, const int32_t *src);

static void host_blocks(const kmm_host_blocks_t *b, void **args, block_t *run)
{
    for (uint64_t k = b->first; k < b->last; k++)
        run((int64_t)(k % b->count[0] + b->offset[0]), *(int64_t *)args[0], *(int32_t **)args[1],
            *(int32_t **)args[2]);
}
static void host_step(const kmm_host_blocks_t *b, void **args)
{
    host_blocks(b, args, step);
}
static void host_sum(const kmm_host_blocks_t *b, void **args)
{
    host_blocks(b, args, sum);
}

static int fake_block(const uint32_t block[3], void **args, block_t *run)
{
    run((int64_t)block[0] + ((kmm_blocks_t *)args[0])->offset_x, *(int64_t *)args[1],
        *(int32_t **)args[2], *(int32_t **)args[3]);
    return 0;
}
static int fake_step(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    return fake_block(block, args, step);
}
static int fake_sum(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    return fake_block(block, args, sum);
}

static const uint32_t sizes[] = {sizeof(kmm_blocks_t), 8, 8, 8};
static fake_kernel_t fakes[] = {{fake_step, 4, sizes, 0, NULL}, {fake_sum, 4, sizes, 0, NULL}};
static const kmm_kernel_t gpu[] = {
    {KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "step", NULL, &fakes[0], 4, sizes, 1, NULL},
    {KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "sum", NULL, &fakes[1], 4, sizes, 1, NULL}};
static const kmm_kernel_t cpu[] = {
    {KMM_LAUNCH_VERSION, KMM_KIND_HOST, "step", host_step, NULL, 3, sizes + 1, 0, NULL},
    {KMM_LAUNCH_VERSION, KMM_KIND_HOST, "sum", host_sum, NULL, 3, sizes + 1, 0, NULL}};

typedef struct program {
    kmm_runtime_t *rt;
    bool on_gpus, waits, copies;
    int64_t n;
    int chunks;
    int32_t *x, *y, *z, *total;
} program_t;

static void check(int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %s\n", what, kmm_error_text(NULL));
    exit(2);
}

static void launch(const program_t *p, int kernel, int line, const char *label, int32_t *dst,
                   int32_t *src)
{
    int64_t n = p->n;
    kmm_geometry_t g = {{(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    void *args[] = {NULL, &n, &dst, &src};
    kmm_launch_t *l = kmm_launch_begin(kernel ? "sum" : "step", "folder/trace.cu", line);
    if (label)
        kmm_launch_label(l, label);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, (n + p->chunks - 1) / p->chunks);
    kmm_launch_access(l, KMM_READ, "src[i]", src, sizeof(*src));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    if (kernel) {
        kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "dst[0]", dst);
        kmm_launch_index(l, 0, 1);
    } else {
        kmm_launch_access(l, KMM_WRITE, "dst[i]", dst, sizeof(*dst));
        kmm_launch_index(l, 0, 1);
        kmm_launch_coef(l, 0, 1, 0);
    }
    kmm_launch_arm(l);
    check(kmm_launch_kernel(p->on_gpus ? &gpu[kernel] : &cpu[kernel], &g,
                            args + (p->on_gpus ? 0 : 1)),
          "launch");
    int32_t element;
    if (p->copies && !kernel)
        check(kmm_copy_out(p->rt, &element, dst, sizeof(element)), "copy");
    if (!p->waits)
        return;
    check(kmm_wait(p->rt), "wait");
    nanosleep(&(struct timespec){0, 40000000}, NULL);
}

/* y = x + 1, z = "y" + 1, total += z */
static void round_of(const program_t *p)
{
    launch(p, 0, 10, NULL, p->y, p->x);
    launch(p, 0, 20, "second \"step\" \xe9", p->z, p->y);
    launch(p, 1, 30, NULL, p->total, p->z);
}

static int32_t *array(const program_t *p, int64_t n, const char *label)
{
    void *base;
    kmm_shape_t shape = {.dims = 1, .extent = {n}, .element_bytes = 4, .label = label};
    check(kmm_array_create(p->rt, &shape, &base), "array");
    check(kmm_fill(p->rt, base, 0, (size_t)n * 4), "fill");
    return base;
}

static void report(const program_t *p)
{
    kmm_device_info_t d;
    for (int k = 0; k < kmm_device_count(p->rt); k++) {
        check(kmm_device_get(p->rt, k, &d), "device");
        printf("device %d chunks %" PRIu64 " in %" PRIu64 " out %" PRIu64 " peer %" PRIu64
               " limit %" PRIu64 "\n",
               k, d.chunks, d.bytes_in, d.bytes_out, d.bytes_peer, d.memory_bytes);
    }
}

static void run(program_t *p, const char *what, const char *devices)
{
    check(kmm_create(&p->rt, &(kmm_config_t){.devices = devices}), "create");
    kmm_use(p->rt);
    p->x = array(p, p->n, "x");
    p->y = array(p, p->n, "y");
    p->z = array(p, p->n, NULL);
    p->total = array(p, 1, "total");
    check(kmm_wait(p->rt), "wait");
    p->waits = !strcmp(what, "steps");
    p->copies = !strcmp(what, "copies");
    atomic_store(&gate_is_open, strcmp(what, "gate") != 0);
    atomic_store(&is_forever, !strcmp(what, "forever"));
    bool is_endless = !strcmp(what, "endless");
    for (int k = 0; k < ROUNDS || is_endless; k++)
        round_of(p);
    atomic_store(&gate_is_open, true);
    check(kmm_wait(p->rt), "wait");
    int32_t total, last = 0;
    check(kmm_copy_out(p->rt, &total, p->total, 4), "copy");
    check(kmm_copy_out(p->rt, &last, p->z + p->n - 1, 4), "copy");
    report(p);
    printf("total %d last %d\n", total, last);
    fflush(stdout);
    kmm_use(NULL);
    check(kmm_destroy(p->rt), "destroy");
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    program_t p = {
        .on_gpus = strstr(argv[2], "cuda") != NULL, .n = atoll(argv[3]), .chunks = atoi(argv[4])};
    run(&p, argv[1], argv[2]);
    if (!strcmp(argv[1], "twice"))
        run(&p, argv[1], argv[2]);
    if (strcmp(argv[1], "fork"))
        return 0;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        run(&p, argv[1], argv[2]);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
