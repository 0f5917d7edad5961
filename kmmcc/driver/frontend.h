/* SPDX-License-Identifier: Apache-2.0 */
/* Calls what needs libclang. It is a module, lib/kmm/kmm-frontend.so, which is loaded when it is
 * first called: to load libclang takes as long as to compile a small file, and files without
 * pragmas do not need it. */
#ifndef KMMCC_DRIVER_FRONTEND_H
#define KMMCC_DRIVER_FRONTEND_H

#include <stdbool.h>

#include "base/list.h"
#include "base/options.h"
#include "base/source.h"
#include "driver/transform.h"
#include "pragma/includes.h"

/* transform() of driver/transform.h. */
char *frontend_transform(const options_t *o, lang_t lang, target_t target,
                         const includes_t *includes, const header_t **headers);
/* transform_choose() of driver/transform.h. */
bool frontend_choose(const options_t *o, lang_t lang, target_t target, const includes_t *includes,
                     marks_t *m);
/* verify_file() of clang/verify.h. */
bool frontend_verify(const source_t *source, const char *path, const list_t *flags);

#endif
