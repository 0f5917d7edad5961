/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions of a PTX module. */
#include "ptx/module.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "ptx/statement.h"

/* The struct that a checked clone gets first, kmm_checked_blocks_t, as it is mangled, and how PTX
 * declares it. */
static const char clone_mark[] = "18kmm_checked_blocks";
static const char clone_parameter[] = ".param .align 8 .b8 ";
static const char clone_bytes[] = "[32]";

static size_t word_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || (text[n] && strchr("_$.%", text[n])))
        n++;
    return n;
}

/* The offset behind the parenthesis that ends what begins at `open`. */
static size_t behind_parentheses(const char *text, size_t open)
{
    int depth = 0;
    for (size_t at = open; text[at]; at++) {
        depth += (text[at] == '(') - (text[at] == ')');
        if (depth == 0)
            return at + 1;
    }
    return open + strlen(text + open);
}

/* The offset of the brace that ends what the brace at `open` begins. */
static size_t body_end(const char *text, size_t open)
{
    int depth = 0;
    statement_t s = {.end = open};
    do {
        s = statement_next(text, s.end);
        depth += (s.kind == STATEMENT_OPEN) - (s.kind == STATEMENT_CLOSE);
    } while (s.kind != STATEMENT_END && depth > 0);
    return s.begin;
}

/* The name of the first parameter between the parentheses; NULL: there is none. Declarations end
 * with commas: ".param .align 8 .b8 kernel_param_0[32],". */
static const char *first_parameter(const char *text, size_t open, size_t close, bool *is_blocks)
{
    size_t at = statement_skip(text, open + 1), end = at;
    while (end < close - 1 && text[end] != ',')
        end++;
    size_t last = end;
    while (last > at && isspace((unsigned char)text[last - 1]))
        last--;
    *is_blocks =
        last - at > sizeof(clone_parameter) &&
        !strncmp(text + at, clone_parameter, sizeof(clone_parameter) - 1) &&
        !strncmp(text + last - (sizeof(clone_bytes) - 1), clone_bytes, sizeof(clone_bytes) - 1);
    if (last > at && text[last - 1] == ']')
        while (last > at && text[last - 1] != '[')
            last--;
    last -= last > at && text[last - 1] == '[';
    size_t begin = last;
    while (begin > at && !isspace((unsigned char)text[begin - 1]))
        begin--;
    return last > begin ? arena_copy(text + begin, last - begin) : NULL;
}

/* Clones of kernels with C linkage have no mangled name. */
static bool has_clone_name(const char *name)
{
    return strstr(name, clone_mark) || (strncmp(name, "_Z", 2) && !strncmp(name, "kmm_", 4));
}

/* Reads the function behind `.entry` or `.func`. *at goes behind it. NULL: it is only declared. */
static device_function_t *read_function(const char *ptx, size_t *at, bool is_kernel)
{
    device_function_t *f = arena_alloc(sizeof(*f));
    bool is_blocks = false;
    size_t open = statement_skip(ptx, *at);
    if (ptx[open] == '(') /* what it returns */
        open = statement_skip(ptx, behind_parentheses(ptx, open));
    f->is_kernel = is_kernel;
    f->name = arena_copy(ptx + open, word_length(ptx + open));
    open = statement_skip(ptx, open + strlen(f->name));
    if (ptx[open] == '(') {
        size_t close = behind_parentheses(ptx, open);
        f->first_parameter = first_parameter(ptx, open, close, &is_blocks);
        open = close;
    }
    while (ptx[open] && ptx[open] != '{' && ptx[open] != ';')
        open = statement_skip(ptx, open + 1);
    *at = open + (ptx[open] != 0);
    if (ptx[open] != '{')
        return NULL;
    f->body = open + 1;
    f->end = *at = body_end(ptx, open);
    f->is_clone = is_kernel && is_blocks && has_clone_name(f->name);
    f->is_check = !is_kernel && strstr(f->name, "kmm_check_access");
    return f;
}

device_function_t *module_functions(const char *ptx)
{
    device_function_t *first = NULL, **last = &first;
    size_t at = 0;
    while (ptx[at = statement_skip(ptx, at)]) {
        size_t length = word_length(ptx + at);
        bool is_kernel = length == 6 && !strncmp(ptx + at, ".entry", 6),
             is_function = length == 5 && !strncmp(ptx + at, ".func", 5);
        at += length ? length : 1;
        device_function_t *f = is_kernel || is_function ? read_function(ptx, &at, is_kernel) : NULL;
        if (f) {
            *last = f;
            last = &f->next;
        }
    }
    return first;
}
