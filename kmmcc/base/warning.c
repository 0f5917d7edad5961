/* SPDX-License-Identifier: Apache-2.0 */
/* The names of kmmcc's warnings, and what each warns of. */
#include "base/warning.h"

#include <stdio.h>
#include <string.h>

static const warning_t list[] = {
    {"kmm-whole", "no clause says what a launch reads of an array, so each chunk reads the whole",
     false},
    {"kmm-barrier", "some threads of a block never come to a barrier (CPU target)", false},
    {"kmm-update",
     "'write' of what the kernel's code changes by += or an atomic operation: "
     "the old values are not there",
     false},
    {"kmm-overlap",
     "chunks that would write the same elements, where it is not known that there are several",
     false},
    {"kmm-pointers",
     "arrays whose elements hold pointers, which mean nothing to a kernel "
     "where they point to managed memory; addresses that kernels store",
     false},
    {"kmm-symbol",
     "'chunk' of a kernel that changes a __device__ variable, whose launch is one chunk", false},
    {"kmm-elsewhere",
     "a kernel that calls functions which another file defines, so that its "
     "launch is one chunk",
     false},
    {"kmm-stride",
     "'chunk' of a kernel that loops with the grid's stride, where the grid may "
     "be smaller than the range",
     false},
    {"kmm-length",
     "a plain function that compares the length that it gets with a constant, and "
     "stores other elements then",
     false},
    {"kmm-output", "a plain function that prints, since its chunks run in any order", false},
    {"kmm-thread",
     "a plain function that calls what concerns its own thread, such as pthread_self, since "
     "chunks run on threads of kmm",
     false},
    {"kmm-order",
     "a plain function that stores in places, or stores numbers, that an atomic sum "
     "gives out, since its chunks run in any order",
     false},
    {"kmm-calls", "a plain function that counts its calls, since each chunk is a call", false},
    {"kmm-unproven",
     "a plain function of which it is not proven that its chunks give what one call gives", false},
    {"kmm-reduce",
     "reductions of plain functions of which it is not proven that they combine "
     "by the operator alone",
     false},
    {"kmm-wide",
     "clauses that name more than the kernel accesses, so that "
     "chunks copy bytes that they do not need",
     true},
    {"kmm-library",
     "with -fkmm-manage=all, a library that launches kernels of its own, which "
     "know nothing of managed memory",
     false},
};
enum { COUNT = sizeof(list) / sizeof(*list) };

const warning_t *warning_all(size_t *count)
{
    *count = COUNT;
    return list;
}

const warning_t *warning_find(const char *name, size_t length)
{
    for (size_t k = 0; k < COUNT; k++)
        if (strlen(list[k].name) == length && !strncmp(list[k].name, name, length))
            return &list[k];
    return NULL;
}

const char *warning_in(const char *text, size_t *length, size_t *plain)
{
    size_t size = strlen(text);
    const char *open = strrchr(text, '['), *name = open ? strstr(open, "-Wkmm") : NULL;
    if (!name || text[size - 1] != ']' || (name != open + 1 && strncmp(open, "[-Werror,", 9) != 0))
        return NULL;
    *length = (size_t)(text + size - 1 - (name + 2));
    *plain = (size_t)(open - text);
    while (*plain && text[*plain - 1] == ' ')
        (*plain)--;
    return name + 2;
}

void warning_list(void)
{
    printf("Warnings of kmmcc. All but kmm-wide are on; -WNAME turns one on, -Wno-NAME turns one "
           "off, -Werror=NAME makes it an "
           "error.\n\n");
    for (size_t k = 0; k < COUNT; k++)
        printf("  -W%-13s  %s%s\n", list[k].name, list[k].is_off ? "off by default: " : "",
               list[k].what);
}
