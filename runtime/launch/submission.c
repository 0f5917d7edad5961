/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a submission: errors, prefixed by the launch's location; KMM_LOG=debug. */
#include "launch/submission.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

int kmm__submission_refuse(const kmm__submission_t *s, int code, const char *text)
{
    const kmm_launch_t *l = s->l;
    char copy[400];
    snprintf(copy, sizeof(copy), "%s", text);
    if (l->file)
        return kmm__error_set(code, "%s:%d: %s: %s", l->file, l->line, kmm__launch_name(l), copy);
    return kmm__error_set(code, "%s: %s", kmm__launch_name(l), copy);
}

/* Adds formatted text at the end of out. */
static __attribute__((format(printf, 3, 4))) void add(char *out, size_t size, const char *format,
                                                      ...)
{
    size_t length = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + length, size - length, format, args);
    va_end(args);
}

void kmm__submission_describe(const kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    const kmm__partition_t *p = &s->part;
    char grid[128] = "", devices[1024] = "";
    uint32_t asked = kmm__partition_asked(p), on = s->placement.count;
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++)
        if (p->size[d] > 1)
            add(grid, sizeof(grid), "%s%lld %s in parts of %lld", *grid ? " x " : "",
                (long long)p->size[d], p->is_function ? "elements" : "blocks",
                (long long)p->chunk[d]);
    for (uint32_t k = 0; k < on; k++) {
        uint32_t chunks = on > 1 ? s->placement.dealt[k] : p->count;
        if (chunks)
            add(devices, sizeof(devices), "%s%s: %u", *devices ? ", " : "",
                s->placement.device[k]->info.name, chunks);
    }
    kmm__log(KMM__LOG_DEBUG, "%s:%d: %s: %u chunks%s%s, run as %u; %s", l->file ? l->file : "?",
             l->line, kmm__launch_name(l), asked, *grid ? ": " : "", grid, p->count, devices);
}
