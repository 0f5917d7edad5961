/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs kernels on the CPU with random arguments, and compares each access with what the analysis
 * says of it.
 *
 *     sound IR-MODULE FILE.bc FILE.so SEED LAUNCHES [WORD]
 *
 * FILE.so is made of FILE.bc by `instrument`. WORD: only kernels whose names hold it. The exit
 * status is 1 if an access lies outside of what the analysis says, or one is left out; 3 if FILE.so
 * lacks all kernels.
 *
 * Each pointer that a kernel gets leads to a place of its own in the address space. Threads of a
 * block are contexts, which take turns at barriers. Each launch has a process of its own, since
 * random arguments make kernels go astray: it ends then, and what came before still counts.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "claims.h"

enum {
    MOST_THREADS = 256,
    STACK = 256 << 10,
    MOST_SEEN = 1 << 20,
    MOST_TICKS = 200000,
    MOST_WRONG = 3,
    FILLED = 1 << 18
};
static const uintptr_t places = (uintptr_t)1 << 44, place_size = (uintptr_t)1 << 41,
                       mapped_size = (uintptr_t)1 << 30;

typedef struct totals {
    int64_t accesses, exact, launches, cut, crashed, wrong;
} totals_t;

typedef struct thread {
    ucontext_t context;
    int64_t index[3];
    int first, count, capacity; /* of what was seen */
    seen_t *seen;
    bool ended;
} thread_t;

static totals_t *totals;
static uint64_t state = 1;
static launch_t *launch;
static claims_t *claims;
static const pointer_t *pointer;
static int pointer_count;
static thread_t thread[MOST_THREADS];
static int current;
static int64_t block_index[3];
static ucontext_t scheduler;
static char *stacks;
static int ticks;
static bool cut; /* a thread was ended early */
static unsigned char scratch[1 << 16];
static const char *title;

static uint64_t random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* ---- What instrumented code calls ---- */

#pragma GCC visibility push(default)

unsigned kmm_sound_threadIdx[4], kmm_sound_blockIdx[4], kmm_sound_blockDim[4], kmm_sound_gridDim[4];

uint64_t kmm_sound_random(void);
uint64_t kmm_sound_random(void)
{
    return random_number() >> 11;
}

void kmm_sound_end(void);
void kmm_sound_end(void)
{
    cut = true;
    thread[current].ended = true;
    setcontext(&scheduler);
}

void kmm_sound_tick(void);
void kmm_sound_tick(void)
{
    if (++ticks > MOST_TICKS)
        kmm_sound_end();
}

void kmm_sound_barrier(void);
void kmm_sound_barrier(void)
{
    swapcontext(&thread[current].context, &scheduler);
}

int kmm_sound_index(int what);
int kmm_sound_index(int what)
{
    const int64_t *t = thread[current].index, *dim = launch->grid + IR_BLOCK_DIM * 3;
    if (what == 12)
        return (int)((t[0] + dim[0] * (t[1] + dim[1] * t[2])) % 32);
    return (int)(what / 3 == IR_THREAD_INDEX  ? t[what % 3]
                 : what / 3 == IR_BLOCK_INDEX ? block_index[what % 3]
                                              : launch->grid[what]);
}

#pragma GCC visibility pop

static void report(const seen_t *s, const char *what)
{
    const thread_t *t = &thread[current];
    const pointer_t *p = &pointer[s->pointer];
    if (__atomic_fetch_add(&totals->wrong, 1, __ATOMIC_RELAXED) >= MOST_WRONG)
        return;
    printf("%s: line %d: %s of bytes %lld to %lld of parameter %d.%d by thread %lld,%lld,%lld of "
           "block %lld,%lld,%lld, blocks of %lld,%lld,%lld, %s\n",
           title, s->line,
           s->kind == IR_READ    ? "read"
           : s->kind == IR_WRITE ? "write"
                                 : "atomic operation",
           (long long)s->begin, (long long)s->end, p->param, p->member, (long long)t->index[0],
           (long long)t->index[1], (long long)t->index[2], (long long)block_index[0],
           (long long)block_index[1], (long long)block_index[2], (long long)launch->grid[6],
           (long long)launch->grid[7], (long long)launch->grid[8], what);
    fflush(stdout);
}

static void check(const seen_t *s)
{
    thread_t *t = &thread[current];
    claims_thread(claims, t->index, block_index);
    totals->accesses++;
    if (!claims_cover(claims, s, t->seen, t->count))
        report(s, "which the analysis does not name");
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 64;
        t->seen = realloc(t->seen, (size_t)t->capacity * sizeof(*t->seen));
    }
    t->seen[t->count++] = *s;
}

__attribute__((visibility("default"))) void *kmm_sound_seen(void *address, uint64_t bytes, int kind,
                                                            int line);
void *kmm_sound_seen(void *address, uint64_t bytes, int kind, int line)
{
    uintptr_t at = (uintptr_t)address, from = at - places;
    kmm_sound_tick();
    if (bytes > sizeof(scratch)) /* a random length */
        kmm_sound_end();
    if (at < places || from >= (uintptr_t)pointer_count * place_size)
        return at < ((uintptr_t)1 << 32) || at >> 47 ? scratch : address;
    int number = (int)(from / place_size);
    int64_t offset = (int64_t)(from % place_size) - (int64_t)(place_size / 2);
    seen_t s = {number, kind, line, offset, offset + (int64_t)bytes};
    if (pointer[number].known && bytes)
        check(&s);
    int64_t most = (int64_t)(mapped_size / 2) - (int64_t)sizeof(scratch);
    return offset < -most || offset > most ? scratch : address;
}

/* ---- Launches ---- */

static int64_t small(void)
{
    static const int64_t most[] = {4, 16, 64, 300};
    uint64_t kind = random_number() % 16;
    if (kind == 0)
        return -(int64_t)(random_number() % 5);
    if (kind == 1)
        return (int64_t)1 << random_number() % 8;
    return (int64_t)(random_number() % (uint64_t)most[random_number() % 4]);
}

static void choose_grid(bool of_three)
{
    static const int64_t width[] = {1, 2, 3, 8, 16, 32, 64, 256};
    for (int d = 0; d < 3; d++) {
        bool flat = d && !(of_three && random_number() % 2);
        launch->grid[IR_GRID_DIM * 3 + d] = flat ? 1 : 1 + (int64_t)(random_number() % 4);
        launch->grid[IR_BLOCK_DIM * 3 + d] =
            d ? flat ? 1 : 1 + (int64_t)(random_number() % 8) : width[random_number() % 8];
    }
    int64_t *b = launch->grid + 6;
    while (b[0] * b[1] * b[2] > MOST_THREADS)
        b[0] /= 2;
}

static void put(unsigned char *at, int64_t value, int bits)
{
    memcpy(at, &value, (size_t)(bits + 7) / 8);
}

static void choose_arguments(const ir_function_t *f)
{
    int64_t total = launch->grid[6] * launch->grid[9];
    for (int k = 0; k < f->param_count && k < MOST_PARAMETERS; k++)
        for (int at = 0; at < STRUCT_BYTES; at += 4)
            put(launch->argument[k] + at, (int64_t)(random_number() % 40), 32);
    for (int k = 0; k < f->node_count; k++) {
        const ir_node_t *n = &f->node[k];
        int64_t value = random_number() % 4 ? small() : total - (int64_t)(random_number() % 3);
        if (n->op == IR_PARAM)
            put(launch->argument[n->value] + (n->a < 0 ? 0 : n->a), value, n->bits);
    }
    for (int k = 0; k < pointer_count; k++) {
        uintptr_t to = places + (uintptr_t)k * place_size + place_size / 2;
        int at = pointer[k].member < 0 ? 0 : pointer[k].member;
        memcpy(launch->argument[pointer[k].param] + at, &to, sizeof(to));
    }
}

static bool map_places(void)
{
    for (int k = 0; k < pointer_count; k++) {
        char *middle = (char *)(places + (uintptr_t)k * place_size + place_size / 2);
        if (mmap(middle - mapped_size / 2, mapped_size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
                 0) == MAP_FAILED)
            return false;
        /* As indices of 64 bits they do not lead from one place to another. */
        for (int at = -FILLED / 8; at < FILLED; at += 4)
            put((unsigned char *)middle + at, (int64_t)(random_number() % (at % 8 ? 16 : 64)), 32);
    }
    stacks = mmap(NULL, (size_t)MOST_THREADS * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return stacks != MAP_FAILED;
}

typedef void kernel_fn(void **arguments);
static kernel_fn *kernel;

static void run_thread(void)
{
    void *arguments[MOST_PARAMETERS];
    for (int k = 0; k < MOST_PARAMETERS; k++)
        arguments[k] = launch->argument[k];
    kernel(arguments);
    thread[current].ended = true;
    setcontext(&scheduler);
}

static void start_thread(thread_t *t, int number)
{
    const int64_t *dim = launch->grid + IR_BLOCK_DIM * 3;
    t->count = 0;
    t->ended = false;
    t->index[0] = number % dim[0];
    t->index[1] = number / dim[0] % dim[1];
    t->index[2] = number / dim[0] / dim[1];
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = stacks + (size_t)number * STACK;
    t->context.uc_stack.ss_size = STACK;
    makecontext(&t->context, run_thread, 0);
}

static void check_left_out(const seen_t *list, int count, bool of_block)
{
    claims_thread(claims, thread[current].index, block_index);
    const box_t *b = claims_left_out(claims, list, count, of_block, &totals->exact);
    if (!b)
        return;
    seen_t s = {.kind = (int)b->access->kind, .line = b->access->line};
    while (pointer[s.pointer].param != b->access->param ||
           pointer[s.pointer].member != b->access->member)
        s.pointer++;
    report(&s, "of which it leaves out some");
}

static void check_exact(int count)
{
    int all = 0;
    for (int k = 0; k < count; k++)
        all += thread[k].count;
    seen_t *list = calloc((size_t)all + 1, sizeof(*list));
    all = 0;
    for (int k = 0; k < count; k++) {
        memcpy(list + all, thread[k].seen, (size_t)thread[k].count * sizeof(*list));
        all += thread[k].count;
    }
    for (current = 0; current < count; current++) {
        check_left_out(thread[current].seen, thread[current].count, false);
        if (current % 29 == 0 && all < 20000)
            check_left_out(list, all, true);
    }
    free(list);
}

static void set_indices(void)
{
    for (int d = 0; d < 3; d++) {
        kmm_sound_threadIdx[d] = (unsigned)thread[current].index[d];
        kmm_sound_blockIdx[d] = (unsigned)block_index[d];
        kmm_sound_blockDim[d] = (unsigned)launch->grid[IR_BLOCK_DIM * 3 + d];
        kmm_sound_gridDim[d] = (unsigned)launch->grid[IR_GRID_DIM * 3 + d];
    }
}

static void run_block(int count)
{
    for (int k = 0; k < count; k++)
        start_thread(&thread[k], k);
    for (bool running = true; running;) {
        running = false;
        for (current = 0; current < count; current++)
            if (!thread[current].ended) {
                ticks = 0;
                set_indices();
                swapcontext(&scheduler, &thread[current].context);
                running |= !thread[current].ended;
            }
    }
    if (!cut)
        check_exact(count);
}

static void crash(int number)
{
    (void)number;
    _exit(9);
}

/* One launch. Half of the launches tell the analysis the sizes of blocks. */
static void run_launch(const ir_function_t *f, uint64_t seed)
{
    static stack_t alternate;
    state = seed * 0x9E3779B97F4A7C15ULL | 1;
    for (int k = 0; k < 8; k++)
        random_number();
    struct sigaction action = {.sa_handler = crash, .sa_flags = SA_ONSTACK};
    alternate = (stack_t){.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    alarm(20);
    launch = calloc(1, sizeof(*launch));
    choose_grid(random_number() % 2);
    int64_t known[3] = {0};
    if (random_number() % 2)
        memcpy(known, launch->grid + 6, sizeof(known));
    claims = claims_new(f, known, launch);
    pointer_count = claims_pointers(claims, &pointer);
    choose_arguments(f);
    if (!map_places())
        _exit(9);
    int64_t *g = launch->grid + 9, *b = launch->grid + 6;
    for (block_index[2] = 0; block_index[2] < g[2]; block_index[2]++)
        for (block_index[1] = 0; block_index[1] < g[1]; block_index[1]++)
            for (block_index[0] = 0; block_index[0] < g[0]; block_index[0]++)
                run_block((int)(b[0] * b[1] * b[2]));
    totals->cut += cut;
    _exit(0);
}

/* False: there is no code of the kernel. */
static bool run_kernel(const ir_function_t *f, void *library, uint64_t seed, int launches)
{
    char symbol[4096];
    snprintf(symbol, sizeof(symbol), "kmm_run_%s", f->name);
    kernel = (kernel_fn *)dlsym(library, symbol);
    title = f->title;
    if (!kernel || f->param_count > MOST_PARAMETERS) {
        printf("%s: it does not run here\n", title);
        return false;
    }
    *totals = (totals_t){0};
    for (int k = 0; k < launches; k++) {
        fflush(stdout);
        pid_t child = fork();
        int status = 0;
        if (child == 0)
            run_launch(f, seed * 1000003 + (uint64_t)k);
        waitpid(child, &status, 0);
        totals->launches++;
        totals->crashed += status != 0;
    }
    printf("%s: %lld launches (%lld cut short, %lld crashed), %lld accesses, %lld exact, %lld "
           "wrong\n",
           title, (long long)totals->launches, (long long)totals->cut, (long long)totals->crashed,
           (long long)totals->accesses, (long long)totals->exact, (long long)totals->wrong);
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void *library = module ? dlopen(argv[3], RTLD_NOW | RTLD_LOCAL) : NULL;
    ir_analyze_fn *analyze = module ? (ir_analyze_fn *)dlsym(module, "kmm_ir_analyze") : NULL;
    const char *error = "";
    if (!library || !analyze) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    ir_function_t **f = analyze(argv[2], NULL, &error);
    totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!f || totals == MAP_FAILED) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    bool wrong = false, some = false;
    for (; *f; f++)
        if ((argc == 6 || strstr((*f)->title, argv[6])) &&
            run_kernel(*f, library, strtoull(argv[4], NULL, 10), atoi(argv[5]))) {
            some = true;
            wrong |= totals->wrong != 0;
        }
    return wrong ? 1 : some ? 0 : 3;
}
