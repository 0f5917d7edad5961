/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of the fake CUDA driver that a test runs on. Include it after cmocka's headers. */
#ifndef KMM_FAKE_COUNTS_H
#define KMM_FAKE_COUNTS_H

#include <dlfcn.h>

#include "fake_gpu.h"

static inline fake_counts_t fake_counts_now(void)
{
    fake_counts_t counts;
    fake_counts_function_t *function = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    *(void **)&function = dlsym(library, "fake_counts");
    assert_non_null(function);
    function(&counts);
    dlclose(library);
    return counts;
}

/* Pieces of host memory that are page-locked now. */
static inline unsigned long registrations(void)
{
    return fake_counts_now().registrations;
}

#endif
