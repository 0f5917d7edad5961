/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_PROGRESS: how much of the submitted work is done. */
#include "observe/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/device.h"
#include "base/bar.h"
#include "base/log.h"
#include "base/spin.h"
#include "task/state.h"

/* Without KMM_PROGRESS=1, a bar comes after so many seconds. */
enum { PATIENCE = 3 };

bool kmm__progress_begin(kmm__progress_t *p)
{
    const char *text = getenv("KMM_PROGRESS");
    *p = (kmm__progress_t){.is_eager = text && strcmp(text, "1") == 0};
    return !(text && strcmp(text, "0") == 0) && kmm__bar_possible(STDERR_FILENO);
}

/* Reads how many tasks were submitted and are done. False: the lock is busy. */
static bool read_tasks(kmm_runtime_t *rt, uint64_t *all, uint64_t *done)
{
    if (pthread_mutex_trylock(&rt->lock))
        return false;
    *all = rt->tasks->next_sequence;
    *done = *all - rt->tasks->outstanding;
    pthread_mutex_unlock(&rt->lock);
    return true;
}

/* True if the run is one whose progress a user wants to see: it is long, and arrays do not fit. */
static bool is_long(const kmm_runtime_t *rt, uint64_t now)
{
    bool evicts = false;
    for (uint32_t k = 0; k < rt->device_count; k++)
        evicts |= kmm__counted(&rt->device[k]->counters.evicted) > 0;
    return evicts && now - rt->began > PATIENCE * UINT64_C(1000000000);
}

static uint64_t copied(const kmm_runtime_t *rt)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < rt->device_count; k++) {
        const kmm__counters_t *c = &rt->device[k]->counters;
        bytes +=
            kmm__counted(&c->bytes_in) + kmm__counted(&c->bytes_out) + kmm__counted(&c->bytes_peer);
    }
    return bytes;
}

/* Brings the rates up to date: averages over about the last two seconds. */
static void note_rates(kmm__progress_t *p, uint64_t now, uint64_t tasks, uint64_t bytes)
{
    const double SPAN = 2;
    double seconds = p->looked ? 1e-9 * (double)(now - p->looked) : 0;
    bool is_first = p->task_rate == 0 && p->byte_rate == 0;
    double weight = is_first || seconds > SPAN ? 1 : seconds / SPAN;
    if (seconds > 0) {
        p->task_rate += weight * ((double)(tasks - p->tasks) / seconds - p->task_rate);
        p->byte_rate += weight * ((double)(bytes - p->bytes) / seconds - p->byte_rate);
    }
    p->looked = now;
    p->tasks = tasks;
    p->bytes = bytes;
}

void kmm__progress_look(kmm_runtime_t *rt, kmm__progress_t *p)
{
    char text[KMM__BAR_TEXT];
    uint64_t all, done, now = kmm__now();
    unsigned columns = kmm__bar_columns(STDERR_FILENO);
    if (!read_tasks(rt, &all, &done))
        return;
    note_rates(p, now, done, copied(rt));
    if (done == all || columns == 0 || !(p->is_eager || is_long(rt, now))) {
        kmm__log_bar(NULL);
        return;
    }
    bool copies = p->byte_rate >= 1;
    kmm__bar_t bar = {.what = "kmm",
                      .done = done,
                      .all = all,
                      .rate = copies ? p->byte_rate : p->task_rate,
                      .unit = copies ? NULL : "tasks",
                      .left = p->task_rate > 0 ? (double)(all - done) / p->task_rate : -1};
    kmm__bar_text(&bar, columns, text);
    kmm__log_bar(text);
}
