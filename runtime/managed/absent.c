/* SPDX-License-Identifier: Apache-2.0 */
/* Detects that there is no GPU that a managed program was built for. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "managed/wrap.h"

#if KMM__WRAP_HIP
#define WANTED "no AMD GPU answers"
#else
#define WANTED "no NVIDIA GPU answers, or its driver is older than 12.4"
#endif

void internal(say_absent)(int error)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr,
                "kmm: error: " WANTED ", and this program's kernels were built for one "
                "(error %d); to run it on the CPU, build it with kmmcc --target=host\n",
                error);
}

int internal(device_count)(void)
{
    kmm_runtime_t *rt = kmm_default();
    kmm_device_info_t info;
    int found = 0, count = kmm_device_count(rt);
    for (int k = 0; k < count; k++)
        found += !kmm_device_get(rt, k, &info) && info.kind == KIND;
    return found;
}

static int absence; /* the error of the runtime's calls if the program's GPUs are absent */

/* CUDA's calls fail where it finds no GPU, also if libkmm runs chunks on the CPU there. */
static void absence_find(void)
{
    if (internal(device_count)() == 0 && (absence = real(Free)(NULL)))
        internal(say_absent)(absence);
}

int internal(is_absent)(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, absence_find);
    return absence;
}
