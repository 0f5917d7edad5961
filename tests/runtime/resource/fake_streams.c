/* SPDX-License-Identifier: Apache-2.0 */
/* Streams without work: vector clocks, and events that copy them. */
#include "fake_streams.h"

#include <stdlib.h>
#include <string.h>

typedef struct fake_event {
    uint64_t clock[FAKE_STREAMS];
} fake_event_t;

kmm_stream_t fake_stream(int index)
{
    return (kmm_stream_t)(uintptr_t)(0x1000 * (index + 1));
}

int fake_stream_index(kmm_stream_t stream)
{
    return stream ? (int)((uintptr_t)stream / 0x1000) - 1 : 0;
}

static int event_create(void *context, void **event)
{
    fake_streams_t *f = context;
    *event = calloc(1, sizeof(fake_event_t));
    pthread_mutex_lock(&f->lock);
    f->events++;
    pthread_mutex_unlock(&f->lock);
    return *event ? 0 : KMM_E_MEMORY;
}

static void event_destroy(void *context, void *event)
{
    fake_streams_t *f = context;
    pthread_mutex_lock(&f->lock);
    f->events--;
    pthread_mutex_unlock(&f->lock);
    free(event);
}

static int event_record(void *context, void *event, kmm_stream_t stream)
{
    fake_streams_t *f = context;
    pthread_mutex_lock(&f->lock);
    f->records++;
    int fails = f->fail_records > 0 && f->fail_records-- > 0;
    if (!fails)
        memcpy(((fake_event_t *)event)->clock, f->clock[fake_stream_index(stream)],
               sizeof(f->clock[0]));
    pthread_mutex_unlock(&f->lock);
    return fails ? KMM_E_DEVICE : 0;
}

static void join(uint64_t *into, const uint64_t *from)
{
    for (int i = 0; i < FAKE_STREAMS; i++)
        if (into[i] < from[i])
            into[i] = from[i];
}

static int stream_wait(void *context, kmm_stream_t stream, void *event)
{
    fake_streams_t *f = context;
    pthread_mutex_lock(&f->lock);
    f->waits++;
    join(f->clock[fake_stream_index(stream)], ((fake_event_t *)event)->clock);
    pthread_mutex_unlock(&f->lock);
    return 0;
}

static int event_query(void *context, void *event)
{
    fake_streams_t *f = context;
    int done = 1;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < FAKE_STREAMS; i++)
        done &= f->completed[i] >= ((fake_event_t *)event)->clock[i];
    pthread_mutex_unlock(&f->lock);
    return done;
}

static int event_wait(void *context, void *event)
{
    fake_streams_t *f = context;
    pthread_mutex_lock(&f->lock);
    join(f->completed, ((fake_event_t *)event)->clock);
    pthread_mutex_unlock(&f->lock);
    return 0;
}

void fake_streams_init(fake_streams_t *f)
{
    memset(f, 0, sizeof(*f));
    pthread_mutex_init(&f->lock, NULL);
    f->order = (kmm_stream_order_t){f,           event_create, event_destroy, event_record,
                                    stream_wait, event_query,  event_wait};
}

uint64_t fake_work(fake_streams_t *f, int stream)
{
    pthread_mutex_lock(&f->lock);
    uint64_t tick = ++f->clock[stream][stream];
    pthread_mutex_unlock(&f->lock);
    return tick;
}

void fake_order(fake_streams_t *f, int later, int earlier)
{
    pthread_mutex_lock(&f->lock);
    join(f->clock[later], f->clock[earlier]);
    pthread_mutex_unlock(&f->lock);
}

int fake_is_completed(fake_streams_t *f, int stream, uint64_t tick)
{
    pthread_mutex_lock(&f->lock);
    int done = f->completed[stream] >= tick;
    pthread_mutex_unlock(&f->lock);
    return done;
}

int fake_is_before(fake_streams_t *f, int stream, uint64_t tick, int on)
{
    pthread_mutex_lock(&f->lock);
    int before = f->completed[stream] >= tick || f->clock[on][stream] >= tick;
    pthread_mutex_unlock(&f->lock);
    return before;
}

void fake_complete(fake_streams_t *f, int stream, uint64_t tick)
{
    pthread_mutex_lock(&f->lock);
    if (f->completed[stream] < tick)
        f->completed[stream] = tick;
    pthread_mutex_unlock(&f->lock);
}

void fake_complete_all(fake_streams_t *f)
{
    for (int i = 0; i < FAKE_STREAMS; i++)
        fake_complete(f, i, f->clock[i][i]);
}
