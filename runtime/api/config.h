/* SPDX-License-Identifier: Apache-2.0 */
/* Configures a runtime from kmm_config_t, or from the environment where that says nothing. Each
 * function returns 0 or an error with its text. */
#ifndef KMM__API_CONFIG_H
#define KMM__API_CONFIG_H

#include "base/runtime.h"

/* The process is number `rank` of `size` processes of one program on this host, which divide its
 * GPUs among them. Called before devices are opened. */
void kmm__config_share(uint32_t rank, uint32_t size);
int kmm__config_devices(kmm_runtime_t *rt, const kmm_config_t *given); /* opens the devices */
int kmm__config_host(kmm_runtime_t *rt,
                     const kmm_config_t *given); /* sets the limit of host memory */
int kmm__config_locked(kmm_runtime_t *rt,
                       const kmm_config_t *given); /* sets the limit of page-locked memory */

#endif
