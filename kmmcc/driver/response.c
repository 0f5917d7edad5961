/* SPDX-License-Identifier: Apache-2.0 */
/* Response files: @file of gcc and clang, -optf of nvcc. */
#include "driver/response.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/source.h"
#include "base/text.h"
#include "driver/option_table.h"

/* Splits text at blanks; quotes group, a backslash takes the next character as it is. */
static void split_words(const char *s, list_t *words)
{
    while (*s) {
        s += strspn(s, " \t\r\n\f\v");
        if (!*s)
            return;
        text_t word = {0};
        text_add(&word, "", 0);
        char quote = 0;
        for (; *s && (quote || !strchr(" \t\r\n\f\v", *s)); s++) {
            if (*s == '\\' && s[1] && quote != '\'')
                text_add(&word, ++s, 1);
            else if (quote ? *s == quote : *s == '"' || *s == '\'')
                quote = quote ? 0 : *s;
            else
                text_add(&word, s, 1);
        }
        list_add(words, word.data);
    }
}

enum { RESPONSE_DEPTH = 16 };

bool response_read(const char *path, list_t *out, int depth)
{
    const source_t *file = access(path, R_OK) == 0 ? source_read(path) : NULL;
    if (!file)
        return false;
    list_t words = {0};
    split_words(file->text, &words);
    for (int k = 0; k < words.count; k++)
        response_expand(words.item[k], out, depth + 1);
    return true;
}

void response_expand(const char *argument, list_t *out, int depth)
{
    if (argument[0] != '@' || depth > RESPONSE_DEPTH || !response_read(argument + 1, out, depth))
        list_add(out, argument);
}

const char *response_option(char **argv, int index, int argc, bool *takes_next)
{
    static const char *const names[] = {"-optf", "--options-file", "-options-file"};
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
        const char *rest = option_rest(argv[index], names[k]);
        *takes_next = rest && !*rest && index + 1 < argc;
        if (*takes_next)
            return argv[index + 1];
        if (rest && *rest == '=')
            return rest + 1;
    }
    return NULL;
}
