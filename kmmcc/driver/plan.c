/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the plan: finds what each file is before any is transformed or compiled. */
#include "driver/plan.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "driver/object.h"

/* ---- Which compiler ---- */

bool plan_has_family(const plan_t *p, family_t family)
{
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].compiler.path && p->jobs[k].compiler.family == family)
            return true;
    return false;
}

bool plan_has_cxx(const plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].lang == LANG_CXX || is_device_lang(p->jobs[k].lang))
            return true;
    return p->objects & OBJECT_CXX;
}

bool plan_is_hosted(const plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        if (is_device_lang(p->jobs[k].lang) && p->jobs[k].target == TARGET_HOST)
            return true;
    return p->objects & OBJECT_HOSTED;
}

/* ---- Looking at the files ---- */

/* hipcc takes C++ for HIP, and who includes HIP's headers means that. */
static lang_t lang_of(const options_t *o, const job_t *job)
{
    if (job->lang == LANG_CUDA)
        return o->target == TARGET_HIP ? LANG_HIP : LANG_CUDA;
    bool asks = (job->uses & USES_HIP) && !(job->uses & USES_CUDA);
    return job->lang == LANG_CXX && asks && !o->arguments[job->index].forced ? LANG_HIP : job->lang;
}

static void look_at(const plan_t *p, job_t *job)
{
    const options_t *o = p->o;
    if (job->lang != LANG_NONE) {
        job->source = source_read(job->path);
        if (!job->source) {
            diag_plain(SEVERITY_ERROR, "cannot read '%s': %s", job->path, strerror(errno));
            return;
        }
        job->includes = includes_read(o, job->source);
        job->uses = job->includes->uses;
        job->has_pragma = !o->ignores_pragmas && includes_have_pragma(job->includes);
    }
    job->lang = lang_of(o, job);
    job->target = job->lang == LANG_CUDA  ? o->target
                  : job->lang == LANG_HIP ? o->hip_target
                                          : TARGET_HOST;
    job->transforms = job->has_pragma || (o->accesses && is_device_lang(job->lang)) ||
                      (is_device_lang(job->lang) && (job->target == TARGET_HOST || o->clones_all));
}

/* The value of `-Lx` or `-L x` at argument k; NULL if it is another option. */
static const char *link_value(const options_t *o, int k, const char *option)
{
    const argument_t *a = &o->arguments[k];
    if (a->role != ROLE_LINK || a->is_value || strncmp(a->text, option, strlen(option)) != 0)
        return NULL;
    if (a->text[strlen(option)])
        return a->text + strlen(option);
    return k + 1 < o->argument_count ? o->arguments[k + 1].text : NULL;
}

/* Returns OBJECT_... of -lname if it is an archive in one of the -L folders. */
static unsigned scan_library(const options_t *o, const char *name)
{
    for (int k = 0; k < o->argument_count; k++) {
        const char *folder = link_value(o, k, "-L");
        const char *path = folder ? arena_printf("%s/lib%s.a", folder, name) : NULL;
        if (path && access(path, R_OK) == 0)
            return object_scan(path);
    }
    return 0;
}

/* Returns OBJECT_... of nvcc's -Xlinker=file,file. */
static unsigned scan_words(const char *words)
{
    unsigned kind = 0;
    while (*words) {
        size_t length = strcspn(words, ",");
        kind |= object_scan(arena_copy(words, length));
        words += length + (words[length] == ',');
    }
    return kind;
}

unsigned plan_scan_objects(const options_t *o)
{
    unsigned kind = 0;
    for (int k = 0; k < o->argument_count; k++) {
        const argument_t *a = &o->arguments[k];
        const char *library = link_value(o, k, "-l");
        const char *words = link_value(o, k, "-Xlinker=");
        if (library)
            kind |= scan_library(o, library);
        else if (words)
            kind |= scan_words(words);
        else if (a->role == ROLE_LINK && !a->is_value && a->text[0] != '-')
            kind |= object_scan(a->text);
    }
    return kind;
}

plan_t *plan_make(const options_t *o)
{
    plan_t *p = arena_alloc(sizeof(*p));
    p->o = o;
    p->jobs = arena_alloc(((size_t)o->source_count + 1) * sizeof(*p->jobs));
    for (int k = 0; k < o->argument_count; k++) {
        const argument_t *a = &o->arguments[k];
        if (a->role != ROLE_SOURCE)
            continue;
        job_t *job = &p->jobs[p->job_count++];
        *job = (job_t){.index = k, .path = a->text, .lang = a->lang};
        look_at(p, job);
    }
    return p;
}

/* ---- Linking ---- */

bool plan_has_pragma(const plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].has_pragma)
            return true;
    return p->objects & OBJECT_MANAGED;
}

bool plan_has_transformed(const plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].transforms)
            return true;
    return false;
}
