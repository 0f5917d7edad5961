/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines that name no files. */
#ifndef KMMCC_DRIVER_QUESTION_H
#define KMMCC_DRIVER_QUESTION_H

#include "base/options.h"

/* Passes the command line to the compiler that the question is for. */
int question_pass(const options_t *o);
/* --version */
int question_version(const options_t *o);
/* --link-flags */
int question_link_flags(const options_t *o);

#endif
