/* SPDX-License-Identifier: Apache-2.0 */
/* The spill file: a file of blocks without a name. It is unlinked before anything is written to it,
 * so nothing is left of it when the process ends, in whatever way. One thread starts operations and
 * awaits them. Any thread may call kmm__disk_wake. */
#ifndef KMM__MEMORY_DISK_DISK_H
#define KMM__MEMORY_DISK_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum {
    KMM__DISK_ALIGN = 4096,
    KMM__DISK_DEPTH = 8
}; /* alignment of memory, offsets and sizes in bytes; operations at once */

typedef struct kmm__disk kmm__disk_t;

/* A read or a write of one piece of memory. */
typedef struct kmm__disk_op {
    bool writes;
    char *memory;
    size_t bytes;
    int64_t offset;
    void *owner;
    int error;   /* errno of the failure; 0: none */
    size_t done; /* bytes read or written so far */
    struct iovec iovec;
    struct kmm__disk_op *next; /* in the list of finished ones */
} kmm__disk_op_t;

/* Opens a file in the folder. `how` is a list of words: "pread": without io_uring; "cached":
 * through the page cache. NULL or "": the fastest way that works. Returns 0 or an error with its
 * text. */
int kmm__disk_open(kmm__disk_t **out, const char *folder, const char *how);
void kmm__disk_close(kmm__disk_t *d); /* closes the file; nothing is in flight */
const char *kmm__disk_folder(const kmm__disk_t *d);
bool kmm__disk_is_async(const kmm__disk_t *d);  /* true if io_uring is used */
bool kmm__disk_is_direct(const kmm__disk_t *d); /* true if the page cache is not used */

/* Starts an operation. At most KMM__DISK_DEPTH may be unfinished. */
void kmm__disk_start(kmm__disk_t *d, kmm__disk_op_t *op);
/* Waits until an operation finishes, and returns it. NULL: kmm__disk_wake was called. */
kmm__disk_op_t *kmm__disk_await(kmm__disk_t *d);
/* Makes kmm__disk_await return NULL. */
void kmm__disk_wake(kmm__disk_t *d);

/* Releases the file's space at these bytes, if the file system can. */
void kmm__disk_discard(kmm__disk_t *d, int64_t offset, size_t bytes);

/* Returns the XXH64 checksum of memory. */
uint64_t kmm__disk_checksum(const void *memory, size_t bytes);

#endif
