/* SPDX-License-Identifier: Apache-2.0 */
/* -fkmm-auto and --suggest: pragmas for launches that have none. */
#include "driver/automatic.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "driver/compile.h"
#include "driver/frontend.h"
#include "driver/preprocess.h"
#include "driver/write.h"
#include "emit/explained.h"
#include "emit/mark.h"
#include "pragma/includes.h"

static bool may_launch(const plan_t *p, const job_t *job)
{
    return job->source && is_device_lang(job->lang) && !p->o->ignores_pragmas;
}

static marks_t *choose(const plan_t *p, const job_t *job, bool *good)
{
    marks_t *m = mark_launches(job->source);
    const options_t *o = compile_options(p->o, job);
    includes_t *includes = includes_read(o, job->source);
    includes->file[0]->source = mark_trial(m);
    preprocess_macros(p, job, includes);
    *good = frontend_choose(o, job->lang, job->target, includes, m);
    return m;
}

/* ---- -fkmm-auto ---- */

void automatic_choose_all(plan_t *p)
{
    for (int k = 0; k < p->job_count; k++) {
        job_t *job = &p->jobs[k];
        bool good;
        if (!may_launch(p, job) || !strstr(job->source->text, "<<<"))
            continue;
        marks_t *m = choose(p, job, &good);
        if (good && p->o->explain)
            explained_add_marks(m);
        if (!good || !mark_count(m))
            continue;
        job->includes = includes_read(p->o, mark_chosen(m));
        job->is_automatic = job->has_pragma = job->transforms = true;
    }
}

bool automatic_undo(const plan_t *p, job_t *job)
{
    if (!job->is_automatic)
        return false;
    job->includes = includes_read(p->o, job->source);
    job->is_automatic = false;
    job->headers = NULL;
    return true;
}

/* ---- --suggest ---- */

static int suggest(const plan_t *p, const job_t *job)
{
    bool good;
    int errors = diag_error_count();
    marks_t *m = choose(p, job, &good);
    diag_flush();
    if (!good || diag_error_count() > errors) {
        if (p->o->in_place)
            diag_plain(SEVERITY_NOTE, "'%s' stays as it is", job->path);
        diag_flush();
        return 1;
    }
    if (!p->o->in_place)
        return 0;
    mark_print(m);
    return mark_count(m) ? write_replace(job->path, job->source, mark_written(m)) : 0;
}

int automatic_suggest(const plan_t *p)
{
    int status = 0, files = 0;
    for (int k = 0; k < p->job_count; k++) {
        if (!may_launch(p, &p->jobs[k]))
            continue;
        files++;
        status |= suggest(p, &p->jobs[k]);
    }
    if (files)
        return status;
    diag_plain(SEVERITY_ERROR, "no CUDA or HIP source file to look at");
    return 1;
}
