/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU's backend: opening devices, facts about them, and the struct of functions. */
#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/host/device.h"
#include "backend/host/error.h"
#include "backend/host/memory.h"
#include "backend/host/stream.h"
#include "backend/host/work.h"

static const char *host_error_text(kmm__backend_t *b)
{
    (void)b;
    return kmm__host_error_text();
}

static int host_count(kmm__backend_t *b)
{
    const kmm__host_t *host = (const kmm__host_t *)b;
    return host->pretend > 0 ? (int)host->pretend : 1;
}

static int host_open(kmm__backend_t *b, int ordinal, kmm__gpu_t **out)
{
    if (ordinal < 0 || ordinal >= host_count(b))
        return kmm__host_error(KMM_E_NO_DEVICE, "there is no host device %d, only %d", ordinal,
                               host_count(b));
    kmm__gpu_t *gpu = calloc(1, sizeof(*gpu));
    if (!gpu)
        return kmm__host_error(KMM_E_MEMORY, "no memory for a device");
    gpu->host = (kmm__host_t *)b;
    gpu->ordinal = ordinal;
    pthread_mutex_init(&gpu->lock, NULL);
    *out = gpu;
    return 0;
}

static void host_close(kmm__gpu_t *gpu)
{
    if (!gpu)
        return;
    assert(gpu->is_stuck || (!gpu->frames && gpu->windows == 0));
    for (kmm__host_frame_t *f = gpu->frames, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
}

static void host_info(kmm__gpu_t *gpu, kmm__gpu_info_t *out)
{
    const kmm__host_t *host = gpu->host;
    *out = (kmm__gpu_info_t){.granularity = KMM__HOST_GRANULARITY, .compute_streams = 1};
    if (host->pretend == 0) {
        snprintf(out->name, sizeof(out->name), "host (%u threads)", host->pool.thread_count);
        out->compute_streams = host->pool.thread_count;
        return;
    }
    out->host_backed = true;
    snprintf(out->name, sizeof(out->name), "host:%d", gpu->ordinal);
    pthread_mutex_lock(&gpu->lock);
    out->memory_total = host->mem;
    out->memory_free = host->mem - gpu->used;
    pthread_mutex_unlock(&gpu->lock);
}

static int host_register(kmm__backend_t *b, void *base, size_t bytes)
{
    (void)b, (void)base, (void)bytes;
    return kmm__host_error(KMM_E_UNSUPPORTED, "the host's memory needs no registration");
}

static int host_unregister(kmm__backend_t *b, void *base)
{
    return host_register(b, base, 0);
}

static void host_unload(kmm__backend_t *b)
{
    if (!b)
        return;
    kmm__host_t *host = (kmm__host_t *)b;
    kmm__thread_pool_deinit(&host->pool);
    for (kmm__stream_t *s = host->streams; s;) {
        kmm__stream_t *next = s->next;
        kmm__host_stream_free(s);
        s = next;
    }
    pthread_mutex_destroy(&host->lock);
    free(host);
}

static bool host_assist(kmm__backend_t *b)
{
    return kmm__thread_pool_assist(&((kmm__host_t *)b)->pool);
}

static const kmm__backend_t host_functions = {
    .name = "host",
    .kind = KMM_KIND_HOST,
    .count = host_count,
    .open = host_open,
    .close = host_close,
    .info = host_info,
    .error_text = host_error_text,
    .unload = host_unload,
    .window_reserve = kmm__host_window_reserve,
    .window_release = kmm__host_window_release,
    .frame_create = kmm__host_frame_create,
    .frame_create_host_backed = kmm__host_frame_create_host_backed,
    .frame_destroy = kmm__host_frame_destroy,
    .frame_map = kmm__host_frame_map,
    .frame_map_without_access = kmm__host_frame_map,
    .frames_allow = kmm__host_frames_allow,
    .frame_unmap = kmm__host_frame_unmap,
    .frame_share = kmm__host_frame_share,
    .host_register = host_register,
    .host_unregister = host_unregister,
    .stream_create = kmm__host_stream_create,
    .stream_destroy = kmm__host_stream_destroy,
    .event_create = kmm__host_event_create,
    .event_destroy = kmm__host_event_destroy,
    .event_record = kmm__host_event_record,
    .stream_wait = kmm__host_stream_wait,
    .event_query = kmm__host_event_query,
    .assist = host_assist,
    .copy = kmm__host_copy,
    .fill = kmm__host_fill,
    .launch = kmm__host_launch,
    .notify = kmm__host_notify,
};

/* Number of cores that this process may use. */
static uint32_t core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

/* True if `word` is in the comma-separated list of an environment variable. */
static bool environment_lists(const char *variable, const char *word)
{
    const char *list = getenv(variable);
    size_t length = strlen(word);
    while (list && *list) {
        size_t entry = strcspn(list, ",");
        if (entry == length && strncmp(list, word, length) == 0)
            return true;
        list += entry + (list[entry] == ',');
    }
    return false;
}

int kmm__host_backend_create(uint32_t threads, uint32_t pretend, uint64_t mem, kmm__backend_t **out)
{
    kmm__host_t *host = calloc(1, sizeof(*host));
    if (!host)
        return kmm__host_error(KMM_E_MEMORY, "no memory for the host device");
    host->base = host_functions;
    host->pretend = pretend;
    host->mem = mem;
    host->check_frames = environment_lists("KMM_CHECK", "frames");
    int error = kmm__thread_pool_init(&host->pool, threads > 0 ? threads : core_count());
    if (error) {
        free(host);
        return error;
    }
    pthread_mutex_init(&host->lock, NULL);
    *out = &host->base;
    return 0;
}
