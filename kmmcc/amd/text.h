/* SPDX-License-Identifier: Apache-2.0 */
/* The words of LLVM's IR as text. Offsets are from the beginning of a line. */
#ifndef KMMCC_AMD_TEXT_H
#define KMMCC_AMD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the offset behind the string in quotes, the brackets, or the character at `at`. */
size_t ir_behind(const char *text, size_t at);
/* Returns the offset of the next comma that is in no brackets; the end if there is none. */
size_t ir_comma(const char *text, size_t at);
/* Returns the offset behind the next comma and its spaces; the end if there is none. */
size_t ir_operand(const char *text, size_t at);
/* Returns the length of a name without its @, % or !: of `foo.1`, or `"a b"`. */
size_t ir_name(const char *text);
/* Reads " addrspace(1)", if it is there. Returns its length. */
size_t ir_address_space(const char *text, size_t *space);
/* True if the text begins with the word, and a space or the end follows. */
bool ir_begins(const char *text, const char *word);
/* Returns the text without attributes by which a function promises to leave memory or pointers
 * alone. Calls of the check break such promises. */
const char *ir_without_promises(const char *text);

#endif
