/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs of a file's kernels. */
#ifndef KMMCC_IR_LOAD_H
#define KMMCC_IR_LOAD_H

#include "clang/unit.h"
#include "ir/ir.h"

/*
 * The functions of the file, made at the first call: clang compiles the file for a GPU to IR that
 * is not optimized, and the module for its release of LLVM reads that. NULL: there is no such
 * module or program, or the file does not compile so; *reason then says why.
 */
ir_function_t **ir_functions(const unit_t *main, const char **reason);
/* Returns the function of this name; NULL: there is none. */
const ir_function_t *ir_function(const unit_t *main, const char *name);
/* Returns the function of a kernel, or of an instance of a kernel template; NULL: there is none. */
const ir_function_t *ir_function_of(const unit_t *main, CXCursor kernel);
/*
 * The launches in the file's code for the host, made at the first call; those of all instances of
 * templates are among them. NULL: they are not known, and *reason says why.
 */
const ir_launch_t *ir_launches(const unit_t *main, int *count, const char **reason);
/* Returns a plain function, as the host runs it; NULL: it is not known. */
const ir_function_t *ir_plain_function_of(const unit_t *main, CXCursor function);
/*
 * Proves that chunks of a plain function give what one call gives (ir_prove_fn). NULL, with *reason
 * NULL: it is proven. NULL otherwise: nothing can be proven of the file, and *reason says why.
 */
const ir_gap_t *ir_prove(const unit_t *main, CXCursor function, const ir_role_t *role, int count,
                         uint64_t axes, const char **reason);

#endif
