/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in clang's form on stderr, sorted by place within a file. */
#ifndef KMMCC_BASE_DIAG_H
#define KMMCC_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"

typedef enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR } severity_t;
/* [begin, end) is underlined, the caret stands at begin. Names the file, line and column, prints
 * the line. A note belongs to the message before it. A warning ends with its name, "
 * [-Wkmm-whole]", by which the command line turns it off or into an error. */
void diag_at(severity_t severity, const source_t *s, size_t begin, size_t end, const char *format,
             ...) __attribute__((format(printf, 5, 6)));
void diag_plain(severity_t severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What to write in place of [begin, end) of the file of the message before it, or the note. Shown
 * below the caret when it is on its line; several belong together. */
void diag_fix(size_t begin, size_t end, const char *text);
void diag_parseable_fixes(bool on); /* -fdiagnostics-parseable-fixits */
void diag_warnings_list(void);      /* on stdout */
int diag_error_count(void);
/* Messages since the last flush; [first, last) of them can be taken back, as long as nothing has
 * been flushed. */
int diag_count(void);
void diag_retract(int first, int last);
void diag_colour(bool on);
/* Obeys -W[no-][error=]kmm[-name], -Werror, -Wno-error and -w; true if the option is kmmcc's alone.
 */
bool diag_warning_option(const char *option);
void diag_flush(
    void); /* prints what has come since the last flush; the driver does so after each file */
void diag_summary(void); /* flushes and prints "1 warning and 2 errors generated." */

#endif
