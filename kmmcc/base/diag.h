/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in clang's form on stderr, sorted by place within a file. */
#ifndef KMMCC_BASE_DIAG_H
#define KMMCC_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/message.h"
#include "base/source.h"

/* Adds a message about [begin, end) of the source. It shows file, line and column, the line, and
 * below it a caret at `begin` and underlines up to `end`. A note belongs to the message before it.
 * The text of a warning ends with its name, as in " [-Wkmm-whole]", by which the command line turns
 * it off or into an error. */
void diag_at(severity_t severity, const source_t *s, size_t begin, size_t end, const char *format,
             ...) __attribute__((format(printf, 5, 6)));
/* Adds a message without a position. */
void diag_plain(severity_t severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a message about a file as a whole. */
void diag_file(severity_t severity, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a message about a place in a file that kmmcc has not read itself. */
void diag_elsewhere(severity_t severity, const char *path, unsigned line, unsigned column,
                    const char *text);
/* Adds a proposal to the message or note before: `text` in place of [begin, end) of its file. A
 * proposal on the caret's line is shown below the caret. All proposals of one message belong
 * together. */
void diag_fix(size_t begin, size_t end, const char *text);
void diag_parseable_fixes(bool on); /* -fdiagnostics-parseable-fixits */
/* True if the warning, such as "kmm-wide", is shown. */
bool diag_shows(const char *name);
int diag_error_count(void);
/* Returns the number of messages since the last flush. */
int diag_count(void);
/* Takes back the messages numbered [first, last) since the last flush. */
void diag_retract(int first, int last);
/* Takes back the messages about [begin, end) of the source whose text has the words, with their
 * notes. */
void diag_retract_in(const source_t *s, size_t begin, size_t end, const char *words);
/* Returns the text of a message by its number since the last flush. */
const char *diag_said(int number);
/* Returns the text of the first message about [begin, end) of the source; NULL: there is none. */
const char *diag_said_in(const source_t *s, size_t begin, size_t end);
/* Until it is off, warnings are messages whatever the command line says of them, and none is an
 * error. */
void diag_trial(bool on);
void diag_colour(bool on);
/* Obeys -W[no-][error=]kmm[-name], -Werror, -Wno-error and -w; true if the option is kmmcc's alone.
 */
bool diag_warning_option(const char *option);
/* Prints the messages since the last flush; called after each file. */
void diag_flush(void);
void diag_summary(void); /* flushes and prints "1 warning and 2 errors generated." */

#endif
