/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what --explain says, and prints it as text. */
#include "emit/explained.h"

#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/text.h"
#include "emit/explain_json.h"
#include "emit/explain_svg.h"

static struct {
    explained_t *first, **last;
    const marks_t **marks; /* ends with NULL */
    int mark_count, mark_capacity;
} all = {.last = &all.first};

void explained_add(explained_t *x)
{
    *all.last = x;
    all.last = &x->next;
}

int explained_count(void)
{
    int count = 0;
    for (const explained_t *x = all.first; x; x = x->next)
        count++;
    return count;
}

void explained_retract(int count)
{
    all.last = &all.first;
    while (count--)
        all.last = &(*all.last)->next;
    *all.last = NULL;
}

void explained_add_marks(const marks_t *m)
{
    all.marks = arena_grow(all.marks, all.mark_count, &all.mark_capacity, sizeof(*all.marks));
    all.marks[all.mark_count++] = m;
}

/* ---- Words ---- */

const char explained_default_chunk[] =
    "an eighth of a device's memory at most, and some for each device";

const char *explained_verb(kmm_mode_t mode)
{
    static const char *const verbs[] = {"", "reads", "writes", "updates", "reduces"};
    return verbs[mode];
}

const char *explained_clause(kmm_mode_t mode)
{
    static const char *const clauses[] = {"", "read", "write", "update", "reduce"};
    return clauses[mode];
}

const char *explained_copies_in(kmm_mode_t mode)
{
    static const char *const before[] = {
        "", "what is not yet on the chunk's device", "nothing, since all of it is written",
        "what is not yet on the chunk's device", "nothing; a private copy begins at the identity"};
    return before[mode];
}

const char *explained_copies_out(kmm_mode_t mode)
{
    return mode == KMM_READ ? NULL
           : mode == KMM_REDUCE
               ? "the copies are folded, and added to the array"
               : "when the host or another device reads it, or its place is needed";
}

const char *explained_results(const explained_t *x)
{
    return x->is_nowait ? "of host memory that only this launch maps come back at 'wait'"
                        : "stay where they are; those in host memory that no 'data' maps come "
                          "back before the launch returns";
}

/* ---- Text ---- */

static void print_axes(const explained_t *x)
{
    for (int k = 0; k < x->axis_count; k++) {
        const explained_axis_t *a = &x->axis[k];
        printf("  axis     %s is %s, ", a->name, a->source);
        if (a->lower)
            printf("%s <= %s < %s", a->lower, a->name, a->beyond);
        else
            printf("the whole grid");
        printf("%s\n", a->splits ? "" : "; a second name of a split");
    }
}

static void print_chunks(const explained_t *x)
{
    for (int k = 0; k < x->chunk_count; k++) {
        const explained_chunk_t *c = &x->chunk[k];
        const char *name = x->axis[c->axis].name;
        const char *unit = x->kind == EXPLAINED_KERNEL ? ", rounded up to whole thread blocks" : "";
        printf("  chunk    %s %s of %s%s: %s0 <= %s < %s1\n", c->size,
               c->is_blocks ? "blocks" : "elements", name, c->is_blocks ? "" : unit, name, name,
               name);
    }
    if (x->one_chunk)
        printf("  chunk    one: %s\n", x->one_chunk);
    else if (!x->chunk_count)
        printf("  chunk    chosen when it runs: %s\n", explained_default_chunk);
    if (x->condition)
        printf("           one chunk unless %s\n", x->condition);
}

static void print_item(const explained_item_t *item)
{
    const char *out = explained_copies_out(item->mode);
    printf("  %-8s %s\n", explained_verb(item->mode), item->text);
    printf("           elements  %s\n", item->elements);
    printf("           bytes     %s\n", item->bytes ? item->bytes : "known when it runs");
    printf("           copies    in: %s%s%s\n", explained_copies_in(item->mode),
           !out                       ? ""
           : item->mode == KMM_REDUCE ? "; "
                                      : "; out: ",
           out ? out : "");
}

static void print_known(const explained_t *x)
{
    if (x->unknown)
        printf("  analysis unknown: %s\n", x->unknown);
    for (const explained_known_t *k = x->known; k; k = k->next)
        printf("  analysis %s: %s\n", k->pointer, k->text);
    for (int k = 0; k < x->instances.count; k++)
        printf("  %s %s\n", k ? "         and" : "analysis of", x->instances.item[k]);
    if (x->differ)
        printf("  differ   %s\n", x->differ);
}

static void print_text(const explained_t *x)
{
    printf("%s:%u: ", x->path, x->line);
    if (x->kind == EXPLAINED_TASK)
        printf("a task, which runs once on one device\n");
    else
        printf(x->kind == EXPLAINED_KERNEL ? "launch of kernel '%s'\n"
                                           : "call of function '%s', on the CPU\n",
               x->callee);
    if (x->kind != EXPLAINED_TASK) {
        print_axes(x);
        print_chunks(x);
    }
    for (int k = 0; k < x->item_count; k++)
        print_item(&x->item[k]);
    for (int k = 0; k < x->fits_count; k++)
        printf("  holds    where %s is %s%s; else the launch is whole\n", x->fits[k].value,
               x->fits[k].type, x->fits[k].in_grid ? " for all threads" : "");
    print_known(x);
    for (const explained_end_t *e = x->ends; e; e = e->next)
        printf("  lookahead ends at line %u, in %s of the loop at line %u: %s\n", e->line,
               e->always ? "each step" : "some steps", e->loop_line, e->what);
    printf("  results  %s\n\n", explained_results(x));
    if (x->uncompared)
        printf("launches are not compared with what their kernels access: %s\n\n", x->uncompared);
}

bool explained_print(explain_t form)
{
    if (form == EXPLAIN_JSON)
        fputs(explain_json(all.first, all.marks, all.mark_count), stdout);
    if (form == EXPLAIN_SVG)
        fputs(explain_svg(all.first), stdout);
    for (int k = 0; k < all.mark_count && form == EXPLAIN_TEXT; k++)
        mark_print(all.marks[k]);
    for (const explained_t *x = all.first; x && form == EXPLAIN_TEXT; x = x->next)
        print_text(x);
    return fflush(stdout) == 0 && !ferror(stdout);
}
