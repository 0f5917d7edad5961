/* SPDX-License-Identifier: Apache-2.0 */
/* A footprint: the memory that the accesses of a kernel's graph (ir/ir.h) reach, as polynomials
 * over atoms, which are indices and parameters. */
#ifndef KMMCC_ANALYZE_AFFINE_ATOM_H
#define KMMCC_ANALYZE_AFFINE_ATOM_H

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
    ATOM_VALUE,     /* an expression of parameters; number: its node */
    ATOM_QUOTIENT,  /* a quotient; number: which of the footprint */
    ATOM_REST,      /* what is left by that division */
    ATOM_PACE       /* blockIdx.d plus whole grids, in a loop; number: loop * 3 + d */
} atom_kind_t;

typedef struct affine_atom {
    atom_kind_t kind;
    int number;
    bool is_unsigned; /* of an ATOM_VALUE: the node's bits are read as an unsigned number */
} atom_t;

/* A division, which rounds towards 0, of what differs between threads by what does not. */
typedef struct quotient {
    poly_t of, by;
    bool is_signed;
    int whole, rest; /* atoms: of = by * whole + rest */
} quotient_t;

enum { MOST_GUARDS = 48, MOST_HOLES = 4, MOST_ASSUMED = 4, MOST_STEPS = 4 };

/* The conditions of an access: polynomials that are at least 0 where it happens. */
typedef struct guards {
    poly_t at[MOST_GUARDS];
    int count;
    poly_t hole[MOST_HOLES]; /* polynomials that are not 0 where it happens */
    int holes;
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
    bool stepped;       /* one thread accesses what `step` says if its guard holds */
    bool exact;         /* dense or stepped, and `rest` is the whole guard */
    bool uses_block;    /* `span` is what all threads of a block access together */
    bool in_threads;    /* `lower` depends on an index of the thread within its block */
    fit_t *fits;        /* it holds where these do, which have no index within a block or a loop */
    poly_t assumed[MOST_ASSUMED]; /* it holds where these, of parameters, are not negative */
    int assumed_count;
    bool in_block; /* one of these: a bound of an index within the block is in the block */
    struct {
        poly_t by, last; /* each multiple of `by`, from 0 to `last` times */
    } step[MOST_STEPS];
    poly_t base; /* `bytes` bytes from base plus a multiple of each step on */
    int64_t bytes;
    int steps;
    guards_t rest;      /* conditions, except the bounds of the loops that `span` covers */
    const char *reason; /* why the bytes are not known; NULL: they are */
} box_t;

typedef struct footprint {
    const ir_function_t *f;
    int64_t block[3]; /* threads of a block in each dimension; 0: not known */
    /* by how much blockIdx.d counts for more than threadIdx.d; 0: not known, -1: that differs */
    int64_t ratio[3];
    bool *of_parameters; /* for each node: true if it depends on parameters alone */
    atom_t *atom;
    int atom_count, atom_capacity;
    quotient_t *quotient;
    int quotient_count, quotient_capacity;
    box_t *box; /* of all accesses, in the order of f->access */
} footprint_t;

/* The box holds where p is not negative. False: that is never so, or there are too many. */
bool affine_assume(box_t *b, poly_t p);
/* Returns the footprint's atom, which is made if it has none like it. */
int affine_atom(footprint_t *x, atom_kind_t kind, int number, bool is_unsigned);
/* True if the atom differs between threads or between iterations. */
bool affine_is_index(const footprint_t *x, int atom);
/* True if the polynomial has an index. */
bool affine_has_index(const footprint_t *x, poly_t p);
/* True if no term has two indices. */
bool affine_is_linear(const footprint_t *x, poly_t p);
/* True if no term of the polynomial is ever negative, wherever the kernel runs. */
bool affine_never_negative(const footprint_t *x, poly_t p);
/* Returns the dimension of the grid that an index is of; -1: it is an index of a loop. */
int affine_dimension(const footprint_t *x, int atom);
/* True if the atom is never negative. */
bool affine_is_count(const footprint_t *x, int atom);

#endif
