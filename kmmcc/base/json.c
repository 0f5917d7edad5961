/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON. */
#include "base/json.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

static void add(json_t *j, const char *text)
{
    text_add(&j->out, text, strlen(text));
}

static void add_quoted(json_t *j, const char *text)
{
    const char *end = text + strlen(text);
    add(j, "\"");
    while (text < end) {
        uint32_t code;
        size_t bytes = text_utf8(text, end, &code);
        if (!bytes)
            add(j, "\xEF\xBF\xBD");
        else if (*text == '"' || *text == '\\')
            text_printf(&j->out, "\\%c", *text);
        else if (*text == '\n')
            add(j, "\\n");
        else if (code < 0x20 || code == 0x7F)
            text_printf(&j->out, "\\u%04x", (unsigned)code);
        else
            text_add(&j->out, text, bytes);
        text += bytes ? bytes : 1;
    }
    add(j, "\"");
}

static void next_line(json_t *j)
{
    if (j->out.length)
        text_printf(&j->out, "\n%*s", 2 * j->depth, "");
}

/* Begins a member or an element. */
static void begin(json_t *j, const char *name)
{
    if (j->depth && j->filled[j->depth - 1])
        add(j, ",");
    if (j->depth)
        j->filled[j->depth - 1] = true;
    next_line(j);
    if (name) {
        add_quoted(j, name);
        add(j, ": ");
    }
}

static void open_with(json_t *j, const char *name, char open, char close)
{
    begin(j, name);
    assert(j->depth < JSON_DEPTH);
    text_add(&j->out, &open, 1);
    j->filled[j->depth] = false;
    j->close[j->depth++] = close;
}

void json_object(json_t *j, const char *name)
{
    open_with(j, name, '{', '}');
}

void json_array(json_t *j, const char *name)
{
    open_with(j, name, '[', ']');
}

void json_end(json_t *j)
{
    assert(j->depth > 0);
    j->depth--;
    if (j->filled[j->depth])
        next_line(j);
    text_add(&j->out, &j->close[j->depth], 1);
    if (!j->depth)
        add(j, "\n");
}

void json_string(json_t *j, const char *name, const char *text)
{
    begin(j, name);
    if (text)
        add_quoted(j, text);
    else
        add(j, "null");
}

void json_number(json_t *j, const char *name, long long value)
{
    begin(j, name);
    text_printf(&j->out, "%lld", value);
}

void json_bool(json_t *j, const char *name, bool value)
{
    begin(j, name);
    add(j, value ? "true" : "false");
}
