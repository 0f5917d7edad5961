/* SPDX-License-Identifier: Apache-2.0 */
/* What the rest sees where kmmcc is built without the translation of kernels for the CPU. */
#include "kmmcc.h"

#define ABSENT __attribute__((weak))

ABSENT void host_kernels(unit_t *u)
{
    diag_plain(SEVERITY_ERROR, "'%s': this kmmcc cannot compile CUDA source for the CPU", u->source->path);
    diag_plain(SEVERITY_NOTE, "give --target=cuda where nvcc is installed");
}

ABSENT char *host_launch_text(unit_t *u, CXCursor launch)
{
    (void)launch;
    host_kernels(u);
    return arena_copy("", 0);
}

ABSENT void host_parse_flags(const options_t *o, const char ***flags, int *count)
{
    static const char *own[] = {"-xcuda", "--cuda-host-only", "-nocudainc", "-nocudalib"};
    (void)o;
    *flags = own;
    *count = sizeof(own) / sizeof(*own);
}
