/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels that have no clone. */
#include "launch/whole.h"

#include "base/log.h"

/* Warns once for each of the first 64 kernels of which this is called. */
static void warn_whole(const kmm_launch_t *l, const kmm_kernel_t *kernel)
{
    enum { MAX_SAID = 64 };
    static _Atomic(const kmm_kernel_t *) said[MAX_SAID];
    for (int k = 0; k < MAX_SAID; k++) {
        const kmm_kernel_t *none = NULL;
        if (atomic_compare_exchange_strong(&said[k], &none, kernel)) {
            kmm__log(KMM__LOG_WARNING,
                     "%s:%d: kernel %s runs as one chunk, because the file that defines it was "
                     "compiled without a clone of it: compile that file by kmmcc -fkmm-clone",
                     l->file ? l->file : "?", l->line, kernel->name);
            return;
        }
        if (none == kernel)
            return;
    }
}

void kmm__launch_whole(kmm_launch_t *l, const kmm_kernel_t *kernel)
{
    l->one_chunk = l->is_whole = true;
    if (!l->on_current)
        warn_whole(l, kernel);
}
