/* SPDX-License-Identifier: Apache-2.0 */
/* Loads lib/kmm/kmm-frontend.so, the part of kmmcc that needs libclang, when a file needs it. */
#include "driver/frontend.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/install.h"
#include "clang/verify.h"

/* Returns the module's function; NULL after an error. */
static void *function(const char *name)
{
    static void *module;
    const char *path = arena_printf("%s/kmm/kmm-frontend.so", install_path("lib"));
    if (!module)
        module = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    void *found = module ? dlsym(module, name) : NULL;
    if (!found)
        diag_plain(SEVERITY_ERROR, "a part of kmmcc cannot be loaded: %s", dlerror());
    return found;
}

char *frontend_transform(const options_t *o, lang_t lang, target_t target,
                         const includes_t *includes, const header_t **headers)
{
    typeof(&transform) call = (typeof(&transform))function("transform");
    return call ? call(o, lang, target, includes, headers) : NULL;
}

bool frontend_choose(const options_t *o, lang_t lang, target_t target, const includes_t *includes,
                     marks_t *m)
{
    typeof(&transform_choose) call = (typeof(&transform_choose))function("transform_choose");
    return call && call(o, lang, target, includes, m);
}

bool frontend_verify(const source_t *source, const char *path, const list_t *flags)
{
    typeof(&verify_file) call = (typeof(&verify_file))function("verify_file");
    return call && call(source, path, flags);
}
