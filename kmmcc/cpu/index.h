/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index variables in lambdas and classes of a kernel. They are the kernel's parameters there: a
 * lambda has to capture them, and a class uses those of all functions instead.
 */
#ifndef KMMCC_CPU_INDEX_H
#define KMMCC_CPU_INDEX_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"

typedef struct captures {
    unit_t *u;
    bool edits;
    int count;
} captures_t;

/* Their functions cannot see the kernel's parameters that the index variables are, but those of all
 * functions. */
typedef struct locals {
    unit_t *u;
    bool edits;
    int depth, count;
} locals_t;

enum CXChildVisitResult index_capture_edit(CXCursor c, CXCursor parent, CXClientData data);
enum CXChildVisitResult index_qualify(CXCursor c, CXCursor parent, CXClientData data);

#endif
