/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes in environment variables. */
#include "base/size.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

bool kmm__size_parse(const char *text, uint64_t *out)
{
    char *end;
    double v = strtod(text, &end);
    const char *units = "KMGT";
    const char *u = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (end == text || !(v >= 0))
        return false;
    for (const char *k = units; u && k <= u; k++)
        v *= 1024;
    if (u)
        end++;
    if (u && (*end == 'i' || *end == 'I'))
        end++;
    if (*end == 'B' || *end == 'b')
        end++;
    if (*end || v >= (double)INT64_MAX)
        return false;
    *out = (uint64_t)v;
    return true;
}

int kmm__size_of_variable(const char *name, uint64_t *out)
{
    const char *text = getenv(name);
    if (*out || !text || !*text)
        return 0;
    return kmm__size_parse(text, out)
               ? 0
               : kmm__error_set(KMM_E_INVALID, "%s=%s: no number of bytes, such as 64M or 8G", name,
                                text);
}
