/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes and layouts against counting elements one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "geometry/layout.h"
#include "random.h"

enum { ROUNDS = 3000, SIDE = 5, SPACE = 4096 };

static rng_t rng;

static kmm__box_t random_box(uint32_t dims, int64_t lo, int64_t hi)
{
    kmm__box_t b = {.dims = dims};
    for (uint32_t d = 0; d < dims; d++) {
        b.lo[d] = rng_range(&rng, lo, hi);
        b.hi[d] = rng_range(&rng, lo, hi);
        if (b.hi[d] < b.lo[d] && rng_range(&rng, 0, 7)) {
            int64_t t = b.lo[d];
            b.lo[d] = b.hi[d];
            b.hi[d] = t;
        }
    }
    return b;
}

static bool has(const kmm__box_t *b, const int64_t x[KMM__DIMS])
{
    for (uint32_t d = 0; d < b->dims; d++)
        if (x[d] < b->lo[d] || x[d] >= b->hi[d])
            return false;
    return b->dims > 0;
}

/* Steps x through [lo, hi] in every dimension; false after the last. */
static bool advance(int64_t x[KMM__DIMS], uint32_t dims, int64_t lo, int64_t hi)
{
    for (uint32_t d = dims; d-- > 0;) {
        if (++x[d] <= hi)
            return true;
        x[d] = lo;
    }
    return false;
}

static void boxes_are_sets(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t dims = (uint32_t)rng_range(&rng, 1, KMM__DIMS);
        kmm__box_t a = random_box(dims, -2, SIDE - 2), b = random_box(dims, -2, SIDE - 2),
                   cut[2 * KMM__DIMS];
        kmm__box_t both = kmm__box_intersect(&a, &b), hull = kmm__box_hull(&a, &b);
        int n = kmm__box_subtract(&a, &b, cut);
        int64_t x[KMM__DIMS] = {-3, -3, -3, -3}, volume = 0, shared = 0, only_b = 0;
        assert_in_range(n, 0, 2 * dims);
        do {
            bool in_a = has(&a, x), in_b = has(&b, x);
            int pieces = 0;
            for (int k = 0; k < n; k++)
                pieces += has(&cut[k], x);
            volume += in_a;
            shared += in_a && in_b;
            only_b += in_b && !in_a;
            assert_int_equal(pieces, in_a && !in_b);
            assert_int_equal(has(&both, x), in_a && in_b);
            assert_true(has(&hull, x) || !(in_a || in_b));
        } while (advance(x, dims, -3, SIDE - 1));
        assert_int_equal(kmm__box_volume(&a), volume);
        assert_int_equal(kmm__box_empty(&a), volume == 0);
        assert_int_equal(kmm__box_empty(&both), shared == 0);
        assert_int_equal(kmm__box_contains(&a, &b), only_b == 0);
        assert_true(volume == 0 || only_b + shared == 0 ||
                    kmm__box_overlaps(&a, &b) == (shared > 0));
        assert_true(kmm__box_equal(&a, &a));
        for (int k = 0; k < n; k++)
            assert_false(kmm__box_empty(&cut[k]));
    }
}

static void an_empty_box_overlaps_nothing(void **state)
{
    (void)state;
    kmm__box_t a = {1, {0}, {10}}, b = {1, {5}, {5}}, c = {2, {3, 4}, {7, 4}},
               d = {2, {0, 0}, {9, 9}};
    kmm__box_t backwards = {1, {7}, {3}};
    assert_false(kmm__box_overlaps(&a, &b));
    assert_false(kmm__box_overlaps(&b, &a));
    assert_false(kmm__box_overlaps(&c, &d));
    assert_false(kmm__box_overlaps(&a, &backwards));
    assert_int_equal(kmm__box_volume(&backwards), 0);
    assert_true(kmm__box_contains(&b, &backwards));
}

/* ---- Layouts ---- */

typedef struct tally {
    unsigned char count[SPACE];
    int64_t bytes;
    int calls;
} tally_t;

static kmm__layout_t random_layout(void)
{
    int64_t extent[KMM__DIMS];
    uint32_t dims = (uint32_t)rng_range(&rng, 1, KMM__DIMS);
    for (uint32_t d = 0; d < dims; d++)
        extent[d] = rng_range(&rng, 1, 4);
    int64_t element = rng_range(&rng, 1, 3), bytes = rng_range(&rng, 1, 400);
    return kmm__layout_make(dims, extent, element, rng_range(&rng, 0, bytes), bytes);
}

static int64_t byte_of(const kmm__layout_t *l, const int64_t x[KMM__DIMS])
{
    int64_t at = l->origin;
    for (uint32_t d = 0; d < l->dims; d++)
        at += x[d] * l->stride[d];
    return at;
}

/* Counts each byte of a box that the array has. */
static void tally_box(tally_t *t, const kmm__layout_t *l, const kmm__box_t *b)
{
    int64_t x[KMM__DIMS];
    if (kmm__box_empty(b))
        return;
    memcpy(x, b->lo, sizeof(x));
    for (;;) {
        int64_t at = byte_of(l, x);
        if (at >= 0 && at < l->bytes)
            t->count[at]++;
        uint32_t d = l->dims;
        while (d-- > 0) {
            if (++x[d] < b->hi[d])
                break;
            x[d] = b->lo[d];
        }
        if (d == UINT32_MAX)
            return;
    }
}

static int tally_rows(void *ctx, const kmm__rows_t *r)
{
    tally_t *t = ctx;
    t->calls++;
    assert_true(r->width > 0 && r->count > 0);
    for (int64_t k = 0; k < r->count; k++)
        for (int64_t e = 0; e < r->width; e++) {
            int64_t at = r->offset + k * r->pitch + e;
            assert_in_range(at, 0, t->bytes - 1);
            t->count[at]++;
        }
    return 0;
}

static kmm__box_t box_inside(const kmm__layout_t *l)
{
    kmm__box_t b = {.dims = l->dims};
    for (uint32_t d = 0; d < l->dims; d++) {
        bool whole = rng_range(&rng, 0, 2) == 0;
        b.lo[d] = whole ? 0 : rng_range(&rng, 0, l->extent[d] - 1);
        b.hi[d] = whole ? l->extent[d] : rng_range(&rng, b.lo[d] + 1, l->extent[d]);
    }
    return b;
}

static void layouts_cover_the_array(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        static tally_t t;
        memset(&t, 0, sizeof(t));
        kmm__layout_t l = random_layout();
        kmm__box_t whole = kmm__layout_whole(&l);
        tally_box(&t, &l, &whole);
        for (int64_t k = 0; k < l.bytes; k++)
            assert_int_equal(t.count[k], 1);
        assert_true(l.origin <= 0 && l.stride[l.dims - 1] == 1);
        assert_true(kmm__layout_equal(&l, &l));
    }
}

static void boxes_become_rows(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        static tally_t want, got;
        memset(&want, 0, sizeof(want));
        memset(&got, 0, sizeof(got));
        kmm__layout_t l = random_layout();
        kmm__box_t b = box_inside(&l);
        got.bytes = l.bytes;
        tally_box(&want, &l, &b);
        assert_int_equal(kmm__layout_rows(&l, &b, tally_rows, &got), 0);
        assert_memory_equal(want.count, got.count, sizeof(want.count));

        int64_t begin, end, first = -1, last = -1, volume = 0;
        for (int64_t k = 0; k < l.bytes; k++)
            if (want.count[k]) {
                first = first < 0 ? k : first;
                last = k;
                volume++;
            }
        kmm__layout_hull(&l, &b, &begin, &end);
        if (volume) {
            assert_true(begin <= first && end > last);
            assert_true(begin >= 0 && end <= l.bytes);
        }
        int64_t x[KMM__DIMS];
        for (uint32_t d = 0; d < l.dims; d++)
            x[d] = b.hi[d] - 1;
        bool one_run = byte_of(&l, x) - byte_of(&l, b.lo) + 1 == kmm__box_volume(&b);
        assert_int_equal(kmm__layout_contiguous(&l, &b, &begin, &end), one_run);
        if (one_run)
            assert_true(volume ? begin == first && end == last + 1 : begin >= end);
    }
}

static void byte_ranges_become_boxes(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        static tally_t t;
        memset(&t, 0, sizeof(t));
        kmm__box_t out[2 * KMM__DIMS];
        kmm__layout_t l = random_layout();
        kmm__box_t whole = kmm__layout_whole(&l);
        int64_t begin = rng_range(&rng, 0, l.bytes), end = rng_range(&rng, begin, l.bytes);
        int n = kmm__layout_split(&l, begin, end, out);
        assert_in_range(n, 0, 2 * l.dims - 1);
        for (int k = 0; k < n; k++) {
            assert_true(kmm__box_contains(&whole, &out[k]));
            assert_false(kmm__box_empty(&out[k]));
            tally_box(&t, &l, &out[k]);
        }
        for (int64_t k = 0; k < l.bytes; k++)
            assert_int_equal(t.count[k], k >= begin && k < end);
    }
}

static int fails_second(void *ctx, const kmm__rows_t *r)
{
    (void)r;
    return ++*(int *)ctx == 2 ? -7 : 0;
}

static void rows_stop_at_a_failure(void **state)
{
    (void)state;
    int64_t extent[3] = {4, 4, 4};
    kmm__layout_t l = kmm__layout_make(3, extent, 2, 0, 128);
    kmm__box_t b = {3, {0, 1, 2}, {4, 3, 4}};
    int calls = 0;
    assert_int_equal(kmm__layout_rows(&l, &b, fails_second, &calls), -7);
    assert_int_equal(calls, 2);
}

int main(void)
{
    rng.state = rng_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_sets),           cmocka_unit_test(an_empty_box_overlaps_nothing),
        cmocka_unit_test(layouts_cover_the_array),  cmocka_unit_test(boxes_become_rows),
        cmocka_unit_test(byte_ranges_become_boxes), cmocka_unit_test(rows_stop_at_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
