/* SPDX-License-Identifier: Apache-2.0 */
/* What kmm_config_t, or else the environment, says of a runtime. Each returns 0 or an error with
 * its text. */
#ifndef KMM__API_CONFIG_H
#define KMM__API_CONFIG_H

#include "base/runtime.h"

int kmm__config_devices(kmm_runtime_t *rt, const kmm_config_t *given); /* opens them */
int kmm__config_host(kmm_runtime_t *rt, const kmm_config_t *given);    /* limits host memory */
int kmm__config_locked(kmm_runtime_t *rt,
                       const kmm_config_t *given); /* bounds what is page-locked */

#endif
