/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM__MANAGED_H
#define KMM__MANAGED_H

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "../api.h"

/* A result of libkmm as a cudaError_t number; an error is printed and remembered. */
int kmm__managed_result(int code);
int kmm__managed_fail(int number, const char *text);

#endif
