/* SPDX-License-Identifier: Apache-2.0 */
/* Follows an address, or an element of memory, through expressions. */
#ifndef KMMCC_ANALYZE_FLOW_H
#define KMMCC_ANALYZE_FLOW_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* The relation of an expression to the memory that is followed. */
typedef enum carried {
    CARRIES_NOTHING,
    CARRIES_ADDRESS, /* a pointer into it */
    CARRIES_ELEMENT, /* the memory itself: an lvalue */
    CARRIES_METHOD   /* a member function of an element */
} carried_t;

/* The effect of a parent expression on what its child carries. */
typedef enum effect {
    EFFECT_NONE,     /* it is dropped, or passed on */
    EFFECT_READ,     /* the element is read */
    EFFECT_STORE,    /* the element is stored to */
    EFFECT_UPDATE,   /* the same, depending on what was there */
    EFFECT_MOVE,     /* the pointer itself changes */
    EFFECT_VARIABLE, /* a variable of the parent's declaration or assignment holds it */
    EFFECT_CALL,     /* a function gets it */
    EFFECT_RETURN,   /* the function returns it */
    EFFECT_UNKNOWN   /* none of these: nothing is known */
} effect_t;

/* A cursor on the way from a body to the place that is visited. */
typedef struct place {
    struct visit *visit;
    const struct place *up;
    CXCursor cursor;
    int number;   /* its index among the children of `up` */
    int children; /* how many of its own children have been visited */
} place_t;

/* Returns what the parent of `at` does with what `at` carries. *carried becomes what the parent
 * carries. */
effect_t flow_step(const place_t *at, carried_t *carried);
/* True if two cursors are of the same text. */
bool flow_same_place(CXCursor a, CXCursor b);
/* Returns the operand in parentheses and conversions. */
CXCursor flow_operand(CXCursor c);
/* True if memory of the type cannot be changed without a cast. */
bool flow_is_constant(CXType type);
bool flow_is_reference(CXType type);
bool flow_is_pointer(CXType type);
/* True if the expression is a pointer, also where libclang shows the type of a parameter that is
 * written as an array. */
bool flow_is_address(CXCursor c);

#endif
