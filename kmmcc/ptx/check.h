/* SPDX-License-Identifier: Apache-2.0 */
/* -fkmm-check for GPUs: a call of kmm_check_access before each access of PTX code. */
#ifndef KMMCC_PTX_CHECK_H
#define KMMCC_PTX_CHECK_H

/* Returns the module with the accesses of clones, and of the functions that they may call, checked.
 * NULL: a clone does what the check does not know; that was reported, with the name of the source
 * file. */
const char *check_module(const char *ptx, const char *path);

#endif
