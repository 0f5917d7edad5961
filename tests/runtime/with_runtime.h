/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime that a test's launches use, from its making to its end. After cmocka's headers. */
#ifndef WITH_RUNTIME_H
#define WITH_RUNTIME_H

#include <kmm.h>

static inline kmm_runtime_t *runtime_open(const kmm_config_t *config)
{
    kmm_runtime_t *rt = NULL;
    if (kmm_create(&rt, config))
        fail_msg("%s: %s", config->devices ? config->devices : "", kmm_error_text(NULL));
    kmm_use(rt);
    return rt;
}

static inline void runtime_close(kmm_runtime_t *rt)
{
    kmm_use(NULL);
    if (kmm_destroy(rt))
        fail_msg("%s", kmm_error_text(NULL));
}

#endif
