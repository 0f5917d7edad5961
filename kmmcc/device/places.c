/* SPDX-License-Identifier: Apache-2.0 */
/* The strings "file:line" that a module of device code gets, in a hash table. */
#include "device/places.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"

struct place_text {
    const char *text;
    int number;
    struct place_text *next;
};

int place_number(place_texts_t *p, const char *text)
{
    uint32_t hash = 2166136261u;
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    struct place_text **at = &p->slot[hash % PLACE_SLOTS];
    while (*at && strcmp((*at)->text, text))
        at = &(*at)->next;
    if (!*at) {
        *at = arena_alloc(sizeof(**at));
        **at = (struct place_text){text, p->texts.count, NULL};
        list_add(&p->texts, text);
    }
    return (*at)->number;
}
