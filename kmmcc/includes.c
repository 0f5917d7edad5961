/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a source includes the headers of CUDA or HIP, so that it is compiled as before, by nvcc or
 * hipcc, which know where these headers are; or ours, for which only we know the place; or asks whether
 * pragmas are obeyed. Only words are looked at, in the source and in the headers it includes by quotes.
 */
#include "driver.h"

#include <string.h>
#include <unistd.h>

enum { MAX_HEADERS = 256 };

typedef struct scan {
    const options_t *options;
    const char *seen[MAX_HEADERS];
    int seen_count;
    unsigned uses;
} scan_t;

static bool begins(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

static unsigned use_of(const char *header)
{
    static const char *const cuda[] = {"cuda", "cublas", "cufft", "curand", "cusparse", "cusolver", "nccl", "device_launch_parameters", "helper_cuda"};
    for (size_t k = 0; k < sizeof(cuda) / sizeof(*cuda); k++)
        if (begins(header, cuda[k]))
            return USES_CUDA;
    if (strcmp(header, "kmm.h") == 0 || begins(header, "kmm/"))
        return USES_KMM;
    return begins(header, "hip/") || begins(header, "hipblas") || begins(header, "rocblas") ? USES_HIP : 0;
}

/* The header as quotes find it: beside the file that includes it, then in the -I folders. */
static const char *find_header(const scan_t *s, const char *folder_of, const char *header)
{
    const char *slash = strrchr(folder_of, '/');
    const char *path = slash ? arena_printf("%.*s/%s", (int)(slash - folder_of), folder_of, header) : header;
    if (access(path, R_OK) == 0)
        return path;
    for (int k = 0; k < s->options->parse_flag_count; k++) {
        const char *flag = s->options->parse_flags[k];
        if (!begins(flag, "-I"))
            continue;
        path = arena_printf("%s/%s", flag + 2, header);
        if (access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

static bool is_new(scan_t *s, const char *path)
{
    for (int k = 0; k < s->seen_count; k++)
        if (strcmp(s->seen[k], path) == 0)
            return false;
    if (s->seen_count == MAX_HEADERS)
        return false;
    s->seen[s->seen_count++] = path;
    return true;
}

/* The name in `#include <name>` or `#include "name"` that begins the line; NULL if none does. */
static const char *included(const char *line, bool *quoted)
{
    line += strspn(line, " \t");
    if (*line != '#')
        return NULL;
    line += 1 + strspn(line + 1, " \t");
    if (!begins(line, "include"))
        return NULL;
    line += strlen("include") + strspn(line + strlen("include"), " \t");
    if (*line != '<' && *line != '"')
        return NULL;
    *quoted = *line == '"';
    size_t length = strcspn(line + 1, ">\"\n");
    return arena_copy(line + 1, length);
}

static void scan_text(scan_t *s, const source_t *source)
{
    s->uses |= strstr(source->text, "_KMM") ? USES_MACRO : 0;
    for (unsigned k = 0; k < source->line_count; k++) {
        bool quoted = false;
        const char *header = included(source->text + source->lines[k], &quoted);
        if (!header)
            continue;
        unsigned use = use_of(header);
        s->uses |= use;
        const char *path = quoted && !use ? find_header(s, source->path, header) : NULL;
        const source_t *file = path && is_new(s, path) ? source_read(path) : NULL;
        if (file)
            scan_text(s, file);
    }
}

unsigned includes_scan(const options_t *o, const source_t *source)
{
    scan_t *s = arena_alloc(sizeof(*s));
    s->options = o;
    scan_text(s, source);
    return s->uses;
}
