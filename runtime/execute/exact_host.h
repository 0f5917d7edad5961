/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of what the host does to mapped memory. Between the begin and the end of a map it may
 * touch only what `update from` has copied back. It may store to the rest, too, if an `update to`
 * of that follows. Between a launch with nowait and its wait, the host may not load what the launch
 * stores, nor store to what it uses. Code that was compiled with -fkmm-check calls
 * kmm__exact_host_access.
 */
#ifndef KMM__EXECUTE_EXACT_HOST_H
#define KMM__EXECUTE_EXACT_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include <kmm.h>
#include <kmm/launch.h>

/* Called by code outside of chunks and tasks before it accesses the bytes. */
void kmm__exact_host_access(const void *address, size_t bytes, int kind, const void *pc);

/* ---- For api/directive.c: a map begins; an update is done; a launch begins ---- */
void kmm__exact_host_enter(const void *base, size_t bytes, kmm_map_t map);
void kmm__exact_host_update(const void *base, size_t bytes, bool to);
void kmm__exact_host_launch(void);
/* A map ends. Returns an error if the host has touched it: a number, with its text. */
int kmm__exact_host_leave(const void *base);

/* ---- For launch/items.c: a launch with nowait leaves a map, which kmm__exact_host_leave ends ----
 */
void kmm__exact_host_defer(const void *base, size_t bytes);
/* The launch uses these bytes of such a map, or also stores to them. */
void kmm__exact_host_use(const void *base, size_t bytes, bool stores);

#endif
