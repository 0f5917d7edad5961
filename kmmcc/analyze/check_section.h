/* SPDX-License-Identifier: Apache-2.0 */
/* Reads sections as affine functions of the axes, and checks them. */
#ifndef KMMCC_ANALYZE_CHECK_SECTION_H
#define KMMCC_ANALYZE_CHECK_SECTION_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "kmm/launch.h"
#include "pragma/directive.h"
#include "pragma/expression.h"

bool section_has_axis(const directive_t *d, const expr_t *e);
/* True if the item names `count` elements from `first` in each chunk, and both numbers are known.
 */
bool section_is_fixed(const item_t *item, long long *first, long long *count);
/* The type of what holds a section's offsets: a pointer or an array. */
CXType section_offsets_array(const expr_t *offsets);
/* Sets *type if elements of this type can be offsets: integers of 32 or 64 bits. */
bool section_offsets_type(CXType element, kmm_type_t *type);
/* Sets the section's forms, or what gives its ends. */
void check_section(unit_t *u, directive_t *d, const item_t *item, section_t *section);
/* The integers of `fits`. */
void check_fits(unit_t *u, directive_t *d);

#endif
