/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes: each has its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <kmm/error.h>

static void every_code_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(kmm_error_string(0), "no error");
#define KMM_X(name, number, text) assert_string_equal(kmm_error_string(KMM_E_##name), text);
    KMM_ERROR_TABLE(KMM_X)
#undef KMM_X
    assert_string_equal(kmm_error_string(-999), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_code_has_a_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
