/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmmcc's lexer knows no trigraphs, and no line splice within a digraph or, in a file with raw
 * strings, within a word. A file in which these hide a pragma is refused: the file has more pragmas
 * of kmm when all of these are replaced.
 */
#include "pragma/hidden.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "pragma/pragma.h"

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The text with `#` and `\` in place of their trigraphs. */
static text_t without_trigraphs(const source_t *source)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (const char *c = source->text; *c; c++) {
        bool found = begins(c, "?\?=") || begins(c, "?\?/");
        text_add(&out, !found ? c : c[2] == '=' ? "#" : "\\", 1);
        c += found ? 2 : 0;
    }
    return out;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static text_t without_splices(text_t text)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (const char *c = text.data; *c; c++) {
        size_t length = begins(c, "\\\n") ? 2 : begins(c, "\\\r\n") ? 3 : 0;
        bool splits =
            length && c > text.data &&
            ((is_letter(c[-1]) && is_letter(c[length])) || (c[-1] == '%' && c[length] == ':'));
        if (splits)
            c += length - 1;
        else
            text_add(&out, c, 1);
    }
    return out;
}

static int count_pragmas(const source_t *s)
{
    pragma_t found;
    size_t from = 0;
    int count = 0;
    while (pragma_next(s, &from, &found))
        count++;
    return count;
}

bool hidden_pragma(const source_t *source)
{
    const char *text = source->text;
    bool may = strstr(text, "?\?=") || strstr(text, "?\?/") || strstr(text, "\\\n") ||
               strstr(text, "\\\r\n");
    if (!may)
        return false;
    text_t plain = without_splices(without_trigraphs(source));
    const source_t *other = source_from(source->path, plain.data, plain.length);
    if (count_pragmas(other) <= count_pragmas(source))
        return false;
    diag_plain(SEVERITY_ERROR,
               "'%s' writes a pragma of kmm by trigraphs, or splits one of its words by '\\', in "
               "a way that kmmcc does not read",
               source->path);
    diag_plain(SEVERITY_NOTE, "write '#pragma kmm' with a '#', and each word in one line");
    return true;
}
