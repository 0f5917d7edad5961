/* SPDX-License-Identifier: Apache-2.0 */
/* Empty tasks on StarPU, submitted as its documentation says to submit many. */
#include <starpu.h>
#include <stdbool.h>

#include "bench.h"
#include "task_overhead.h"

typedef struct buffers {
    starpu_data_handle_t handle[MAX_REGIONS];
    float data[MAX_REGIONS][REGION_FLOATS];
} buffers_t;

static void empty(void *data[], void *arg)
{
    (void)data, (void)arg;
}

static struct starpu_codelet codelet = {.cpu_funcs = {empty}, .cpu_funcs_name = {"empty"}};

void starpu_begin(uint32_t threads)
{
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = (int)threads;
    conf.ncuda = 0;
    conf.nopencl = 0;
    bench_check(starpu_init(&conf), "starpu_init");
}

void starpu_end(void)
{
    starpu_shutdown();
}

static struct starpu_task *tasks_make(const shape_t *s, const buffers_t *b, bool tagged)
{
    struct starpu_task *tasks = calloc(s->tasks, sizeof(*tasks));
    if (!tasks)
        bench_check(-1, "memory for tasks");
    codelet.nbuffers = (int)s->regions;
    for (uint32_t k = 0; k < s->regions; k++)
        codelet.modes[k] = STARPU_RW;
    for (uint32_t t = 0; t < s->tasks; t++) {
        starpu_task_init(&tasks[t]);
        tasks[t].cl = &codelet;
        tasks[t].use_tag = tagged;
        tasks[t].tag_id = t;
        for (uint32_t k = 0; k < s->regions; k++)
            tasks[t].handles[k] = b->handle[k];
    }
    return tasks;
}

/* Without regions tags make the tasks a chain, whose first one is submitted last. */
static void submit_all(struct starpu_task *tasks, const shape_t *s, bool tagged)
{
    bool chained = tagged && s->regions == 0;
    for (uint32_t t = chained; t < s->tasks; t++) {
        if (chained)
            starpu_tag_declare_deps(t, 1, (starpu_tag_t)(t - 1));
        bench_check(starpu_task_submit(&tasks[t]), "starpu_task_submit");
    }
    if (chained)
        bench_check(starpu_task_submit(&tasks[0]), "starpu_task_submit");
}

static double run(const shape_t *s, bool tagged)
{
    buffers_t b;
    for (uint32_t k = 0; k < s->regions; k++)
        starpu_vector_data_register(&b.handle[k], STARPU_MAIN_RAM, (uintptr_t)b.data[k],
                                    REGION_FLOATS, sizeof(float));
    struct starpu_task *tasks = tasks_make(s, &b, tagged);
    double begin = bench_now();
    submit_all(tasks, s, tagged);
    bench_check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    double seconds = bench_now() - begin;
    for (uint32_t t = 0; t < s->tasks; t++)
        starpu_task_clean(&tasks[t]);
    for (uint32_t t = 0; tagged && t < s->tasks; t++)
        starpu_tag_remove(t);
    for (uint32_t k = 0; k < s->regions; k++)
        starpu_data_unregister(b.handle[k]);
    free(tasks);
    return seconds;
}

double starpu_run(const shape_t *s)
{
    return run(s, false);
}

double starpu_run_tagged(const shape_t *s)
{
    return run(s, true);
}
