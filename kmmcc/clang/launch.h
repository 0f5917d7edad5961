/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the launch in a governed statement. */
#ifndef KMMCC_CLANG_LAUNCH_H
#define KMMCC_CLANG_LAUNCH_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"
#include "base/token.h"
#include "clang/unit.h"
#include "pragma/directive.h"

/* A cursor on the way from the statement to the place that is visited; `first`, `last` among its
 * parent's children. */
typedef struct frame {
    const struct frame *up;
    CXCursor cursor;
    bool first, last;
} frame_t;
/* What becomes of a call's value: it is not used, or returned by a function without a value; used,
 * or there is none, but the call is a part of a larger expression or declaration. */
typedef enum use { USE_NONE, USE_RETURN, USE_VALUE, USE_PART } use_t;

/* The launches of one kind in a statement. */
typedef struct calls {
    int count;
    CXCursor first, second;
    launch_form_t form; /* of the first */
    use_t use;          /* of the first */
    bool argument;      /* the first is in an argument of a macro */
    bool generic;       /* the first is in a _Generic, which selects one of several */
    bool placed;        /* the first is in a statement that can be replaced: [begin, end), with its
                           semicolon */
    size_t begin, end;
} calls_t;

/* All launches in a statement. */
typedef struct found {
    unit_t *u;
    calls_t kernels, functions;
    bool cooperative;
} launches_t;

/* Returns the number of the argument of `cudaLaunchKernel` and its like that is the kernel; -1 for
 * other calls. */
int launch_kernel_argument(CXCursor call);
/* Returns the token that follows the offset. */
token_t launch_token_after(const source_t *s, size_t offset);
/* Adds the launches at and below the cursor. Kernel launches are found anywhere; a function call
 * within the arguments of another call is part of that one (in_call). */
void launch_find(launches_t *found, const frame_t *at, bool in_call);

#endif
