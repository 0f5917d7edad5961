/* SPDX-License-Identifier: Apache-2.0 */
#include <kmm/error.h>

#include "base/api.h"

KMM__API const char *kmm_error_string(int code)
{
    switch (code) {
    case 0: return "no error";
#define KMM_X(name, number, text)                                                                  \
    case number: return text;
        KMM_ERROR_TABLE(KMM_X)
#undef KMM_X
    }
    return "unknown error";
}
