/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of KMM_TRACE: a JSON array with one event on each line. It is a whole array after each
 * flush: the end of the array is written behind the events, and the next flush writes over it. So
 * the file of a program that was killed has all events up to the last flush.
 *
 * All functions are called by one thread, but for `open`, which comes first.
 */
#ifndef KMM__OBSERVE_TRACE_FILE_H
#define KMM__OBSERVE_TRACE_FILE_H

#include <stdbool.h>

#include "observe/json.h"

/* Opens the file with this name, of at most `most` bytes. Where another process has the file open,
 * the number of this process is appended to the name. False: it cannot be written, which has been
 * said. `variable` is the name of the variable, for messages. */
bool kmm__trace_file_open(const char *variable, const char *name, uint64_t most);
/* Adds an event, the text of a JSON object. It is left out, and counted, if it does not fit. */
void kmm__trace_file_add(const kmm__json_t *event);
/* Writes what was added. `open` is the text of events that have not ended yet, each with a comma
 * and a line's end before it; they are in the file until the next flush, if they fit. */
void kmm__trace_file_flush(const kmm__json_t *open);
/* Says how many events were left out, if that was not said since the last one was. */
void kmm__trace_file_tell(void);
/* Closes the file of the process from which this one was forked. */
void kmm__trace_file_forked(void);

/* Returns the name with the process's number for each %p and a percent sign for each %%; freed by
 * free(). */
char *kmm__trace_name(const char *name);

#endif
