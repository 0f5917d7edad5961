/* SPDX-License-Identifier: Apache-2.0 */
/* Which transport a process has: what its launcher says, and the plug-in for that. */
#ifndef KMM__TRANSPORT_LOAD_H
#define KMM__TRANSPORT_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/transport.h"

/* What a launcher of processes has said in the environment. */
typedef struct kmm__launcher {
    const char *variable; /* that gives the number of processes; NULL: none is set */
    uint32_t size, rank;  /* that number; this process's own, from 0 on */
    const char *plugin;   /* name of the plug-in for it */
} kmm__launcher_t;

/* Finds out from the environment which launcher has started this process, if any. */
void kmm__launcher_find(kmm__launcher_t *out);

/* True if the launcher's processes are to run one program (KMM_NODES=1) and are several. Not in
 * processes that have begun to, nor in those that these start. */
bool kmm__launcher_is_wanted(kmm__launcher_t *out);

/* Opens the launcher's plug-in, or the one that KMM_TRANSPORT names. NULL: it cannot be opened; the
 * error's text is set. It stays open. */
kmm__transport_open_t *kmm__transport_load(const kmm__launcher_t *launcher);

#endif
