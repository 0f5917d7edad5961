/* SPDX-License-Identifier: Apache-2.0 */
/* -fkmm-check for AMD's GPUs: a call of kmm_check_access before each access of LLVM's IR. */
#ifndef KMMCC_AMD_CHECK_H
#define KMMCC_AMD_CHECK_H

/* Returns the module with its accesses checked, or as it is if it has no clone. NULL: that is not
 * possible, and was reported. `path`: the source file, for messages. */
const char *amd_check_module(const char *ir, const char *path);

#endif
