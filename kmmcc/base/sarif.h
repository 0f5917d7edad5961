/* SPDX-License-Identifier: Apache-2.0 */
/* The messages as SARIF 2.1.0 (Static Analysis Results Interchange Format). */
#ifndef KMMCC_BASE_SARIF_H
#define KMMCC_BASE_SARIF_H

#include <stdbool.h>

#include "base/message.h"

/* From now on messages are kept for the file. */
void sarif_start(const char *path);
/* Returns the path of sarif_start; NULL: nothing is kept. */
const char *sarif_path(void);
/* Keeps a message and its notes. */
void sarif_add(const message_t *m);
/* Returns the text of the file. */
const char *sarif_text(bool successful);

#endif
