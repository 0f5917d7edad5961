/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code of a function does with memory, as a graph of integer values.
 *
 * A module for one release of LLVM (module.cpp) makes it of the IR that clang of the same release
 * writes; load.c finds and loads that module. Nothing here depends on LLVM.
 */
#ifndef KMMCC_IR_IR_H
#define KMMCC_IR_IR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A value of `bits` bits, in two's complement, of one thread. */
typedef enum ir_op {
    IR_CONST,   /* the number `value` */
    IR_PARAM,   /* the parameter `value`, or of one that is passed by value as a struct, what lies
                 * at its byte a */
    IR_GRID,    /* value: an ir_grid_t times 3 plus the dimension */
    IR_COUNTER, /* the number of the iteration of loop `value`, from 0 */
    /* address of a global variable or of a part of one, equal in all threads; value: its number */
    IR_SYMBOL,
    /* any other value, such as one loaded from memory or a real number; value: its number */
    IR_DATA,
    IR_ADD,
    IR_SUB,
    IR_MUL,
    IR_UDIV,
    IR_SDIV,
    IR_UREM,
    IR_SREM,
    IR_SHL,
    IR_LSHR,
    IR_ASHR,
    IR_AND,
    IR_OR,
    IR_XOR,
    IR_EQ, /* comparisons have one bit */
    IR_NE,
    IR_ULT,
    IR_ULE,
    IR_SLT,
    IR_SLE,
    IR_SELECT, /* a ? b : c */
    IR_ZEXT,
    IR_SEXT,
    IR_TRUNC
} ir_op_t;

typedef enum ir_grid { IR_THREAD_INDEX, IR_BLOCK_INDEX, IR_BLOCK_DIM, IR_GRID_DIM } ir_grid_t;

typedef struct ir_node {
    ir_op_t op;
    int bits;
    int a, b, c; /* indices of operands, which stand before the node */
    int64_t value;
} ir_node_t;

/* A loop runs iteration k while its test holds: at the begin of iteration k, or at the end of the
 * iteration before. */
typedef struct ir_loop {
    int parent;       /* -1: none */
    int test;         /* node */
    int tests_at_end; /* the test of iteration k says whether k + 1 follows */
    int has_breaks;   /* it may end earlier */
    int has_exits;    /* the same, and the function may return then, or has stored: it does not
                         only throw */
} ir_loop_t;

/* How a store or an atomic operation combines a value with the old one. */
typedef enum ir_combine {
    IR_COMBINE_UNKNOWN,
    IR_COMBINE_ADD,
    IR_COMBINE_MUL,
    IR_COMBINE_MIN,
    IR_COMBINE_MAX,
    IR_COMBINE_AND,
    IR_COMBINE_OR,
    IR_COMBINE_XOR
} ir_combine_t;

/* How well it is known that stores to one place combine, by one operator, the value that was there
 * with others. */
typedef enum ir_fold_kind { IR_FOLD_RIGHT, IR_FOLD_UNKNOWN, IR_FOLD_OTHER } ir_fold_kind_t;

enum { IR_OPERATORS = 8, IR_ONCE = 4 };

/* What a store combines with the old value by one operator, also through local accumulators. Loops
 * and parameters are bits, as in ir_access. */
typedef struct ir_fold {
    ir_fold_kind_t kind;
    uint64_t carried;  /* loops that carry a value which the operator does not combine */
    uint64_t indexed;  /* loops whose index is in a value that is combined, or decides about it */
    uint64_t repeated; /* loops of which the rest of the index by `period` is used so */
    int64_t period;
    uint64_t untold;        /* loops with a carried value that the operator may not combine */
    uint64_t over;          /* loops around the store and the accumulators */
    uint64_t placed;        /* loops whose index is in the place that is stored to */
    uint64_t from;          /* parameters that values are computed from */
    uint64_t counted;       /* parameters whose value is added as it is, once by each call */
    uint64_t once[IR_ONCE]; /* for each constant that is combined: the loops around it */
    int once_count;
    int is_read;      /* the old value goes elsewhere, or decides what happens there */
    int is_tested;    /* of an atomic operation: values of the same place decide about it */
    int is_truth;     /* it is RIGHT only where 0 and all other numbers are what counts */
    int is_swap;      /* of a compare-and-swap */
    int is_real;      /* of such: it combines as real numbers */
    int takes_number; /* the operator gives the number if the other operand is a NaN, as fmin does
                       */
} ir_fold_t;

typedef enum ir_access_kind { IR_READ, IR_WRITE, IR_ATOMIC } ir_access_kind_t;

/* One load, store or atomic operation through a pointer that the function was given. */
typedef struct ir_access {
    ir_access_kind_t kind;
    int param; /* which parameter */
    /* offset in the parameter at which the pointer lies; -1: the parameter is the pointer */
    int member;
    int offset;      /* node of 64 bits: distance from the pointer in bytes */
    int bytes;       /* node of 64 bits: number of bytes */
    int guard;       /* node of one bit: the access happens if it is 1 */
    int loop;        /* the innermost loop around it; -1: none */
    int after_write; /* for a read: the thread has written the same bytes before */
    int line, column;
    const char *file; /* NULL: not known */
    /* Of a store: the loops around it (as bits) that carry from iteration to iteration what the
     * value is computed from; and the parameters that it is also computed from. */
    uint64_t carried, carried_from;
    /* The loops around it that carry an index of which only the rest by `period` is in the value;
     * and the parameters whose value it is computed from, as they are or through such a rest. */
    uint64_t repeated, computed_from;
    uint64_t whole; /* loops that end before the access and carry a value that its value or guard
                       needs */
    int64_t period;
    ir_combine_t combine;
    int order; /* ascends as the code stands in the source */
    /* Of a store: the first integers that the value is computed from and that depend on no data;
     * -1: there is none, or no other. */
    int integer[2];
    /* Of a store or an atomic operation: for each ir_combine_t; NULL: not known. */
    const ir_fold_t *fold;
    int stores_zero; /* a store of 0 */
    /* Of CUDA's atomic functions: the type of the element, as the C++ ABI abbreviates it, such as
     * 'i' and 'f'; 0: not known. */
    char element;
    int uses_result;        /* of an atomic operation: something uses the value that it returns */
    uint64_t repeated_from; /* of a store: parameters in values of which only a rest counts */
} ir_access_t;

/* A variable of static storage that the function changes, or one place to which a pointer in such
 * a variable leads. Atomic and volatile stores are none, nor is the first value of a local
 * static variable. */
typedef struct ir_change {
    const char *name; /* of the variable; NULL: a pointer leads there that lies in memory of */
    int param;        /* this parameter, or in the parameter itself; -1: in a variable */
    int of_thread;    /* each thread has a variable of its own */
    int by_number;    /* an element at an index that an atomic sum gives out, and nothing bounds */
    int line, column;
    const char *file; /* NULL: not known */
} ir_change_t;

/* A variable of which each thread has its own, and that the function loads before it has set it:
 * itself, or in a function that it may call by a pointer. */
typedef struct ir_own {
    const char *name;
    int line, column; /* of the load */
    const char *file; /* NULL: not known */
} ir_own_t;

/*
 * A store to memory that all calls share: a variable of static storage, or what a pointer there
 * leads to; also an atomic or a volatile one, and under a lock. Or a store to a parameter's memory
 * of a number that an atomic sum gives out.
 */
typedef struct ir_shared {
    const char *name; /* of the variable; NULL: it is a parameter's memory */
    int param;        /* that parameter; -1: none */
    /* What goes into the value and decides about the store, for each operator by which it may be
     * combined with the old value. Of a value that is not combined, `over` has the loops of which
     * it is a result. */
    const ir_fold_t *fold;
    int fold_count;
    int combines;    /* the store combines a value with the old one */
    int is_constant; /* the value, or what is combined, is a constant */
    int is_scratch;  /* the call loads from there, perhaps what it has stored */
    int is_slot;     /* at a place that an atomic sum gives out */
    int is_number;   /* of a number that an atomic sum gives out */
    int is_counter;  /* the function does nothing else with the variable */
    int line, column;
    const char *file; /* NULL: not known */
} ir_shared_t;

/* What goes into an exception that leaves the function. Loops and parameters are bits, as in
 * ir_access. */
typedef struct ir_throw {
    uint64_t carried, repeated, computed_from;
    int64_t period;
    int is_number; /* parameters and constants alone make it */
    int line, column;
    const char *file; /* NULL: not known */
} ir_throw_t;

/* A pointer whose accesses are not all known. */
typedef struct ir_unknown {
    int param, member; /* the pointer; param -1: all pointers */
    int is_loaded;     /* all these accesses are through pointers that lie in memory */
    const char *reason;
    int line, column;
    const char *file;
} ir_unknown_t;

typedef struct ir_function {
    const char *name;  /* the linker's name of the function */
    const char *title; /* the function as the source names it */
    int param_count;
    const char **param_name;         /* "": it has none */
    const unsigned char *is_pointer; /* of each parameter */
    ir_node_t *node;
    int node_count;
    ir_loop_t *loop;
    int loop_count;
    ir_access_t *access;
    int access_count;
    ir_unknown_t *unknown;
    int unknown_count;
    ir_change_t *change;
    int change_count;
    ir_own_t *own; /* of a plain function */
    int own_count;
    ir_throw_t *thrown; /* of a plain function */
    int thrown_count;
    ir_shared_t *shared; /* of a plain function */
    int shared_count;
    /* It tests floating-point exceptions, and each test comes behind a call that clears them; the
     * loops, as bits, around such a test and not around that call. */
    int clears_flags;
    uint64_t flags_kept;
    int takes_turns; /* it exchanges atomically, as locks do */
    /* It may reach memory that is neither its own nor constant, and to which no parameter leads by
     * itself; or it calls code that is not known. Of a kernel also: it may make an address data. */
    int elsewhere;
    /* It allocates or frees memory to which pointers in memory of its parameters lead. */
    int owns_memory;
    uint64_t addresses; /* the parameters, as bits, that are numbers of which it makes addresses */
} ir_function_t;

/* Returns the kernels in a file of bitcode, or the function of this name if it is not NULL. The
 * list ends with NULL. NULL: the file cannot be read, and *error says why. Nothing is ever freed.
 */
typedef ir_function_t **ir_analyze_fn(const char *path, const char *name, const char **error);
/* A kernel launch in the code of one function for the host. */
typedef struct ir_launch {
    const char *function; /* the linker's name of the function that launches */
    const char *title;    /* that function as the source names it */
    const char *kernel;   /* the linker's name of the host function that stands for the kernel */
    const char *file;     /* as #line and options name it; NULL: not known */
    int line;
} ir_launch_t;

/* Returns the *count launches in a file of bitcode for the host. NULL: the file cannot be read, and
 * *error says why. Nothing is ever freed. */
typedef ir_launch_t *ir_launches_fn(const char *path, int *count, const char **error);

/* ---- Proofs ---- */

enum { IR_AXES = 6 };

/* What a launch in chunks passes for a parameter. */
typedef enum ir_role_kind {
    IR_FIXED,  /* the same for each chunk */
    IR_LENGTH, /* the length of the chunk along `axis` */
    IR_BEGIN,  /* where the chunk begins along `axis` */
    IR_END,    /* where it ends */
    IR_MOVED   /* a pointer that moves with the chunk */
} ir_role_kind_t;

typedef struct ir_role {
    ir_role_kind_t kind;
    int axis;
    uint64_t moves;            /* of IR_MOVED: the axes, as bits */
    int64_t distance[IR_AXES]; /* bytes for each index of an axis; 0: not known */
    int is_reduced;            /* a reduction's target */
    ir_combine_t combine;      /* its operator */
    int is_logical, is_pair;   /* the operator is && or ||, argmin or argmax */
    int is_unsigned;           /* its elements are unsigned integers */
    int is_real;               /* its elements are float or double */
    int element_bytes;         /* of integers, float and double; 0: other elements */
    int64_t value_at;          /* of a pair: the byte of its value */
    int has_unsigned_index;    /* of a pair */
    int from_zero;             /* of IR_BEGIN: no chunk begins below 0 */
    int same_as;               /* 1 + the number of an earlier parameter that gets the same pointer;
                                  0: there is none */
} ir_role_t;

/* What keeps a proof from succeeding. */
typedef struct ir_gap {
    const char *reason; /* goes on after "the function" */
    int line, column;   /* 0: not known */
    const char *file;   /* NULL: not known */
} ir_gap_t;

/* Tries to prove that calls of the function for the chunks of a launch, in any order, leave in
 * memory what one call for the whole range leaves. `axes`: those that are split, as bits. Returns
 * NULL if it is so, and otherwise what cannot be proven first. */
typedef const ir_gap_t *ir_prove_fn(const char *path, const char *name, const ir_role_t *role,
                                    int count, uint64_t axes);

/* The symbols of the module. */
#ifdef __cplusplus
__attribute__((visibility("default")))
#endif
ir_analyze_fn kmm_ir_analyze;
#ifdef __cplusplus
__attribute__((visibility("default")))
#endif
ir_launches_fn kmm_ir_launches;
#ifdef __cplusplus
__attribute__((visibility("default")))
#endif
ir_prove_fn kmm_ir_prove;

#ifdef __cplusplus
}
#endif
#endif
