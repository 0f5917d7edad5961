/* SPDX-License-Identifier: Apache-2.0 */
/* The version of libkmm, and whether a program's version of kmm.h fits it. */
#include "api/version.h"

#include <kmm.h>

#include "base/api.h"
#include "base/error.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

KMM__API int kmm_version(void)
{
    return KMM_VERSION_NUMBER;
}

KMM__API const char *kmm_version_string(void)
{
    return TEXT(KMM_VERSION_MAJOR) "." TEXT(KMM_VERSION_MINOR) "." TEXT(KMM_VERSION_PATCH);
}

/* Patches change no interface, so their number is not compared. */
int kmm__version_check(int version)
{
    int major = version / 10000, minor = version / 100 % 100;
    if (version > 0 && major == KMM_VERSION_MAJOR && minor <= KMM_VERSION_MINOR)
        return 0;
    return kmm__error_set(
        KMM_E_UNSUPPORTED,
        "the program was compiled with kmm.h of version %d.%d, and this libkmm is version %s: %s",
        major, minor, kmm_version_string(),
        version < KMM_VERSION_NUMBER ? "compile the program again" : "run it with a newer libkmm");
}
