/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start and the end of programs of several processes. Process 0, node 0, runs the program. The
 * others serve it until it ends.
 *
 *   node 0                     another node
 *   HELLO ------------------>  looks for the same code in its own files
 *         <------------------  ANSWER
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <kmm.h>

#include "api/config.h"
#include "api/runtime.h"
#include "base/code.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "nodes/exchange.h"
#include "nodes/holders.h"
#include "nodes/nodes.h"
#include "transport/load.h"
#include "transport/post.h"

enum { HELLO = 1, ANSWER, FILES = 2 /* the program and libkmm */ };

typedef struct hello {
    kmm__code_t code[FILES];
} hello_t;

/* What a node has found of a HELLO. */
typedef struct answer {
    uint32_t found; /* files, bits */
    kmm__code_t own[FILES];
} answer_t;

static kmm__post_t *post; /* NULL: this process runs alone */
static hello_t own;       /* this node's */
static pid_t self;        /* process 0; a process that it has forked is none of the nodes */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static uint32_t answers; /* under the lock */

/* ---- Messages, on the post's thread ---- */

static void answer(const hello_t *h)
{
    answer_t a = {0};
    for (int k = 0; k < FILES; k++) {
        a.own[k] = own.code[k];
        a.found |= (uint32_t)(kmm__code_find(&h->code[k]) != NULL) << k;
    }
    kmm__post_message(post, 0, ANSWER, &a, sizeof(a));
}

static void compare(uint32_t node, const answer_t *a)
{
    static const char *const files[FILES] = {"the program", "libkmm"};
    char here[KMM__BUILD_ID_TEXT], there[KMM__BUILD_ID_TEXT];
    for (int k = 0; k < FILES; k++) {
        if (a->found >> k & 1)
            continue;
        kmm__code_id_text(&own.code[k], here);
        kmm__code_id_text(&a->own[k], there);
        kmm__log(KMM__LOG_ERROR,
                 "node %u runs another build of %s than node 0: its build id is %s, and "
                 "not %s",
                 node, files[k], there, here);
        kmm__post_abort(post, EXIT_FAILURE);
    }
    pthread_mutex_lock(&lock);
    answers++;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&lock);
}

static void on_message(void *ctx, uint32_t from, uint32_t kind, const void *bytes, size_t count)
{
    (void)ctx;
    hello_t h;
    answer_t a;
    if (kind == HELLO && count == sizeof(h)) {
        memcpy(&h, bytes, sizeof(h));
        answer(&h);
    } else if (kind == ANSWER && count == sizeof(a)) {
        memcpy(&a, bytes, sizeof(a));
        compare(from, &a);
    } else if (!kmm__nodes_message(from, kind, bytes, count)) {
        kmm__log(KMM__LOG_ERROR, "node %u has another version of libkmm's messages", from);
        kmm__post_abort(post, EXIT_FAILURE);
    }
}

/* Node 0 says that another one is lost, and node 1 that node 0 is. Node 1 waits before that, since
 * node 0 also ends when it has said so of another one, and all nodes are ended then. The other
 * nodes wait for longer, and end by themselves. */
static void on_lost(void *ctx, uint32_t node, const char *why)
{
    enum { WAIT_US = 500000 };
    const uint32_t rank = kmm__post_rank(post);
    (void)ctx;
    if (rank > 0)
        usleep(WAIT_US * rank > 1000000 ? 1000000 : WAIT_US * rank);
    if (rank <= 1)
        kmm__log(KMM__LOG_ERROR, "node %u is lost: %s; the program ends", node, why);
    kmm__post_abort(post, EXIT_FAILURE);
}

/* ---- The start ---- */

/* Ends this process. Of all that a launcher has started, the first alone says why. */
static void refuse(const kmm__launcher_t *launcher, const char *why)
{
    if (launcher->rank == 0)
        kmm__log(KMM__LOG_ERROR,
                 "%s says that %u processes were started, which KMM_NODES=1 "
                 "makes one program: %s",
                 launcher->variable, launcher->size, why);
    exit(EXIT_FAILURE);
}

static void join(const kmm__launcher_t *launcher)
{
    const kmm__post_hooks_t hooks = {kmm__nodes_create(), on_message, kmm__exchange_parcel,
                                     kmm__exchange_arrived, on_lost};
    kmm__transport_open_t *open = kmm__transport_load(launcher);
    if (!open || kmm__post_open(open, &hooks, &post))
        refuse(launcher, kmm__error_get());
    if (kmm__post_size(post) == launcher->size)
        return;
    if (launcher->rank == 0)
        kmm__log(KMM__LOG_ERROR,
                 "%s says that %u processes were started, but %s knows of %u: the "
                 "launcher is of another MPI",
                 launcher->variable, launcher->size, kmm__post_name(post), kmm__post_size(post));
    kmm__post_abort(post, EXIT_FAILURE);
}

/* Waits until all nodes have said that they run the same files. */
static void greet(void)
{
    const uint32_t size = kmm__post_size(post);
    for (uint32_t k = 1; k < size; k++)
        kmm__post_message(post, k, HELLO, &own, sizeof(own));
    pthread_mutex_lock(&lock);
    while (answers + 1 < size)
        kmm__cond_wait(&answered, &lock);
    pthread_mutex_unlock(&lock);
}

static void say_counts(void)
{
    kmm__nodes_counts_t c;
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    kmm__nodes_count(&c);
    kmm__log(KMM__LOG_INFO,
             "node %u of %u: %" PRIu64 " launches were divided among nodes; ran %" PRIu64
             " chunks of these; held %" PRIu64
             " bytes that had arrived early, and was resident at most %ld MiB",
             c.me, c.count, c.launches, c.chunks, c.held, usage.ru_maxrss >> 10);
}

/* At the exit of node 0, behind all that the program has registered for it. */
static void end(void)
{
    kmm__post_counts_t c;
    if (getpid() != self)
        return;
    say_counts();
    kmm__post_counts(post, &c);
    kmm__log(KMM__LOG_INFO,
             "node 0: %" PRIu64 " messages and %" PRIu64 " parcels sent, %" PRIu64 " bytes",
             c.messages, c.parcels, c.bytes);
    kmm__post_end(post);
}

KMM__API void kmm_nodes_start(const void *program)
{
    kmm__launcher_t launcher;
    uint32_t host_rank, host_size;
    if (post || !kmm__code_is_program(program) || !kmm__launcher_is_wanted(&launcher))
        return;
    if (dlsym(RTLD_DEFAULT, "MPI_Init"))
        refuse(&launcher, "the program calls MPI itself");
    if (!kmm__code_name(program, &own.code[0]) ||
        !kmm__code_name((const void *)&kmm_nodes_start, &own.code[1]))
        refuse(&launcher, "the program or libkmm has no build id");
    if (launcher.size > KMM__NODES_MOST)
        refuse(&launcher, "there can be 64 at most");
    join(&launcher);
    setenv("KMM_NODES", "0", 1); /* processes that this one starts are programs of their own */
    kmm__post_host(post, &host_rank, &host_size);
    kmm__config_share(host_rank, host_size);
    kmm__nodes_begin(post);
    kmm__default_tell(kmm__nodes_attach);
    if (kmm__post_rank(post) != 0) {
        kmm__post_end(post);
        say_counts();
        exit(EXIT_SUCCESS);
    }
    greet();
    self = getpid();
    atexit(end);
}
