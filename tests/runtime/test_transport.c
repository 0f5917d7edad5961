/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The post over a transport: several processes, started by tests/fake/run_nodes or an mpirun, send
 * each other messages and parcels of random sizes. Every byte is checked, and the order of each
 * pair.
 *
 *   test_transport messages   random messages and parcels
 *   test_transport die 2      process 2 dies; the others end
 *   test_transport stop 2     process 2 stops, and does not die
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kmm.h>

#include "base/error.h"
#include "base/spin.h"
#include "random.h"
#include "transport/load.h"
#include "transport/post.h"

enum {
    MOST = 16,
    ROUNDS = 400,
    WORDS = 3, /* number, time, bytes: in front of a message's random bytes */
    MESSAGE = 1,
    DONE, /* nothing follows from the sender but FINISHED */
    FINISHED,
    GO /* die, or stop */
};

static kmm__post_t *post;
static uint64_t seed;
static int signal_number; /* that process `victim` gets */
static uint32_t victim;

/* What has arrived from each. Written by the post's thread, under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t messages[MOST], parcels[MOST], announced[MOST], sent_parcels;
static uint32_t done_count, finished_count;
static uint64_t newest, overtaken;

static uint32_t me(void)
{
    return kmm__post_rank(post);
}

static uint32_t all_processes(void)
{
    return kmm__post_size(post);
}

static void expect(bool is, const char *what)
{
    if (is)
        return;
    fprintf(stderr, "process %u: %s\n", me(), what);
    abort();
}

static rng_t stream_of(uint32_t from, uint32_t to, uint64_t number, uint64_t which)
{
    return (rng_t){seed + (from * 64 + to) * UINT64_C(1000003) + number * 4 + which};
}

static void fill(rng_t r, char *bytes, size_t count)
{
    for (size_t k = 0; k < count; k++)
        bytes[k] = (char)rng_next(&r);
}

static void check(rng_t r, const char *bytes, size_t count)
{
    for (size_t k = 0; k < count; k++)
        expect(bytes[k] == (char)rng_next(&r), "a byte is not what was sent");
}

/* Notes a message's time of sending. One that was sent earlier than another that is there already,
 * from another process, has been overtaken. */
static void note_time(uint64_t time)
{
    overtaken += time < newest;
    newest = time > newest ? time : newest;
}

static void on_message(void *ctx, uint32_t from, uint32_t kind, const void *bytes, size_t count)
{
    (void)ctx;
    uint64_t words[WORDS];
    pthread_mutex_lock(&lock);
    if (kind == MESSAGE) {
        memcpy(words, bytes, sizeof(words));
        expect(words[0] == messages[from]++, "messages of a pair have changed places");
        expect(words[2] == count, "a message has another length");
        note_time(words[1]);
        check(stream_of(from, me(), words[0], 0), (const char *)bytes + sizeof(words),
              count - sizeof(words));
    } else if (kind == DONE) {
        memcpy(words, bytes, 2 * sizeof(*words));
        expect(words[0] == messages[from] && words[1] == announced[from],
               "something has overtaken messages of its pair");
        done_count++;
    } else if (kind == FINISHED) {
        finished_count++;
        memcpy(words, bytes, sizeof(*words));
        overtaken += words[0];
    } else {
        raise(signal_number);
    }
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

/* A parcel that is arriving: its number, then its contents. */
typedef struct incoming {
    uint64_t number, bytes;
    char contents[];
} incoming_t;

static void *on_parcel(void *ctx, uint32_t from, const void *header, size_t count, size_t bytes)
{
    (void)ctx;
    uint64_t number;
    expect(count == sizeof(number), "a header has another length");
    memcpy(&number, header, sizeof(number));
    incoming_t *in = malloc(sizeof(*in) + bytes + 1);
    expect(in && number == announced[from]++, "headers of a pair have changed places");
    in->number = number;
    in->bytes = bytes;
    return in->contents;
}

static void on_arrived(void *ctx, uint32_t from, void *contents)
{
    (void)ctx;
    incoming_t *in = (incoming_t *)((char *)contents - offsetof(incoming_t, contents));
    check(stream_of(from, me(), in->number, 1), in->contents, in->bytes);
    free(in);
    pthread_mutex_lock(&lock);
    parcels[from]++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void on_lost(void *ctx, uint32_t lost, const char *why)
{
    (void)ctx;
    if (me() > 1)
        sleep(1); /* process 0 or 1 says it */
    else
        fprintf(stderr, "process %u is lost: %s\n", lost, why);
    kmm__post_abort(post, 3);
}

static void on_sent(void *contents)
{
    free(contents);
    pthread_mutex_lock(&lock);
    sent_parcels++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

/* Mostly small; some need several pieces of any buffer on the way. */
static size_t some_bytes(rng_t *r)
{
    int64_t kind = rng_range(r, 0, 99);
    return (size_t)rng_range(r, 0, kind < 80 ? 64 : kind < 97 ? 5000 : 300000);
}

static void send_message(uint32_t to, uint64_t number, size_t bytes)
{
    const uint64_t words[WORDS] = {number, kmm__now(), bytes + sizeof(words)};
    char *text = malloc(bytes + sizeof(words));
    memcpy(text, words, sizeof(words));
    fill(stream_of(me(), to, number, 0), text + sizeof(words), bytes);
    kmm__post_message(post, to, MESSAGE, text, bytes + sizeof(words));
    free(text);
}

static void send_parcel(uint32_t to, uint64_t number, size_t bytes)
{
    char *contents = malloc(bytes + 1);
    fill(stream_of(me(), to, number, 1), contents, bytes);
    kmm__post_parcel(
        post, &(kmm__parcel_t){to, &number, sizeof(number), contents, bytes, on_sent, contents});
}

static void send_all(void)
{
    rng_t r = {seed + me()};
    uint64_t sent[MOST][2] = {0}, all = 0;
    for (int k = 0; k < ROUNDS; k++) {
        uint32_t to = (uint32_t)rng_range(&r, 0, all_processes() - 1);
        bool is_parcel = rng_range(&r, 0, 3) == 0;
        if (to == me())
            continue;
        if (is_parcel)
            send_parcel(to, sent[to][1]++, some_bytes(&r));
        else
            send_message(to, sent[to][0]++, some_bytes(&r));
        all += is_parcel;
        if (rng_range(&r, 0, 7) == 0)
            usleep((unsigned)rng_range(&r, 0, 1000));
    }
    for (uint32_t to = 0; to < all_processes(); to++)
        if (to != me())
            kmm__post_message(post, to, DONE, sent[to], sizeof(sent[to]));
    pthread_mutex_lock(&lock);
    while (done_count + 1 < all_processes() || sent_parcels < all)
        pthread_cond_wait(&changed, &lock);
    for (uint32_t from = 0; from < all_processes(); from++)
        while (parcels[from] < announced[from])
            pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* Returns when nothing is under way between any two processes. */
static void finish(void)
{
    if (me()) {
        kmm__post_message(post, 0, FINISHED, &overtaken, sizeof(overtaken));
        return;
    }
    pthread_mutex_lock(&lock);
    while (finished_count + 1 < all_processes())
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* The victim gets its signal when all are there. The end waits for it, in vain. */
static void wait_for_loss(void)
{
    finish();
    if (me() == 0 && victim == 0)
        raise(signal_number);
    if (me() == 0)
        kmm__post_message(post, victim, GO, NULL, 0);
}

int main(int argc, char **argv)
{
    const kmm__post_hooks_t hooks = {NULL, on_message, on_parcel, on_arrived, on_lost};
    kmm__launcher_t launcher;
    if (argc < 2)
        return 2;
    signal_number = strcmp(argv[1], "die") == 0 ? SIGKILL : SIGSTOP;
    victim = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
    seed = getenv("KMM_SEED") ? strtoull(getenv("KMM_SEED"), NULL, 10) : 1;
    kmm__launcher_find(&launcher);
    kmm__transport_open_t *open = kmm__transport_load(&launcher);
    if (!open || kmm__post_open(open, &hooks, &post)) {
        fprintf(stderr, "%s\n", kmm__error_get());
        return 1;
    }
    const uint32_t size = kmm__post_size(post);
    expect(size == launcher.size && size > 1 && size <= MOST, "another number of processes");
    if (argc > 2)
        wait_for_loss();
    else
        send_all();
    finish();
    kmm__post_counts_t counts;
    kmm__post_counts(post, &counts);
    const char *fake = getenv("KMM_FAKE_NODES"), *name = kmm__post_name(post);
    unsigned delay = 0;
    if (fake)
        sscanf(fake, "%*u:%*u:%*u:%u", &delay);
    if (argc == 2 && size > 2 && delay && me() == 0)
        expect(overtaken > 0, "no message has overtaken one of another pair");
    if (me() == 0)
        printf("%s: %u processes: %llu messages in %llu batches, %llu parcels\n", name, size,
               (unsigned long long)counts.messages, (unsigned long long)counts.batches,
               (unsigned long long)counts.parcels);
    kmm__post_end(post);
    return 0;
}
