/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of sections whose ends data gives. */
#ifndef KMM__LAUNCH_OFFSETS_H
#define KMM__LAUNCH_OFFSETS_H

#include "launch/builder.h"

/* Sets the section's offsets. If they lie in an array that launches may write, waits for what
 * writes them, and copies them for the launch. A mistake is noted in the launch. */
void kmm__offsets_set(kmm_launch_t *l, const kmm__item_t *item, kmm__section_t *s,
                      const kmm__offsets_t *o);

/* One more, or one less, description has the list of copies, which may be NULL. The last one frees
 * it. */
void kmm__fetched_ref(kmm__fetched_t *f);
void kmm__fetched_unref(kmm__fetched_t *f);

#endif
