/* SPDX-License-Identifier: Apache-2.0 */
/* Configures which devices a runtime has, and how much of their memory it may use. */
#include "api/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/size.h"
#include "execute/check.h"
#include "execute/exact.h"
#include "execute/exact_host.h"
#include "launch/state.h"
#include "memory/disk/spill.h"
#include "memory/host/locked.h"
#include "memory/host/numa.h"

static const uint64_t RESERVE_PART =
    32; /* 1/32 of a device's free memory is left to others by default */

/* KMM_JOIN: the size in bytes up to which small chunks are joined; 0: never. Tests set the other
 * limits too: "64K,1,2". */
static int config_join(kmm_runtime_t *rt)
{
    enum { BYTES = 32 << 20, TASKS = 32, PART = 64 };
    const char *text = getenv("KMM_JOIN");
    char *copy = kmm__copy_text(text ? text : ""), *rest = copy, *number;
    uint64_t values[] = {BYTES, TASKS, PART};
    bool ok = true;
    for (int k = 0; k < 3 && (number = strsep(&rest, ",")); k++)
        ok &= k ? kmm__size_parse(number, &values[k]) && values[k] > 0
                : !*number || kmm__size_parse(number, &values[k]);
    ok &= !rest;
    free(copy);
    rt->launches->join.bytes = values[0];
    rt->launches->join.tasks = values[1];
    rt->launches->join.part = values[2];
    return ok ? 0
              : kmm__error_set(KMM_E_INVALID, "KMM_JOIN=%s: no number of bytes, such as 32M or 0",
                               text);
}

/* Computes how much of a device's memory may be used: the configured amount, or the free memory
 * less a reserve. If an amount is to be kept free for other programs, at most the free memory
 * less that amount. */
static int device_limit(const kmm__device_t *d, const kmm_config_t *config, uint64_t *out)
{
    uint64_t kept = config->device_keep_free, free_bytes = d->info.memory_free;
    uint64_t most = kept                 ? (kept < free_bytes ? free_bytes - kept : 0)
                    : config->device_mem ? d->info.memory_total
                                         : free_bytes - free_bytes / RESERVE_PART;
    *out = config->device_mem && config->device_mem < most ? config->device_mem : most;
    if (kept && d->info.memory_total && *out < d->info.granularity)
        return kmm__error_set(
            KMM_E_INVALID,
            "KMM_DEVICE_KEEP_FREE: %llu bytes are to be left free on %s, of which %llu are",
            (unsigned long long)kept, d->info.name, (unsigned long long)free_bytes);
    return 0;
}

static int add_device(kmm_runtime_t *rt, kmm__backend_t *b, int ordinal, const kmm_config_t *config,
                      bool hidden)
{
    kmm__device_t *d = kmm__alloc(sizeof(*d));
    int error = b->open(b, ordinal, &d->gpu);
    if (error) {
        free(d);
        return kmm__error_set(error, "device %d of %s: %s", ordinal, b->name, b->error_text(b));
    }
    d->runtime = rt;
    d->backend = b;
    d->ordinal = ordinal;
    d->hidden = hidden;
    b->info(d->gpu, &d->info);
    d->index = rt->device_count;
    d->space = d->info.memory_total ? d->index + 1 : KMM__HOST;
    uint64_t limit;
    error = device_limit(d, config, &limit);
    if (error) {
        b->close(d->gpu);
        free(d);
        return error;
    }
    if (rt->checks_access && b->kind != KMM_KIND_HOST)
        limit /= kmm__exact_is_on() ? 3 : 2; /* the rest is for copies, and marks of their bytes */
    kmm__device_memory_start(d, limit);
    d->memory->is_bounded = config->device_mem || config->device_keep_free;
    rt->device[rt->device_count++] = d;
    rt->has_spaces |= d->space != KMM__HOST;
    if (d->space == KMM__HOST && !rt->cpu)
        rt->cpu = d;
    return 0;
}

static int add_backend(kmm_runtime_t *rt, kmm__backend_t *b)
{
    rt->backends[rt->backend_count++] = b;
    return 0;
}

/* Returns the number of devices that can still be added, leaving room for the CPU. */
static int room(const kmm_runtime_t *rt)
{
    return (int)(KMM__MAX_DEVICES - rt->device_count) - !rt->cpu;
}

static int too_many(void)
{
    return kmm__error_set(KMM_E_INVALID, "KMM_DEVICES: more than %d devices", KMM__MAX_DEVICES - 1);
}

/* This process among those of one program on this host. */
static struct {
    uint32_t rank, size;
} share = {0, 1};

void kmm__config_share(uint32_t rank, uint32_t size)
{
    share.rank = rank;
    share.size = size;
}

/* The GPUs of this process: `used` of `count`, from *first on, around. Each process on the host has
 * as many. */
static int share_of(int count, int at_most, const char *product, int *first)
{
    const int size = (int)share.size, used = at_most ? at_most : count < size ? 1 : count / size;
    *first = (int)share.rank * used % count;
    if (size > 1)
        kmm__log_info("process %u of %d on this host uses %d of %d %s devices, from device %d on",
                      share.rank, size, used, count, product, *first);
    return used;
}

typedef int create_t(kmm__backend_t **out, const char **reason);

static int add_gpus(kmm_runtime_t *rt, create_t *create, const char *product, int at_most,
                    const kmm_config_t *config, bool required)
{
    kmm__backend_t *b;
    const char *reason = "";
    int error = create(&b, &reason);
    if (error == KMM_E_NO_DEVICE && !required)
        return 0;
    if (error)
        return kmm__error_set(error, "no %s device: %s", product, reason);
    add_backend(rt, b);
    kmm__numa_prepare(rt);
    int count = b->count(b);
    if (at_most && count < at_most)
        return kmm__error_set(KMM_E_NO_DEVICE, "%d %s devices were asked for, and %d answer",
                              at_most, product, count);
    if (at_most > room(rt) || (required && room(rt) == 0))
        return too_many();
    int first = 0, used = count ? share_of(count, at_most, product, &first) : 0;
    if (used > room(rt)) {
        kmm__log(KMM__LOG_WARNING, "of %d %s devices %d are used, since there can be no more", used,
                 product, room(rt));
        used = room(rt);
    }
    for (int k = 0; k < used; k++)
        if ((error = add_device(rt, b, (first + k) % count, config, false)))
            return error;
    return 0;
}

static int add_host(kmm_runtime_t *rt, uint32_t pretend, const kmm_config_t *config, bool hidden)
{
    kmm__backend_t *b;
    uint64_t mem = config->device_mem ? config->device_mem : (uint64_t)1 << 30;
    int error = kmm__host_backend_create(config->threads, pretend, mem, &b);
    if (error)
        return kmm__error_set(error, "the CPU could not be made a device");
    add_backend(rt, b);
    if ((int)pretend > room(rt) || (!pretend && rt->cpu && room(rt) == 0))
        return too_many();
    for (uint32_t k = 0; k < (pretend ? pretend : 1); k++)
        if ((error = add_device(rt, b, (int)k, config, hidden)))
            return error;
    return 0;
}

/* Adds the devices of one entry of the list: "cuda", "cuda:2", "hip", "host", "host:4". */
static int add_entry(kmm_runtime_t *rt, const char *entry, const kmm_config_t *config)
{
    const char *colon = strchr(entry, ':');
    size_t length = colon ? (size_t)(colon - entry) : strlen(entry);
    char *end = NULL;
    long n = colon ? strtol(colon + 1, &end, 10) : 0;
    if ((colon && (*end || n < 1 || n > KMM__MAX_DEVICES - 1)) ||
        rt->backend_count >=
            KMM__MAX_BACKENDS - 1) /* leaves room for the CPU, which is always there */
        return kmm__error_set(KMM_E_INVALID,
                              "KMM_DEVICES: `%s` is no device list; it is like cuda, cuda:2, hip, "
                              "host, or host:4,mem=64M",
                              entry);
    rt->is_counted |= n > 0;
    if (length == 4 && !memcmp(entry, "cuda", 4))
        return add_gpus(rt, kmm__cuda_backend_create, "CUDA", (int)n, config, true);
    if (length == 3 && !memcmp(entry, "hip", 3))
        return add_gpus(rt, kmm__hip_backend_create, "HIP", (int)n, config, true);
    if (length == 4 && !memcmp(entry, "host", 4))
        return add_host(rt, (uint32_t)n, config, false);
    return kmm__error_set(
        KMM_E_INVALID,
        "KMM_DEVICES: there is no kind of device `%.*s`; there are cuda, hip and host", (int)length,
        entry);
}

static int add_list(kmm_runtime_t *rt, const char *list, kmm_config_t *config)
{
    char *copy = kmm__copy_text(list), *rest = copy, *entry;
    const char *entries[KMM__MAX_DEVICES];
    int count = 0, error = 0;
    while (!error && (entry = strsep(&rest, ","))) {
        uint64_t mem;
        if (!strncmp(entry, "mem=", 4)) {
            if (!kmm__size_parse(entry + 4, &mem) || mem == 0)
                error = kmm__error_set(KMM_E_INVALID,
                                       "KMM_DEVICES: `%s`: no number of bytes, such as 64M or 8G",
                                       entry);
            else
                config->device_mem = mem;
        } else if (*entry && count < KMM__MAX_DEVICES) {
            entries[count++] = entry;
        }
    }
    for (int k = 0; k < count && !error; k++)
        error = add_entry(rt, entries[k], config);
    if (!error && count == 0 && strspn(list, ",") == strlen(list))
        error = kmm__error_set(KMM_E_INVALID,
                               "KMM_DEVICES: `%s` names no device; it is like cuda, cuda:2, hip, "
                               "host, or host:4,mem=64M",
                               list);
    free(copy);
    return error;
}

/* Adds all GPUs. HIP is tried only if AMD's kernel driver is present, since its search for
 * devices is slow. */
static int add_all(kmm_runtime_t *rt, const kmm_config_t *config)
{
    int error = add_gpus(rt, kmm__cuda_backend_create, "CUDA", 0, config, false);
    if (!error && access("/dev/kfd", F_OK) == 0)
        error = add_gpus(rt, kmm__hip_backend_create, "HIP", 0, config, false);
    return error;
}

static int config_threads(kmm_config_t *config)
{
    enum { MOST = 4096 };
    const char *text = getenv("KMM_THREADS");
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : 0;
    if (config->threads || !text || !*text)
        return 0;
    if (*end || n < 0 || n > MOST)
        return kmm__error_set(KMM_E_INVALID,
                              "KMM_THREADS=%s: no number of threads, which is 1 to %d, or 0 for as "
                              "many as there are cores",
                              text, MOST);
    config->threads = (uint32_t)n;
    return 0;
}

int kmm__config_devices(kmm_runtime_t *rt, const kmm_config_t *given)
{
    kmm_config_t config = given ? *given : (kmm_config_t){0};
    const char *list = config.devices ? config.devices : getenv("KMM_DEVICES");
    int error = kmm__check_config(rt);
    if (rt->checks_access)
        kmm__exact_host_watch();
    if (!error)
        error = kmm__size_of_variable("KMM_DEVICE_MEM", &config.device_mem);
    if (!error)
        error = kmm__size_of_variable("KMM_DEVICE_KEEP_FREE", &config.device_keep_free);
    if (!error)
        error = kmm__size_of_variable("KMM_FRAME", &config.frame_bytes);
    if (!error)
        error = config_join(rt);
    if (!error)
        error = config_threads(&config);
    if (error)
        return error;
    rt->memory->frame_bytes = config.frame_bytes ? config.frame_bytes : (uint64_t)128 << 20;
    while (rt->memory->frame_bytes & (rt->memory->frame_bytes - 1))
        rt->memory->frame_bytes &= rt->memory->frame_bytes - 1;
    error = list && *list ? add_list(rt, list, &config) : add_all(rt, &config);
    if (!error && rt->device_count == 0)
        error = add_host(rt, 0, &config, false);
    rt->visible_count = rt->device_count;
    if (!error && !rt->cpu)
        error = add_host(rt, 0, &config, true);
    rt->space_count = rt->device_count + 1;
    const char *order = getenv("KMM_ORDER");
    rt->memory->by_reuse = !(order && !strcmp(order, "submission"));
    return error;
}

static const char *first_of(const char *a, const char *b, const char *c)
{
    return a && *a ? a : b && *b ? b : c;
}

int kmm__config_locked(kmm_runtime_t *rt, const kmm_config_t *given)
{
    const char *text = getenv("KMM_PINNED_MEM");
    uint64_t bound = given ? given->pinned_mem : 0;
    bool is_given = bound > 0 || (text && *text);
    int error = kmm__size_of_variable("KMM_PINNED_MEM", &bound);
    kmm__locked_start(rt, is_given, bound);
    return error;
}

int kmm__config_host(kmm_runtime_t *rt, const kmm_config_t *given)
{
    uint64_t limit = given ? given->host_mem : 0;
    const char *folder = first_of(given ? given->spill_dir : NULL, getenv("KMM_SPILL_DIR"), NULL);
    int error = kmm__size_of_variable("KMM_HOST_MEM", &limit);
    if (error || limit == 0)
        return error;
    return kmm__spill_start(rt, limit, first_of(folder, getenv("TMPDIR"), "/var/tmp"));
}
