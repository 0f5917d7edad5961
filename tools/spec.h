/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources from text, top first:
 *
 *   spec   = { layer "/" } source
 *   source = "host" | ("numa" | "device" | "async" | "managed" | "pinned" | "pinned_pool") [ ":"
 * number ] layer  = ("pool" | "arena" | "thread_arena") [ ":" size [ "-" size ] ]         initial
 * and maximum bytes | "binning" ":" size "-" size                                           bins of
 * powers of two | ("fixed" | "limit" | "aligned") ":" size | "statistics" | "tracking" | "prefetch"
 * | "locked" size   = number [ "K" | "M" | "G" ]
 */
#ifndef KMM_SPEC_H
#define KMM_SPEC_H

#include <kmm/resource.h>

/* The resource owns what it is built on. KMM_E_INVALID, with *wrong set to where the text goes
 * wrong, or the error of a resource that could not be made. */
int kmm_spec_create(const char *text, kmm_resource_t **out, const char **wrong);

/* A size as above; SIZE_MAX when the text is none. */
size_t kmm_spec_size(const char *text, const char **end);

#endif
