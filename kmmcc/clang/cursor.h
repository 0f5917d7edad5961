/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about single cursors of libclang. */
#ifndef KMMCC_CLANG_CURSOR_H
#define KMMCC_CLANG_CURSOR_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

/* Copies the string into the arena and disposes it. */
char *clang_text(CXString string);
/* Where the cursor's text begins and ends, as clang counts; false: in no file, or in two. */
bool clang_file_range(CXCursor c, CXFile *file, size_t *begin, size_t *end);

typedef struct cursors {
    CXCursor *at;
    int count, capacity;
} cursors_t;
cursors_t cursor_children(CXCursor c);
/* Null where there is none. */
CXCursor cursor_first_child(CXCursor c);
CXCursor cursor_last_child(CXCursor c);
/* The block of a function's definition; null: there is none. */
CXCursor cursor_body(CXCursor function);
/* Whether the cursor has a child of the kind: the attributes of a declaration are among these. */
bool cursor_has_child(CXCursor c, enum CXCursorKind kind);

/* The variable with which a path or an address begins: p of p + k, of &p[k] and of p.member; null
 * when there is none. */
CXCursor cursor_root(CXCursor e);
/* The function, template or set of overloads that a member of such a set is, also behind a
 * using-declaration. */
CXCursor cursor_used(CXCursor f);
/* Whether the function or function template is a kernel. */
bool cursor_is_kernel(CXCursor f);
/* Whether the call is `k<<<...>>>(...)`. */
bool cursor_is_launch(CXCursor call);
const char *cursor_name(CXCursor c);
/* Whether the function is a template. */
bool cursor_is_template(CXCursor f);
/* Whether the type is an integer, or an enum. */
bool type_is_integer(CXType type);
/* Whether clang does not know the type: it depends on a template, or is missing. */
/* Whether the end of a value's life runs code of the program: a destructor of its class, or of a
 * base or member. False if that depends on a template's arguments. */
bool type_has_destructor(CXType type);
bool type_is_dependent(CXType type);
/* What a pointer points to, or the element of an array. */
CXType type_pointee(CXType type);
bool type_is_array(CXType type);

#endif
