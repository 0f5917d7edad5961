/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of reductions on runs of elements. Half and bfloat16 are computed as float. All other
 * types are computed in their own type.
 */
#ifndef KMM__FOLD_H
#define KMM__FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kmm/launch.h>

enum { KMM__ELEMENT_MAX = 1024 }; /* bytes of the largest element that can be reduced */

/* The element type of a reduction: a number, or a struct of a value and an index. */
typedef struct kmm__element {
    kmm_type_t type; /* type of the number or of the pair's value */
    uint32_t bytes;  /* distance from one element to the next */
    bool is_pair;
    kmm_type_t index;
    uint32_t value_at, index_at; /* byte offsets in a pair */
} kmm__element_t;

size_t kmm__type_bytes(kmm_type_t type); /* 0: no such type */
bool kmm__type_is_floating(kmm_type_t type);
/* True if the operator is defined for such elements. */
bool kmm__fold_allows(kmm_op_t op, const kmm__element_t *e);
/* Writes the identity of the operator: kmm__fold of x with it gives x, bit for bit. */
void kmm__fold_identity(kmm_op_t op, const kmm__element_t *e, void *out);

/* ---- Wide forms ---- */
size_t kmm__wide_bytes(const kmm__element_t *e);
void kmm__widen(const kmm__element_t *e, void *wide, const void *elements, size_t n);
void kmm__narrow(const kmm__element_t *e, void *elements, const void *wide,
                 size_t n); /* rounds to nearest, ties to even */

/* a[k] = a[k] op b[k] for n elements in wide form.
 * min and max: a NaN on either side stays; of equal values, the one in a stays.
 * + and *: a NaN on either side stays as it is, and a's if both are NaNs. A NaN of other operands,
 * such as inf - inf, has the sign bit and the quiet bit set and no others of its fraction.
 * && and ||: an element changes only when b says so: to 0, or to b.
 * argmin and argmax: of equal values the smaller index; a NaN is more extreme than every number. */
void kmm__fold(kmm_op_t op, const kmm__element_t *e, void *a, const void *b, size_t n);

/* The same for the last step, where b is folded into the target. argmin and argmax: of equal
 * values, the target stays whatever its index is, as with `if (x < m.value)`. */
void kmm__fold_target(kmm_op_t op, const kmm__element_t *e, void *target, const void *b, size_t n);

/* a[k] = b[k] where a[k] is a NaN and b[k] is not the identity, for n floating-point numbers in
 * wide form. */
void kmm__fold_numbers(kmm_op_t op, const kmm__element_t *e, void *a, const void *b, size_t n);

/* Folds the values that `count` partials have for one element of && or || into the target. The
 * partials began as the target's value, and those that still have it are skipped. The result is the
 * last changed value that decides the result (false for &&, true for ||), or else the last changed
 * value. */
void kmm__fold_truth(kmm_op_t op, const kmm__element_t *e, const char *partials,
                     int64_t partial_bytes, uint32_t count, char *target);

/* ---- Numbers of 16 bits ---- */
float kmm__half_to_float(uint16_t h);
uint16_t kmm__float_to_half(float f);
float kmm__bfloat16_to_float(uint16_t h);
uint16_t kmm__float_to_bfloat16(float f);

#endif
