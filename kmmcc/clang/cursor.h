/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about single cursors of libclang. */
#ifndef KMMCC_CLANG_CURSOR_H
#define KMMCC_CLANG_CURSOR_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

/* Copies the string into the arena and disposes it. */
char *clang_text(CXString string);
/* Stores where the cursor's text begins and ends, as offsets of clang. False if it is in no file,
 * or in two. */
bool clang_file_range(CXCursor c, CXFile *file, size_t *begin, size_t *end);

typedef struct cursors {
    CXCursor *at;
    int count, capacity;
} cursors_t;
cursors_t cursor_children(CXCursor c);
/* These two return null if there is no child. */
CXCursor cursor_first_child(CXCursor c);
CXCursor cursor_last_child(CXCursor c);
/* Returns the body of a function's definition; null if there is none. */
CXCursor cursor_body(CXCursor function);
/* True if the cursor has a child of the kind. The attributes of a declaration are children. */
bool cursor_has_child(CXCursor c, enum CXCursorKind kind);

/* Returns the variable with which a path or an address begins: p of p + k, of &p[k] and of
 * p.member; null if there is none. */
CXCursor cursor_root(CXCursor e);
/* True if two expressions begin with the same variable, and with the same members of it as far as
 * both name some; members of a union count as the same. A declaration stands for its variable. */
bool cursor_is_related(CXCursor a, CXCursor b);
/* True if the expression begins with a member of a variable. */
bool cursor_is_member(CXCursor e);
/* True for nullptr, NULL, 0, {} and casts of these. */
bool cursor_is_null_pointer(CXCursor c);
/* Returns the function, template or set of overloads that `f` is, also if `f` is a
 * using-declaration of it. */
CXCursor cursor_used(CXCursor f);
/* True for a declaration in a system header. */
bool cursor_is_system(CXCursor declaration);
/* True for what holds declarations at the top level: a namespace, or `extern "C" { ... }`. */
bool cursor_is_namespace(CXCursor c);
/* True for a variable of a namespace, and for one that is static or extern. */
bool cursor_is_static(CXCursor v);
/* True if the function or function template is a kernel. */
bool cursor_is_kernel(CXCursor f);
/* True if the call is `k<<<...>>>(...)`. */
bool cursor_is_launch(CXCursor call);
/* True if a macro writes the cursor's first token, also as an argument. */
bool cursor_is_from_macro(CXCursor c);
/* The same, but for none of the macro's arguments. */
bool cursor_is_from_body(CXCursor c);
/* True if no macro writes its first or its last token. */
bool cursor_is_written_out(CXCursor c);
const char *cursor_name(CXCursor c);
/* True if the function is a template. */
bool cursor_is_template(CXCursor f);
/* True if the type is an integer or an enum. */
bool type_is_integer(CXType type);
/* True if values of the type have a destructor of the program: of the class, a base or a member.
 * False if that depends on a template's arguments. */
bool type_has_destructor(CXType type);
/* True if the expression is an integer constant, whose value is stored. */
bool cursor_evaluates_to(CXCursor e, long long *value);
/* True if values are copied as bytes, and making one does nothing but set members to constants. */
bool type_is_copied(CXType type);
/* The type as that of a value that a chunk gets: a reference to a const struct without members is
 * one to a copy of it. */
CXType type_passed(CXType type);
/* The type of the function's parameter: a pointer where it is written as an array. */
CXType type_of_parameter(CXCursor function, int number, CXCursor parameter);
/* True if clang does not know the type: it depends on a template, or is missing. */
bool type_is_dependent(CXType type);
/* Returns the type that a pointer points to, or that of an array's elements. */
CXType type_pointee(CXType type);
bool type_is_array(CXType type);
/* Returns the name of the class's member that begins at the byte, and its type; NULL: none does. */
const char *type_member_at(CXType type, long long byte, CXType *member);
/* True if such a member exists, is a pointer, has a name, and is public. */
bool type_has_public_pointer_at(CXType type, long long byte);
/* True if a value of the type is a pointer to data, or has one among its fields and elements. */
bool type_holds_pointers(CXType type);

#endif
