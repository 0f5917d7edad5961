/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches with a pragma in native standing (memory/residency/native.h). Where one GPU has all
 * arrays that the clauses name, the kernel is launched as the program has written it, whatever
 * `chunk` says. Only a launch whose result depends on its chunks is divided (native_chunks.h). The
 * launch is checked as if it were divided, once for its place in the source and the values that it
 * has (launch/memo.h), so that a wrong pragma does not first show when the data does not fit.
 */
#ifndef KMM__LAUNCH_NATIVELY_H
#define KMM__LAUNCH_NATIVELY_H

#include "launch/submission.h"

/* Results of submitting a kernel: the launch is checked. The caller, who is inside a native call,
 * makes it, or has it made by kmm__native_chunks_enqueue, and leaves. */
enum { KMM__LAUNCH_NATIVELY = 1, KMM__LAUNCH_IN_CHUNKS = 3 };

/* Not locked: makes a launch that has come before, whose checks are remembered (launch/memo.h), or
 * one that needs none. Takes the description, and enters the native call. 0: it has to be
 * submitted; the description is still the caller's. */
int kmm__submit_again(kmm_launch_t *l, const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                      void **args);
/* Not locked, inside a native call: checks a launch. Returns one of these, an error with its text,
 * or 0: the launch has to be submitted. */
int kmm__submit_natively(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args);

#endif
