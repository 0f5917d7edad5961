/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A project whose CMAKE_CUDA_COMPILER is kmmcc is also linked by kmmcc. CMake runs its CUDA
 * compiler once with -v, and links by the program that the last command begins with which nvcc
 * prints. A script in the place of that program calls kmmcc, which adds kmm's flags and calls the
 * program.
 */
#include "driver/cmake.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "driver/write.h"

static const char prompt[] = "#$ "; /* before each command that nvcc prints */

bool cmake_asks(const options_t *o)
{
    bool names_file = false, is_verbose = false;
    for (int k = 0; k < o->argument_count; k++) {
        const char *text = o->arguments[k].text;
        names_file |= strcmp(path_base(text), "CMakeCUDACompilerId.cu") == 0;
        is_verbose |= strcmp(text, "-v") == 0;
    }
    return names_file && is_verbose && o->target == TARGET_CUDA && !o->compile_only && !o->dry_run;
}

/* Returns the last command in what nvcc printed; NULL if there is none. */
static char *last_command(char *said)
{
    char *found = NULL;
    for (char *line = said; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, prompt, strlen(prompt)) == 0)
            found = line + strlen(prompt);
    }
    return found;
}

static void add_quoted(text_t *t, const char *word)
{
    text_printf(t, " '");
    for (; *word; word++)
        text_printf(t, *word == '\'' ? "'\\''" : "%c", *word);
    text_printf(t, "'");
}

/* Writes the script. Returns its path; NULL after an error. */
static const char *write_script(const options_t *o, const char *linker)
{
    char kmmcc[PATH_MAX], folder[PATH_MAX];
    if (!realpath("/proc/self/exe", kmmcc) || !realpath(".", folder))
        return NULL;
    text_t t = {0};
    text_printf(&t, "#!/bin/sh\n# Written by kmmcc: CMake links by this script.\nexec");
    add_quoted(&t, kmmcc);
    text_printf(&t, " --target=cuda --compiler");
    add_quoted(&t, linker);
    if (o->manage != MANAGE_AUTO)
        text_printf(&t, " -fkmm-manage=%s", o->manage == MANAGE_ALL ? "all" : "none");
    if (o->checks)
        text_printf(&t, " -fkmm-check");
    text_printf(&t, " \"$@\"\n");
    const char *path = arena_printf("%s/kmmcc-link", folder);
    if (write_text(path, t.data) != 0 || chmod(path, 0755) != 0)
        return NULL;
    return path;
}

int cmake_answer(const options_t *o, const list_t *command)
{
    text_t said = {0};
    int status = process_run_quiet(command, &said);
    char *link = said.data ? last_command(said.data) : NULL;
    bool is_quoted = link && *link == '"';
    const char *end =
        link ? link + is_quoted + strcspn(link + is_quoted, is_quoted ? "\"" : " \n") : NULL;
    const char *script = status || !link
                             ? NULL
                             : write_script(o, arena_copy(link + is_quoted, (size_t)(end - link) -
                                                                                (size_t)is_quoted));
    if (!script) {
        fputs(said.data ? said.data : "", stderr);
        return status;
    }
    fwrite(said.data, 1, (size_t)(link - said.data), stderr);
    fprintf(stderr, "\"%s\"%s", script, end + is_quoted);
    return 0;
}
