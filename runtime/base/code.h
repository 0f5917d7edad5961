/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code and constants for other processes that run the same files. A name is the build id
 * of the program or library and the offset in it. Addresses differ from process to process.
 */
#ifndef KMM__BASE_CODE_H
#define KMM__BASE_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum { KMM__BUILD_ID_MOST = 32, KMM__BUILD_ID_TEXT = 2 * KMM__BUILD_ID_MOST + 1 };

typedef struct kmm__code {
    uint64_t offset;
    uint32_t id_bytes;
    unsigned char id[KMM__BUILD_ID_MOST]; /* the first id_bytes are set, the others 0 */
} kmm__code_t;

/* Makes the name of an address in the program or a library. False: it is in neither, or that has no
 * build id. */
bool kmm__code_name(const void *address, kmm__code_t *out);
/* Returns the address in this process; NULL: the file is not loaded here. */
const void *kmm__code_find(const kmm__code_t *name);
/* Writes the build id of a name as text. */
void kmm__code_id_text(const kmm__code_t *name, char out[KMM__BUILD_ID_TEXT]);
/* The same within the program itself: false if the address is not in it. */
bool kmm__code_offset(const void *address, uintptr_t *out);
const void *kmm__code_at(uintptr_t offset);
/* True if the address is in the program itself, and in no library. */
bool kmm__code_is_program(const void *address);

#endif
