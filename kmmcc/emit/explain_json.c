/* SPDX-License-Identifier: Apache-2.0 */
/* --explain=json. docs/explain.md has the members. */
#include "emit/explain_json.h"

#include "base/install.h"
#include "base/json.h"
#include "base/source.h"

enum { VERSION = 1 }; /* of the form; raised if a member is removed or means something else */

static void add_axes(json_t *j, const explained_t *x)
{
    json_array(j, "axes");
    for (int k = 0; k < x->axis_count; k++) {
        const explained_axis_t *a = &x->axis[k];
        json_object(j, NULL);
        json_string(j, "name", a->name);
        json_string(j, "source", a->source);
        json_string(j, "lower", a->lower);
        json_string(j, "end", a->beyond);
        json_bool(j, "splits", a->splits);
        json_end(j);
    }
    json_end(j);
}

static void add_chunks(json_t *j, const explained_t *x)
{
    json_array(j, "chunks");
    for (int k = 0; k < x->chunk_count; k++) {
        const explained_chunk_t *c = &x->chunk[k];
        json_object(j, NULL);
        json_string(j, "axis", x->axis[c->axis].name);
        json_string(j, "size", c->size);
        json_string(j, "unit", c->is_blocks ? "blocks" : "elements");
        json_bool(j, "rounded_to_blocks", x->kind == EXPLAINED_KERNEL && !c->is_blocks);
        json_end(j);
    }
    json_end(j);
    json_string(j, "one_chunk", x->one_chunk);
    json_string(j, "one_chunk_unless", x->condition);
}

static void add_sections(json_t *j, const explained_item_t *item)
{
    json_array(j, "sections");
    for (int k = 0; k < item->section_count; k++) {
        const explained_section_t *s = &item->section[k];
        json_object(j, NULL);
        json_string(j, "lower", s->lower);
        json_string(j, "length", s->length ? s->length : s->lower ? "1" : NULL);
        json_string(j, "first", s->first);
        json_string(j, "last", s->last);
        json_end(j);
    }
    json_end(j);
}

static void add_items(json_t *j, const explained_t *x)
{
    json_array(j, "items");
    for (int k = 0; k < x->item_count; k++) {
        const explained_item_t *item = &x->item[k];
        json_object(j, NULL);
        json_string(j, "clause", explained_clause(item->mode));
        json_string(j, "operator", item->op);
        json_string(j, "text", item->text);
        json_string(j, "base", item->base);
        json_bool(j, "inferred", item->is_inferred);
        add_sections(j, item);
        json_string(j, "elements", item->elements);
        json_string(j, "bytes", item->bytes);
        if (item->element_bytes)
            json_number(j, "element_bytes", item->element_bytes);
        else
            json_string(j, "element_bytes", NULL);
        json_string(j, "copies_in", explained_copies_in(item->mode));
        json_string(j, "copies_out", explained_copies_out(item->mode));
        json_end(j);
    }
    json_end(j);
}

static void add_known(json_t *j, const explained_t *x)
{
    json_object(j, "analysis");
    json_string(j, "unknown", x->unknown);
    json_array(j, "pointers");
    for (const explained_known_t *k = x->known; k; k = k->next) {
        json_object(j, NULL);
        json_string(j, "text", k->pointer);
        json_string(j, "knowledge", k->knowledge);
        json_string(j, "reason", k->reason);
        json_string(j, "remark", k->text);
        json_end(j);
    }
    json_end(j);
    json_array(j, "instances");
    for (int k = 0; k < x->instances.count; k++)
        json_string(j, NULL, x->instances.item[k]);
    json_end(j);
    json_string(j, "instances_differ", x->differ);
    json_end(j);
}

static void add_conditions(json_t *j, const explained_t *x)
{
    json_array(j, "conditions");
    for (int k = 0; k < x->fits_count; k++) {
        json_object(j, NULL);
        json_string(j, "value", x->fits[k].value);
        json_string(j, "fits", x->fits[k].type);
        json_bool(j, "all_threads", x->fits[k].in_grid);
        json_end(j);
    }
    json_end(j);
}

static void add_ends(json_t *j, const explained_t *x)
{
    json_array(j, "lookahead_ends");
    for (const explained_end_t *e = x->ends; e; e = e->next) {
        json_object(j, NULL);
        json_number(j, "line", e->line);
        json_number(j, "loop_line", e->loop_line);
        json_bool(j, "each_step", e->always);
        json_string(j, "what", e->what);
        json_end(j);
    }
    json_end(j);
}

static void add_launch(json_t *j, const explained_t *x)
{
    static const char *const kinds[] = {"kernel", "function", "task"};
    json_object(j, NULL);
    json_string(j, "kind", kinds[x->kind]);
    json_string(j, "callee", x->callee);
    json_string(j, "file", x->path);
    json_number(j, "line", x->line);
    json_number(j, "column", x->column);
    json_string(j, "compiled_file", x->main_path);
    json_string(j, "function", x->function);
    json_bool(j, "inferred", x->is_inferred);
    json_bool(j, "declared", x->is_declared);
    json_bool(j, "nowait", x->is_nowait);
    add_axes(j, x);
    add_chunks(j, x);
    add_items(j, x);
    add_conditions(j, x);
    add_known(j, x);
    add_ends(j, x);
    json_string(j, "results", explained_results(x));
    json_end(j);
}

static void add_marks(json_t *j, const marks_t *m)
{
    for (int k = 0; k < m->count; k++) {
        const mark_t *at = &m->at[k];
        if (!at->pragma && !at->is_seen)
            continue;
        json_object(j, NULL);
        json_string(j, "file", m->source->path);
        json_number(j, "line", source_line(m->source, at->begin));
        json_string(j, "callee", at->name);
        json_string(j, "pragma", at->pragma);
        json_string(j, "reason", at->pragma ? NULL : at->reason);
        json_end(j);
    }
}

const char *explain_json(const explained_t *first, const marks_t *const *marks, int mark_count)
{
    json_t j = {.depth = 0};
    const char *uncompared = NULL;
    json_object(&j, NULL);
    json_number(&j, "version", VERSION);
    json_string(&j, "kmmcc", install_version());
    json_array(&j, "launches");
    for (const explained_t *x = first; x; x = x->next) {
        uncompared = x->uncompared ? x->uncompared : uncompared;
        add_launch(&j, x);
    }
    json_end(&j);
    json_array(&j, "without_pragma");
    for (int k = 0; k < mark_count; k++)
        add_marks(&j, marks[k]);
    json_end(&j);
    json_string(&j, "not_compared", uncompared);
    json_end(&j);
    return j.out.data;
}
