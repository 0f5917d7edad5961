/* SPDX-License-Identifier: Apache-2.0 */
/* The error text of each thread. */
#ifndef KMM__BACKEND_HOST_ERROR_H
#define KMM__BACKEND_HOST_ERROR_H

/* Sets the calling thread's error text. Returns `code`. */
int kmm__host_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the calling thread's error text; never NULL. */
const char *kmm__host_error_text(void);

#endif
