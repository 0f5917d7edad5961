/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of library functions say of what they do besides working on their arguments. */
#ifndef KMMCC_ANALYZE_LIBRARY_H
#define KMMCC_ANALYZE_LIBRARY_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* True if one thread at a time goes on behind a call of this function, whose code is not seen. */
bool library_locks(const char *name);
/* Floating-point exceptions that are set stay set, in the thread, until somebody clears them. So a
 * function that asks for them and has not cleared them learns of what ran before it. */
bool library_asks_for_exceptions(const char *name);
/* True if the function that is called keeps a state for the whole program, which calls change. */
bool library_keeps_state(CXCursor call);
/* True if a variable of the library is such a state. */
bool library_is_state(CXCursor variable);
/* True if code may count up, or ask for, a number that each call or thread has of its own. */
bool library_numbers(const char *code);
/* True for objects of the library, which threads share in ways of their own: locks, streams. */
bool library_shares(CXType type);
/* True if a directive `threadprivate` of OpenMP in the text names the variable. */
bool library_makes_private(const char *text, const char *name);
/* True if the call gives or changes what belongs to the thread that calls: its number, what it
 * handles, its locale, rounding and signals. `text` is that of the function that calls; what it
 * changes it may put back. */
bool library_is_of_thread(CXCursor call, const char *text);

#endif
