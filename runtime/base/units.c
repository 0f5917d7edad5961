/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of bytes and seconds for people. */
#include "base/units.h"

#include <stdio.h>

char *kmm__units_bytes(char out[KMM__UNITS_TEXT], uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    unsigned k = 0;
    for (; v >= 1024 && k < 6; k++)
        v /= 1024;
    snprintf(out, KMM__UNITS_TEXT, "%.*f %s", k ? 1 : 0, v, units[k]);
    return out;
}

char *kmm__units_seconds(char out[KMM__UNITS_TEXT], double seconds)
{
    static const double MOST = 3600.0 * 100000;
    double s = seconds < 0 ? 0 : seconds < MOST ? seconds : MOST;
    long whole = (long)s;
    if (s < 60)
        snprintf(out, KMM__UNITS_TEXT, "%.*f s", s < 10 ? 3 : 1, s);
    else if (s < 3600)
        snprintf(out, KMM__UNITS_TEXT, "%ld:%02ld min", whole / 60, whole % 60);
    else
        snprintf(out, KMM__UNITS_TEXT, "%ld:%02ld h", whole / 3600, whole / 60 % 60);
    return out;
}
