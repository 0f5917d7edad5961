/* SPDX-License-Identifier: Apache-2.0 */
/* On node 0, calls of the program become commands where arrays are concerned that several nodes
 * know. On the others, a thread executes the commands. */
#include "nodes/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "execute/exact.h"
#include "launch/nodes.h"
#include "launch/state.h"
#include "memory/residency/native.h"
#include "nodes/exchange.h"
#include "nodes/launch.h"
#include "nodes/parts.h"
#include "task/inside.h"

static kmm__nodes_t nodes = {.turn = PTHREAD_MUTEX_INITIALIZER,
                             .lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER,
                             .commands_end = &nodes.commands};
static bool is_begun;               /* there are several nodes */
static _Thread_local bool has_turn; /* this thread's launch is being submitted */

typedef struct use {
    uint64_t id;
    int64_t range[2];
    kmm_mode_t mode;
    int value; /* of a set */
} use_t;

typedef struct array {
    uint64_t id;
    int64_t bytes;
} array_t;

/* ---- Executed by all nodes ---- */

/* Node 0 reads or writes bytes. */
static void execute_use(kmm__shared_t *shared, const use_t *u)
{
    kmm__exchange_t e = {.nodes = &nodes};
    if (u->mode != KMM_WRITE)
        kmm__exchange_read(&e, shared, 0, u->range);
    kmm__exchange_end(&e);
    if (u->mode != KMM_READ)
        kmm__holder_map_write(&shared->holders, 0, u->range[0], u->range[1]);
    kmm__holder_map_settle(&shared->holders);
}

/* The bytes among [range[0], range[1]) whose home the node is: one of as many equal ranges as there
 * are nodes. */
static void home_of(const kmm__shared_t *shared, uint32_t node, const int64_t range[2],
                    int64_t out[2])
{
    enum { PAGE = 4096 };
    const int64_t count = nodes.count, begin = shared->bytes / PAGE * node / count * PAGE,
                  end = node + 1 < nodes.count ? shared->bytes / PAGE * (node + 1) / count * PAGE
                                               : shared->bytes;
    out[0] = begin > range[0] ? begin : range[0];
    out[1] = end < range[1] ? end : range[1];
}

/* The three commands below leave out node 0's own bytes, which copy_own copies or sets. */

/* Each node sets its own bytes. */
static void execute_fill(kmm__shared_t *shared, const use_t *u)
{
    int64_t home[2];
    int error = 0;
    for (uint32_t node = 0; node < nodes.count; node++) {
        home_of(shared, node, u->range, home);
        if (home[0] >= home[1])
            continue;
        kmm__holder_map_write(&shared->holders, node, home[0], home[1]);
        if (node && node == nodes.me)
            error =
                kmm_fill(nodes.rt, shared->base + home[0], u->value, (size_t)(home[1] - home[0]));
    }
    if (error)
        kmm__nodes_fail(&nodes, kmm_error_text(nodes.rt));
    kmm__holder_map_settle(&shared->holders);
}

/* memory: on node 0, what is written to byte range[0] and those behind it. */
static void execute_deal(kmm__shared_t *shared, const use_t *u, char *memory)
{
    kmm__exchange_t e = {.nodes = &nodes, .shared = shared, .memory = memory, .first = u->range[0]};
    int64_t home[2];
    for (uint32_t node = 0; node < nodes.count; node++) {
        home_of(shared, node, u->range, home);
        if (home[0] >= home[1])
            continue;
        kmm__holder_map_write(&shared->holders, node, home[0], home[1]);
        if (node)
            kmm__exchange_give(&e, node, home);
    }
    kmm__exchange_end(&e);
    kmm__holder_map_settle(&shared->holders);
}

static void execute_fetch(kmm__shared_t *shared, const use_t *u, char *memory)
{
    kmm__exchange_t e = {.nodes = &nodes, .shared = shared, .memory = memory, .first = u->range[0]};
    kmm__exchange_fetch(&e, u->range);
    kmm__exchange_end(&e);
}

/* ---- Node 0 ---- */

static void turn_begin(void)
{
    pthread_mutex_lock(&nodes.turn);
    kmm__is_of_node = true;
}

static void turn_end(void)
{
    kmm__is_of_node = false;
    pthread_mutex_unlock(&nodes.turn);
}

/* NULL: the array is not shared, and nothing has to be done. */
static int use(kmm__shared_t *shared, kmm_mode_t mode, const int64_t range[2])
{
    if (!shared || range[0] >= range[1] ||
        kmm__holder_map_is_of(&shared->holders, 0, range, mode != KMM_READ))
        return 0;
    if (kmm__is_inside())
        return kmm__error_set(KMM_E_UNSUPPORTED,
                              "work inside a chunk or a task uses an array that is on other nodes");
    const use_t u = {shared->id, {range[0], range[1]}, mode, 0};
    kmm__command_send(&nodes, KMM__COMMAND_USE, &u, sizeof(u));
    execute_use(shared, &u);
    return 0;
}

static int on_use(kmm__array_t *a, kmm_mode_t mode, int64_t begin, int64_t end)
{
    const int64_t range[2] = {begin, end};
    turn_begin();
    int error = use(kmm__shared_find(&nodes, a->id), mode, range);
    turn_end();
    return error;
}

/* Makes an array known to all nodes. */
static kmm__shared_t *share(const kmm__array_t *a)
{
    kmm__shared_t *shared = kmm__shared_find(&nodes, a->id);
    const array_t sent = {a->id, (int64_t)a->bytes};
    if (shared)
        return shared;
    kmm__command_send(&nodes, KMM__COMMAND_ARRAY, &sent, sizeof(sent));
    return kmm__shared_add(&nodes, a->id, a->base, sent.bytes);
}

/* True if what the program copies to the array goes to all nodes. Mapped memory is node 0's. Under
 * checks no launch is divided. */
static bool has_homes(const kmm__array_t *a, const kmm__shared_t *shared)
{
    enum { LEAST = 4096 }; /* bytes of each node */
    const kmm_runtime_t *rt = a->runtime;
    return !a->is_mapped && a->bytes / LEAST >= nodes.count && !(shared && shared->stays) &&
           !rt->checks_access && !rt->checks_result && !kmm__exact_is_on();
}

/* Runs of bytes that node 0 itself copies or sets. */
typedef struct own {
    int64_t (*run)[2];
    uint32_t count, capacity;
} own_t;

static void note_own(void *own, uint32_t from, int64_t begin, int64_t end)
{
    own_t *o = own;
    if (from != 0)
        return;
    o->run = kmm__grow(o->run, o->count, &o->capacity, sizeof(*o->run));
    o->run[o->count][0] = begin;
    o->run[o->count++][1] = end;
}

static int copy_in(kmm__array_t *a, const int64_t range[2], const kmm__copied_t *c, own_t *own,
                   bool *is_done)
{
    kmm__shared_t *shared = kmm__shared_find(&nodes, a->id);
    int64_t home[2];
    if (!has_homes(a, shared))
        return use(shared, KMM_WRITE, range);
    const use_t u = {a->id, {range[0], range[1]}, KMM_WRITE, c->value};
    shared = share(a);
    kmm__command_send(&nodes, c->is_set ? KMM__COMMAND_FILL : KMM__COMMAND_DEAL, &u, sizeof(u));
    if (c->is_set)
        execute_fill(shared, &u);
    else
        execute_deal(shared, &u, c->memory);
    home_of(shared, 0, range, home);
    if (home[0] < home[1])
        note_own(own, 0, home[0], home[1]);
    *is_done = true;
    return 0;
}

static int copy_out(kmm__shared_t *shared, const int64_t range[2], char *memory, own_t *own,
                    bool *is_done)
{
    if (!shared || kmm__holder_map_is_of(&shared->holders, 0, range, false))
        return 0;
    const use_t u = {shared->id, {range[0], range[1]}, KMM_READ, 0};
    kmm__command_send(&nodes, KMM__COMMAND_FETCH, &u, sizeof(u));
    execute_fetch(shared, &u, memory);
    kmm__holder_map_look(&shared->holders, 0, range, note_own, own);
    *is_done = true;
    return 0;
}

/* Waits for work on the array. Tasks that other threads have open may need the turn before they
 * end, so this thread does not have it. */
static int copy_own(const kmm__array_t *a, int64_t first, const kmm__copied_t *c, const own_t *own)
{
    int error = 0;
    kmm__is_of_node = true;
    for (uint32_t k = 0; k < own->count && !error; k++) {
        const int64_t *run = own->run[k];
        const size_t bytes = (size_t)(run[1] - run[0]);
        error = c->is_set ? kmm_fill(nodes.rt, a->base + run[0], c->value, bytes)
                : c->is_in
                    ? kmm_copy_in(nodes.rt, a->base + run[0], c->memory + (run[0] - first), bytes)
                    : kmm_copy_out(nodes.rt, c->memory + (run[0] - first), a->base + run[0], bytes);
    }
    kmm__is_of_node = false;
    return error;
}

static int on_copy(kmm__array_t *a, const int64_t range[2], const kmm__copied_t *c, bool *is_done)
{
    own_t own = {0};
    turn_begin();
    int error = c->is_in
                    ? copy_in(a, range, c, &own, is_done)
                    : copy_out(kmm__shared_find(&nodes, a->id), range, c->memory, &own, is_done);
    turn_end();
    if (!error)
        error = copy_own(a, range[0], c, &own);
    free(own.run);
    return error;
}

static int use_whole(kmm__shared_t *shared, kmm_mode_t mode)
{
    if (shared)
        shared->stays = true;
    const int64_t range[2] = {0, shared ? shared->bytes : 0};
    return use(shared, mode, range);
}

/* A launch that stays on node 0, or a task. One that is not confined may follow pointers to any
 * array, since all are in host memory on node 0. */
static int stay(const kmm__submission_t *s)
{
    int error = 0;
    if (!kmm__launch_is_confined(s)) {
        for (kmm__shared_t *shared = nodes.shared; shared && !error; shared = shared->next)
            error = use_whole(shared, KMM_UPDATE);
        return error;
    }
    for (uint32_t k = 0; k < s->l->item_count && !error; k++) {
        const kmm__item_t *item = &s->l->items[k];
        if (item->array)
            error = use_whole(kmm__shared_find(&nodes, item->array->id),
                              item->mode == KMM_READ ? KMM_READ : KMM_UPDATE);
    }
    return error;
}

/* Makes the arrays of a launch known to all nodes. `ids` receives their numbers. */
static void share_arrays(const kmm__submission_t *s, uint64_t *ids)
{
    for (uint32_t k = 0; k < s->l->item_count; k++)
        ids[k] = share(s->l->items[k].array)->id;
}

static void say_stay(const kmm__submission_t *s, const char *why)
{
    const kmm__work_t *w = s->work;
    if (kmm__log_says(KMM__LOG_INFO) && kmm__log_first(s->l->kernel, w->line))
        kmm__log(KMM__LOG_INFO, "%s:%d: %s stays on node 0: %s", w->file ? w->file : "?", w->line,
                 w->name, why);
}

static int on_launch(kmm__submission_t *s)
{
    uint64_t ids[KMM__MAX_ITEMS];
    int error = 0;
    if (nodes.me) {
        kmm__is_of_node = true;
        kmm__launch_begin_part(&nodes, s);
        kmm__is_of_node = false;
        nodes.launches++;
        return 0;
    }
    turn_begin();
    has_turn = true;
    const char *why = kmm__launch_refuse(&nodes, s);
    if (!why) {
        share_arrays(s, ids);
        kmm__launch_send(&nodes, s);
        kmm__parts_begin(&nodes, s, ids);
        nodes.is_busy = true;
        nodes.launches++;
    } else {
        say_stay(s, why);
        error = stay(s);
    }
    kmm__is_of_node = false;
    return error;
}

static void on_divide(kmm__submission_t *s)
{
    if (nodes.me)
        kmm__launch_divide(s);
}

static bool on_gather(kmm__submission_t *s)
{
    const bool is_of_node = kmm__is_of_node;
    kmm__is_of_node = true;
    kmm__parts_gather(&nodes, s);
    kmm__is_of_node = is_of_node;
    return nodes.me == 0;
}

static void on_launched(kmm_runtime_t *rt)
{
    (void)rt;
    if (has_turn)
        turn_end();
    has_turn = false;
}

static void on_forget(kmm__array_t *a)
{
    turn_begin();
    kmm__shared_t *shared = kmm__shared_find(&nodes, a->id);
    if (shared) {
        kmm__command_send(&nodes, KMM__COMMAND_FORGET, &a->id, sizeof(a->id));
        kmm__shared_drop(&nodes, shared);
    }
    turn_end();
}

static int on_wait(kmm_runtime_t *rt)
{
    (void)rt;
    if (nodes.me)
        return 0;
    turn_begin();
    if (nodes.is_busy) {
        nodes.done = 0;
        kmm__command_send(&nodes, KMM__COMMAND_WAIT, NULL, 0);
        pthread_mutex_lock(&nodes.lock);
        while (nodes.done + 1 < nodes.count)
            kmm__cond_wait(&nodes.changed, &nodes.lock);
        pthread_mutex_unlock(&nodes.lock);
        nodes.is_busy = false;
    }
    turn_end();
    return 0;
}

/* The program catches exceptions on node 0. */
static void on_threw(void)
{
    if (nodes.me)
        kmm__nodes_fail(&nodes, "an exception leaves a chunk that runs on this node; the function "
                                "cannot be divided among nodes");
}

void kmm__nodes_count(kmm__nodes_counts_t *out)
{
    out->me = nodes.me;
    out->count = nodes.count;
    out->launches = nodes.launches;
    out->chunks = nodes.chunks;
    pthread_mutex_lock(&nodes.lock);
    out->held = nodes.held_most;
    pthread_mutex_unlock(&nodes.lock);
}

static const kmm__nodes_hooks_t hooks = {.divide = on_divide,
                                         .launch = on_launch,
                                         .gather = on_gather,
                                         .launched = on_launched,
                                         .use = on_use,
                                         .copy = on_copy,
                                         .forget = on_forget,
                                         .threw = on_threw,
                                         .wait = on_wait};

void kmm__nodes_attach(kmm_runtime_t *rt)
{
    if (!is_begun)
        return;
    nodes.rt = rt;
    rt->launches->nodes = kmm__nodes_hooks = &hooks;
    rt->launches->other_nodes = nodes.count - 1;
    /* A call that went straight to the driver would find old values. */
    kmm__native_forbid();
}

/* ---- Other nodes ---- */

static void add_array(const array_t *a)
{
    const kmm_shape_t shape = {.dims = 1, .extent = {a->bytes}, .element_bytes = 1};
    void *base;
    if (kmm_array_create(nodes.rt, &shape, &base))
        kmm__nodes_fail(&nodes, kmm_error_text(nodes.rt));
    kmm__shared_add(&nodes, a->id, base, a->bytes);
}

static void forget_array(uint64_t id)
{
    kmm__shared_t *shared = kmm__shared_find(&nodes, id);
    if (!shared)
        return;
    kmm_array_destroy(nodes.rt, shared->base);
    kmm__shared_drop(&nodes, shared);
}

static void wait_here(void)
{
    if (kmm_wait(nodes.rt))
        kmm__nodes_fail(&nodes, kmm_error_text(nodes.rt));
    kmm__post_message(nodes.post, 0, KMM__ANSWER_DONE, NULL, 0);
}

static void execute_copy(kmm__command_kind_t kind, const use_t *u)
{
    kmm__shared_t *shared = kmm__shared_find(&nodes, u->id);
    if (!shared)
        kmm__nodes_fail(&nodes, "nodes disagree on which arrays there are");
    if (kind == KMM__COMMAND_FETCH)
        execute_fetch(shared, u, NULL);
    else if (kind == KMM__COMMAND_FILL)
        execute_fill(shared, u);
    else
        execute_deal(shared, u, NULL);
}

static void execute(const kmm__mail_t *m)
{
    use_t u;
    array_t a;
    uint64_t id;
    nodes.command++;
    switch ((kmm__command_kind_t)m->kind) {
    case KMM__COMMAND_ARRAY:
        memcpy(&a, m->bytes, sizeof(a));
        add_array(&a);
        break;
    case KMM__COMMAND_FORGET:
        memcpy(&id, m->bytes, sizeof(id));
        forget_array(id);
        break;
    case KMM__COMMAND_USE:
        memcpy(&u, m->bytes, sizeof(u));
        if (kmm__shared_find(&nodes, u.id))
            execute_use(kmm__shared_find(&nodes, u.id), &u);
        break;
    case KMM__COMMAND_DEAL:
    case KMM__COMMAND_FILL:
    case KMM__COMMAND_FETCH:
        memcpy(&u, m->bytes, sizeof(u));
        execute_copy((kmm__command_kind_t)m->kind, &u);
        break;
    case KMM__COMMAND_LAUNCH: kmm__launch_execute(&nodes, m->bytes, m->count); break;
    case KMM__COMMAND_WAIT: wait_here(); break;
    case KMM__ANSWER_DONE:
    case KMM__ANSWER_TAKEN: break;
    }
}

/* The thread that executes commands, in order. It ends with the process. */
static void *log_main(void *arg)
{
    (void)arg;
    kmm__is_of_node = true;
    for (;;) {
        pthread_mutex_lock(&nodes.lock);
        while (!nodes.commands)
            pthread_cond_wait(&nodes.changed, &nodes.lock);
        kmm__mail_t *m = nodes.commands;
        nodes.commands = m->next;
        nodes.commands_end = m->next ? nodes.commands_end : &nodes.commands;
        pthread_mutex_unlock(&nodes.lock);
        if (!nodes.rt && !kmm_default())
            kmm__nodes_fail(&nodes, "there is no runtime");
        execute(m);
        free(m);
    }
    return NULL;
}

/* ---- Messages ---- */

static void queue_command(uint32_t from, uint32_t kind, const void *bytes, size_t count)
{
    kmm__mail_t *m = kmm__alloc(sizeof(*m) + count);
    m->next = NULL;
    m->from = from;
    m->kind = kind;
    m->count = count;
    memcpy(m->bytes, bytes, count);
    pthread_mutex_lock(&nodes.lock);
    *nodes.commands_end = m;
    nodes.commands_end = &m->next;
    pthread_cond_broadcast(&nodes.changed);
    pthread_mutex_unlock(&nodes.lock);
}

static void count_done(void)
{
    pthread_mutex_lock(&nodes.lock);
    nodes.done++;
    pthread_cond_broadcast(&nodes.changed);
    pthread_mutex_unlock(&nodes.lock);
}

bool kmm__nodes_message(uint32_t from, uint32_t kind, const void *bytes, size_t count)
{
    uint64_t taken;
    if (kind < KMM__COMMAND_ARRAY || kind > KMM__ANSWER_TAKEN)
        return false;
    if (kind == KMM__ANSWER_DONE) {
        count_done();
    } else if (kind == KMM__ANSWER_TAKEN) {
        memcpy(&taken, bytes, sizeof(taken));
        kmm__exchange_taken(&nodes, from, taken);
    } else {
        queue_command(from, kind, bytes, count);
    }
    return true;
}

void *kmm__nodes_create(void)
{
    return &nodes;
}

/* A forked process is alone. */
static void after_fork(void)
{
    is_begun = false;
    kmm__nodes_hooks = NULL;
}

void kmm__nodes_begin(kmm__post_t *post)
{
    nodes.post = post;
    nodes.me = kmm__post_rank(post);
    nodes.count = kmm__post_size(post);
    is_begun = true;
    pthread_atfork(NULL, NULL, after_fork);
    if (nodes.me && kmm__thread_create(&nodes.log, log_main, NULL))
        kmm__nodes_fail(&nodes, "the thread that executes commands could not be started");
}
