/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that were compiled with another kmm.h: which of them libkmm serves, and with which
 * fields of the structs that grow. */
#include <kmm.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { FIRST_CONFIG = 64 };

static void test_version_number(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof(text), "%d.%d.%d", KMM_VERSION_MAJOR, KMM_VERSION_MINOR,
             KMM_VERSION_PATCH);
    assert_int_equal(kmm_version(), KMM_VERSION_NUMBER);
    assert_string_equal(kmm_version_string(), text);
}

static void refused(int version, const char *remedy)
{
    kmm_runtime_t *rt = NULL;
    kmm_config_t config = {.devices = "host"};
    assert_int_equal(kmm_create_version(version, sizeof(config), &rt, &config), KMM_E_UNSUPPORTED);
    assert_null(rt);
    assert_non_null(strstr(kmm_error_text(NULL), kmm_version_string()));
    assert_non_null(strstr(kmm_error_text(NULL), remedy));
}

static void test_versions_that_differ(void **state)
{
    (void)state;
    kmm_runtime_t *rt = NULL;
    kmm_config_t config = {.devices = "host"};
    refused(KMM_VERSION_NUMBER + 100, "newer libkmm");
    refused(KMM_VERSION_NUMBER + 10000, "newer libkmm");
    refused(KMM_VERSION_NUMBER - 10000, "compile the program again");
    assert_int_equal(kmm_create_version(KMM_VERSION_NUMBER + 1, sizeof(config), &rt, &config), 0);
    assert_int_equal(kmm_destroy(rt), 0);
}

/* Fields behind the caller's size are not read. */
static void test_config_sizes(void **state)
{
    (void)state;
    kmm_runtime_t *rt = NULL;
    kmm_config_t config = {.devices = "host:2,mem=4M"};
    const size_t wrong[] = {0, FIRST_CONFIG - 1, sizeof(config) + 1};
    for (int k = 0; k < 3; k++)
        assert_int_equal(kmm_create_version(KMM_VERSION_NUMBER, wrong[k], &rt, &config),
                         KMM_E_INVALID);
    assert_null(rt);
    struct {
        char first[FIRST_CONFIG], rest[256];
    } old;
    memset(&old, 0xff, sizeof(old));
    memcpy(old.first, &config, FIRST_CONFIG);
    assert_int_equal((kmm_create)(&rt, (const kmm_config_t *)(const void *)&old), 0);
    assert_int_equal(kmm_device_count(rt), 2);
    assert_int_equal(kmm_destroy(rt), 0);
    assert_int_equal((kmm_create)(&rt, NULL), 0);
    assert_int_equal(kmm_destroy(rt), 0);
}

/* Bytes behind the caller's size are not written, and fields that libkmm lacks are 0. */
static void test_info_sizes(void **state)
{
    (void)state;
    enum { FIRST_INFO = 132, WHOLE = sizeof(kmm_device_info_t) };
    kmm_runtime_t *rt = NULL;
    kmm_config_t config = {.devices = "host:1,mem=4M"};
    union {
        kmm_device_info_t info;
        unsigned char bytes[WHOLE + 64];
    } out;
    assert_int_equal(kmm_create(&rt, &config), 0);
    assert_int_equal(kmm_device_get_sized(FIRST_INFO - 1, rt, 0, &out.info), KMM_E_INVALID);
    memset(&out, 0xff, sizeof(out));
    assert_int_equal((kmm_device_get)(rt, 0, &out.info), 0);
    assert_int_equal(out.info.memory_bytes, 4 << 20);
    for (size_t k = FIRST_INFO; k < sizeof(out); k++)
        assert_int_equal(out.bytes[k], 0xff);
    assert_int_equal(kmm_device_get_sized(WHOLE + 32, rt, 0, &out.info), 0);
    for (size_t k = WHOLE; k < sizeof(out); k++)
        assert_int_equal(out.bytes[k], k < WHOLE + 32 ? 0 : 0xff);
    assert_int_equal(kmm_device_get(rt, 1, &out.info), KMM_E_NO_DEVICE);
    assert_int_equal(kmm_destroy(rt), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_number),
        cmocka_unit_test(test_versions_that_differ),
        cmocka_unit_test(test_config_sizes),
        cmocka_unit_test(test_info_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
