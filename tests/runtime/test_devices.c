/* SPDX-License-Identifier: Apache-2.0 */
/* What kmm_device_get says of devices, and launches on sets of them, on the fake drivers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <kmm.h>

#include "fake_work.h"
#include "with_runtime.h"

enum { CHUNKS = 12, N = CHUNKS * 8 * BLOCK };

static kmm_device_info_t info(kmm_runtime_t *rt, int device)
{
    kmm_device_info_t out;
    assert_int_equal(kmm_device_get(rt, device, &out), 0);
    return out;
}

static void test_attributes(void **state)
{
    (void)state;
    setenv("KMM_FAKE_PCI", "0000:3b:00.0,0001:af:1f.0", 1);
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "cuda:2,hip:1,mem=4M"});
    kmm_device_info_t a = info(rt, 0), b = info(rt, 1), amd = info(rt, 2);
    assert_string_equal(b.name, "Fake GPU 1");
    assert_true(a.total_bytes > 0 && a.memory_bytes <= a.total_bytes);
    assert_int_equal(a.compute_major, 9);
    assert_int_equal(a.compute_minor, 1);
    assert_int_equal(a.multiprocessors, 100);
    assert_int_equal(b.multiprocessors, 101);
    assert_int_equal(a.pci_domain, 0);
    assert_int_equal(a.pci_bus, 0x3b);
    assert_int_equal(b.pci_domain, 1);
    assert_int_equal(b.pci_bus, 0xaf);
    assert_int_equal(b.pci_device, 0x1f);
    assert_int_equal(b.pci_function, 0);
    assert_int_equal(amd.pci_bus, 0x3b);
    assert_int_equal(amd.compute_major, 0); /* not known */
    assert_int_equal(amd.multiprocessors, 0);
    runtime_close(rt);
    unsetenv("KMM_FAKE_PCI");

    rt = runtime_open(&(kmm_config_t){.devices = "host", .threads = 3});
    a = info(rt, 0);
    assert_int_equal(a.total_bytes, 0);
    assert_int_equal(a.multiprocessors, 3);
    assert_int_equal(a.pci_bus, -1);
    assert_int_equal(a.pci_function, -1);
    /* A program that was compiled with an older header gets the fields that it knows. */
    memset(&b, 0x55, sizeof(b));
    assert_int_equal((kmm_device_get)(rt, 0, &b), 0);
    assert_int_equal(b.total_bytes, UINT64_C(0x5555555555555555));
    assert_int_equal(b.whole_arrays, 0);
    runtime_close(rt);
}

static const int sets[][4] = {{2, 0, -9}, {1, 1, -9}, {0, 1, 2, -9}, {2, -9}};

static kmm_launch_t *on(const int *devices)
{
    kmm_launch_t *l = kmm_launch_begin("scale", "faults.c", 7);
    for (int k = 0; k < 4 && devices[k] != -9; k++)
        kmm_launch_device(l, KMM_ON_DEVICE, devices[k]);
    return l;
}

/* The chunks of a launch run on the devices that it names, all of which get some. */
static void test_sets(void **state)
{
    (void)state;
    setenv("KMM_FAKE_CUDA_DEVICES", "3", 1);
    for (kmm_schedule_t schedule = KMM_SCHEDULE_LOCALITY; schedule <= KMM_SCHEDULE_CYCLIC;
         schedule++) {
        kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "cuda:3,mem=4M"});
        int32_t got[N] = {0}, expected = 0, *x = array_of(rt, N, got);
        for (size_t k = 0; k < sizeof(sets) / sizeof(*sets); k++) {
            uint64_t before[3];
            bool named[3] = {false};
            int count = 0;
            for (int d = 0; d < 3; d++)
                before[d] = info(rt, d).chunks;
            for (int j = 0; j < 4 && sets[k][j] != -9; j++)
                named[sets[k][j]] = true;
            kmm_launch_t *l = on(sets[k]);
            kmm_launch_schedule(l, schedule);
            assert_int_equal(fake_work_launch_of(l, KMM_KIND_CUDA, SCALE, N, CHUNKS, x, NULL, NULL),
                             0);
            assert_int_equal(kmm_wait(rt), 0);
            expected = expected * 3 + 1;
            for (int d = 0; d < 3; d++)
                count += named[d];
            for (int d = 0; d < 3; d++)
                assert_int_equal(info(rt, d).chunks - before[d], named[d] ? CHUNKS / count : 0);
        }
        assert_int_equal(kmm_copy_out(rt, got, x, sizeof(got)), 0);
        for (int i = 0; i < N; i++)
            assert_int_equal(got[i], expected);
        runtime_close(rt);
    }
    unsetenv("KMM_FAKE_CUDA_DEVICES");
}

static void test_refused_sets(void **state)
{
    (void)state;
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "cuda:2,mem=4M"});
    int32_t values[N] = {0}, *x = array_of(rt, N, values);
    assert_int_equal(
        fake_work_launch_of(on((int[4]){0, 2, -9}), KMM_KIND_CUDA, SCALE, N, CHUNKS, x, NULL, NULL),
        KMM_E_NO_DEVICE);
    assert_non_null(strstr(kmm_error_text(rt), "device(2): there are 2 devices"));
    kmm_launch_t *l = on((int[4]){-9});
    for (int k = 0; k < 25; k++)
        kmm_launch_device(l, KMM_ON_DEVICE, k);
    assert_int_equal(fake_work_launch_of(l, KMM_KIND_CUDA, SCALE, N, CHUNKS, x, NULL, NULL),
                     KMM_E_NO_DEVICE);
    assert_non_null(strstr(kmm_error_text(rt), "more than 24 devices"));
    /* Another kind of device replaces the set. */
    l = on((int[4]){0, 2, -9});
    kmm_launch_device(l, KMM_ON_CUDA, 0);
    assert_int_equal(fake_work_launch_of(l, KMM_KIND_CUDA, SCALE, N, CHUNKS, x, NULL, NULL), 0);
    runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_refused_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
