/* SPDX-License-Identifier: Apache-2.0 */
/* Dependency files, and preprocessed text, of sources that were compiled from a temporary copy:
 * they must name the original. */
#include "driver/depend.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"

/* `path` with its extension replaced by ".d". */
static const char *with_d(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    size_t length = dot ? (size_t)(dot - path) : strlen(path);
    return arena_printf("%.*s.d", (int)length, path);
}

/* Returns the file that the compiler would write: beside the object. If it links at once, gcc puts
 * the program's name before the source's. */
const char *depend_file(const options_t *o, const char *source, const compiler_t *compiler)
{
    if (o->dep_file)
        return o->dep_file;
    const char *slash = strrchr(source, '/');
    const char *base = slash ? slash + 1 : source;
    if (o->compile_only)
        return with_d(o->output ? o->output : base);
    if (compiler->family != FAMILY_GNU)
        return with_d(base);
    return arena_printf("%s-%s", o->output ? o->output : "a", with_d(base));
}

/* As make's syntax wants a name. */
static const char *escape(const char *path)
{
    text_t t = {0};
    text_add(&t, "", 0);
    for (; *path; path++) {
        if (*path == ' ' || *path == '#')
            text_add(&t, "\\", 1);
        if (*path == '$')
            text_add(&t, "$", 1);
        text_add(&t, path, 1);
    }
    return t.data;
}

/* Replaces `from` by `to` all over the file. */
static bool replace(const char *path, const char *from, const char *to)
{
    const source_t *file = source_read(path);
    if (!file)
        return true; /* the compiler wrote none */
    text_t mended = {0};
    const char *s = file->text;
    for (const char *found; (found = strstr(s, from)); s = found + strlen(from)) {
        text_add(&mended, s, (size_t)(found - s));
        text_add(&mended, to, strlen(to));
    }
    text_add(&mended, s, strlen(s));
    FILE *out = fopen(path, "wb");
    bool ok = out && fwrite(mended.data, 1, mended.length, out) == mended.length;
    if (out && fclose(out) != 0)
        ok = false;
    if (!ok)
        diag_plain(SEVERITY_ERROR, "cannot write '%s': %s", path, strerror(errno));
    return ok;
}

bool depend_mend(const char *path, const char *copy, const char *original)
{
    return replace(path, escape(copy), escape(original));
}

bool depend_mend_lines(const char *path, const char *copy, const char *original)
{
    return replace(path, copy, original);
}
