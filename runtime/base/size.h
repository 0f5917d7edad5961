/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes in environment variables. */
#ifndef KMM__BASE_SIZE_H
#define KMM__BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Parses a number of bytes: "64M", "1.5G", "4096". False if the text is not such a number. */
bool kmm__size_parse(const char *text, uint64_t *out);

/* Sets *out to the size in environment variable `name`, unless *out is not 0 or the variable is
 * empty. Returns 0 or KMM_E_INVALID. */
int kmm__size_of_variable(const char *name, uint64_t *out);

#endif
