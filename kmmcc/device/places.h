/* SPDX-License-Identifier: Apache-2.0 */
/* The strings "file:line" that a module of device code gets. */
#ifndef KMMCC_DEVICE_PLACES_H
#define KMMCC_DEVICE_PLACES_H

#include "base/list.h"

enum { PLACE_SLOTS = 1 << 12 };

typedef struct place_texts {
    list_t texts; /* each once */
    struct place_text *slot[PLACE_SLOTS];
} place_texts_t;

/* Returns the number of the string in the list, to which it is added. */
int place_number(place_texts_t *p, const char *text);

#endif
