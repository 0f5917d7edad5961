/* SPDX-License-Identifier: Apache-2.0 */
/* What every resource must do, as cases that need no test framework, so that they run on devices
 * too. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <kmm/resource.h>

enum { CONFORMANCE_STREAMS = 4 };

typedef struct conformance_subject {
    kmm_resource_t *resource;
    size_t largest;   /* a request of this size must succeed; at most 1 GiB */
    size_t budget;    /* bytes that a case may have allocated at a time */
    size_t alignment; /* the largest that must be honoured */
    bool host_access; /* the CPU may write the memory */
    kmm_stream_t streams[CONFORMANCE_STREAMS];
    int (*order)(kmm_stream_t later, kmm_stream_t earlier); /* NULL: streams mean nothing */
} conformance_subject_t;

typedef struct conformance_case {
    const char *name;
    const char *(*run)(const conformance_subject_t *s); /* NULL, or what is wrong */
} conformance_case_t;

extern const conformance_case_t conformance_cases[];
extern const int conformance_case_count;

#endif
