/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages. All that libkmm says goes through here: to stderr, or with KMM_LOG_FILE to a file. A
 * message is one line and one write, so that lines of several threads never interleave. No lock is
 * taken.
 *
 * Errors, warnings and notes are said by default, as "kmm: error: ...". With KMM_LOG or
 * KMM_LOG_FILE each line begins with the time and the thread. Errors, warnings and notes go to
 * stderr also if there is a file.
 */
#ifndef KMM__BASE_LOG_H
#define KMM__BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum kmm__log_level {
    KMM__LOG_ERROR = 1,
    KMM__LOG_WARNING,
    KMM__LOG_NOTE, /* a hint; KMM_LOG=warning includes it */
    KMM__LOG_INFO,
    KMM__LOG_DEBUG
} kmm__log_level_t;

enum { KMM__LOG_BYTES = 4096 }; /* longer messages are cut; a pipe takes so much at once */

/* The last level that is said. Written only by kmm__log_start. */
extern _Atomic int kmm__log_most;

/* True if messages of that level are said. */
#define kmm__log_says(level)                                                                       \
    __builtin_expect(atomic_load_explicit(&kmm__log_most, memory_order_relaxed) >= (int)(level), 0)

/* Reads KMM_LOG and KMM_LOG_FILE, once in the process. Any function below but kmm__log_text does
 * so at its first call. */
void kmm__log_start(void);

/* Says a message. `format` has neither "kmm: error: " nor a newline. errno stays. */
void kmm__log(kmm__log_level_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True at the first call for a line of a file, of the first 256 such places. `file` is a string
 * that stays. */
bool kmm__log_first(const char *file, int line);

/* Says a complete line with its newline, as kmm__log does. May be called in a signal handler. */
void kmm__log_text(kmm__log_level_t level, const char *text, size_t length);

/* Writes lines to stderr as they are, whatever KMM_LOG says. May be called in a signal handler. */
void kmm__log_plain(const char *text, size_t length);

/* Opens a file to which lines are added, in whose name %p is the process, and %% is %. Returns its
 * descriptor, or -1 with errno. */
int kmm__log_open(const char *pattern);

/* Draws a bar in the current line of stderr, a terminal, in place of the bar that is there. The
 * next message erases it. NULL: erases it. One thread draws. */
void kmm__log_bar(const char *text);
/* True if a bar is drawn. Written only by base/log.c. */
extern atomic_bool kmm__log_has_bar;

/* Says of a thing that happens often only when it is wanted. Arguments are not evaluated
 * otherwise. */
#define kmm__log_info(...)                                                                         \
    (kmm__log_says(KMM__LOG_INFO) ? kmm__log(KMM__LOG_INFO, __VA_ARGS__) : (void)0)
#define kmm__log_debug(...)                                                                        \
    (kmm__log_says(KMM__LOG_DEBUG) ? kmm__log(KMM__LOG_DEBUG, __VA_ARGS__) : (void)0)

#endif
