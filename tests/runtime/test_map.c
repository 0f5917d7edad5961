/* SPDX-License-Identifier: Apache-2.0 */
/* Maps against a plain array that has one value for each element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "geometry/box.h"
#include "geometry/map.h"
#include "random.h"

enum { STEPS = 1000, ROUNDS = 12, MOST = 4096 };

static rng_t rng;
static int64_t live; /* values that were copied and not dropped */

/* A value owns an int on the heap, so that a value dropped twice, or never, is seen. */
static void int_copy(void *ctx, void *dst, const void *src)
{
    int *p = malloc(sizeof(*p)), *from;
    (void)ctx;
    memcpy(&from, src, sizeof(from));
    *p = *from;
    memcpy(dst, &p, sizeof(p));
    live++;
}

static void int_drop(void *ctx, void *value)
{
    int *p;
    (void)ctx;
    memcpy(&p, value, sizeof(p));
    *p = -1;
    free(p);
    live--;
}

static bool int_same(void *ctx, const void *a, const void *b)
{
    (void)ctx;
    return **(int *const *)a == **(int *const *)b;
}

static const kmm__map_ops_t owning = {sizeof(int *), int_copy, int_drop, int_same, NULL};

typedef struct model {
    kmm__box_t whole;
    int value[MOST];
    unsigned char seen[MOST];
    int modulus;
    int calls, stop_at;
} model_t;

static size_t index_of(const model_t *m, const int64_t x[KMM__DIMS])
{
    int64_t k = 0;
    for (uint32_t d = 0; d < m->whole.dims; d++)
        k = k * (m->whole.hi[d] - m->whole.lo[d]) + x[d] - m->whole.lo[d];
    return (size_t)k;
}

static void each(const kmm__box_t *b, void (*fn)(model_t *m, size_t k, int value), model_t *m,
                 int value)
{
    int64_t x[KMM__DIMS];
    if (kmm__box_empty(b))
        return;
    memcpy(x, b->lo, sizeof(x));
    for (;;) {
        fn(m, index_of(m, x), value);
        uint32_t d = b->dims;
        while (d-- > 0) {
            if (++x[d] < b->hi[d])
                break;
            x[d] = b->lo[d];
        }
        if (d == UINT32_MAX)
            return;
    }
}

static void set_one(model_t *m, size_t k, int value)
{
    m->value[k] = value;
}

static void see_one(model_t *m, size_t k, int value)
{
    assert_int_equal(m->value[k], value);
    m->seen[k]++;
}

static void bump_one(model_t *m, size_t k, int value)
{
    see_one(m, k, value);
    m->value[k] = (value * 3 + 1) % m->modulus;
}

static void expect_one(model_t *m, size_t k, int value)
{
    assert_int_equal(m->seen[k], value);
    m->seen[k] = 0;
}

static int visit_part(void *arg, const kmm__box_t *part, const void *value)
{
    model_t *m = arg;
    assert_false(kmm__box_empty(part));
    assert_true(kmm__box_contains(&m->whole, part));
    each(part, see_one, m, **(int *const *)value);
    return 0;
}

static int update_part(void *arg, const kmm__box_t *part, void *value)
{
    model_t *m = arg;
    int *p = *(int **)value;
    each(part, bump_one, m, *p);
    *p = (*p * 3 + 1) % m->modulus;
    return ++m->calls == m->stop_at ? 99 : 0;
}

/* The parts called for were those of `where`, each element once. */
static void check_seen(model_t *m, const kmm__box_t *where)
{
    each(where, expect_one, m, 1);
    each(&m->whole, expect_one, m, 0);
}

static kmm__box_t random_box(const kmm__box_t *whole)
{
    kmm__box_t b = {.dims = whole->dims};
    for (uint32_t d = 0; d < whole->dims; d++) {
        int64_t lo = whole->lo[d] - 1, hi = whole->hi[d] + 1; /* may reach outside, may be empty */
        b.lo[d] = rng_range(&rng, lo, hi);
        b.hi[d] = rng_range(&rng, 0, 3) ? rng_range(&rng, b.lo[d], hi) : hi;
        if (rng_range(&rng, 0, 4) == 0)
            b.lo[d] = lo;
    }
    return b;
}

static void random_step(kmm__map_t *map, model_t *m)
{
    kmm__box_t where = random_box(&m->whole), inside = kmm__box_intersect(&where, &m->whole);
    int value = (int)rng_range(&rng, 0, m->modulus - 1), *p = &value;
    switch (rng_range(&rng, 0, 2)) {
    case 0:
        kmm__map_assign(map, &where, &p);
        each(&inside, set_one, m, value);
        break;
    case 1:
        assert_int_equal(kmm__map_update(map, &where, update_part, m), 0);
        check_seen(m, &inside);
        break;
    case 2:
        assert_int_equal(kmm__map_visit(map, &where, visit_part, m), 0);
        check_seen(m, &inside);
        break;
    }
}

static kmm__box_t random_whole(uint32_t dims)
{
    static const int64_t side[] = {0, 400, 24, 11, 6};
    kmm__box_t whole = {.dims = dims};
    for (uint32_t d = 0; d < dims; d++) {
        whole.lo[d] = rng_range(&rng, -3, 3);
        whole.hi[d] = whole.lo[d] + rng_range(&rng, 1, side[dims]);
    }
    return whole;
}

/* ---- How few leaves say it ---- */

/* Elements in one step along dimension d. */
static size_t step_of(const model_t *m, uint32_t d)
{
    size_t step = 1;
    for (uint32_t k = d + 1; k < m->whole.dims; k++)
        step *= (size_t)(m->whole.hi[k] - m->whole.lo[k]);
    return step;
}

/* The leaves of a nest of interval maps in which neighbours that are the same are one, whichever
 * face they meet at. */
static size_t fewest_leaves(const model_t *m, uint32_t d, const int *value)
{
    size_t step = step_of(m, d), leaves = 0;
    for (int64_t k = 0; k < m->whole.hi[d] - m->whole.lo[d]; k++) {
        const int *at = value + (size_t)k * step;
        if (k == 0 || memcmp(at, at - step, step * sizeof(*at)))
            leaves += d + 1 == m->whole.dims ? 1 : fewest_leaves(m, d + 1, at);
    }
    return leaves;
}

static void behaves_like_an_array(void **state)
{
    (void)state;
    static model_t m;
    for (int round = 0; round < ROUNDS; round++) {
        memset(&m, 0, sizeof(m));
        m.whole = random_whole((uint32_t)round % KMM__DIMS + 1);
        m.modulus = round < ROUNDS / 2 ? 3 : 1000;
        int zero = 0, *p = &zero;
        kmm__map_t *map = kmm__map_create(&owning, NULL, &m.whole, &p);
        assert_non_null(map);
        for (int step = 0; step < STEPS; step++) {
            random_step(map, &m);
            assert_true(kmm__map_is_valid(map));
            size_t leaves = rng_range(&rng, 0, 3)
                                ? 0
                                : kmm__map_leaves(map); /* which joins, and so drops values */
            if (leaves) {
                assert_int_equal(leaves, live);
                assert_int_equal(leaves, fewest_leaves(&m, 0, m.value));
            }
        }
        kmm__map_visit(map, &m.whole, visit_part, &m);
        check_seen(&m, &m.whole);
        kmm__map_assign(map, &m.whole, &p);
        assert_int_equal(kmm__map_leaves(map), 1);
        kmm__map_destroy(map);
        assert_int_equal(live, 0);
    }
}

/* A part between two that are the same as it will be: at its lower face, its upper face, or both.
 */
static void joins_at_both_faces(void **state)
{
    (void)state;
    enum { SIDE = 9, PART = SIDE / 3 };
    for (uint32_t dims = 1; dims <= KMM__DIMS; dims++)
        for (uint32_t d = 0; d < dims; d++)
            for (int same = 0; same < 4; same++) {
                kmm__box_t whole = {.dims = dims}, part;
                int middle = 5, below = same & 1 ? 5 : 6, above = same & 2 ? 5 : 7, zero = 0,
                    *p = &zero;
                for (uint32_t k = 0; k < dims; k++)
                    whole.hi[k] = SIDE;
                kmm__map_t *map = kmm__map_create(&owning, NULL, &whole, &p);
                int *const values[] = {&below, &above, &middle};
                static const int64_t at[] = {0, 2 * PART, PART};
                for (int k = 0; k < 3; k++) { /* the middle last */
                    part = whole;
                    part.lo[d] = at[k];
                    part.hi[d] = at[k] + PART;
                    kmm__map_assign(map, &part, &values[k]);
                }
                assert_int_equal(kmm__map_leaves(map), 3 - (same & 1) - (same >> 1));
                assert_true(kmm__map_is_valid(map));
                kmm__map_destroy(map);
            }
}

/* Elements that get one value one by one, in whatever order, do not stay apart. */
static void a_map_of_one_value_stays_small(void **state)
{
    (void)state;
    enum { SIDE = 2000, PASSES = 6 };
    for (int order = 0; order < 3; order++) {
        kmm__box_t whole = {1, {0}, {SIDE}};
        int zero = 0, *p = &zero;
        kmm__map_t *map = kmm__map_create(&owning, NULL, &whole, &p);
        for (int pass = 0; pass < PASSES; pass++) {
            for (int64_t k = 0; k < SIDE; k++) {
                int64_t at = order == 0   ? k
                             : order == 1 ? SIDE - 1 - k
                                          : k * 7 % SIDE; /* up, down, up in many places */
                int value = pass + 1, *v = &value;
                kmm__box_t one = {1, {at}, {at + 1}};
                kmm__map_assign(map, &one, &v);
            }
            assert_true(kmm__map_is_valid(map));
            assert_int_equal(kmm__map_leaves(map), 1);
            assert_int_equal(live, 1);
        }
        kmm__map_destroy(map);
    }
}

static void an_update_can_stop(void **state)
{
    (void)state;
    static model_t m;
    m = (model_t){.whole = {2, {0, 0}, {8, 8}}, .modulus = 1000, .stop_at = 3};
    int zero = 0, *p = &zero;
    kmm__map_t *map = kmm__map_create(&owning, NULL, &m.whole, &p);
    for (int64_t k = 0; k < 8; k++) {
        kmm__box_t row = {2, {k, 0}, {k + 1, 8}};
        int value = (int)k, *v = &value;
        kmm__map_assign(map, &row, &v);
        each(&row, set_one, &m, value);
    }
    assert_int_equal(kmm__map_update(map, &m.whole, update_part, &m), 99);
    assert_int_equal(m.calls, 3);
    assert_true(kmm__map_is_valid(map));
    memset(m.seen, 0, sizeof(m.seen));
    kmm__map_visit(map, &m.whole, visit_part, &m);
    check_seen(&m, &m.whole);
    kmm__map_destroy(map);
}

/* ---- A stencil's pattern: each chunk is read with its neighbours' edges, then written ---- */

typedef struct use {
    int writer, reader;
} use_t;

static int add_reader(void *arg, const kmm__box_t *part, void *value)
{
    (void)part;
    ((use_t *)value)->reader = *(int *)arg;
    return 0;
}

static void a_stencil_stays_small(void **state)
{
    (void)state;
    enum { SIDE = 64, CHUNK = 8 };
    static const kmm__map_ops_t plain = {.value_bytes = sizeof(use_t)};
    kmm__box_t whole = {2, {0, 0}, {SIDE, SIDE}};
    use_t nobody = {0, 0};
    kmm__map_t *map = kmm__map_create(&plain, NULL, &whole, &nobody);
    int task = 0;
    size_t most = 0;
    for (int step = 0; step < 1000; step++) {
        for (int half = 0; half < 2; half++)
            for (int64_t y = 0; y < SIDE; y += CHUNK)
                for (int64_t x = 0; x < SIDE; x += CHUNK) {
                    kmm__box_t halo = {2, {y - 1, x - 1}, {y + CHUNK + 1, x + CHUNK + 1}};
                    kmm__box_t chunk = {2, {y, x}, {y + CHUNK, x + CHUNK}};
                    use_t writer = {++task, 0};
                    if (half)
                        kmm__map_assign(map, &chunk, &writer);
                    else
                        assert_int_equal(kmm__map_update(map, &halo, add_reader, &task), 0);
                }
        assert_true(kmm__map_is_valid(map));
        size_t leaves = kmm__map_leaves(map);
        most = step < 3 && leaves > most ? leaves : most;
        assert_true(leaves <= most);
        assert_true(leaves <= 9 * (SIDE / CHUNK) * (SIDE / CHUNK));
    }
    assert_int_equal(kmm__map_leaves(map), (SIDE / CHUNK) * (SIDE / CHUNK));
    use_t last = {-1, -1};
    kmm__map_assign(map, &whole, &last);
    assert_int_equal(kmm__map_leaves(map), 1);
    kmm__map_destroy(map);
}

int main(void)
{
    rng.state = rng_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaves_like_an_array),          cmocka_unit_test(joins_at_both_faces),
        cmocka_unit_test(a_map_of_one_value_stays_small), cmocka_unit_test(an_update_can_stop),
        cmocka_unit_test(a_stencil_stays_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
