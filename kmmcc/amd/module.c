/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions of a module: a line that begins with "define" to one that is a brace. */
#include "amd/module.h"

#include <stdlib.h>
#include <string.h>

#include "amd/text.h"
#include "base/arena.h"

/* The struct that a checked clone gets first (kmm/launch.h), as clang passes it: the place of the
 * parameter itself, in the memory of constants. */
static const char clone_struct[] = " byref(%struct.kmm_checked_blocks";
static const char clone_mark[] = "18kmm_checked_blocks";

/* The name of the first parameter: the last word before the comma. */
static const char *parameter_name(const char *line, size_t open)
{
    size_t end = ir_comma(line, open + 1), begin = end;
    while (begin > open && line[begin] != '%')
        begin--;
    return arena_copy(line + begin, 1 + ir_name(line + begin + 1));
}

static void read_head(device_function_t *f, const char *line)
{
    size_t at = 0;
    while (line[at] && line[at] != '@')
        at = ir_behind(line, at);
    const char *kernel = strstr(line, " amdgpu_kernel ");
    f->is_kernel = kernel && kernel < line + at;
    at += line[at] == '@';
    size_t length = ir_name(line + at), open = at + length;
    f->name = arena_copy(line + at, length);
    size_t close = ir_behind(line, open), first = ir_comma(line, open + 1);
    const char *blocks = strstr(line + open, clone_struct);
    f->is_clone = f->is_kernel && blocks && blocks < line + (first < close ? first : close);
    if (f->is_clone)
        f->first_parameter = parameter_name(line, open);
    f->is_odd = f->is_kernel && !f->is_clone && strstr(f->name, clone_mark);
    if (f->is_odd) {
        f->unknown = "gets the chunk's blocks in a form that is not known";
        f->place = "?";
    }
    f->is_check = !f->is_kernel && strstr(f->name, "kmm_check_access");
    const char *group = strstr(line + close, " #");
    f->attributes = group ? strtoul(group + 2, NULL, 10) : 0;
}

device_function_t *ir_module_functions(const char *ir)
{
    device_function_t *first = NULL, **last = &first;
    for (const char *at = ir; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strncmp(at, "define ", 7))
            continue;
        device_function_t *f = arena_alloc(sizeof(*f));
        size_t length = strcspn(at, "\n");
        const char *close = strstr(at, "\n}\n");
        read_head(f, arena_copy(at, length));
        f->begin = (size_t)(at - ir);
        f->body = f->begin + length + 1;
        f->end = close ? (size_t)(close - ir) + 1 : f->begin + strlen(at);
        *last = f;
        last = &f->next;
        at = ir + f->end;
    }
    return first;
}
