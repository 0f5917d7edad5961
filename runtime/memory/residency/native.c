/* SPDX-License-Identifier: Apache-2.0 */
/* Native standing: who is inside native calls, which GPUs the program uses, and the takeover. */
#include "memory/residency/native.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/spin.h"
#include "base/thread.h"
#include "base/trace.h"
#include "memory/disk/page.h"
#include "memory/residency/back.h"
#include "memory/residency/named.h"
#include "memory/residency/pack.h"
#include "memory/residency/scratch.h"
#include "task/inside.h"
#include "task/state.h"

enum { NOT_YET = -1, ENDS = 16 };
/* Nanoseconds: from the first takeover to the return; after a return that failed; that threads may
 * hold the standing. Returns that fail take at most 1/RETRY_PART of the time. */
static const uint64_t WAIT_NS = 50000000, RETRY_NS = 10000000, HOLDS_NS = 1000000;
enum { RETRY_PART = 20, MOST_RETURNS = 16 };
typedef enum standing { UNDECIDED, NATIVE, DOOMED, MANAGED, RETURNING } standing_t;

static _Atomic standing_t standing;
static kmm_runtime_t *native_runtime; /* constant once the standing is decided */
static kmm_kind_t native_kind;
static _Atomic(const char *) bound; /* why the standing cannot end; NULL: it can */
static pthread_mutex_t deciding = PTHREAD_MUTEX_INITIALIZER; /* held while the standing changes */
static atomic_bool is_forbidden;      /* the standing is managed from the start */
static atomic_bool stays;             /* the program makes calls that managed standing refuses */
static void (*ends_call[ENDS])(void); /* guarded by `deciding` */
static uint32_t ends_count;
static _Atomic uint64_t next_return; /* when the standing may be native again; 0: it never was */
static _Atomic uint64_t next_move;   /* when that may be tried again with live arrays */
static _Atomic uint32_t returns;     /* how often it became native again */

/* The GPUs that the program uses, by ordinal. */
static _Atomic int first_gpu = NOT_YET; /* the one on which it made its first array */
static _Atomic bool uses_several; /* it also uses others: all GPUs have access to all arrays */
static _Thread_local int own_gpu; /* the thread's current one, as far as it told us */

static bool is_native(kmm_kind_t kind)
{
    return atomic_load(&standing) == NATIVE && native_kind == kind;
}

/* ---- Programs that use several GPUs ---- */

/* Gives all GPUs access to all arrays, as the program may copy from one to another, or have enabled
 * access. */
static int use_several(void)
{
    int error = 0;
    kmm__named_lock();
    bool is = atomic_load(&standing) != NATIVE || atomic_load(&uses_several);
    if (!is && !(error = kmm__named_share(native_runtime)))
        atomic_store(&uses_several, true);
    kmm__named_unlock();
    return error;
}

void kmm__native_use_several(kmm_kind_t kind)
{
    if (is_native(kind) && use_several())
        kmm__native_end(native_runtime, "access of one GPU to another's memory");
}

void kmm__native_device(int ordinal)
{
    own_gpu = ordinal;
}

bool kmm__native_uses_several(void)
{
    return atomic_load_explicit(&uses_several, memory_order_relaxed);
}

int kmm__native_array_new(kmm_runtime_t *rt, kmm__device_t *d, size_t bytes, void **out)
{
    int none = NOT_YET, error;
    if (!atomic_compare_exchange_strong(&first_gpu, &none, d->ordinal) && none != d->ordinal &&
        use_several())
        return KMM_E_MEMORY; /* it is made as one that does not fit, and the standing ends */
    kmm__named_lock();
    error = kmm__named_new(rt, d, bytes, atomic_load(&uses_several), out);
    kmm__named_unlock();
    return error;
}

/* An error of the GPUs is told by a call of the program that follows. */
static void finish_all(const kmm_runtime_t *rt)
{
    for (uint32_t k = 0; k < rt->visible_count; k++)
        rt->device[k]->backend->finish(rt->device[k]->gpu);
}

bool kmm__native_array_free(kmm_runtime_t *rt, void *base)
{
    if (kmm__native_uses_several())
        finish_all(rt);
    kmm__named_lock();
    bool is = kmm__named_free(rt, base);
    kmm__named_unlock();
    return is;
}

/* ---- Who is inside ---- */

/* A thread's mark. Marks are never freed, and are used again when their thread has ended. */
typedef struct mark {
    _Atomic uint32_t inside;  /* number of native calls that the thread is inside of */
    _Atomic uint32_t managed; /* number of calls in which it holds managed standing */
    atomic_bool taken;
    _Atomic uint64_t calls, launches; /* written by the thread alone */
    struct mark *next;
} mark_t;
static _Atomic(mark_t *) marks;
static _Thread_local mark_t *own;
static pthread_key_t
    ends; /* its value is the thread's mark, so that the end of the thread returns it */

static void mark_return(void *mark)
{
    mark_t *m = mark;
    atomic_store(&m->managed, 0); /* if it was cancelled inside of a call */
    atomic_store(&m->taken, false);
}

static void ends_create(void)
{
    pthread_key_create(&ends, mark_return);
}

static mark_t *mark_take(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ends_create);
    mark_t *m = atomic_load(&marks);
    for (bool no = false; m && !atomic_compare_exchange_strong(&m->taken, &no, true); no = false)
        m = m->next;
    if (!m) {
        m = kmm__alloc(sizeof(*m));
        atomic_store(&m->taken, true);
        m->next = atomic_load(&marks);
        while (!atomic_compare_exchange_weak(&marks, &m->next, m)) {
        }
    }
    pthread_setspecific(ends, m);
    return m;
}

/* Gives the thread its mark. Called before the standing is read, so that a thread which ends
 * managed standing knows of all others. */
static void mark_own(void)
{
    if (!own)
        own = mark_take();
}

static standing_t standing_now(void)
{
    standing_t s = atomic_load(&standing);
    if (s != RETURNING)
        return s;
    pthread_mutex_lock(&deciding); /* until it is decided */
    pthread_mutex_unlock(&deciding);
    return standing_now();
}

static void await_all_out(void)
{
    for (mark_t *m = atomic_load(&marks); m; m = m->next)
        while (atomic_load(&m->inside))
            sched_yield();
}

bool kmm__native_is(kmm_kind_t kind)
{
    return is_native(kind);
}

bool kmm__native_is_undecided(void)
{
    return atomic_load_explicit(&standing, memory_order_acquire) == UNDECIDED;
}

/* Returns false if the thread uses another GPU than the one with the arrays, and the driver cannot
 * give GPUs access to each other's memory. */
static bool gpu_is_right(void)
{
    const int first = atomic_load_explicit(&first_gpu, memory_order_relaxed);
    if (first == NOT_YET || first == own_gpu ||
        atomic_load_explicit(&uses_several, memory_order_acquire))
        return true;
    return use_several() == 0;
}

/* The mark is written before the standing is read, and kmm__native_end writes the standing before
 * it reads the marks. So one of the two sees the other. */
bool kmm__native_enter(kmm_kind_t kind)
{
    mark_own();
    standing_t s = standing_now();
    if (s == MANAGED || s == UNDECIDED || native_kind != kind)
        return false;
    const bool is_right = s == NATIVE && gpu_is_right();
    if (is_right) {
        atomic_fetch_add(&own->inside, 1);
        if (atomic_load(&standing) == NATIVE)
            return true;
        kmm__native_leave();
    }
    kmm__native_end(native_runtime, "what its next calls do");
    return false;
}

void kmm__native_leave(void)
{
    atomic_fetch_sub_explicit(&own->inside, 1, memory_order_release);
}

bool kmm__native_may_end(void)
{
    return !atomic_load(&bound) && !atomic_load(&uses_several) && !atomic_load(&stays);
}

void kmm__native_stay(void)
{
    atomic_store(&stays, true);
}

void kmm__native_count_call(bool is_launch)
{
    _Atomic uint64_t *n = is_launch ? &own->launches : &own->calls;
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

void kmm__native_count(uint64_t *calls, uint64_t *launches)
{
    *calls = *launches = 0;
    for (mark_t *m = atomic_load(&marks); m; m = m->next) {
        *calls += atomic_load_explicit(&m->calls, memory_order_relaxed);
        *launches += atomic_load_explicit(&m->launches, memory_order_relaxed);
    }
}

void kmm__native_bind(const char *what)
{
    atomic_store(&bound, what);
}

bool kmm__native_is_bound(void)
{
    return atomic_load(&bound) != NULL;
}

/* ---- Its begin ---- */

/* True if a runtime can be native: all that it uses are GPUs of that kind that map memory. */
static bool has_gpus_only(const kmm_runtime_t *rt, kmm_kind_t kind)
{
    bool can = rt->visible_count > 0;
    for (uint32_t k = 0; k < rt->visible_count; k++) {
        const kmm__device_t *d = rt->device[k];
        can &= d->backend->kind == kind && !d->info.whole && d->space != KMM__HOST;
    }
    return can;
}

/* HIP's runtime has not been seen to copy memory that is mapped so: it has to be asked for. Where
 * the user has said how many GPUs launches are divided among, they are divided. */
static bool is_wanted(const kmm_runtime_t *rt, kmm_kind_t kind)
{
    const char *text = getenv("KMM_NATIVE");
    return text && *text ? strcmp(text, "0") != 0
                         : kind == KMM_KIND_CUDA && (rt->visible_count == 1 || !rt->is_counted);
}

void kmm__native_forbid(void)
{
    atomic_store(&is_forbidden, true);
}

void kmm__native_start(kmm_runtime_t *rt, kmm_kind_t kind)
{
    pthread_mutex_lock(&deciding);
    if (atomic_load(&standing) == UNDECIDED) {
        bool is_new = rt && rt->memory->array_count == 1 && rt->tasks->next_sequence == 0;
        bool is = is_new && !atomic_load(&is_forbidden) && is_wanted(rt, kind) &&
                  !rt->checks_access && !rt->checks_result && has_gpus_only(rt, kind);
        native_runtime = rt;
        native_kind = kind;
        for (uint32_t k = 0; is && k < rt->visible_count; k++) {
            pthread_mutex_lock(&rt->lock);
            kmm__pack_unbind(rt->device[k]);
            pthread_mutex_unlock(&rt->lock);
        }
        atomic_store(&standing, is ? NATIVE : MANAGED);
        kmm__log_info("%s standing: %s", is ? "native" : "managed",
                      is ? "calls go to the driver while all arrays fit"
                         : "libkmm runs the program's calls");
        KMM__TRACE(.kind = KMM__EVENT_INSTANT, .text = is ? "native standing" : "managed standing");
    }
    pthread_mutex_unlock(&deciding);
}

/* ---- Taking over ---- */

/* Returns an error if the standing cannot end. */
static int check_bound(const char *what, int error)
{
    const char *why = atomic_load(&bound);
    return why ? kmm__error_set(error,
                                "%s: libkmm would have to move arrays, whose addresses %s has "
                                "recorded",
                                what, why)
               : 0;
}

static int take_over(kmm_runtime_t *rt, const char *what)
{
    int refused = check_bound(what, KMM_E_STATE);
    if (refused)
        return refused;
    const uint64_t begin = kmm__now();
    atomic_store(&standing, DOOMED);
    await_all_out();
    finish_all(rt);
    kmm__scratch_drop(rt);
    for (uint32_t k = 0; k < ends_count; k++)
        ends_call[k]();
    kmm__named_lock();
    kmm__named_trim(rt);
    pthread_mutex_lock(&rt->lock);
    int error = kmm__named_move(rt);
    rt->memory->apart = 0;
    pthread_mutex_unlock(&rt->lock);
    atomic_store(&next_return, kmm__now() + (WAIT_NS << atomic_load(&returns)));
    atomic_store(&standing, error ? NATIVE : MANAGED);
    kmm__named_unlock();
    if (!error)
        kmm__log_info("native standing ends: libkmm takes over for %s", what);
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .text = "end of native standing",
               .file = kmm__trace_text(what), .a = begin);
    return error;
}

void kmm__native_at_end(void (*call)(void))
{
    bool has = false;
    pthread_mutex_lock(&deciding);
    for (uint32_t k = 0; k < ends_count; k++)
        has |= ends_call[k] == call;
    if (!has && ends_count < ENDS)
        ends_call[ends_count++] = call;
    pthread_mutex_unlock(&deciding);
}

int kmm__native_end(kmm_runtime_t *rt, const char *what)
{
    mark_own();
    standing_t s = standing_now();
    int error = 0;
    if (s == MANAGED || s == UNDECIDED || rt != native_runtime)
        return 0;
    pthread_mutex_lock(&deciding);
    if (atomic_load(&standing) != MANAGED)
        error = take_over(rt, what);
    pthread_mutex_unlock(&deciding);
    return error;
}

int kmm__native_doom(kmm_runtime_t *rt, const char *what)
{
    standing_t is = NATIVE;
    mark_own();
    if (standing_now() != NATIVE || rt != native_runtime)
        return 0;
    int error = check_bound(what, KMM_E_MEMORY);
    if (!error)
        atomic_compare_exchange_strong(&standing, &is, DOOMED);
    return error;
}

/* ---- Becoming native again ---- */

void kmm__native_hold_end(const bool *holds)
{
    if (*holds)
        atomic_fetch_sub_explicit(&own->managed, 1, memory_order_release);
}

/* The mark is written before the standing is read, and kmm__native_return writes the standing
 * before it reads the marks. So one of the two sees the other. */
int kmm__native_hold(kmm_runtime_t *rt, const char *what, bool *holds)
{
    if (what && !rt->has_spaces)
        return 0; /* only GPUs have a standing */
    mark_own();
    while (!*holds) {
        const uint32_t before = atomic_fetch_add(&own->managed, 1);
        const standing_t s = atomic_load(&standing);
        *holds = true;
        if (s == RETURNING ? before
                           : !what || s == MANAGED || s == UNDECIDED || rt != native_runtime)
            return 0;
        kmm__native_hold_end(holds);
        *holds = false;
        int error = 0;
        if (what)
            error = kmm__native_end(rt, what);
        else
            standing_now(); /* waits until it is decided */
        if (error)
            return error;
    }
    return 0;
}

/* True if no thread holds the standing, now or soon. One that does may wait for a thread that waits
 * for the standing to be decided. */
static bool await_none_holds(void)
{
    const uint64_t until = kmm__now() + HOLDS_NS;
    for (mark_t *m = atomic_load(&marks); m; m = m->next)
        while (atomic_load(&m->managed)) {
            if (kmm__now() > until)
                return false;
            sched_yield();
        }
    return true;
}

static bool become_native(kmm_runtime_t *rt, int (*gather)(kmm_runtime_t *rt))
{
    pthread_mutex_lock(&rt->lock);
    const bool moves = gather && kmm__back_fits(rt) && gather(rt) == 0;
    bool is = kmm__back_move(rt, moves);
    pthread_mutex_unlock(&rt->lock);
    return is;
}

bool kmm__native_return(kmm_kind_t kind, int (*gather)(kmm_runtime_t *rt))
{
    if (!kmm__native_may_return() || native_kind != kind)
        return false;
    mark_own();
    pthread_mutex_lock(&deciding);
    const uint32_t times = atomic_load(&returns);
    const uint64_t begin = kmm__now();
    bool is = kmm__native_may_return() && times < MOST_RETURNS;
    if (is) {
        atomic_store(&standing, RETURNING);
        is = await_none_holds() && become_native(native_runtime, gather);
        atomic_store(&returns, times + is);
        const uint64_t end = kmm__now();
        KMM__TRACE(.kind = KMM__EVENT_SPAN,
                   .text = is ? "return to native standing" : "no return to native standing",
                   .a = begin);
        if (gather && !is)
            atomic_store(&next_move, end + RETRY_NS + (end - begin) * RETRY_PART);
        atomic_store(&standing, is ? NATIVE : MANAGED);
        if (is)
            kmm__log_info("native standing again: %s",
                          gather ? "all arrays fit on the GPU" : "there are no arrays");
    }
    pthread_mutex_unlock(&deciding);
    return is;
}

bool kmm__native_may_return(void)
{
    const uint64_t at = atomic_load_explicit(&next_return, memory_order_relaxed);
    return at && atomic_load(&standing) == MANAGED && kmm__now() >= at && !kmm__is_inside();
}

bool kmm__native_may_move(void)
{
    return kmm__native_may_return() &&
           kmm__now() >= atomic_load_explicit(&next_move, memory_order_relaxed);
}

kmm_kind_t kmm__native_kind(void)
{
    return native_kind;
}

/* A small array with frames of its own takes a whole granule, and more time than one in a slab. */
static bool may_be_apart(const kmm_runtime_t *rt, const kmm__device_t *d)
{
    enum { MOST = 32, PART = 16 };
    return rt->memory->apart < MOST &&
           rt->memory->apart * d->info.granularity < d->memory->limit / PART;
}

kmm__device_t *kmm__native_home(const kmm_runtime_t *rt, size_t bytes)
{
    const standing_t s = atomic_load(&standing);
    const bool was = s == DOOMED || (s == MANAGED && atomic_load(&next_return));
    kmm__device_t *d = rt->device[0];
    if (!was || rt != native_runtime || rt->visible_count != 1 || kmm__spill_room(rt))
        return NULL;
    return kmm__named_is_small(d, bytes) && !may_be_apart(rt, d) ? NULL : d;
}

bool kmm__native_has_returned(void)
{
    return atomic_load_explicit(&returns, memory_order_relaxed) > 0;
}

/* ---- Faults ---- */

enum { SITES = 4 };
static struct {
    const char *file, *kernel;
    int line;
} sites[SITES]; /* the latest launches with a pragma; guarded by sites_lock */
static uint64_t site_count;
static atomic_flag sites_lock = ATOMIC_FLAG_INIT; /* held for a few instructions */
static atomic_flag fault_told = ATOMIC_FLAG_INIT;

static void sites_take(void)
{
    while (atomic_flag_test_and_set_explicit(&sites_lock, memory_order_acquire))
        sched_yield();
}

static void sites_release(void)
{
    atomic_flag_clear_explicit(&sites_lock, memory_order_release);
}

void kmm__native_note(const char *file, int line, const char *kernel)
{
    KMM__TRACE(.kind = KMM__EVENT_INSTANT, .text = "native launch", .file = kernel,
               .c = (uint64_t)line);
    sites_take();
    sites[site_count % SITES].file = file;
    sites[site_count % SITES].line = line;
    sites[site_count++ % SITES].kernel = kernel;
    sites_release();
}

bool kmm__native_is_plain(const kmm_runtime_t *rt)
{
    sites_take();
    bool is = atomic_load(&standing) == NATIVE && rt == native_runtime && site_count == 0;
    sites_release();
    return is;
}

void kmm__native_fault(int error)
{
    if (atomic_flag_test_and_set(&fault_told))
        return;
    char latest[KMM__LOG_BYTES] = "";
    size_t length = 0;
    sites_take();
    for (uint64_t k = 0; k < SITES && k < site_count && length < sizeof(latest); k++) {
        uint64_t at = (site_count - 1 - k) % SITES;
        int n = snprintf(latest + length, sizeof(latest) - length, "%s%s:%d: %s",
                         k ? ", " : "; the latest launches with a pragma are ",
                         sites[at].file ? sites[at].file : "?", sites[at].line,
                         sites[at].kernel ? sites[at].kernel : "?");
        length += n > 0 ? (size_t)n : 0;
    }
    sites_release();
    kmm__log(KMM__LOG_ERROR, "work on the GPU has failed (error %d)%s", error, latest);
}

int kmm__native_finish(kmm_runtime_t *rt)
{
    int error = 0;
    if (atomic_load(&standing) != NATIVE || rt != native_runtime)
        return 0;
    for (uint32_t k = 0; k < rt->visible_count; k++) {
        kmm__device_t *d = rt->device[k];
        int finished = d->backend->finish(d->gpu);
        if (finished && !error)
            error = kmm__error_set(finished, "%s: %s", d->info.name,
                                   d->backend->error_text(d->backend));
    }
    if (!error || atomic_flag_test_and_set(&fault_told))
        return 0;
    return error;
}
