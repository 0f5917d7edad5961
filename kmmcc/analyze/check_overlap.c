/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that chunks do not write the same elements. */
#include "analyze/check_overlap.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "kmm/launch.h"
#include "pragma/form.h"

cut_t check_cut_along(const unit_t *u, const directive_t *d, int number)
{
    enum { LARGEST_BLOCK = 1024 }; /* to which a chunk may be rounded up */
    int entry = 0;
    const axis_t *axis = &d->axis[number];
    for (int k = 0; k < number; k++)
        entry += d->axis[k].splits;
    if (!axis->splits || entry >= d->chunk_count || d->home)
        return CUT_NEVER;
    if (!axis->length)
        return CUT_MAYBE;
    form_t length = form_of(u->source, axis->length), chunk = form_of(u->source, d->chunk[entry]);
    if (!strcmp(form_text(length), form_text(chunk)) || (length.known && length.value <= 1))
        return CUT_NEVER;
    if (!length.known || !chunk.known)
        return CUT_MAYBE;
    bool rounded = d->is_kernel && axis->source <= KMM_GLOBAL_Z;
    long long least = chunk.value < 1 ? 1 : chunk.value,
              most = rounded ? least + LARGEST_BLOCK - 1 : least;
    return most < length.value ? CUT_ALWAYS : least >= length.value ? CUT_NEVER : CUT_MAYBE;
}

static bool depends_on(const directive_t *d, const item_t *item, int number)
{
    for (int k = 0; k < item->section_count; k++)
        for (int i = 0; i < d->axis_count; i++)
            if (d->axis[i].source % 3 == d->axis[number].source % 3 &&
                (!form_is(item->section[k].lower_form.coef[i], 0) ||
                 !form_is(item->section[k].length_form.coef[i], 0)))
                return true;
    return false;
}

/* Chunks write the same elements: an error if there are several chunks in any case. */
static void overlap(unit_t *u, const item_t *item, cut_t cut, const char *message)
{
    if (cut == CUT_ALWAYS)
        unit_error(u, item->begin, item->end, "%s", message);
    else
        diag_at(SEVERITY_WARNING, u->source, item->begin, item->end,
                "%s; with more than one chunk the launch fails [-Wkmm-overlap]", message);
}

/* A section that is longer than it moves from one index to the next reaches into the next chunk's.
 */
static bool check_borders(unit_t *u, const directive_t *d, const item_t *item, int number,
                          cut_t cut)
{
    const section_t *section = &item->section[0];
    form_t step = section->lower ? section->lower_form.coef[number] : form_number(0),
           length = section->length_form.constant;
    bool alone = item->section_count == 1 && step.known && length.known;
    for (int k = 0; k < d->axis_count; k++)
        alone &= form_is(section->length_form.coef[k], 0) &&
                 (k == number || form_is(section->lower_form.coef[k], 0));
    long long stride = step.value < 0 ? -step.value : step.value;
    if (!alone || stride == 0 || length.value <= stride)
        return false;
    overlap(u, item, cut,
            arena_printf("neighbouring chunks would both write %lld elements at their border: '%s' "
                         "moves by %lld for each '%s', but is %lld long",
                         length.value - stride, unit_words(u, item->begin, item->end), stride,
                         d->axis[number].name, length.value));
    diag_fix(section->length->begin, section->length->end, arena_printf("%lld", stride));
    return true;
}

void check_overlap(unit_t *u, directive_t *d, const item_t *item)
{
    int which = -1;
    cut_t most = CUT_NEVER;
    for (int k = 0; k < d->axis_count; k++) {
        cut_t cut = check_cut_along(u, d, k);
        if (cut == CUT_NEVER)
            continue;
        if (check_borders(u, d, item, k, cut) || depends_on(d, item, k))
            return;
        which = cut >= most ? k : which;
        most = cut >= most ? cut : most;
    }
    if (which < 0)
        return;
    overlap(u, item, most,
            arena_printf("all chunks would write the same elements '%s': axis '%s' is split but "
                         "does not occur in it; "
                         "use it as an index, or say reduce(op: %s) if the kernel accumulates",
                         unit_words(u, item->begin, item->end), d->axis[which].name,
                         unit_words(u, item->begin, item->end)));
    if (!item->word.end)
        return;
    diag_at(SEVERITY_NOTE, u->source, item->word.begin, item->word.end,
            "if the kernel adds to them");
    diag_fix(item->word.begin, item->begin, "reduce(+: ");
}
