/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the text of a function for its copy. */
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
/* Returns [begin, end) of the source with the changes. */
char *change_text(const source_t *s, size_t begin, size_t end, const changes_t *list);
/* Returns the offset behind the first token with the text; `end` if there is none. */
size_t change_find_token(const source_t *s, size_t from, size_t end, const char *text);
/* True if arguments follow the opening parenthesis that ends at `open`. */
bool change_has_arguments(const source_t *s, size_t open);
/* Adds the changes of the name and the parameters. */
void change_head(const unit_t *u, const source_t *s, size_t name, const function_t *f,
                 changes_t *list);
/* Adds the changes of the body: calls of copies, and captures of lambdas. */
void change_body(const unit_t *u, const function_t *f, changes_t *list);
/* Returns the declarations of blockIdx and gridDim that hide the built-in ones in a copy. */
const char *change_locals(const unit_t *u, const function_t *f);
/* Returns the offset behind the brace that opens the body. */
size_t change_body_begin(const unit_t *u, CXCursor function);
/* Returns the offset of the function's name in its source. */
size_t change_name_offset(const unit_t *u, CXCursor c);

#endif
