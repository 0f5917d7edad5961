/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of a managed program: whether there is one that it was built for, which one is current,
 * access from one to another, and variables, of which each GPU has its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

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
        kmm_cuda_say_error(WANTED ", and this program's kernels were built for one "
                                  "(error %d); to run it on the CPU, build it with kmmcc "
                                  "--target=host",
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

void internal(use_own_gpu)(void)
{
    kmm_runtime_t *rt = kmm_default();
    kmm_device_info_t info;
    const int count = kmm_device_count(rt);
    for (int k = 0; k < count; k++)
        if (!kmm_device_get(rt, k, &info) && info.kind == KIND) {
            real(SetDevice)(info.ordinal);
            return;
        }
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

/* ---- Several of them ---- */

int wrap(SetDevice)(int device)
{
    int error = real(SetDevice)(device);
    if (!error)
        kmm_cuda_native_device(device);
    return error;
}

int wrap(DeviceEnablePeerAccess)(int peer, unsigned flags)
{
    kmm_cuda_native_several(KIND);
    return real(DeviceEnablePeerAccess)(peer, flags);
}

/* ---- Variables. In native standing the program sets them on the devices that it uses. When the
 * standing ends, the other devices get the values, since chunks may run there. ---- */

enum { MOST_DEVICES = 32 };

/* A variable that the program has set. Never freed. */
typedef struct variable {
    const void *symbol;
    size_t bytes;
    int device;      /* where it was set last */
    uint32_t set_on; /* devices (bits) where it was set */
    struct variable *next;
} variable_t;
static variable_t *variables;
static pthread_mutex_t variables_lock = PTHREAD_MUTEX_INITIALIZER;

static int devices[MOST_DEVICES]; /* the ordinals of the GPUs that libkmm uses */
static int device_count;

static void find_devices(void)
{
    kmm_runtime_t *rt = kmm_default();
    kmm_device_info_t info;
    const int count = kmm_device_count(rt);
    for (int k = 0; k < count && device_count < MOST_DEVICES; k++)
        if (!kmm_device_get(rt, k, &info) && info.kind == KIND && info.ordinal < MOST_DEVICES)
            devices[device_count++] = info.ordinal;
}

/* Copies a variable from the device where it was set last to those where it was not. */
static int give_to_others(const variable_t *v, void *copy)
{
    int error = real(SetDevice)(v->device);
    if (!error)
        error = real(MemcpyFromSymbol)(copy, v->symbol, v->bytes, 0, DEVICE_TO_HOST);
    for (int k = 0; k < device_count && !error; k++) {
        if (v->set_on >> devices[k] & 1)
            continue;
        error = real(SetDevice)(devices[k]);
        if (!error)
            error = real(MemcpyToSymbol)(v->symbol, copy, v->bytes, 0, HOST_TO_DEVICE);
        if (!error)
            error = real(StreamSynchronize)(NULL); /* the value may be there later */
    }
    return error;
}

static void standing_ends(void)
{
    int current = 0, error = 0;
    pthread_mutex_lock(&variables_lock);
    api(GetDevice)(&current);
    for (const variable_t *v = variables; v && !error; v = v->next) {
        void *copy = malloc(v->bytes + 1);
        error = copy ? give_to_others(v, copy) : KMM_CUDA_MEMORY_ALLOCATION;
        free(copy);
    }
    real(SetDevice)(current);
    pthread_mutex_unlock(&variables_lock);
    if (error)
        kmm_cuda_say_error("a variable of one device cannot be copied to the others: error %d "
                           "of " RUNTIME "'s runtime",
                           error);
}

int api(GetSymbolSize)(size_t *bytes, const void *symbol);

void internal(symbol_set)(const void *symbol)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t bytes = 0;
    int current = 0;
    pthread_once(&once, find_devices);
    if (device_count < 2 || api(GetDevice)(&current) || current >= MOST_DEVICES ||
        api(GetSymbolSize)(&bytes, symbol))
        return;
    pthread_mutex_lock(&variables_lock);
    variable_t *v = variables;
    while (v && v->symbol != symbol)
        v = v->next;
    if (!v && (v = malloc(sizeof(*v)))) {
        *v = (variable_t){.symbol = symbol, .bytes = bytes, .next = variables};
        variables = v;
    }
    if (v) {
        v->device = current;
        v->set_on |= 1u << current;
    }
    pthread_mutex_unlock(&variables_lock);
    kmm_cuda_native_at_end(standing_ends);
}
