/* SPDX-License-Identifier: Apache-2.0 */
/* The words of LLVM's IR as text. Offsets are from the beginning of a line. */
#ifndef KMMCC_AMD_TEXT_H
#define KMMCC_AMD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The offset behind what begins at `at`: a string in quotes, what is in brackets, or one character.
 */
size_t ir_behind(const char *text, size_t at);
/* The offset of the next comma that is in no brackets, or of the end. */
size_t ir_comma(const char *text, size_t at);
/* The offset behind the comma and the spaces there; that of the end if there is none. */
size_t ir_operand(const char *text, size_t at);
/* The length of a name behind its @, % or !: `foo.1`, or `"a b"`. */
size_t ir_name(const char *text);
/* Reads " addrspace(1)", if it is there. Returns its length. */
size_t ir_address_space(const char *text, size_t *space);
/* Whether the text begins with the word, and a space or nothing follows. */
bool ir_begins(const char *text, const char *word);
/* The text without what says which memory a function does not access, or which pointers it does
 * not keep: the calls for the check access more. */
const char *ir_without_promises(const char *text);

#endif
