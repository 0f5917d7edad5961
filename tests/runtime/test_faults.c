/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults. A fixed set of programs runs on a fake driver, in which each call that can fail is made
 * to fail in turn: the first, the second, and so on until there is none any more. Each run is a
 * process of its own, so that a crash, a hang or a leak is a failure like any other. Whatever
 * fails:
 *   - what can be read afterwards is right, and what cannot is an error that has been told, with
 * its place;
 *   - arrays that the failing work does not write stay readable;
 *   - the runtime goes on working, on what is left of its devices;
 *   - nothing is left behind in the driver.
 *
 * KMM_TEST_DRIVER says which driver (cuda, hip, hip_whole, which cannot map memory in parts);
 * KMM_FAULTS_ONE=program:point:k repeats one run in this process; KMM_FAULTS=all leaves out none,
 * KMM_FAULTS=few many, and KMM_FAULTS=brief most; KMM_FAULTS_PROGRAM is the only program that is
 * run; share.h divides the work.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kmm.h>

#include "fake_gpu.h"
#include "fake_work.h"
#include "share.h"

enum {
    MAX_ARRAYS = 12,
    LIMIT_S = 120,
    MOST = 4000,
    N = 6 << 10 /* elements: 24 KiB, six frames */
};

typedef enum role {
    BYSTANDER,
    INPUT,
    RESULT
} role_t; /* INPUT: read by devices, written by the host */

typedef struct array {
    int32_t *base, *model, *mapped;
    int64_t n;
    role_t role;
    bool open;
} array_t;

typedef struct run {
    kmm_runtime_t *rt;
    array_t array[MAX_ARRAYS];
    int count;
    int first;         /* error that a call or a wait returned */
    char text[512];    /* its text */
    bool may_be_whole; /* a device's arrays, since a call failed when mapping was tried: they may
                          not fit then */
    bool wrong;
} run_t;

static const char *driver(void)
{
    const char *text = getenv("KMM_TEST_DRIVER");
    return text ? text : "cuda";
}

static bool is_hip(void)
{
    return !strncmp(driver(), "hip", 3);
}

static kmm_kind_t kind(void)
{
    return is_hip() ? KMM_KIND_HIP : KMM_KIND_CUDA;
}

static bool is_whole(void)
{
    return !strcmp(driver(), "hip_whole");
}

static void complain(run_t *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(run_t *r, const char *format, ...)
{
    va_list args;
    r->wrong = true;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* Notes what a call returned. */
static int told(run_t *r, int error)
{
    if (error && !r->first) {
        r->first = error;
        snprintf(r->text, sizeof(r->text), "%s", kmm_error_text(r->rt));
    }
    return error;
}

/* ---- Launches ---- */

static void launch(run_t *r, what_t what, int chunks, array_t *dst, array_t *a, array_t *b)
{
    int64_t n = what == SUM ? a->n : dst->n;
    int error = told(r, fake_work_launch(kind(), what, n, chunks, dst->base, a ? a->base : NULL,
                                         b ? b->base : NULL));
    /* Where no device is left, or a chunk could not fit on one, nothing has happened. */
    bool is_refused =
        error == KMM_E_NO_DEVICE ||
        (error == KMM_E_MEMORY && strstr(kmm_error_text(r->rt), "nothing of the launch has run"));
    for (int64_t i = 0; i < n && !is_refused; i++)
        fake_work_element(what, i, n, dst->model, a ? a->model : NULL, b ? b->model : NULL);
}

/* ---- Arrays ---- */

static array_t *array_new(run_t *r, role_t role, int64_t n)
{
    array_t *a = &r->array[r->count++];
    kmm_shape_t shape = {.dims = 1, .extent = {n}, .element_bytes = 4, .label = "data"};
    *a = (array_t){.n = n, .role = role, .open = true, .model = malloc((size_t)n * 4)};
    for (int64_t i = 0; i < n; i++)
        a->model[i] = (int32_t)(i * 7 + r->count);
    if (kmm_array_create(r->rt, &shape, (void **)&a->base) ||
        kmm_copy_in(r->rt, a->base, a->model, (size_t)n * 4))
        complain(r, "an array could not be made: %s", kmm_error_text(r->rt));
    return a;
}

static void array_end(run_t *r, array_t *a)
{
    if (a->open && !a->mapped && kmm_array_destroy(r->rt, a->base))
        complain(r, "an array could not be destroyed: %s", kmm_error_text(r->rt));
    free(a->model);
    free(a->mapped);
    *a = (array_t){0};
}

/* What can be read is right. */
static void array_check(run_t *r, const array_t *a, bool must)
{
    size_t bytes = (size_t)a->n * 4;
    int32_t *got = malloc(bytes);
    int error = a->mapped ? 0 : kmm_copy_out(r->rt, got, a->base, bytes);
    if (error && must)
        complain(r, "array %d, which no failing work writes, cannot be read: %s",
                 (int)(a - r->array), kmm_error_text(r->rt));
    told(r, error);
    for (int64_t i = 0; i < a->n && !error; i++)
        if ((a->mapped ? a->mapped : got)[i] != a->model[i]) {
            complain(r, "array %d element %lld is %d, should be %d", (int)(a - r->array),
                     (long long)i, (a->mapped ? a->mapped : got)[i], a->model[i]);
            break;
        }
    free(got);
}

/* ---- The programs ---- */

static void in_memory(run_t *r)
{
    array_t *a = array_new(r, INPUT, N), *b = array_new(r, INPUT, N), *c = array_new(r, RESULT, N);
    launch(r, ADD, 8, c, a, b);
    launch(r, SCALE, 8, c, NULL, NULL);
    launch(r, ADD, 8, c, c, b);
    launch(r, SCALE, 1, c, NULL, NULL);
}

static void spilling(run_t *r)
{
    array_t *a = array_new(r, INPUT, N), *b = array_new(r, INPUT, N), *c = array_new(r, RESULT, N),
            *d = array_new(r, RESULT, N);
    for (int round = 0; round < 2; round++) {
        launch(r, ADD, 6, c, a, b);
        launch(r, MIRROR, 6, d, a, c);
        launch(r, SCALE, 6, d, NULL, NULL);
    }
    launch(r, ADD, 6, c, d, a);
}

static void two_devices(run_t *r)
{
    array_t *a = array_new(r, INPUT, N), *b = array_new(r, RESULT, N), *c = array_new(r, RESULT, N);
    launch(r, SCALE, 4, b, NULL, NULL);
    launch(r, MIRROR, 4, c, b, a); /* each device reads what the other wrote */
    launch(r, SCALE, 4, c, NULL, NULL);
    launch(r, MIRROR, 4, b, c, a);
}

static void reductions(run_t *r)
{
    array_t *a = array_new(r, INPUT, N), *sum = array_new(r, RESULT, 1),
            *c = array_new(r, RESULT, N);
    launch(r, SUM, 7, sum, a, NULL);
    launch(r, ADD, 5, c, a, a);
    launch(r, SUM, 3, sum, c, NULL);
    launch(r, SUM, 1, sum, a, NULL);
}

static array_t *mapped_new(run_t *r, int64_t n)
{
    array_t *a = &r->array[r->count++];
    *a = (array_t){.n = n,
                   .role = RESULT,
                   .open = true,
                   .model = malloc((size_t)n * 4),
                   .mapped = malloc((size_t)n * 4)};
    for (int64_t i = 0; i < n; i++)
        a->model[i] = a->mapped[i] = (int32_t)(i * 5 + 3);
    a->base = a->mapped;
    return a;
}

/* Takes back memory that was mapped. Where that is an error, its contents are not defined. */
static void mapped_end(run_t *r, array_t *a, int error)
{
    if (told(r, error))
        memcpy(a->model, a->mapped, (size_t)a->n * 4);
}

static void mapped(run_t *r)
{
    array_t *a = array_new(r, INPUT, N), *m = mapped_new(r, 3 * N), *raw = mapped_new(r, N);
    int64_t n = N;
    if (told(r, kmm_map(r->rt, KMM_MAP_TOFROM, m->base, (size_t)m->n * 4)))
        complain(r, "memory could not be mapped");
    launch(r, SCALE, 6, m, NULL, NULL);
    for (int64_t i = 0; i < n; i++)
        fake_work_element(ADD, i, n, raw->model, a->model, m->model);
    mapped_end(r, raw, fake_work_launch(kind(), ADD, n, 4, raw->base, a->base, m->base));
    launch(r, SCALE, 3, m, NULL, NULL);
    mapped_end(r, m, kmm_unmap(r->rt, m->base));
}

static void add_on_host(const kmm_chunk_t *chunk, void *args)
{
    int32_t **p = args;
    for (int64_t i = chunk->begin[0]; i < chunk->end[0]; i++)
        fake_work_element(ADD, i, 0, p[0], p[1], p[2]);
}

static void host_function(run_t *r, array_t *dst, array_t *a, array_t *b)
{
    int32_t *args[] = {dst->base, a->base, b->base};
    kmm_launch_t *l = kmm_launch_begin("add_on_host", "faults.c", 8);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, dst->n);
    kmm_launch_chunk(l, KMM_RANGE_0, dst->n / 3);
    fake_work_access(l, KMM_READ, "a[i]", a->base, 0, 1);
    fake_work_access(l, KMM_READ, "b[i]", b->base, 0, 1);
    fake_work_access(l, KMM_WRITE, "dst[i]", dst->base, 0, 1);
    for (int64_t i = 0; i < dst->n; i++)
        fake_work_element(ADD, i, 0, dst->model, a->model, b->model);
    told(r, kmm_launch_call(l, add_on_host, args, sizeof(args)));
}

static void copies(run_t *r)
{
    array_t *a = array_new(r, INPUT, N), *b = array_new(r, RESULT, N), *c = array_new(r, RESULT, N),
            *gone = array_new(r, RESULT, N);
    launch(r, ADD, 4, b, a, a);
    launch(r, SCALE, 4, gone, NULL, NULL);
    launch(r, ADD, 4, c, gone, b);
    array_end(r, gone); /* with work on it */
    memmove(c->model + 100, b->model + 50, N * 2);
    int copied = told(r, kmm_copy(r->rt, c->base + 100, b->base + 50, N * 2));
    memset(b->model, 1, N);
    int filled = told(r, kmm_fill(r->rt, b->base, 1, N));
    if (copied == KMM_E_INVALID || filled == KMM_E_INVALID)
        complain(r, "copies and fills of good ranges are refused");
    host_function(r, c, b, a);
    launch(r, SCALE, 4, c, NULL, NULL);
    array_t *again = array_new(r, RESULT, N);
    launch(r, ADD, 4, again, c, b);
}

static void large(run_t *r) /* host buffers of page-locked blocks */
{
    array_t *a = array_new(r, INPUT, 3 << 17), *b = array_new(r, RESULT, 3 << 17);
    launch(r, ADD, 6, b, a, a);
    launch(r, SCALE, 6, b, NULL, NULL);
}

/* whole_memory: where arrays are whole on a device. */
typedef struct program {
    const char *name;
    void (*run)(run_t *r);
    int devices;
    const char *memory, *whole_memory;
} program_t;
static const program_t programs[] = {
    {"in_memory", in_memory, 1, "8M", "8M"},     {"spilling", spilling, 1, "48K", "80K"},
    {"two_devices", two_devices, 2, "8M", "8M"}, {"two_spilling", two_devices, 2, "40K", "76K"},
    {"reductions", reductions, 2, "40K", "56K"}, {"mapped", mapped, 1, "64K", "124K"},
    {"copies", copies, 2, "64K", "80K"},         {"large", large, 1, "2M", "4M"},
};
enum { PROGRAMS = sizeof(programs) / sizeof(*programs) };

/* Where calls fail, and which error that is: 0 where the runtime has to do without. */
typedef struct point {
    const char *name;
    int error;
    bool loses, in_turn;
} point_t;
static const point_t points[] = {
    {"alloc", KMM_E_MEMORY, false, true},   {"reserve", KMM_E_MEMORY, false, false},
    {"map", KMM_E_MEMORY, false, false},    {"unmap", KMM_E_DEVICE, false, true},
    {"register", 0, false, true},           {"stream", KMM_E_MEMORY, false, true},
    {"event", KMM_E_MEMORY, false, false},  {"record", KMM_E_DEVICE, false, false},
    {"wait", KMM_E_DEVICE, false, false},   {"copy", KMM_E_DEVICE, false, true},
    {"launch", KMM_E_DEVICE, false, true},  {"copying", KMM_E_KERNEL, true, false},
    {"running", KMM_E_KERNEL, true, false}, {"lost", KMM_E_KERNEL, true, false},
};
enum { POINTS = sizeof(points) / sizeof(*points) };

/* ---- One run ---- */

static void counts(fake_counts_t *out)
{
    static const char *const hip[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
    void *library = is_hip() ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (int k = 0; k < 3 && is_hip() && !library; k++)
        library = dlopen(hip[k], RTLD_NOW | RTLD_LOCAL);
    fake_counts_function_t *function = NULL;
    if (library)
        *(void **)&function = dlsym(library, "fake_counts");
    if (!function) {
        fprintf(stderr, "no fake driver: %s\n", dlerror());
        exit(1);
    }
    function(out);
}

/* `stays`: what the driver has not unmapped stays, with its window. */
static bool all_given_back(fake_counts_t *c, bool stays)
{
    if (stays)
        c->windows = c->frames = c->mappings = 0;
    fprintf(stderr,
            c->windows || c->frames || c->mappings || c->registrations || c->allocations ||
                    c->streams || c->events || c->contexts
                ? "left behind: %lu windows, %lu frames, %lu mappings, %lu registrations, %lu "
                  "allocations, %lu streams, %lu events, %lu contexts\n"
                : "",
            c->windows, c->frames, c->mappings, c->registrations, c->allocations, c->streams,
            c->events, c->contexts);
    return !(c->windows || c->frames || c->mappings || c->registrations || c->allocations ||
             c->streams || c->events || c->contexts);
}

/* New work on new arrays: right where devices are left, and otherwise an error. */
static void use_again(run_t *r, bool lost)
{
    array_t *a = array_new(r, INPUT, 3000), *b = array_new(r, RESULT, 3000),
            *c = array_new(r, RESULT, 3000);
    kmm_wait(r->rt); /* the error that a copy out has told is told here too */
    r->first = 0;
    host_function(r, b, a, a);
    if (kmm_wait(r->rt))
        complain(r, "the host cannot be used any more: %s", kmm_error_text(r->rt));
    launch(r, ADD, 4, c, a, b);
    told(r, kmm_wait(r->rt));
    if (r->first && !lost)
        complain(r, "the runtime cannot be used any more: %s", r->text);
    array_check(r, a, true);
    array_check(r, b, true);
    array_check(r, c, !lost);
}

/* An error is of the right kind, and says where it happened. */
static void check_error(run_t *r, const point_t *p, bool may_be_none)
{
    static const char *const places[] = {"faults.c:", "Fake GPU",   "copy",
                                         "reduction", "write back", "fill"};
    bool placed = false;
    if (!r->first && !may_be_none)
        complain(r, "no error was told");
    if (!r->first)
        return;
    for (size_t k = 0; k < sizeof(places) / sizeof(*places); k++)
        placed |= strstr(r->text, places[k]) != NULL;
    if (!placed)
        complain(r, "an error without a place: %s", r->text);
    if (r->first != p->error && !(p->loses && r->first == KMM_E_NO_DEVICE) &&
        !(r->may_be_whole && r->first == KMM_E_MEMORY))
        complain(r, "error %d, should be %d: %s", r->first, p->error, r->text);
}

/* 0: all is well, and a fault struck. 2: all is well, and there is no k-th call any more. 1:
 * something is wrong. */
static int run_one(const program_t *program, const point_t *p, unsigned long k, const char *suffix,
                   bool abandon)
{
    run_t r = {0};
    char fail[64], list[64];
    fake_counts_t c;
    bool stays = !strcmp(p->name, "unmap");
    snprintf(fail, sizeof(fail), "%s:%lu%s", p->name, k, suffix);
    snprintf(list, sizeof(list), "%s:%d,mem=%s", is_hip() ? "hip" : "cuda", program->devices,
             is_whole() ? program->whole_memory : program->memory);
    setenv("KMM_FAKE_FAIL", fail, 1);
    int error = kmm_create(&r.rt, &(kmm_config_t){.devices = list, .threads = 2});
    if (error) {
        counts(&c);
        snprintf(r.text, sizeof(r.text), "%s", kmm_error_text(NULL));
        r.first = error;
        check_error(&r, p, false);
        return all_given_back(&c, stays) && c.faults && !r.wrong ? 0 : 1;
    }
    counts(&c);
    r.may_be_whole = is_hip() && c.faults;
    kmm_use(r.rt);
    array_t *bystander = array_new(&r, BYSTANDER, N);
    program->run(&r);
    if (!abandon)
        told(&r, kmm_wait(r.rt));
    for (int i = 0; i < r.count && !abandon; i++)
        if (r.array[i].model)
            array_check(&r, &r.array[i], &r.array[i] == bystander || r.array[i].role == INPUT);
    counts(&c);
    bool struck = c.faults > 0;
    if (!abandon && struck)
        check_error(&r, p, true);
    else if (r.first && !struck)
        complain(&r, "error %d, and nothing failed: %s", r.first, r.text);
    if (!abandon && struck && !*suffix)
        use_again(&r, p->loses);
    for (int i = 0; i < r.count; i++)
        if (r.array[i].model)
            array_end(&r, &r.array[i]);
    kmm_use(NULL);
    kmm_destroy(r.rt);
    counts(&c);
    if (!all_given_back(&c, stays) || r.wrong)
        return 1;
    return c.faults ? 0 : 2;
}

/* ---- All of them ---- */

static int in_a_process(const program_t *program, const point_t *p, unsigned long k,
                        const char *suffix, bool abandon)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(LIMIT_S);
        exit(run_one(program, p, k, suffix, abandon));
    }
    int status = 0;
    waitpid(child, &status, 0);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 0 || code == 2)
        return code;
    if (WIFSIGNALED(status))
        fprintf(stderr, "signal %d%s\n", WTERMSIG(status),
                WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
    fprintf(stderr, "FAILED; to repeat: KMM_FAULTS_ONE=%s:%s:%lu%s%s\n", program->name, p->name, k,
            suffix, abandon ? ":abandon" : "");
    return 1;
}

/* How far it is from the k-th call that fails to the next one. */
static unsigned long step(const point_t *p, bool plain, unsigned long k)
{
    const char *how = getenv("KMM_FAULTS");
    bool few = how ? !strcmp(how, "few") : !plain || !p->in_turn;
    return how && !strcmp(how, "brief") ? 3 * k : few ? 1 + k / 3 : 1;
}

/* Every k of one point in one program, or fewer and fewer of them; returns how many runs failed.
 * Briefly, it begins elsewhere in each, and does a third of what is not plain. */
static int sweep(const program_t *program, const point_t *p, const char *suffix, bool abandon,
                 int *runs)
{
    const char *how = getenv("KMM_FAULTS");
    unsigned long turn =
        how && !strcmp(how, "brief") ? (unsigned long)(program - programs + (p - points)) : 0;
    bool plain = !*suffix && !abandon;
    int failed = 0, code = 0;
    if (!plain && how && !strcmp(how, "brief") && (turn + abandon) % 3)
        return 0;
    for (unsigned long k = 1 + turn % 3; k <= MOST && code != 2 && failed < 3;
         k += step(p, plain, k), ++*runs) {
        code = in_a_process(program, p, k, suffix, abandon);
        failed += code == 1;
    }
    if (code != 2 && failed < 3) {
        fprintf(stderr, "%s:%s: more than %d calls\n", program->name, p->name, MOST);
        failed++;
    }
    return failed;
}

static int repeat(const char *text)
{
    char copy[128], *rest = copy;
    snprintf(copy, sizeof(copy), "%s", text);
    const char *program = strsep(&rest, ":"), *point = strsep(&rest, ":"),
               *number = strsep(&rest, ":");
    for (int i = 0; i < PROGRAMS; i++)
        for (int j = 0; j < POINTS; j++)
            if (point && number && !strcmp(program, programs[i].name) &&
                !strcmp(point, points[j].name)) {
                int code = run_one(&programs[i], &points[j], strtoul(number, NULL, 10),
                                   strchr(number, '+') ? "+" : "", rest != NULL);
                fprintf(stderr, "%s\n",
                        code == 0   ? "right"
                        : code == 2 ? "right, and nothing failed"
                                    : "WRONG");
                return code == 1;
            }
    fprintf(stderr, "KMM_FAULTS_ONE is like spilling:copy:3\n");
    return 2;
}

int main(void)
{
    const char *one = getenv("KMM_FAULTS_ONE"), *only = getenv("KMM_FAULTS_PROGRAM");
    const share_t share = share_of_test();
    int failed = 0, runs = 0;
    if (one)
        return repeat(one);
    for (int i = 0; i < PROGRAMS; i++) {
        if (only && strcmp(only, programs[i].name))
            continue;
        for (int j = 0; j < POINTS; j++) {
            if ((i * POINTS + j) % share.count != share.number - 1)
                continue;
            failed += sweep(&programs[i], &points[j], "", false, &runs);
            failed += !points[j].loses ? sweep(&programs[i], &points[j], "+", false, &runs) : 0;
            failed += sweep(&programs[i], &points[j], "", true, &runs);
        }
        fprintf(stderr, "%s: %d runs so far, %d failed\n", programs[i].name, runs, failed);
    }
    return failed ? 1 : 0;
}
