/* SPDX-License-Identifier: Apache-2.0 */
/* --emit-source, --check, --check-dir, --diff, --explain and --accesses. */
#include "driver/show.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "base/path.h"
#include "base/source.h"
#include "driver/compile.h"
#include "driver/copies.h"
#include "driver/transform.h"
#include "driver/write.h"
#include "emit/diff.h"
#include "emit/explained.h"

static const char *text_of(const job_t *job)
{
    return job->result ? job->result : job->source->text;
}

static int check(const options_t *o, const job_t *job)
{
    const source_t *expected = source_read(o->check_file);
    if (!expected) {
        diag_plain(SEVERITY_ERROR, "cannot read '%s': %s", o->check_file, strerror(errno));
        diag_plain(SEVERITY_NOTE, "kmmcc --emit-source=%s %s writes it", o->check_file, job->path);
        return 1;
    }
    const char *label = arena_printf("%s (rewritten)", job->path);
    if (!diff_print((version_t){o->check_file, expected->text}, (version_t){label, text_of(job)}))
        return 0;
    diag_plain(SEVERITY_ERROR, "the rewritten '%s' is not what '%s' says", job->path,
               o->check_file);
    diag_plain(SEVERITY_NOTE, "if the difference is right: kmmcc --emit-source=%s %s",
               o->check_file, job->path);
    return 1;
}

static void show_difference(const char *path, const char *before, const char *after)
{
    diff_print((version_t){path, before}, (version_t){arena_printf("%s (rewritten)", path), after});
}

static int show(const options_t *o, const job_t *job)
{
    if (o->explain || o->accesses) /* said when it was transformed */
        return 0;
    if (o->check_file)
        return check(o, job);
    if (o->emit_source && *o->emit_source)
        return write_text(o->emit_source, text_of(job)) ||
               write_headers(job, path_folder(o->emit_source));
    if (o->emit_source)
        return fputs(text_of(job), stdout) == EOF ? write_fail("the standard output") : 0;
    show_difference(job->path, job->source->text, text_of(job));
    for (const header_t *h = job->headers; h; h = h->next) {
        const source_t *original = source_read(h->path);
        if (original)
            show_difference(h->path, original->text, h->text);
    }
    return 0;
}

int show_all(plan_t *p)
{
    const options_t *o = p->o;
    bool one_file = o->check_file || (o->emit_source && *o->emit_source);
    int count = 0, status = 0;
    for (int k = 0; k < p->job_count; k++)
        count += p->jobs[k].source != NULL;
    if (count == 0 || (one_file && count > 1)) {
        diag_plain(SEVERITY_ERROR,
                   count ? "one file at a time can be compared with, or written to, one file"
                         : "no C, C++, CUDA or HIP source file to look at");
        return 1;
    }
    bool good = compile_transform_all(p);
    if ((good || o->explain == EXPLAIN_TEXT) && !explained_print(o->explain))
        return write_fail("the standard output");
    if (!good)
        return 1;
    if (o->check_dir)
        return copies_handle(p);
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].source)
            status |= show(o, &p->jobs[k]);
    return status;
}
