/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts the body of a PTX function into statements. */
#include "ptx/statement.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

size_t statement_skip(const char *text, size_t from)
{
    for (;;) {
        from += strspn(text + from, " \t\r\n");
        if (!strncmp(text + from, "//", 2)) {
            from += strcspn(text + from, "\n");
        } else if (!strncmp(text + from, "/*", 2)) {
            const char *end = strstr(text + from + 2, "*/");
            from = end ? (size_t)(end + 2 - text) : from + strlen(text + from);
        } else {
            return from;
        }
    }
}

/* The offset behind the label that begins at `at`; 0: none does. */
static size_t label_end(const char *text, size_t at)
{
    size_t end = at;
    while (is_name(text[end]))
        end++;
    size_t colon = statement_skip(text, end);
    return end > at && text[colon] == ':' && text[colon + 1] != ':' ? colon + 1 : 0;
}

/* Directives that end with their line. */
static bool ends_with_line(const char *text)
{
    static const char *const names[] = {".loc", ".file"};
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
        size_t length = strlen(names[k]);
        if (!strncmp(text, names[k], length) && isspace((unsigned char)text[length]))
            return true;
    }
    return false;
}

static size_t string_end(const char *text, size_t at)
{
    for (at++; text[at] && text[at] != '"'; at++)
        at += text[at] == '\\' && text[at + 1];
    return text[at] ? at + 1 : at;
}

/* Reads up to the character that ends the statement, which is behind *end. */
static const char *read_to(const char *text, size_t at, char last, size_t *end)
{
    text_t out = {0};
    text_add(&out, "", 0);
    while (text[at] && text[at] != last) {
        size_t next = last == '\n' ? at + strspn(text + at, " \t\r") : statement_skip(text, at);
        if (next > at) {
            text_add(&out, " ", 1);
            at = next;
        } else {
            next = text[at] == '"' ? string_end(text, at) : at + 1;
            while (is_name(text[next - 1]) && is_name(text[next]))
                next++;
            text_add(&out, text + at, next - at);
            at = next;
        }
    }
    *end = text[at] ? at + 1 : at;
    return out.data;
}

statement_t statement_next(const char *text, size_t from)
{
    statement_t s = {.begin = statement_skip(text, from)};
    char c = text[s.begin];
    s.end = s.begin + (c != 0);
    if (!c) {
        s.kind = STATEMENT_END;
    } else if (c == '{' || c == '}') {
        s.kind = c == '{' ? STATEMENT_OPEN : STATEMENT_CLOSE;
    } else if (label_end(text, s.begin)) {
        s.kind = STATEMENT_LABEL;
        s.end = label_end(text, s.begin);
    } else {
        s.kind = c == '.' ? STATEMENT_DIRECTIVE : STATEMENT_INSTRUCTION;
        s.text = read_to(text, s.begin, ends_with_line(text + s.begin) ? '\n' : ';', &s.end);
    }
    return s;
}
