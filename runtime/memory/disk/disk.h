/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of blocks without a name: it is unlinked before anything is written to it, so nothing is
 * left when the process ends, however it does. One thread starts operations and awaits them;
 * kmm__disk_wake may be called by any.
 */
#ifndef KMM__MEMORY_DISK_DISK_H
#define KMM__MEMORY_DISK_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum {
    KMM__DISK_ALIGN = 4096,
    KMM__DISK_DEPTH = 8
}; /* alignment of memory, offsets and sizes; operations at once */

typedef struct kmm__disk kmm__disk_t;

typedef struct kmm__disk_op {
    bool writes;
    char *memory;
    size_t bytes;
    int64_t offset;
    void *owner;
    int error;   /* errno of what went wrong, 0 for nothing */
    size_t done; /* bytes moved so far */
    struct iovec iovec;
    struct kmm__disk_op *next; /* among the finished ones */
} kmm__disk_op_t;

/* `how` is a list of words: "pread" (no io_uring), "cached" (not past the page cache); NULL or "":
 * whatever works best. Returns 0 or an error with its text set. */
int kmm__disk_open(kmm__disk_t **out, const char *folder, const char *how);
void kmm__disk_close(kmm__disk_t *d); /* nothing is in flight */
const char *kmm__disk_folder(const kmm__disk_t *d);
bool kmm__disk_is_async(const kmm__disk_t *d);  /* io_uring is in use */
bool kmm__disk_is_direct(const kmm__disk_t *d); /* the page cache is not */

/* Starts an operation; at most KMM__DISK_DEPTH may be unfinished. */
void kmm__disk_start(kmm__disk_t *d, kmm__disk_op_t *op);
/* Waits for an operation to finish; NULL when kmm__disk_wake was called. */
kmm__disk_op_t *kmm__disk_await(kmm__disk_t *d);
void kmm__disk_wake(kmm__disk_t *d);

/* Gives the file system its room back where it can take it. */
void kmm__disk_discard(kmm__disk_t *d, int64_t offset, size_t bytes);

uint64_t kmm__disk_checksum(const void *memory, size_t bytes);

#endif
