/* SPDX-License-Identifier: Apache-2.0 */
/* The region of an item in a chunk against naming its elements one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "launch/join.h"
#include "launch/plan.h"
#include "memory/array.h"
#include "random.h"

enum { ROUNDS = 40000, AXES = 3, MOST = 4096 };

static rng_t rng;

typedef struct trial {
    kmm__array_t array;
    kmm__item_t item;
    kmm__chunk_box_t chunk;
    unsigned char named[MOST]; /* bytes of the array that the item names */
} trial_t;

/* The parts of a section: mostly one behind the other, as rows of a matrix in CSR form are. */
static void random_offsets(kmm__section_t *s, int64_t extent)
{
    static int32_t small[2 * KMM_MAX_DIMS][8];
    static uint64_t large[2 * KMM_MAX_DIMS][8];
    static uint32_t next;
    int32_t *i = small[next % (2 * KMM_MAX_DIMS)];
    uint64_t *u = large[next++ % (2 * KMM_MAX_DIMS)];
    bool is_small = rng_range(&rng, 0, 1), is_sorted = rng_range(&rng, 0, 1);
    int64_t at = 0;
    s->constant.lower = rng_range(&rng, -2, 7);
    for (int k = 0; k < 8; k++) {
        at = is_sorted ? at + rng_range(&rng, 0, 3) : rng_range(&rng, 0, extent);
        i[k] = (int32_t)at;
        u[k] = (uint64_t)at;
    }
    s->offsets = (kmm__offsets_t){is_small ? (void *)i : (void *)u,
                                  is_small ? KMM_INT32 : KMM_UINT64, rng_range(&rng, 1, 8)};
}

static kmm__section_t random_section(int64_t extent)
{
    kmm__section_t s = {.constant = {rng_range(&rng, -2, extent), rng_range(&rng, 0, 3)}};
    if (rng_range(&rng, 0, 9) == 0) {
        s.whole = true;
        s.constant = (kmm__term_t){0, KMM_WHOLE};
        return s;
    }
    for (uint32_t k = 0; k < AXES; k++) {
        if (rng_range(&rng, 0, 1))
            s.coef[k].lower = rng_range(&rng, -3, 6);
        if (rng_range(&rng, 0, 11) == 0)
            s.coef[k].length = rng_range(&rng, -1, 1);
    }
    if (rng_range(&rng, 0, 3) == 0)
        random_offsets(&s, extent);
    return s;
}

/* Extents of 0 are those of items whose dimensions are joined. */
static int64_t random_extent(uint32_t dims)
{
    return dims <= KMM__DIMS        ? rng_range(&rng, 1, 5)
           : rng_range(&rng, 0, 30) ? rng_range(&rng, 1, 3)
                                    : 0;
}

static void random_trial(trial_t *t, uint32_t first_dims, uint32_t last_dims)
{
    static char memory[1];
    memset(t, 0, sizeof(*t));
    t->item.dims = (uint32_t)rng_range(&rng, first_dims, last_dims);
    t->item.element = rng_range(&rng, 1, 4);
    t->item.mode = KMM_WRITE;
    int64_t elements = 1;
    for (uint32_t d = 0; d < t->item.dims; d++)
        elements *= t->item.extent[d] = random_extent(t->item.dims);
    if (t->item.dims == 0)
        elements = rng_range(&rng, 1, 100);
    int64_t before = rng_range(&rng, 0, 2) ? 0 : rng_range(&rng, 0, 9) * t->item.element;
    int64_t bytes = before + elements * t->item.element + rng_range(&rng, -3, 6) * t->item.element;
    t->array.bytes = (size_t)(bytes < before + t->item.element ? before + t->item.element : bytes);
    t->array.flat = kmm__layout_flat((int64_t)t->array.bytes);
    t->array.base = memory;
    t->item.array = &t->array;
    t->item.base = memory + before;
    t->item.section_count =
        t->item.dims ? (uint32_t)rng_range(&rng, 0, t->item.dims) : (uint32_t)rng_range(&rng, 0, 1);
    for (uint32_t d = 0; d < t->item.section_count; d++)
        t->item.section[d] = random_section(t->item.dims ? t->item.extent[d] : elements);
    if (t->item.dims && rng_range(&rng, 0, 4) == 0)
        t->item.extent[0] = KMM_WHOLE;
    for (uint32_t k = 0; k < AXES; k++) {
        t->chunk.axis_lo[k] = rng_range(&rng, 0, 3);
        t->chunk.axis_hi[k] = t->chunk.axis_lo[k] + rng_range(&rng, 1, 4);
    }
}

/* ---- Naming elements ---- */

/* Bytes [begin, end) of the item, which begins at its base. */
static void name_bytes(trial_t *t, int64_t begin, int64_t end)
{
    int64_t base = t->item.base - t->array.base;
    for (int64_t k = base + begin; k < base + end; k++)
        if (k >= 0 && k < (int64_t)t->array.bytes)
            t->named[k] = 1;
}

static int64_t extent_of(const trial_t *t, uint32_t d)
{
    int64_t row = t->item.element;
    if (t->item.extent[d] != KMM_WHOLE)
        return t->item.extent[d];
    for (uint32_t k = 1; k < t->item.dims; k++)
        row *= t->item.extent[k];
    if (row == 0)
        return 0;
    return ((int64_t)t->array.bytes - (t->item.base - t->array.base)) / row;
}

/* True if a part of which the section has the index has element `at`. */
static bool parts_have(const kmm__section_t *s, int64_t lower, int64_t length, int64_t at)
{
    for (int64_t k = lower; k < lower + length; k++) {
        if (k < 0 || k + 1 >= s->offsets.count)
            continue;
        const int32_t *i = s->offsets.at;
        const uint64_t *u = s->offsets.at;
        bool is_small = s->offsets.type == KMM_INT32;
        if (at >= (is_small ? i[k] : (int64_t)u[k]) &&
            at < (is_small ? i[k + 1] : (int64_t)u[k + 1]))
            return true;
    }
    return false;
}

/* True if the section has element `at` at one point of the axes. */
static bool has(const kmm__section_t *s, const int64_t x[AXES], int64_t at)
{
    int64_t lower = s->constant.lower, length = s->constant.length;
    if (s->whole)
        return at >= 0;
    for (uint32_t k = 0; k < AXES; k++) {
        lower += s->coef[k].lower * x[k];
        length += s->coef[k].length * x[k];
    }
    return s->offsets.at ? parts_have(s, lower, length, at) : at >= lower && at < lower + length;
}

static void name_box(trial_t *t, const int64_t x[AXES], uint32_t d, int64_t at)
{
    for (int64_t k = 0; k < extent_of(t, d); k++) {
        if (d < t->item.section_count && !has(&t->item.section[d], x, k))
            continue;
        int64_t here = at * (d ? extent_of(t, d) : 0) + k;
        if (d + 1 < t->item.dims)
            name_box(t, x, d + 1, here);
        else
            name_bytes(t, here * t->item.element, (here + 1) * t->item.element);
    }
}

static void name_flat(trial_t *t, const int64_t x[AXES])
{
    const kmm__section_t *s = &t->item.section[0];
    int64_t bytes = (int64_t)t->array.bytes, element = t->item.element;
    if (t->item.section_count == 0)
        name_bytes(t, -bytes, bytes); /* the array, whatever the base */
    else if (s->whole)
        name_bytes(t, 0, bytes);
    if (t->item.section_count == 0 || s->whole)
        return;
    for (int64_t k = -bytes; k < bytes; k++)
        if (has(s, x, k))
            name_bytes(t, k * element, (k + 1) * element);
}

static void name_all(trial_t *t)
{
    int64_t x[AXES];
    for (x[0] = t->chunk.axis_lo[0]; x[0] < t->chunk.axis_hi[0]; x[0]++)
        for (x[1] = t->chunk.axis_lo[1]; x[1] < t->chunk.axis_hi[1]; x[1]++)
            for (x[2] = t->chunk.axis_lo[2]; x[2] < t->chunk.axis_hi[2]; x[2]++)
                if (t->item.dims)
                    name_box(t, x, 0, 0);
                else
                    name_flat(t, x);
}

/* ---- Regions ---- */

typedef struct tally {
    const trial_t *trial;
    unsigned char count[MOST];
} tally_t;

static int tally_rows(void *ctx, const kmm__rows_t *r)
{
    tally_t *t = ctx;
    for (int64_t k = 0; k < r->count; k++)
        for (int64_t e = 0; e < r->width; e++) {
            int64_t at = r->offset + k * r->pitch + e;
            assert_in_range(at, 0, t->trial->array.bytes - 1);
            t->count[at]++;
        }
    return 0;
}

static void check_region(const trial_t *t, const kmm__access_t *a)
{
    static tally_t tally;
    memset(&tally, 0, sizeof(tally));
    tally.trial = t;
    assert_int_equal(kmm__layout_rows(a->layout, &a->box, tally_rows, &tally), 0);
    for (size_t k = 0; k < t->array.bytes; k++) {
        assert_true(tally.count[k] <= 1);
        if (t->named[k] && !tally.count[k])
            fail_msg("byte %zu is named, and not in the region", k);
        if (a->exact && tally.count[k] && !t->named[k])
            fail_msg("byte %zu is in an exact region, and not named", k);
    }
    assert_int_equal(a->mode, a->exact ? KMM_WRITE : KMM_UPDATE);
}

static void regions_are_what_is_named(void **state)
{
    (void)state;
    static trial_t t;
    int exact = 0;
    for (int round = 0; round < ROUNDS; round++) {
        kmm__access_t a;
        kmm__layout_t shaped;
        random_trial(&t, 0, KMM__DIMS);
        name_all(&t);
        int planned = kmm__plan(&t.item, AXES, &t.chunk, &a, &shaped);
        assert_in_range(planned, 0, 1);
        exact += planned && a.exact;
        if (planned)
            check_region(&t, &a);
        else
            assert_null(memchr(t.named, 1, t.array.bytes));
    }
    assert_in_range(exact, ROUNDS / 10, ROUNDS);
}

/* ---- Items of more dimensions than a box has ---- */

/* The dimensions that are left where each whole one is joined with the one outside it. */
static uint32_t groups_of(const kmm__item_t *item)
{
    uint32_t n = 1;
    for (uint32_t d = 1; d < item->dims; d++) {
        const kmm__section_t *outer = d <= item->section_count ? &item->section[d - 1] : NULL;
        bool joins = d >= item->section_count || item->section[d].whole;
        n += !joins || (d == 1 && item->extent[0] == KMM_WHOLE) ||
             (outer && !outer->whole && outer->offsets.at);
    }
    return n;
}

/* More sections are whole than elsewhere: else most items have too many that are not. */
static void add_whole_sections(kmm__item_t *item)
{
    for (uint32_t d = 0; d < item->section_count; d++)
        if (rng_range(&rng, 0, 2) == 0)
            item->section[d] = (kmm__section_t){.constant = {0, KMM_WHOLE}, .whole = true};
}

/* The region of the joined item is that of the item, and as exact: a section of one dimension is
 * exact before and after. */
static void joined_regions_are_what_is_named(void **state)
{
    (void)state;
    static trial_t t;
    static kmm_launch_t launch;
    int joined = 0, refused = 0, exact = 0;
    for (int round = 0; round < ROUNDS; round++) {
        kmm__access_t a;
        kmm__layout_t shaped;
        do
            random_trial(&t, KMM__DIMS + 1, KMM_MAX_DIMS);
        while (t.array.bytes > MOST);
        add_whole_sections(&t.item);
        name_all(&t);
        launch.error = 0;
        uint32_t groups = groups_of(&t.item);
        t.item.text = "A";
        kmm__join_item(&launch, &t.item);
        assert_int_equal(launch.error, groups > KMM__DIMS ? KMM_E_UNSUPPORTED : 0);
        free(launch.error_text);
        launch.error_text = NULL;
        refused += launch.error != 0;
        if (launch.error)
            continue;
        joined++;
        assert_int_equal(t.item.dims, KMM__DIMS);
        int planned = kmm__plan(&t.item, AXES, &t.chunk, &a, &shaped);
        assert_in_range(planned, 0, 1);
        exact += planned && a.exact;
        if (planned)
            check_region(&t, &a);
        else
            assert_null(memchr(t.named, 1, t.array.bytes));
    }
    assert_in_range(joined, ROUNDS / 4, ROUNDS);
    assert_in_range(refused, ROUNDS / 20, ROUNDS);
    assert_in_range(exact, ROUNDS / 20, ROUNDS);
}

static int error_of(kmm__item_t item)
{
    static kmm_launch_t launch;
    launch.error = 0;
    item.text = "A";
    item.element = 8;
    kmm__join_item(&launch, &item);
    free(launch.error_text);
    launch.error_text = NULL;
    return launch.error;
}

static void numbers_that_wrap_are_refused(void **state)
{
    (void)state;
    const int64_t big = INT64_C(1) << 40;
    const kmm__section_t whole = {.constant = {0, KMM_WHOLE}, .whole = true},
                         one = {.constant = {0, 1}}, far = {.constant = {INT64_MAX / 2, 1}},
                         steep = {.constant = {0, 1}, .coef = {{INT64_MAX / 2, 0}}};
    /* two extents that are joined, the bytes of a shape, a section's constant and coefficient */
    assert_int_equal(error_of((kmm__item_t){.dims = 5, .extent = {1, 1, 1, big, big}}),
                     KMM_E_RANGE);
    assert_int_equal(error_of((kmm__item_t){.dims = 5, .extent = {big, 1, big, 1, 2}}),
                     KMM_E_RANGE);
    for (int k = 0; k < 3; k++)
        assert_int_equal(error_of((kmm__item_t){.dims = 5,
                                                .extent = {2, 2, 2, 2, 3},
                                                .section_count = 5,
                                                .section = {one, one, one,
                                                            k == 0   ? one
                                                            : k == 1 ? far
                                                                     : steep,
                                                            whole}}),
                         k ? KMM_E_RANGE : 0);
    /* an extent of 0 makes any other one none; a negative one remains for the plan to refuse */
    assert_int_equal(error_of((kmm__item_t){.dims = 5, .extent = {1, 1, 1, 0, -3}}), 0);
    kmm_launch_t launch = {0};
    kmm__item_t item = {.text = "A", .element = 8, .dims = 6, .extent = {1, 2, 3, 4, -5, -6}};
    kmm__join_item(&launch, &item);
    assert_true(launch.error == 0 && item.dims == 4 && item.extent[3] == -5);
    /* more sections than dimensions */
    assert_int_equal(
        error_of((kmm__item_t){.dims = 5, .extent = {1, 1, 1, 1, 1}, .section_count = 6}),
        KMM_E_INVALID);
}

/* ---- What must be exact, lest plain writes become updates ---- */

static kmm__access_t plan_of(kmm__item_t item, const kmm__chunk_box_t *chunk, kmm__array_t *array)
{
    static char memory[1];
    static kmm__layout_t shaped;
    kmm__access_t a;
    array->flat = kmm__layout_flat((int64_t)array->bytes);
    array->base = item.base = memory;
    item.array = array;
    item.element = 4;
    item.mode = KMM_WRITE;
    assert_int_equal(kmm__plan(&item, AXES, chunk, &a, &shaped), 1);
    return a;
}

static void boxes_are_exact(void **state)
{
    (void)state;
    kmm__array_t array = {.bytes = 4 * 20 * 30};
    kmm__chunk_box_t chunk = {.axis_lo = {2, 3, 0}, .axis_hi = {6, 9, 1}};
    kmm__section_t row = {.constant = {0, 1}, .coef = {{1, 0}}},
                   column = {.constant = {0, 1}, .coef = {{0, 0}, {1, 0}}};
    kmm__section_t pairs = {.constant = {0, 2}, .coef = {{2, 0}}},
                   flat = {.constant = {0, 1}, .coef = {{30, 0}, {1, 0}}};
    kmm__access_t a = plan_of(
        (kmm__item_t){.dims = 2, .extent = {20, 30}, .section_count = 2, .section = {row, column}},
        &chunk, &array);
    assert_true(a.exact && kmm__box_equal(&a.box, &(kmm__box_t){2, {2, 12}, {6, 36}}));
    a = plan_of((kmm__item_t){.section_count = 1, .section = {pairs}}, &chunk, &array);
    assert_true(a.exact && kmm__box_equal(&a.box, &(kmm__box_t){1, {16}, {48}}));
    a = plan_of((kmm__item_t){.section_count = 1, .section = {flat}}, &chunk, &array);
    assert_true(a.exact && a.layout->dims == 2 && kmm__box_volume(&a.box) == 4 * 4 * 6);
    /* The diagonal is no box, but one element of it is. */
    a = plan_of(
        (kmm__item_t){.dims = 2, .extent = {20, 30}, .section_count = 2, .section = {row, row}},
        &chunk, &array);
    assert_false(a.exact);
    chunk.axis_hi[0] = 3;
    a = plan_of(
        (kmm__item_t){.dims = 2, .extent = {20, 30}, .section_count = 2, .section = {row, row}},
        &chunk, &array);
    assert_true(a.exact && kmm__box_volume(&a.box) == 4);
}

int main(void)
{
    rng.state = rng_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_what_is_named),
        cmocka_unit_test(joined_regions_are_what_is_named),
        cmocka_unit_test(numbers_that_wrap_are_refused),
        cmocka_unit_test(boxes_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
