/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines of PTX instructions. */
#ifndef KMMCC_PTX_LINE_H
#define KMMCC_PTX_LINE_H

typedef struct lines lines_t;

/* Reads the names of source files from the whole module. */
lines_t *lines_read(const char *ptx);
/* Goes on behind a directive `.loc`, as statement_t has it; other directives change nothing. */
void lines_follow(lines_t *l, const char *directive);
/* Returns "file:line" of the instructions behind the last `.loc`; of code of the toolkit's and of
 * kmm's headers, the line that it was inlined into. "?": not known. */
const char *lines_text(const lines_t *l);

#endif
