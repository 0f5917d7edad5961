/* SPDX-License-Identifier: Apache-2.0 */
/* Under KMM_CHECK=access: the patterns that a chunk has left in what it stores. */
#ifndef KMM__EXECUTE_REMAINS_H
#define KMM__EXECUTE_REMAINS_H

typedef struct kmm__check kmm__check_t;

/* Not locked: warns of elements of `write` items that the chunk has left out, and of those to which
 * it has stored a value that it may not read, or a sum with one. */
void kmm__remains_warn(kmm__check_t *c);

#endif
