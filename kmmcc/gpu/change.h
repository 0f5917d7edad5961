/* SPDX-License-Identifier: Apache-2.0 */
/* Changed text of a function. */
#ifndef KMMCC_GPU_CHANGE_H
#define KMMCC_GPU_CHANGE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"
#include "clang/unit.h"
#include "gpu/reach.h"

/* Changes of a function's text, ascending by place. */
typedef struct changes {
    change_t *first;
} changes_t;

void change_add(changes_t *list, size_t begin, size_t end, const char *text);
/* [begin, end) of the source, changed. */
char *change_text(const source_t *s, size_t begin, size_t end, const changes_t *list);
/* Behind the first token with the text; `end`: there is none. */
size_t change_find_token(const source_t *s, size_t from, size_t end, const char *text);
/* Whether arguments follow the opening parenthesis that ends at `open`. */
bool change_has_arguments(const source_t *s, size_t open);
/* The name and parameters of a copy. */
void change_head(const unit_t *u, const source_t *s, size_t name, const char *spelled,
                 changes_t *list);
/* Calls of copies, and captures of lambdas, in the body of a copy. */
void change_body(const unit_t *u, const function_t *f, changes_t *list);
/* The declarations of blockIdx and gridDim that hide the built-in ones in a copy. */
const char *change_locals(const unit_t *u, const function_t *f);
/* Behind the brace that opens the body. */
size_t change_body_begin(const unit_t *u, CXCursor function);
/* Where the function's name stands in its source. */
size_t change_name_offset(const unit_t *u, CXCursor c);

#endif
