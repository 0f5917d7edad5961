/* SPDX-License-Identifier: Apache-2.0 */
/* A message, as base/diag.c keeps it and base/sarif.c reports it. */
#ifndef KMMCC_BASE_MESSAGE_H
#define KMMCC_BASE_MESSAGE_H

#include <stddef.h>

#include "base/source.h"

typedef enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR } severity_t;

typedef struct fix {
    size_t begin, end;
    const char *text;
} fix_t;
enum { MAX_FIXES = 4 };

typedef struct message {
    severity_t severity;
    const source_t *source; /* NULL: no place in a file that kmmcc has read */
    size_t begin, end;
    const char *path; /* of a file that is not a source; NULL: the message is about no such file */
    unsigned line, column; /* in that file */
    const char *text;
    size_t prefix;        /* how much of the text says that place */
    int order;            /* of creation */
    fix_t fix[MAX_FIXES]; /* that together mend what is wrong */
    int fix_count;
    struct message *notes; /* those that follow a warning or an error, in order */
    int note_count, note_capacity;
} message_t;

#endif
