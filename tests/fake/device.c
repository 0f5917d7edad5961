/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's devices, what the environment says of them, and where it lets calls fail. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed = PTHREAD_COND_INITIALIZER;
fake_device_t fake_devices[FAKE_MAX_DEVICES];
fake_counts_t fake_live;

static int device_count = -1;
static size_t memory, granule;
static uint32_t lanes = 32;
static unsigned long met[FAKE_POINTS]; /* how often each point was passed */
static uint64_t copy_rate, kernel_ns, jitter_ns, map_ns, host_rate, host_links, most_links;

_Noreturn void fake_broken(const char *what)
{
    fprintf(stderr, "fake %s driver: %s\n", fake_driver, what);
    abort();
}

const char *fake_setting(const char *name)
{
    char text[64];
    int n = snprintf(text, sizeof(text), "KMM_FAKE_%s_", fake_driver);
    for (char *c = text; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    snprintf(text + n, sizeof(text) - (size_t)n, "%s", name);
    const char *own = getenv(text);
    snprintf(text, sizeof(text), "KMM_FAKE_%s", name);
    return own ? own : getenv(text);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = fake_setting(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

int fake_start(void)
{
    pthread_mutex_lock(&fake_lock);
    device_count = (int)number("DEVICES", 2);
    memory = number("MEM", 256 << 20);
    granule = number("GRANULE", 2 << 20);
    lanes = number("LANES", 32) == 64 ? 64 : 32;
    copy_rate = number("COPY_RATE", 0);
    kernel_ns = number("KERNEL_US", 0) * 1000;
    jitter_ns = number("JITTER_US", 0) * 1000;
    map_ns = number("MAP_US", 0) * 1000;
    host_rate = number("HOST_RATE", 0);
    host_links = number("HOST_LINKS", FAKE_MAX_DEVICES);
    most_links = number("MOST_LINKS", FAKE_MAX_DEVICES);
    memset(met, 0, sizeof(met));
    fake_live.most_bytes = fake_live.most_links = 0;
    for (int k = 0; k < FAKE_MAX_DEVICES; k++) /* without contexts nothing else ends a loss */
        if (fake_devices[k].references == 0)
            fake_devices[k].lost = FAKE_OK;
    pthread_mutex_unlock(&fake_lock);
    return device_count > 0 ? FAKE_OK : FAKE_NO_DEVICE;
}

int fake_count(void)
{
    return device_count;
}

bool fake_is_device(int device)
{
    return device >= 0 && device < device_count;
}

size_t fake_memory(void)
{
    return memory;
}

size_t fake_granule(void)
{
    return granule;
}

bool fake_have_peers(void)
{
    return number("PEERS", 1) != 0;
}

uint32_t fake_lanes(void)
{
    return lanes;
}

bool fake_pci(int device, unsigned out[4])
{
    const char *text = fake_setting("PCI");
    for (int k = 0; k < device && text; k++) {
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
    return text && sscanf(text, "%x:%x:%x.%x", &out[0], &out[1], &out[2], &out[3]) == 4;
}

void fake_enter(void)
{
    pthread_mutex_lock(&fake_lock);
    for (int k = 0; k < FAKE_MAX_DEVICES; k++)
        if (fake_devices[k].lost && fake_devices[k].running) {
            pthread_cond_wait(&fake_changed, &fake_lock);
            k = -1;
        }
}

int fake_enter_unsafe(void)
{
    fake_enter();
    return fake_capture_forbids() ? FAKE_CAPTURE_UNSUPPORTED : FAKE_OK;
}

void fake_release(int device)
{
    fake_device_t *d = &fake_devices[device];
    if (d->references == 0)
        fake_broken("a primary context is released that nobody holds");
    fake_live.contexts--;
    if (--d->references)
        return;
    fake_check_no_streams(device);
    d->lost = FAKE_OK;
}

FAKE_EXPORT void fake_counts(fake_counts_t *out)
{
    pthread_mutex_lock(&fake_lock);
    *out = fake_live;
    pthread_mutex_unlock(&fake_lock);
}

/* ---- Faults ---- */

static const char *const point_names[FAKE_POINTS] = {
    "alloc",  "reserve", "map",  "unmap",  "register", "stream",  "event",
    "record", "wait",    "copy", "launch", "copying",  "running", "lost",
};

/* "copy:3": the third one. "copy:3+": all from the third on. */
static bool entry_strikes(const char *entry, size_t length, fake_point_t point)
{
    size_t n = strlen(point_names[point]);
    char *end;
    if (length <= n || memcmp(entry, point_names[point], n) || entry[n] != ':')
        return false;
    unsigned long k = strtoul(entry + n + 1, &end, 10);
    return *end == '+' ? met[point] >= k : met[point] == k;
}

bool fake_strikes(fake_point_t point)
{
    const char *text = fake_setting("FAIL");
    met[point]++;
    for (size_t n; text && *text; text += n + (text[n] == ',')) {
        n = strcspn(text, ",");
        if (!entry_strikes(text, n, point))
            continue;
        fake_live.faults++;
        return true;
    }
    return false;
}

/* ---- Time ---- */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t random_below(uint64_t n)
{
    static _Thread_local uint64_t state;
    if (!state)
        state = (uint64_t)(uintptr_t)&state | 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return n ? (state >> 33) % n : 0;
}

uint64_t fake_link_begin(fake_device_t *d)
{
    unsigned long links = 0;
    uint64_t copies = 0;
    d->copying++;
    for (int k = 0; k < FAKE_MAX_DEVICES; k++) {
        links += fake_devices[k].copying > 0;
        copies += (uint64_t)fake_devices[k].copying;
    }
    if (links > most_links)
        fake_broken("more devices copy from and to the host at once than may");
    if (links > fake_live.most_links)
        fake_live.most_links = links;
    return host_rate / copies * (links > host_links ? 1 : 2) / 2;
}

void fake_take_time(uint64_t *busy_until, uint64_t bytes, bool kernel, uint64_t rate)
{
    rate = copy_rate && (!rate || copy_rate < rate) ? copy_rate : rate;
    uint64_t ns = kernel ? kernel_ns
                  : rate ? (uint64_t)((double)bytes * 1e9 / (double)rate)
                         : 0,
             now = now_ns();
    ns += random_below(jitter_ns);
    if (!ns)
        return;
    /* What is slept too long now is slept less by the next one, if it was there already. */
    *busy_until = (*busy_until + 1000000 > now ? *busy_until : now) + ns;
    if (*busy_until > now)
        nanosleep(&(struct timespec){(time_t)((*busy_until - now) / 1000000000u),
                                     (long)((*busy_until - now) % 1000000000u)},
                  NULL);
}

void fake_take_mapping(void)
{
    if (map_ns)
        nanosleep(&(struct timespec){(time_t)(map_ns / 1000000000u), (long)(map_ns % 1000000000u)},
                  NULL);
}
