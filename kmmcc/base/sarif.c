/* SPDX-License-Identifier: Apache-2.0 */
/* The messages as SARIF 2.1.0: an error or a warning is a result, its notes are related locations,
 * and what would mend it are fixes. The names of properties are those of the standard; numbers in
 * comments are its sections. */
#include "base/sarif.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/install.h"
#include "base/json.h"
#include "base/text.h"
#include "base/warning.h"

/* What relative locations are relative to. */
static const char base_id[] = "PWD";

/* The rules of messages that have no name of a warning. */
static const char *const unnamed[] = {"note", "warning", "error"};

static struct {
    const char *path;
    message_t *messages;
    int count, capacity;
} sarif;

void sarif_start(const char *path)
{
    sarif.path = path;
}

const char *sarif_path(void)
{
    return sarif.path;
}

void sarif_add(const message_t *m)
{
    if (!sarif.path)
        return;
    sarif.messages =
        arena_grow(sarif.messages, sarif.count, &sarif.capacity, sizeof(*sarif.messages));
    sarif.messages[sarif.count++] = *m;
}

/* ---- Places ---- */

/* Encodes what has a meaning in a URI, and all that is not ASCII. */
static void add_encoded(text_t *out, const char *path)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (; *path; path++)
        text_printf(out, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
}

static void add_file(json_t *j, const char *path)
{
    text_t uri = {0};
    json_object(j, "artifactLocation");
    text_add(&uri, "", 0);
    if (*path == '/')
        text_printf(&uri, "file://");
    add_encoded(&uri, path);
    json_string(j, "uri", uri.data);
    if (*path != '/')
        json_string(j, "uriBaseId", base_id);
    json_end(j);
}

/* A line from 1 on, and a column in characters from 1 on. */
typedef struct position {
    unsigned line, column;
} position_t;

static position_t position_of(const source_t *s, size_t offset)
{
    position_t p = {0, 1};
    source_place(s, offset, &p.line, NULL);
    const char *at = s->text + s->lines[p.line - 1], *end = s->text + offset;
    for (; at < end; p.column++) {
        uint32_t code;
        size_t bytes = text_utf8(at, end, &code);
        at += bytes ? bytes : 1;
    }
    return p;
}

/* Text that kmmcc has completed has the lines of the file, but not its columns. */
static void add_region(json_t *j, const char *name, const source_t *s, size_t begin, size_t end)
{
    position_t first = position_of(s, begin), last = position_of(s, end);
    json_object(j, name);
    json_number(j, "startLine", first.line);
    if (!s->completed) {
        json_number(j, "startColumn", first.column);
        json_number(j, "endLine", last.line);
        json_number(j, "endColumn", last.column);
    }
    json_end(j);
}

static void add_place(json_t *j, const message_t *m)
{
    const char *path = m->source ? m->source->path : m->path;
    if (!path)
        return;
    json_object(j, "physicalLocation");
    add_file(j, path);
    if (m->source) {
        add_region(j, "region", m->source, m->begin, m->end);
    } else {
        json_object(j, "region");
        json_number(j, "startLine", m->line);
        json_end(j);
    }
    json_end(j);
}

/* ---- Results ---- */

/* Braces are doubled, since single ones are placeholders (3.11.5). */
static void add_words(json_t *j, const char *name, const char *text, size_t length)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (size_t k = 0; k < length; k++) {
        text_add(&out, text + k, 1);
        if (strchr("{}", text[k]))
            text_add(&out, text + k, 1);
    }
    json_object(j, name);
    json_string(j, "text", out.data);
    json_end(j);
}

/* The message without its place and the name of its warning. */
static void add_message(json_t *j, const char *name, const message_t *m)
{
    size_t length, plain = strlen(m->text);
    warning_in(m->text, &length, &plain);
    add_words(j, name, m->text + m->prefix, plain - m->prefix);
}

static void add_fix(json_t *j, const message_t *m)
{
    if (!m->fix_count || !m->source || m->source->completed)
        return;
    json_object(j, NULL);
    if (m->severity == SEVERITY_NOTE)
        add_message(j, "description", m);
    json_array(j, "artifactChanges");
    json_object(j, NULL);
    add_file(j, m->source->path);
    json_array(j, "replacements");
    for (int k = 0; k < m->fix_count; k++) {
        json_object(j, NULL);
        add_region(j, "deletedRegion", m->source, m->fix[k].begin, m->fix[k].end);
        json_object(j, "insertedContent");
        json_string(j, "text", m->fix[k].text);
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_end(j);
    json_end(j);
    json_end(j);
}

/* Each note that mends something does so by itself. */
static void add_fixes(json_t *j, const message_t *m)
{
    json_array(j, "fixes");
    add_fix(j, m);
    for (int k = 0; k < m->note_count; k++)
        add_fix(j, &m->notes[k]);
    json_end(j);
}

static void add_notes(json_t *j, const message_t *m)
{
    json_array(j, "relatedLocations");
    for (int k = 0; k < m->note_count; k++) {
        json_object(j, NULL);
        add_place(j, &m->notes[k]);
        add_message(j, "message", &m->notes[k]);
        json_end(j);
    }
    json_end(j);
}

static void add_result(json_t *j, const message_t *m)
{
    size_t length = 0, plain = 0;
    const char *name = warning_in(m->text, &length, &plain);
    json_object(j, NULL);
    json_string(j, "ruleId", name ? arena_copy(name, length) : unnamed[m->severity]);
    json_string(j, "level", unnamed[m->severity]);
    add_message(j, "message", m);
    json_array(j, "locations");
    if (m->source || m->path) {
        json_object(j, NULL);
        add_place(j, m);
        json_end(j);
    }
    json_end(j);
    add_notes(j, m);
    add_fixes(j, m);
    json_end(j);
}

/* ---- The whole ---- */

static void add_rule(json_t *j, const char *id, const char *what, const char *level, bool enabled)
{
    json_object(j, NULL);
    json_string(j, "id", id);
    add_words(j, "shortDescription", what, strlen(what));
    json_object(j, "defaultConfiguration");
    json_bool(j, "enabled", enabled);
    json_string(j, "level", level);
    json_end(j);
    json_end(j);
}

static void add_tool(json_t *j)
{
    size_t count;
    const warning_t *list = warning_all(&count);
    json_object(j, "tool");
    json_object(j, "driver");
    json_string(j, "name", "kmmcc");
    json_string(j, "version", install_version());
    json_array(j, "rules");
    add_rule(j, "error", "a mistake in a pragma or in the program", "error", true);
    add_rule(j, "note", "a remark", "note", true);
    add_rule(j, "warning", "a warning that has no name", "warning", true);
    for (size_t k = 0; k < count; k++)
        add_rule(j, list[k].name, list[k].what, "warning", !list[k].is_off);
    json_end(j);
    json_end(j);
    json_end(j);
}

static void add_run(json_t *j, bool successful)
{
    char folder[PATH_MAX];
    text_t uri = {0};
    text_printf(&uri, "file://");
    add_encoded(&uri, getcwd(folder, sizeof(folder)) ? folder : "");
    if (uri.data[uri.length - 1] != '/')
        text_add(&uri, "/", 1);
    add_tool(j);
    json_string(j, "columnKind", "unicodeCodePoints");
    json_object(j, "originalUriBaseIds");
    json_object(j, base_id);
    json_string(j, "uri", uri.data);
    json_end(j);
    json_end(j);
    json_array(j, "invocations");
    json_object(j, NULL);
    json_bool(j, "executionSuccessful", successful);
    json_end(j);
    json_end(j);
    json_array(j, "results");
    for (int k = 0; k < sarif.count; k++)
        add_result(j, &sarif.messages[k]);
    json_end(j);
}

const char *sarif_text(bool successful)
{
    json_t j = {.depth = 0};
    json_object(&j, NULL);
    json_string(&j, "$schema",
                "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
                "sarif-schema-2.1.0.json");
    json_string(&j, "version", "2.1.0");
    json_array(&j, "runs");
    json_object(&j, NULL);
    add_run(&j, successful);
    json_end(&j);
    json_end(&j);
    json_end(&j);
    return j.out.data;
}
