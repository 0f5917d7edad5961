/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the suggestions of --suggest. The source gets an empty pragma before each kernel launch
 * that has none. The later stages complete these pragmas, and their text is printed. */
#include "emit/suggestion.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "analyze/check.h"
#include "analyze/complete.h"
#include "analyze/known.h"
#include "analyze/translate.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/callee.h"
#include "clang/cursor.h"
#include "pragma/form.h"

/* ---- What is known ---- */

/* The expression without parentheses around it. */
static const char *bare(const char *text)
{
    size_t length = strlen(text);
    int depth = 0;
    for (size_t k = 0; k < length && text[0] == '('; k++) {
        depth += (text[k] == '(') - (text[k] == ')');
        if (!depth && k + 1 < length)
            return text;
    }
    return text[0] == '(' ? bare(arena_copy(text + 1, length - 2)) : text;
}

static const char *argument_text(const unit_t *u, const directive_t *d, int number)
{
    size_t begin, end;
    if (number >= d->argument_count ||
        !callee_argument_range(u, d, d->argument[number], &begin, &end))
        return NULL;
    return bare(unit_words(u, begin, end));
}

/* The text of a pointer that the launch passes: an argument, or a member of one. NULL: it has none.
 */
static const char *pointer_text(const unit_t *u, const directive_t *d, const known_t *k)
{
    const char *text = argument_text(u, d, k->param);
    if (!text || k->member < 0)
        return text;
    CXType type = clang_getCursorType(d->argument[k->param]), member;
    return type_has_public_pointer_at(type, k->member)
               ? arena_printf(translate_is_path(text) ? "%s.%s" : "(%s).%s", text,
                              type_member_at(type, k->member, &member))
               : NULL;
}

static const char *name_of(const unit_t *u, const directive_t *d, const known_t *k)
{
    size_t begin, end;
    if (k->param >= d->argument_count ||
        !callee_argument_range(u, d, d->argument[k->param], &begin, &end))
        return arena_printf("argument %d", k->param + 1);
    const char *text = unit_words(u, begin, end),
               *name = k->member < 0 ? text : pointer_text(u, d, k);
    return name ? name : arena_printf("the pointer at byte %d of %s", k->member, text);
}

/* Names each kernel once that the instances of a template launch. */
static void add_instances(const directive_t *d, list_t *out)
{
    for (int k = 0; k < d->instance_count; k++) {
        bool again = false;
        for (int i = 0; i < k; i++)
            again |= !strcmp(d->instance[i].title, d->instance[k].title);
        if (!again)
            list_add(out, d->instance[k].title);
    }
}

void suggestion_add_known(const unit_t *u, const directive_t *d, explained_t *out)
{
    static const char *const words[] = {"exact", "wider", "unknown"};
    explained_known_t **end = &out->known;
    for (const known_t *k = known_of_launch(u, d, &out->unknown); k; k = k->next) {
        *end = arena_alloc(sizeof(**end));
        **end = (explained_known_t){.pointer = name_of(u, d, k),
                                    .knowledge = words[k->knowledge],
                                    .reason = k->reason,
                                    .text = known_text(k)};
        end = &(*end)->next;
    }
    add_instances(d, &out->instances);
    out->differ = d->instances_differ;
}

/* ---- What is proven ---- */

/* The pragma from the word kmm on, as a `#pragma` has it. */
static const char *pragma_of(const unit_t *u, const directive_t *d)
{
    text_t out = {0};
    const char *s = u->source->text;
    text_add(&out, "", 0);
    for (size_t k = d->pragma.content; k < d->pragma.content_end; k++) {
        bool escapes =
            d->pragma.is_operator && s[k] == '\\' && (s[k + 1] == '"' || s[k + 1] == '\\');
        text_add(&out, s + k + escapes, 1);
        k += escapes;
    }
    const source_t *text = source_from("", out.data, out.length);
    const char *words = source_words(text, 0, text->length);
    return strncmp(words, "kmm ", 4) ? arena_printf("kmm %s", words) : words;
}

/* How the items name the pointer itself, and not another pointer to the array. */
typedef enum cover { COVER_NONE, COVER_WHOLE, COVER_SECTION } cover_t;
static cover_t cover_of(const unit_t *u, const directive_t *d, const known_t *pointer)
{
    cover_t cover = COVER_NONE;
    const char *text = pointer_text(u, d, pointer);
    for (int k = 0; k < d->item_count && text; k++) {
        const expr_t *base = d->item[k].base;
        if (!strcmp(bare(unit_words(u, base->begin, base->end)), text))
            cover = d->item[k].section_count ? COVER_SECTION : COVER_WHOLE;
    }
    return cover;
}

/* Which item is about which of two parameters cannot be told if they get one pointer. */
static bool is_passed_twice(const unit_t *u, const directive_t *d, int number)
{
    const char *text = argument_text(u, d, number);
    for (int k = 0; k < d->argument_count && text; k++) {
        const char *other = argument_text(u, d, k);
        if (k != number && other && !strcmp(other, text))
            return true;
    }
    return false;
}

/* Why the clauses of the pointer are not proven; NULL: they are. */
static const char *open_reason(const unit_t *u, const directive_t *d, const known_t *k)
{
    const char *name = name_of(u, d, k);
    cover_t cover = cover_of(u, d, k);
    if (cover == COVER_NONE) {
        const char *why = d->uninferred ? d->uninferred[k->param] : NULL;
        bool known = k->knowledge != KNOWN_NOT;
        return arena_printf("no clause for %s: %s", name,
                            known && why                    ? why
                            : k->knowledge == KNOWN_EXACTLY ? "no clause is inferred of this kernel"
                                                            : known_text(k));
    }
    if (cover == COVER_WHOLE ? k->stores || k->escapes : k->knowledge == KNOWN_NOT)
        return arena_printf("%s: %s", name, known_text(k));
    return is_passed_twice(u, d, k->param)
               ? arena_printf("%s is passed for several parameters", name)
               : NULL;
}

static bool depends_on_axis(const directive_t *d, const item_t *item)
{
    for (int i = 0; i < item->section_count; i++)
        for (int a = 0; a < d->axis_count && item->section[i].lower; a++)
            if (!form_is(item->section[i].lower_form.coef[a], 0))
                return true;
    return false;
}

/* Why chunks would not differ in what they access; NULL: they do. */
static const char *undivided_reason(const directive_t *d)
{
    bool any = false;
    for (int k = 0; k < d->item_count; k++) {
        bool depends = depends_on_axis(d, &d->item[k]);
        if (d->item[k].mode != KMM_READ && d->item[k].mode != KMM_REDUCE && !depends)
            return "all chunks would store to the same elements";
        any |= depends;
    }
    return any ? NULL : "nothing that it accesses depends on the block";
}

static bool is_in_task(const unit_t *u, const directive_t *d)
{
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *t = u->directives[k];
        if (t->kind == DIRECTIVE_TASK && t->bound && t->statement_begin <= d->pragma.begin &&
            d->pragma.begin < t->statement_end)
            return true;
    }
    return false;
}

/* The message, in one line and without the name of a warning. */
static const char *plain_message(const char *text)
{
    const char *end = strstr(text, " [-W");
    return end ? arena_copy(text, (size_t)(end - text)) : text;
}

/* What is wrong with the directive; NULL: nothing. A read of the whole array is right. */
static const char *wrong_reason(unit_t *u, directive_t *d)
{
    int first = diag_count();
    const char *reason = NULL;
    check_directive(u, d);
    for (int k = first; k < diag_count() && !reason; k++)
        if (!strstr(diag_said(k), "[-Wkmm-whole]"))
            reason = plain_message(diag_said(k));
    diag_retract(first, diag_count()); /* another launch may give rise to the same message */
    return reason;
}

static const char *reason_of(unit_t *u, directive_t *d, const known_t **known)
{
    const char *reason;
    if (d->broken || !d->is_kernel || clang_Cursor_isNull(d->launch)) {
        reason = diag_said_in(u->source, d->pragma.begin, d->pragma.end);
        return reason ? plain_message(reason) : "no pragma can stand there";
    }
    if (is_in_task(u, d))
        return "it is part of a task";
    *known = known_of_launch(u, d, &reason);
    if (reason)
        return reason;
    reason = wrong_reason(u, d); /* which adds reads of whole arrays */
    for (const known_t *k = *known; k; k = k->next) {
        const char *open = open_reason(u, d, k);
        if (open)
            return open;
    }
    return reason ? reason : d->home ? d->home : undivided_reason(d);
}

/* An item's base: a path, or in parentheses. */
static const char *as_base(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!strchr("_.", *c) && !isalnum((unsigned char)*c))
            return text[0] == '(' && bare(text) != text ? text : arena_printf("(%s)", text);
    return text;
}

/* The completed pragma, with the reads of whole arrays that no clause says. */
static const char *chosen_pragma(const unit_t *u, const directive_t *d)
{
    text_t out = {0};
    text_printf(&out, "%s", pragma_of(u, d));
    for (int k = 0; k < d->item_count; k++)
        if (d->item[k].begin > d->pragma.end)
            text_printf(&out, " read(%s)",
                        as_base(unit_words(u, d->item[k].begin, d->item[k].end)));
    text_printf(&out, " inferred");
    return out.data;
}

/* ---- Suggestions ---- */

static bool is_launch(const directive_t *d)
{
    return d->bound && d->kind == DIRECTIVE_PARALLEL;
}

void suggestion_choose(unit_t *u, marks_t *m)
{
    for (int k = 0; k < u->directive_count; k++) {
        directive_t *d = u->directives[k];
        const known_t *known = NULL;
        mark_t *at = mark_of(m, u, d);
        if (!at || !is_launch(d))
            continue;
        at->is_seen = true;
        at->reason = reason_of(u, d, &known);
        if (!at->reason)
            at->pragma = chosen_pragma(u, d);
    }
}

static void print_open(const unit_t *u, const directive_t *d, const char *reason)
{
    const char *unknown;
    bool said = false;
    const known_t *k = known_of_launch(u, d, &unknown);
    if (unknown)
        printf("    nothing is known: %s\n", unknown);
    for (; k && !unknown; k = k->next) {
        const char *open = open_reason(u, d, k);
        if (open)
            printf("    %s\n", open);
        said |= open != NULL;
    }
    if (reason && !unknown && !said)
        printf("    %s\n", reason);
}

static void print_wider(const unit_t *u, const directive_t *d)
{
    const char *reason;
    for (const known_t *k = known_of_launch(u, d, &reason); k; k = k->next)
        if (k->knowledge != KNOWN_EXACTLY)
            printf("    wider than what is accessed: %s: %s\n", name_of(u, d, k), known_text(k));
}

void suggestion_print(const unit_t *u, marks_t *m)
{
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *d = u->directives[k];
        const mark_t *at = mark_of(m, u, d);
        if (!is_launch(d) ||
            (!at && (d->broken || !d->is_kernel || clang_Cursor_isNull(d->launch))))
            continue;
        printf("%s:%u: #pragma %s\n", u->source->path, source_line(u->source, d->pragma.begin),
               at && at->pragma ? at->pragma : pragma_of(u, d));
        if (at && at->pragma)
            print_wider(u, d);
        else if (!d->broken && !clang_Cursor_isNull(d->launch))
            print_open(u, d, at ? at->reason : NULL);
        else
            printf("    %s\n", at->reason);
    }
}
