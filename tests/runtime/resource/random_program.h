/* SPDX-License-Identifier: Apache-2.0 */
/* A seeded program of allocations, frees, progress of streams and trims, checked against
 * fake_memory. */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H

#include "fake_memory.h"

typedef struct random_program {
    kmm_resource_t *resource;
    fake_memory_t *memory;
    uint64_t seed;
    int steps;
    size_t largest, alignment;
    bool (*is_valid)(kmm_resource_t *r); /* called now and then; may be NULL */
} random_program_t;

/* NULL, or what is wrong. Everything has been freed when it returns NULL. */
const char *random_program(const random_program_t *program);

#endif
