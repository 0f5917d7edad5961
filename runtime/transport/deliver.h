/* SPDX-License-Identifier: Apache-2.0 */
/* What arrives at the post. */
#ifndef KMM__TRANSPORT_DELIVER_H
#define KMM__TRANSPORT_DELIVER_H

#include "transport/post_state.h"

/* On the post's thread: delivers what has been found. Returns true if anything was done. */
bool kmm__post_receive(kmm__post_t *p);

#endif
