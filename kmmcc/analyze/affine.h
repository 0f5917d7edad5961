/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that accesses of a kernel's graph (ir/ir.h) reach, as polynomials over indices and
 * parameters. */
#ifndef KMMCC_ANALYZE_AFFINE_H
#define KMMCC_ANALYZE_AFFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/poly.h"
#include "ir/ir.h"

typedef enum atom_kind {
    ATOM_GLOBAL,    /* blockIdx.d * blockDim.d + threadIdx.d; number: d */
    ATOM_STRIDE,    /* the same plus whole grids, in a grid-stride loop; loop * 3 + d */
    ATOM_BLOCK,     /* blockIdx.d; d */
    ATOM_THREAD,    /* threadIdx.d; d */
    ATOM_LOOP,      /* the number of the iteration; the loop */
    ATOM_WALK,      /* threadIdx.d plus whole blocks, in a loop; loop * 3 + d */
    ATOM_BLOCK_DIM, /* d */
    ATOM_GRID_DIM,  /* d */
    ATOM_VALUE      /* an expression of parameters; its node */
} atom_kind_t;

typedef struct affine_atom {
    atom_kind_t kind;
    int number;
    bool is_unsigned; /* ATOM_VALUE: as which the node's bits are read */
} atom_t;

enum { MOST_GUARDS = 48 };

/* Polynomials that are not negative where an access happens. */
typedef struct guards {
    poly_t at[MOST_GUARDS];
    int count;
    bool incomplete; /* there are other conditions */
} guards_t;

/* The bytes that one access reaches: for each value of the indices `span` bytes from byte `lower`
 * on. */
typedef struct box {
    struct box *next;
    const ir_access_t *access;
    poly_t lower, span; /* of global, stride and block indices, and of values */
    bool dense;         /* a thread accesses all of it, if its guard holds */
    bool exact;         /* dense, and the guard is `rest` */
    bool uses_block;    /* `span` is what all threads of a block access */
    bool in_threads;    /* an index of a thread decides the place */
    bool noted;         /* it holds while indices fit into 32 bits */
    guards_t rest;      /* what guards it, apart from the bounds of loops in `span` */
    const char *reason; /* not NULL: where it is, is not known */
} box_t;

typedef struct footprint {
    const ir_function_t *f;
    int64_t block[3];    /* threads of a block where that is known; 0 */
    bool *of_parameters; /* of each node: parameters alone decide it */
    atom_t *atom;
    int atom_count, atom_capacity;
    box_t *box; /* of all accesses, in their order */
} footprint_t;

footprint_t *affine_of(const ir_function_t *f, const int64_t block[3]);
int affine_atom(footprint_t *x, atom_kind_t kind, int number, bool is_unsigned);
/* True for what differs between threads or iterations. */
bool affine_is_index(const footprint_t *x, int atom);
bool affine_has_index(const footprint_t *x, poly_t p);
/* The dimension of the grid of an index; -1: it is a loop's. */
int affine_dimension(const footprint_t *x, int atom);
/* True if it is never negative. */
bool affine_is_count(const footprint_t *x, int atom);

#endif
