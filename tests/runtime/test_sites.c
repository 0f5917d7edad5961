/* SPDX-License-Identifier: Apache-2.0 */
/* How many devices a launch pays for, from given figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "launch/sites.h"

enum { MANY_BLOCKS = 1 << 20, US = 1000, MS = 1000 * US };

static kmm__figures_t figures(uint64_t kernel_ns)
{
    return (kmm__figures_t){.kernel_ns = kernel_ns, .blocks = MANY_BLOCKS, .parts = 64};
}

/* Short kernels use one device, long ones all. */
static void test_kernel_time(void **state)
{
    (void)state;
    for (uint64_t ns = 0; ns <= 60 * US; ns += US) {
        kmm__figures_t f = figures(ns);
        assert_int_equal(kmm__figures_devices(&f, 8), ns <= 40 * US ? 1 : 2);
        assert_true(kmm__figures_gain(&f, 8) < 0);
    }
    for (uint64_t ns = 10 * MS; ns <= 1000 * MS; ns *= 2) {
        kmm__figures_t f = figures(ns);
        for (uint32_t most = 1; most <= 8; most++)
            assert_int_equal(kmm__figures_devices(&f, most), most);
        assert_true(kmm__figures_gain(&f, 2) > (int64_t)(ns / 3));
        assert_true(kmm__figures_gain(&f, 4) > (int64_t)(ns / 2));
        assert_true(kmm__figures_gain(&f, 1) < 0);
    }
}

/* Between them the number rises with the time. */
static void test_some(void **state)
{
    uint32_t before = 1;
    (void)state;
    for (uint64_t ns = 10 * US; ns < 20 * MS; ns += 10 * US) {
        kmm__figures_t f = figures(ns);
        uint32_t devices = kmm__figures_devices(&f, 8);
        assert_true(devices >= before);
        before = devices;
    }
    assert_int_equal(before, 8);
    kmm__figures_t f = figures(400 * US);
    uint32_t devices = kmm__figures_devices(&f, 8);
    assert_true(devices > 1 && devices < 8);
}

/* Each device beyond the first costs the bytes that it needs from others. */
static void test_bytes(void **state)
{
    kmm__figures_t f = figures(10 * MS);
    (void)state;
    f.each = 64 << 10; /* a halo of 64 KiB */
    assert_int_equal(kmm__figures_devices(&f, 4), 4);
    f.each = 25u << 20; /* 1 ms over PCIe */
    assert_in_range(kmm__figures_devices(&f, 8), 2, 3);
    f.each = (uint64_t)1 << 30; /* all of an array of 1 GiB */
    assert_int_equal(kmm__figures_devices(&f, 8), 1);
    assert_true(kmm__figures_gain(&f, 8) < 0);
}

/* A grid that fills no device is not faster on two. */
static void test_blocks(void **state)
{
    kmm__figures_t f = figures(100 * MS);
    (void)state;
    f.blocks = 100;
    assert_int_equal(kmm__figures_devices(&f, 8), 1);
    f.blocks = 264;
    assert_int_equal(kmm__figures_devices(&f, 8), 2);
    f.blocks = MANY_BLOCKS;
    f.parts = 3; /* chunks */
    assert_int_equal(kmm__figures_devices(&f, 8), 3);
    f.parts = 1;
    assert_int_equal(kmm__figures_devices(&f, 8), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_time),
        cmocka_unit_test(test_some),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
