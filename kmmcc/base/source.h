/* SPDX-License-Identifier: Apache-2.0 */
/* A source file in memory; its offsets, lines and columns. */
#ifndef KMMCC_BASE_SOURCE_H
#define KMMCC_BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct source {
    const char *path; /* as the user wrote it */
    const char *text; /* NUL-terminated */
    size_t length;
    const size_t *lines; /* offset at which line k + 1 begins; line 1 behind a byte-order mark */
    unsigned line_count;
    bool has_markers; /* #line directives */
    bool completed;   /* the text is no longer what the file holds: macros are expanded, or pragmas
                         completed */
} source_t;

source_t *source_read(const char *path); /* NULL: errno says why */
source_t *source_from(const char *path, const char *text, size_t length);
void source_place(const source_t *s, size_t offset, unsigned *line, unsigned *column); /* 1-based */
unsigned source_line(const source_t *s, size_t offset);                                /* 1-based */
/* True if only white space is before the offset on its line. */
bool source_begins_line(const source_t *s, size_t offset);
/* Returns the #line directive for a line of the source, without a newline. It has the number and
 * name that the source's own #line directives give to the line. */
char *source_line_marker(const source_t *s, unsigned line);
/* Returns the path that the source's own #line directives give to the line, and stores its number.
 */
const char *source_shown(const source_t *s, unsigned line, unsigned *shown);

#endif
