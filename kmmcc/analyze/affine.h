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
    ATOM_GLOBAL,    /* index of the grid: blockIdx.d * blockDim.d + threadIdx.d; number: d */
    ATOM_STRIDE,    /* that index plus whole grids, in a grid-stride loop; number: loop * 3 + d */
    ATOM_BLOCK,     /* blockIdx.d; number: d */
    ATOM_THREAD,    /* threadIdx.d; number: d */
    ATOM_LOOP,      /* iteration of a loop, from 0; number: the loop */
    ATOM_WALK,      /* threadIdx.d plus whole blocks, in a loop; number: loop * 3 + d */
    ATOM_BLOCK_DIM, /* number: d */
    ATOM_GRID_DIM,  /* number: d */
    ATOM_VALUE      /* an expression of parameters; number: its node */
} atom_kind_t;

typedef struct affine_atom {
    atom_kind_t kind;
    int number;
    bool is_unsigned; /* of an ATOM_VALUE: the node's bits are read as an unsigned number */
} atom_t;

enum { MOST_GUARDS = 48 };

/* The conditions of an access: polynomials that are at least 0 where it happens. */
typedef struct guards {
    poly_t at[MOST_GUARDS];
    int count;
    bool incomplete; /* the access has further conditions, which are no polynomials */
} guards_t;

/* A value that the code has in fewer than 64 bits, and that is read as the polynomial `p`: that
 * holds only where p fits into the bits. */
typedef enum fit_at { FIT_PLACE, FIT_GUARD, FIT_TEST } fit_at_t;
typedef struct fit {
    struct fit *next;
    poly_t p;
    int bits;
    bool is_unsigned;
    fit_at_t at;  /* it decides the place of an access, a guard, or the test of a loop */
    int loop;     /* FIT_TEST: which */
    bool in_grid; /* it must hold for all threads, and not only in the ranges of the axes */
} fit_t;

/* The bytes that one access reaches: for each value of the indices `span` bytes from byte `lower`
 * on. */
typedef struct box {
    struct box *next;
    const ir_access_t *access;
    poly_t lower, span; /* over global, stride and block indices, and values */
    bool dense;         /* one thread accesses all of the span if its guard holds */
    bool exact;         /* dense, and `rest` is the whole guard */
    bool uses_block;    /* `span` is what all threads of a block access together */
    bool in_threads;    /* `lower` depends on an index of the thread within its block */
    fit_t *fits;        /* it holds where these do, which have no index within a block or a loop */
    guards_t rest;      /* conditions, except the bounds of the loops that `span` covers */
    const char *reason; /* why the bytes are not known; NULL: they are */
} box_t;

typedef struct footprint {
    const ir_function_t *f;
    int64_t block[3];    /* threads of a block in each dimension; 0: not known */
    bool *of_parameters; /* for each node: true if it depends on parameters alone */
    atom_t *atom;
    int atom_count, atom_capacity;
    box_t *box; /* of all accesses, in the order of f->access */
} footprint_t;

/* An index of which the accesses of one thread have all values from 0 to `last`. */
typedef struct extent {
    int atom;
    poly_t last;
    int64_t step; /* the greatest is last / step */
    bool all;     /* each value is there */
} extent_t;

/* What the guards say of the greatest value of an index within a block or a loop. The guard that
 * does is then gone. False: none does. */
bool affine_extent(const footprint_t *x, guards_t *g, int atom, extent_t *out);
/* Puts one atom for each sum that is an index of the grid. */
void affine_fold(footprint_t *x, poly_t *p, guards_t *g);

footprint_t *affine_of(const ir_function_t *f, const int64_t block[3]);
int affine_atom(footprint_t *x, atom_kind_t kind, int number, bool is_unsigned);
/* True if the atom differs between threads or between iterations. */
bool affine_is_index(const footprint_t *x, int atom);
bool affine_has_index(const footprint_t *x, poly_t p);
/* Returns the dimension of the grid that an index is of; -1: it is an index of a loop. */
int affine_dimension(const footprint_t *x, int atom);
/* True if the atom is never negative. */
bool affine_is_count(const footprint_t *x, int atom);

#endif
