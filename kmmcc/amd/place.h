/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines of instructions of LLVM's IR. */
#ifndef KMMCC_AMD_PLACE_H
#define KMMCC_AMD_PLACE_H

typedef struct places places_t;

/* Reads the metadata of a module. */
places_t *places_read(const char *ir);
/* Returns "file:line" of the instruction whose `!dbg` names this location; "?": not known. Code in
 * headers of HIP, clang and kmm gets the line of the program into which it was inlined. */
const char *places_text(const places_t *p, unsigned long location);

#endif
