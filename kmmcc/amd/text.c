/* SPDX-License-Identifier: Apache-2.0 */
/* The words of LLVM's IR as text. */
#include "amd/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

size_t ir_behind(const char *text, size_t at)
{
    if (text[at] == '"') {
        const char *close = strchr(text + at + 1, '"'); /* within, a quote is \22 */
        return close ? (size_t)(close - text) + 1 : at + strlen(text + at);
    }
    if (!text[at] || !strchr("([{<", text[at]))
        return at + (text[at] != 0);
    for (at++; text[at] && !strchr(")]}>", text[at]);)
        at = ir_behind(text, at);
    return at + (text[at] != 0);
}

size_t ir_comma(const char *text, size_t at)
{
    while (text[at] && text[at] != ',')
        at = ir_behind(text, at);
    return at;
}

size_t ir_operand(const char *text, size_t at)
{
    at = ir_comma(text, at);
    at += text[at] == ',';
    return at + strspn(text + at, " ");
}

size_t ir_name(const char *text)
{
    size_t n = 0;
    if (*text == '"')
        return ir_behind(text, 0);
    while (isalnum((unsigned char)text[n]) || (text[n] && strchr("$._-", text[n])))
        n++;
    return n;
}

size_t ir_address_space(const char *text, size_t *space)
{
    static const char word[] = " addrspace(";
    char *end;
    *space = 0;
    if (strncmp(text, word, sizeof(word) - 1))
        return 0;
    *space = strtoul(text + sizeof(word) - 1, &end, 10);
    return (size_t)(end - text) + (*end == ')');
}

bool ir_begins(const char *text, const char *word)
{
    size_t length = strlen(word);
    return !strncmp(text, word, length) && (!text[length] || text[length] == ' ');
}

/* ---- Promises ---- */

/* The length of the attribute at the beginning of the text, if it is one of those; else 0. */
static size_t promise_length(const char *text)
{
    static const char *const words[] = {"readnone",
                                        "readonly",
                                        "writeonly",
                                        "argmemonly",
                                        "inaccessiblememonly",
                                        "inaccessiblemem_or_argmemonly",
                                        "speculatable",
                                        "noalias",
                                        "nocapture",
                                        "nosync",
                                        "nofree",
                                        "memory",
                                        "captures",
                                        "initializes",
                                        "dereferenceable",
                                        "dereferenceable_or_null",
                                        NULL};
    static const char *const quoted[] = {"\"amdgpu-no-", "\"amdgpu-agpr-alloc\"", NULL};
    for (int k = 0; quoted[k]; k++)
        if (!strncmp(text, quoted[k], strlen(quoted[k]))) {
            size_t end = ir_behind(text, 0);
            return text[end] == '=' ? ir_behind(text, end + 1) : end;
        }
    for (int k = 0; words[k]; k++) {
        size_t end = strlen(words[k]);
        if (strncmp(text, words[k], end))
            continue;
        if (text[end] == '(')
            end = ir_behind(text, end);
        if (!text[end] || strchr(" ,)", text[end]))
            return end;
    }
    return 0;
}

const char *ir_without_promises(const char *text)
{
    text_t out = {0};
    size_t from = 0, at = 0;
    text_add(&out, "", 0);
    while (text[at]) {
        bool begins = at > 0 && text[at - 1] == ' ';
        size_t length = begins ? promise_length(text + at) : 0;
        if (!length) {
            at = text[at] == '"' ? ir_behind(text, at) : at + 1;
            continue;
        }
        text_add(&out, text + from, at - 1 - from);
        at += length;
        from = at;
    }
    text_add(&out, text + from, at - from);
    return out.data;
}
