/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvcc --dryrun prints nvcc's steps as lines that begin with "#$ ": assignments of environment
 * variables, and commands for a shell. The step cicc writes PTX code, which ptxas reads, so that
 * the code can be changed in between.
 */
#include "driver/steps.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/process.h"
#include "base/source.h"
#include "base/text.h"
#include "driver/run.h"
#include "driver/write.h"
#include "ptx/check.h"

static const char mark[] = "#$ ";

/* ---- Reading a step ---- */

/* The length of the name if the line assigns to a variable; else 0. */
static size_t variable_length(const char *line)
{
    size_t n = 0;
    while (isalnum((unsigned char)line[n]) || line[n] == '_')
        n++;
    return n && line[n] == '=' ? n : 0;
}

/* Adds an assignment to the text that a shell reads before each command. */
static void add_variable(const char *line, size_t name, text_t *script)
{
    text_printf(script, "export %.*s='", (int)name, line);
    for (const char *c = line + name + 1; *c; c++)
        text_printf(script, *c == '\'' ? "'\\''" : "%c", *c);
    text_printf(script, "'\n");
}

/* The name of the program that the command runs. */
static const char *program_of(const char *command)
{
    bool is_quoted = *command == '"';
    const char *begin = command + is_quoted;
    const char *name = arena_copy(begin, strcspn(begin, is_quoted ? "\"" : " "));
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* The file behind the last -o. */
static const char *output_of(const char *command)
{
    const char *found = NULL;
    for (const char *at = strstr(command, " -o "); at; at = strstr(at + 1, " -o "))
        found = at + strlen(" -o ");
    if (!found)
        return "";
    found += strspn(found, " ");
    bool is_quoted = *found == '"';
    return arena_copy(found + is_quoted, strcspn(found + is_quoted, is_quoted ? "\"" : " "));
}

/* ---- Dependencies ---- */

/* Whether the option, with one dash or two, is in the list. */
static bool is_in(const char *word, const char *const *list)
{
    return text_is_one_of(word, list) ||
           (!strncmp(word, "--", 2) && text_is_one_of(word + 1, list));
}

/*
 * nvcc writes dependencies in a step of its own, which no shell can run, so that another call of
 * nvcc writes them. The words of the command are given to `steps`, to `dependencies` or to both.
 * False: nobody wants dependencies.
 */
static bool divide(const list_t *command, list_t *steps, list_t *dependencies)
{
    static const char *const
        all[] = {"-MD", "-generate-dependencies-with-compile", NULL},
        *const own[] = {"-MMD", "-generate-nonsystem-dependencies-with-compile", NULL},
        *const also[] = {"-MP", "-generate-dependency-targets", "-MG", NULL},
        *const named[] = {"-MF", "-MT", "-MQ", "-dependency-output", NULL},
        *const target[] = {"-MT", "-MQ", NULL}, *const output[] = {"-o", "-output-file", NULL},
        *const mode[] = {"-c", "-compile", "-ptx", "-cubin", "-fatbin", NULL};
    const char *object = NULL;
    bool is_wanted = false, has_target = false;
    for (int k = 0; k < command->count; k++) {
        const char *word = command->item[k],
                   *next = k + 1 < command->count ? command->item[k + 1] : "";
        bool is_named = is_in(word, named), is_output = is_in(word, output);
        bool joins =
            !strncmp(word, "-MF", 3) || !strncmp(word, "-MT", 3) || !strncmp(word, "-MQ", 3);
        bool is_mode = is_in(word, all) || is_in(word, own);
        is_wanted |= is_mode;
        has_target |= is_in(word, target) || (joins && word[2] != 'F');
        if (is_mode)
            list_add(dependencies, is_in(word, all) ? "-M" : "-MM");
        else if (!is_output && !is_in(word, mode))
            list_add(dependencies, word);
        if (!is_mode && !is_named && !joins && !is_in(word, also))
            list_add(steps, word);
        if (is_named || is_output) {
            object = is_output ? next : object;
            list_add(is_named ? dependencies : steps, next);
            k++;
        }
    }
    if (object && !has_target) {
        list_add(dependencies, "-MT");
        list_add(dependencies, object);
    }
    return is_wanted;
}

/* ---- Running ---- */

static bool check_ptx(const char *file, const char *path)
{
    size_t length = strlen(file);
    if (length < 4 || strcmp(file + length - 4, ".ptx")) {
        diag_plain(SEVERITY_ERROR,
                   "-fkmm-check needs PTX code of '%s', and nvcc writes none with these options: "
                   "leave out those for optimisation while linking",
                   path);
        return false;
    }
    const source_t *ptx = source_read(file);
    if (!ptx)
        return diag_plain(SEVERITY_ERROR, "cannot read '%s': %s", file, strerror(errno)), false;
    const char *checked = check_module(ptx->text, path);
    return checked && write_text(file, checked) == 0;
}

/* Whether device code calls no functions of other files. Reports it if ptxas is to make such code.
 */
static bool is_seen_whole(const char *steps, const char *path)
{
    for (const char *line = steps; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *step = arena_copy(line, strcspn(line, "\n"));
        if (strncmp(step, mark, strlen(mark)) || strcmp(program_of(step + strlen(mark)), "ptxas"))
            continue;
        if (!strstr(step, " --compile-only ") && !strstr(step, " -c "))
            continue;
        diag_plain(SEVERITY_ERROR,
                   "-fkmm-check does not see device functions of other files, so it cannot check "
                   "'%s' with relocatable device code: leave out -rdc=true and -dc",
                   path);
        return false;
    }
    return true;
}

static int run_step(const options_t *o, const text_t *variables, const char *command,
                    const char *path)
{
    list_t shell = {0};
    list_add(&shell, "/bin/sh");
    list_add(&shell, "-c");
    list_add(&shell, arena_printf("%s%s", variables->data ? variables->data : "", command));
    if (o->verbose)
        fprintf(stderr, "%s%s\n", mark, command);
    int status = process_run(&shell);
    if (!status && !strcmp(program_of(command), "cicc"))
        status = !check_ptx(output_of(command), path);
    return status;
}

static void remember_once(const char *folder, const char *name, list_t *seen)
{
    for (int k = 0; k < seen->count; k++)
        if (!strcmp(seen->item[k], name))
            return;
    list_add(seen, name);
    process_file(folder, name);
}

void steps_remember(const char *text, const char *folder)
{
    list_t seen = {0};
    size_t length = strlen(folder);
    for (const char *at = strstr(text, folder); at; at = strstr(at + length, folder)) {
        if (at[length] != '/')
            continue;
        const char *name = at + length + 1;
        size_t end = strcspn(name, "\" ,\n");
        for (size_t k = 1; k < end; k++) /* folders are made before their files */
            if (name[k] == '/')
                remember_once(folder, arena_copy(name, k), &seen);
        if (end)
            remember_once(folder, arena_copy(name, end), &seen);
    }
}

/* nvcc has found a mistake in its command line, or has a warning of it. */
static void pass_on(const char *line, size_t length)
{
    fprintf(stderr, "%.*s\n", (int)length, line);
}

/* Runs the steps, one a line. Other lines are nvcc's own messages. */
static int run_steps(const options_t *o, const char *steps, const char *path)
{
    text_t variables = {0};
    int status = 0;
    while (*steps && !status) {
        size_t length = strcspn(steps, "\n"), skip = strlen(mark);
        const char *step = length > skip ? arena_copy(steps + skip, length - skip) : "";
        if (strncmp(steps, mark, skip))
            pass_on(steps, length);
        else if (variable_length(step))
            add_variable(step, variable_length(step), &variables);
        else
            status = run_step(o, &variables, step, path);
        steps += length + (steps[length] == '\n');
    }
    return status;
}

int steps_run(const options_t *o, const list_t *command, const char *folder, const char *path)
{
    text_t steps = {0};
    list_t dry = {0}, dependencies = {0};
    const char *own = process_file(folder, "steps");
    if (mkdir(own, 0700) != 0 && errno != EEXIST)
        return diag_plain(SEVERITY_ERROR, "cannot make '%s': %s", own, strerror(errno)), 1;
    bool has_dependencies = divide(command, &dry, &dependencies);
    list_add(&dry, "--dryrun");
    list_add(&dry, "--keep");
    list_add(&dry, "--keep-dir");
    list_add(&dry, own);
    if (o->verbose)
        process_print(command);
    text_add(&steps, "", 0);
    int status = process_run_quiet(&dry, &steps);
    if (status) { /* all that it said is messages */
        pass_on(steps.data, steps.length);
        return status;
    }
    steps_remember(steps.data, own);
    status = !is_seen_whole(steps.data, path);
    if (!status && has_dependencies)
        status = process_run(&dependencies);
    status = status ? status : run_steps(o, steps.data, path);
    diag_flush();
    return status;
}
