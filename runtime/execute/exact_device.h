/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of each load and store of a chunk on a GPU. A kernel that was compiled with `kmmcc
 * -fkmm-check` gets the address of a table (kmm/check.h) with its blocks. The table, the marks of
 * the arrays' bytes and the arrays' copies (execute/check.h) are in the device's memory.
 */
#ifndef KMM__EXECUTE_EXACT_DEVICE_H
#define KMM__EXECUTE_EXACT_DEVICE_H

#include <stdbool.h>

#include "task/task.h"

typedef struct kmm__check kmm__check_t;

/* True if the kernel takes a table. */
bool kmm__exact_takes_table(const kmm_kernel_t *kernel);
/* The address of the chunk's table; 0: there is none. */
uint64_t kmm__exact_table(const kmm__check_t *c);

/* Not locked, as are those below: makes the chunk's table and enqueues its copy to the device. The
 * copies of the arrays are on the device. Returns 0 or an error. */
int kmm__exact_device_begin(kmm__check_t *c);
/* Enqueues copies of what the chunk has noted, which are done when the stream is. */
int kmm__exact_device_fetch(kmm__check_t *c);
/* Hands what was fetched to c's shadows. */
void kmm__exact_device_end(kmm__check_t *c);
/* Frees the device's memory. All work of the chunk has ended. */
void kmm__exact_device_close(kmm__check_t *c);

#endif
