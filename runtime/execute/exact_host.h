/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of what the host does to mapped memory. Between the begin and the end of a map it may
 * touch only what `update from` has copied back, until a launch stores there. It may store to the
 * rest, too, if an `update to` of that follows before a launch uses it. Between a launch with
 * nowait and its wait, the host may not load what the launch stores, nor store to what it uses.
 *
 * Code that was compiled with -fkmm-check calls kmm__exact_host_access. Of other code, stores that
 * change a value are seen, where the host has the value or no launch stores it.
 */
#ifndef KMM__EXECUTE_EXACT_HOST_H
#define KMM__EXECUTE_EXACT_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include <kmm.h>
#include <kmm/launch.h>

/* Called by code outside of chunks and tasks before it accesses the bytes. */
void kmm__exact_host_access(const void *address, size_t bytes, int kind, const void *pc);

/* Accesses are checked: maps that begin later are watched. */
void kmm__exact_host_watch(void);

/* ---- For api/directive.c: a map begins; an update is done; a launch begins ---- */
void kmm__exact_host_enter(const void *base, size_t bytes, kmm_map_t map);
/* Called before an `update to`. Returns an error, with its text, if it would replace what launches
 * have stored and the host has not: where the host has stored to a part of the bytes only. */
int kmm__exact_host_before_to(const void *base, size_t bytes);
void kmm__exact_host_update(const void *base, size_t bytes, bool to);
void kmm__exact_host_launch(void);
/* A map ends. Returns an error if the host has touched it: a number, with its text. */
int kmm__exact_host_leave(const void *base);

/* The host has waited for some work, perhaps for all. */
void kmm__exact_host_wait(void);

/* ---- For launch/host_uses.c ---- */
/* A launch with nowait leaves a map, which kmm__exact_host_leave ends. */
void kmm__exact_host_defer(const void *base, size_t bytes);
/* A launch uses these bytes, or also stores to them. Returns an error, with its text, if the host
 * has stored to them and no `update to` has followed. */
int kmm__exact_host_use(const void *base, size_t bytes, bool stores);
/* The statements of a task that uses these bytes begin or end. */
void kmm__exact_host_task(const void *base, size_t bytes, bool begins);

#endif
