/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of bytes and seconds for people. */
#ifndef KMM__BASE_UNITS_H
#define KMM__BASE_UNITS_H

#include <stdint.h>

enum { KMM__UNITS_TEXT = 32 };

/* Writes bytes as "1.5 GiB", with powers of 1024. Returns out. */
char *kmm__units_bytes(char out[KMM__UNITS_TEXT], uint64_t bytes);

/* Writes a duration as "0.123 s", "12.3 s", "3:25 min" or "2:03 h". Returns out. */
char *kmm__units_seconds(char out[KMM__UNITS_TEXT], double seconds);

/* The same in memory of the block that calls it. */
#define KMM__BYTES(bytes) kmm__units_bytes((char[KMM__UNITS_TEXT]){0}, bytes)
#define KMM__SECONDS(seconds) kmm__units_seconds((char[KMM__UNITS_TEXT]){0}, seconds)

#endif
