/* SPDX-License-Identifier: Apache-2.0 */
/* The post's thread. */
#ifndef KMM__TRANSPORT_CARRY_H
#define KMM__TRANSPORT_CARRY_H

#include "transport/post_state.h"

/* Its main function. */
void *kmm__post_main(void *post);
/* On the post's thread: ends all processes. */
void kmm__post_do_abort(kmm__post_t *p, int status) __attribute__((noreturn));

#endif
