/* SPDX-License-Identifier: Apache-2.0 */
/* Expands macros that write pragmas, by the preprocessor of the real compiler. */
#ifndef KMMCC_PRAGMA_MACRO_H
#define KMMCC_PRAGMA_MACRO_H

#include <stdbool.h>

#include "base/options.h"
#include "base/text.h"
#include "pragma/includes.h"

/* A copy of a file of the program, to be preprocessed. */
typedef struct macro_copy {
    const char *name, *text;
} macro_copy_t;

/*
 * Preprocesses copies of files as the compiler preprocesses the files: with the same command line,
 * but with the macros _Pragma(x), which is kmm__pragma(x), and __COUNTER__, which is kmm__counter.
 */
typedef struct preprocessor {
    /* Puts the copies into one folder, and stores the text that the first becomes; without copies,
     * what the program's own files become, without these two macros. Pass 0 is that of the host.
     * False if there are no more passes, or if the compiler refuses it: then `out` has its
     * messages. */
    bool (*run)(const struct preprocessor *p, int pass, const macro_copy_t *copies, int count,
                text_t *out);
    void *context;
} preprocessor_t;

/* Replaces, in each file, the uses of macros that write kmm pragmas by what they expand to. */
void macro_expand(const includes_t *includes, const options_t *o, const preprocessor_t *p);

#endif
