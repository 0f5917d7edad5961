/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spill file. Blocks go to it and back through io_uring and past the page cache (O_DIRECT), as
 * far as the kernel, the container and the file system allow that.
 *
 * The checksum is XXH64, as the specification of xxHash describes it (Yann Collet, "XXH64 algorithm
 * description", github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), with seed 0.
 */
#include "memory/disk/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/log.h"

#if KMM__HAVE_URING
#include <liburing.h>
#endif

struct kmm__disk {
    char *folder;
    int file, event;
    struct stat opened; /* of the file */
    /* The program has closed the descriptors: nothing is read or written any more, and `woken`
     * takes the place of the event. */
    atomic_bool lost, woken;
    bool direct, async;
    bool armed; /* the ring watches the event */
    kmm__disk_op_t *finished;
#if KMM__HAVE_URING
    struct io_uring ring;
#endif
};

/* ---- Checksums ---- */

static const uint64_t P1 = 0x9E3779B185EBCA87u, P2 = 0xC2B2AE3D27D4EB4Fu, P3 = 0x165667B19E3779F9u,
                      P4 = 0x85EBCA77C2B2AE63u, P5 = 0x27D4EB2F165667C5u;

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* little-endian, like every machine that libkmm supports */
static uint64_t word(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static uint64_t round64(uint64_t sum, uint64_t compute_stream)
{
    return rotate(sum + compute_stream * P2, 31) * P1;
}

static uint64_t merge(uint64_t hash, uint64_t sum)
{
    return (hash ^ round64(0, sum)) * P1 + P4;
}

static uint64_t finish_hash(uint64_t hash, const unsigned char *p, size_t left)
{
    for (; left >= 8; p += 8, left -= 8)
        hash = rotate(hash ^ round64(0, word(p)), 27) * P1 + P4;
    if (left >= 4) {
        uint32_t half;
        memcpy(&half, p, sizeof(half));
        hash = rotate(hash ^ half * P1, 23) * P2 + P3;
        p += 4;
        left -= 4;
    }
    for (; left; p++, left--)
        hash = rotate(hash ^ *p * P5, 11) * P1;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}

uint64_t kmm__disk_checksum(const void *memory, size_t bytes)
{
    const unsigned char *p = memory;
    size_t left = bytes;
    uint64_t hash = P5;
    if (bytes >= 32) {
        uint64_t a = P1 + P2, b = P2, c = 0, d = 0 - P1;
        for (; left >= 32; p += 32, left -= 32) {
            a = round64(a, word(p));
            b = round64(b, word(p + 8));
            c = round64(c, word(p + 16));
            d = round64(d, word(p + 24));
        }
        hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
        hash = merge(merge(merge(merge(hash, a), b), c), d);
    }
    return finish_hash(hash + bytes, p, left);
}

/* ---- The file ---- */

/* Opens a file with a name and unlinks it, for file systems that have no files without a name. */
static int open_named(const char *folder, int flags)
{
    static _Atomic(unsigned) count;
    char path[4096];
    for (int tries = 0; tries < 100; tries++) {
        int n = snprintf(path, sizeof(path), "%s/.kmm-spill-%ld-%u", folder, (long)getpid(),
                         atomic_fetch_add(&count, 1));
        if (n < 0 || (size_t)n >= sizeof(path)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int file = open(path, flags | O_CREAT | O_EXCL, 0600);
        if (file >= 0)
            unlink(path);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

static int open_unnamed(const char *folder, int flags)
{
    int file = open(folder, flags | O_TMPFILE, 0600);
    if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
        file = open_named(folder, flags);
    return file;
}

static int open_file(kmm__disk_t *d, bool direct)
{
    int flags = O_RDWR | O_CLOEXEC;
    d->file = direct ? open_unnamed(d->folder, flags | O_DIRECT) : -1;
    d->direct = d->file >= 0;
    if (d->file < 0)
        d->file = open_unnamed(d->folder, flags);
    d->file = kmm__descriptor_keep(d->file);
    return d->file >= 0 ? 0
                        : kmm__error_set(KMM_E_IO, "no file can be made in %s to spill to: %s",
                                         d->folder, strerror(errno));
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!strncmp(p, word, n) && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

int kmm__disk_open(kmm__disk_t **out, const char *folder, const char *how)
{
    kmm__disk_t *d = kmm__alloc(sizeof(*d));
    d->folder = kmm__copy_text(folder);
    d->event = -1;
    int error = open_file(d, !has_word(how, "cached"));
    if (!error && fstat(d->file, &d->opened))
        error = kmm__error_set(KMM_E_IO, "the file to spill to has no state: %s", strerror(errno));
    if (!error && (d->event = kmm__descriptor_keep(eventfd(0, EFD_CLOEXEC))) < 0)
        error = kmm__error_set(KMM_E_IO, "no event for the disk's thread: %s", strerror(errno));
#if KMM__HAVE_URING
    /* Kernels and containers may refuse io_uring: then operations are carried out one by one. */
    d->async = !error && !has_word(how, "pread") &&
               io_uring_queue_init(2 * KMM__DISK_DEPTH, &d->ring, 0) == 0;
#endif
    if (error) {
        kmm__disk_close(d);
        return error;
    }
    *out = d;
    kmm__log_info("the spill file is in %s (%s, %s)", d->folder,
                  d->async ? "io_uring" : "pread and pwrite",
                  d->direct ? "direct" : "through the page cache");
    return error;
}

void kmm__disk_close(kmm__disk_t *d)
{
#if KMM__HAVE_URING
    if (d->async)
        io_uring_queue_exit(&d->ring);
#endif
    if (d->event >= 0)
        close(d->event);
    if (d->file >= 0)
        close(d->file);
    free(d->folder);
    free(d);
}

const char *kmm__disk_folder(const kmm__disk_t *d)
{
    return d->folder;
}

bool kmm__disk_is_async(const kmm__disk_t *d)
{
    return d->async;
}

bool kmm__disk_is_direct(const kmm__disk_t *d)
{
    return d->direct;
}

void kmm__disk_discard(kmm__disk_t *d, int64_t offset, size_t bytes)
{
    fallocate(d->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, (off_t)bytes);
}

/* True if the program has closed descriptors that it did not open. Another file may have the number
 * by now. */
static bool is_lost(kmm__disk_t *d)
{
    struct stat now, event;
    if (!atomic_load(&d->lost) &&
        (fstat(d->file, &now) || now.st_dev != d->opened.st_dev || now.st_ino != d->opened.st_ino ||
         fstat(d->event, &event) || event.st_mode & S_IFMT))
        atomic_store(&d->lost, true);
    return atomic_load(&d->lost);
}

/* ---- Operations ---- */

static void push_finished(kmm__disk_t *d, kmm__disk_op_t *op)
{
    kmm__disk_op_t **at = &d->finished;
    while (*at)
        at = &(*at)->next;
    op->next = NULL;
    *at = op;
}

/* Records the result of a system call, which is a number of bytes or a negative errno. True: the
 * operation is finished. */
static bool op_advance(kmm__disk_t *d, kmm__disk_op_t *op, int64_t result)
{
    if (result == -EINTR || result == -EAGAIN)
        return false;
    /* the file system opens files with O_DIRECT but does not read or write them */
    if (result == -EINVAL && d->direct) {
        d->direct = false;
        return fcntl(d->file, F_SETFL, fcntl(d->file, F_GETFL) & ~O_DIRECT) != 0;
    }
    if (result < 0) {
        op->error = (int)-result;
        return true;
    }
    if (result == 0) { /* the file ends too early, or cannot grow */
        op->error = op->writes ? ENOSPC : EIO;
        return true;
    }
    op->done += (size_t)result;
    return op->done == op->bytes;
}

static void run_here(kmm__disk_t *d, kmm__disk_op_t *op)
{
    int64_t n;
    do {
        char *at = op->memory + op->done;
        off_t offset = op->offset + (off_t)op->done;
        size_t left = op->bytes - op->done;
        n = op->writes ? pwrite(d->file, at, left, offset) : pread(d->file, at, left, offset);
        n = n < 0 ? -errno : n;
    } while (!op_advance(d, op, n));
    push_finished(d, op);
}

static kmm__disk_op_t *pop_finished(kmm__disk_t *d)
{
    kmm__disk_op_t *op = d->finished;
    if (op)
        d->finished = op->next;
    return op;
}

static void drain_event(kmm__disk_t *d)
{
    uint64_t count;
    while (read(d->event, &count, sizeof(count)) < 0 && errno == EINTR)
        continue;
}

/* Waits for the event for at most a second, since nothing tells of a descriptor that is closed. */
static void await_event(kmm__disk_t *d)
{
    struct pollfd event = {.fd = d->event, .events = POLLIN};
    if (poll(&event, 1, 1000) == 1 && (event.revents & POLLIN) && !is_lost(d))
        drain_event(d);
}

#if KMM__HAVE_URING
static void ring_start(kmm__disk_t *d, kmm__disk_op_t *op)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&d->ring);
    op->iovec = (struct iovec){op->memory + op->done, op->bytes - op->done};
    uint64_t offset = (uint64_t)op->offset + op->done;
    if (op->writes)
        io_uring_prep_writev(sqe, d->file, &op->iovec, 1, offset);
    else
        io_uring_prep_readv(sqe, d->file, &op->iovec, 1, offset);
    io_uring_sqe_set_data(sqe, op);
    io_uring_submit(&d->ring);
}

/* Handles completed operations. True: kmm__disk_wake was called. */
static bool ring_reap(kmm__disk_t *d)
{
    struct io_uring_cqe *cqe;
    bool woken = false;
    while (io_uring_peek_cqe(&d->ring, &cqe) == 0) {
        kmm__disk_op_t *op = io_uring_cqe_get_data(cqe);
        int result = cqe->res;
        io_uring_cqe_seen(&d->ring, cqe);
        if (!op) {
            if (!is_lost(d))
                drain_event(d);
            d->armed = false;
            woken = true;
        } else if (op_advance(d, op, result)) {
            push_finished(d, op);
        } else {
            ring_start(d, op);
        }
    }
    return woken;
}

static kmm__disk_op_t *ring_await(kmm__disk_t *d)
{
    for (;;) {
        if (!d->armed) {
            struct io_uring_sqe *sqe = io_uring_get_sqe(&d->ring);
            io_uring_prep_poll_add(sqe, d->event, 1 /* POLLIN */);
            io_uring_sqe_set_data(sqe, NULL);
            d->armed = true;
        }
        struct __kernel_timespec second = {.tv_sec = 1};
        struct io_uring_cqe *cqe;
        int waited = io_uring_submit(&d->ring);
        if (waited >= 0)
            waited = io_uring_wait_cqe_timeout(&d->ring, &cqe, &second);
        bool woken = ring_reap(d);
        if (is_lost(d))
            return pop_finished(d);
        if (d->finished || woken)
            return pop_finished(d);
        if (waited < 0 && waited != -EINTR && waited != -ETIME)
            usleep(1000); /* the kernel lacks resources: tries again later */
    }
}
#endif

void kmm__disk_start(kmm__disk_t *d, kmm__disk_op_t *op)
{
    op->done = 0;
    op->error = 0;
    if (is_lost(d)) {
        op->error = EBADF;
        push_finished(d, op);
        return;
    }
#if KMM__HAVE_URING
    if (d->async) {
        ring_start(d, op);
        return;
    }
#endif
    run_here(d, op);
}

/* Operations that the kernel had begun still end. */
static kmm__disk_op_t *await_lost(kmm__disk_t *d)
{
    enum { PAUSE_US = 1000 };
    while (!d->finished && !atomic_exchange(&d->woken, false)) {
        usleep(PAUSE_US);
#if KMM__HAVE_URING
        if (d->async)
            ring_reap(d);
#endif
    }
    return pop_finished(d);
}

kmm__disk_op_t *kmm__disk_await(kmm__disk_t *d)
{
    if (d->finished)
        return pop_finished(d);
    if (is_lost(d))
        return await_lost(d);
#if KMM__HAVE_URING
    if (d->async)
        return ring_await(d);
#endif
    await_event(d);
    return NULL;
}

void kmm__disk_wake(kmm__disk_t *d)
{
    uint64_t one = 1;
    atomic_store(&d->woken, true);
    if (is_lost(d))
        return;
    while (write(d->event, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}
