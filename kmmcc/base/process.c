/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands, and the temporary files that they share. The files are removed when kmmcc ends, also by
 * a signal. A signal that comes while a command runs is handed to the command. kmmcc ends only
 * after the command, so that nothing is written after the removal.
 */
#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"

extern char **environ;

enum { MAX_FILES = 4096 };

/* Read by the signal handler. An entry is complete before the count includes it. */
static const char *files[MAX_FILES]; /* files and, before their contents, folders */
static volatile sig_atomic_t file_count;
static volatile sig_atomic_t child;  /* 0: none runs */
static volatile sig_atomic_t caught; /* the signal that came while one ran */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
enum { SIGNAL_COUNT = sizeof(signals) / sizeof(*signals) };

/* Safe in a signal handler. */
static void remove_files(void)
{
    while (file_count > 0) {
        const char *path = files[--file_count];
        if (unlink(path) != 0)
            rmdir(path);
    }
}

static void end_by(int signal_number)
{
    remove_files();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void on_signal(int number)
{
    int saved = errno;
    if (child) {
        caught = number;
        kill((pid_t)child, number);
    } else {
        end_by(number);
    }
    errno = saved;
}

void process_start(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        struct sigaction old;
        sigaction(signals[k], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            sigaction(signals[k], &action, NULL);
    }
    atexit(remove_files);
}

/* ---- Temporary files ---- */

static const char *remember(const char *path)
{
    if (file_count == MAX_FILES) {
        diag_plain(SEVERITY_ERROR, "more than %d temporary files", MAX_FILES);
        return path;
    }
    files[file_count] = path;
    file_count++;
    return path;
}

const char *process_folder(bool create)
{
    static const char *folder;
    const char *place = getenv("TMPDIR");
    if (!place || !*place)
        place = "/tmp";
    char *pattern = arena_printf("%s/kmmcc-XXXXXX", place);
    if (!create)
        return pattern;
    if (folder)
        return folder;
    folder = mkdtemp(pattern);
    if (!folder) {
        diag_plain(SEVERITY_ERROR, "cannot make a temporary folder in '%s': %s", place,
                   strerror(errno));
        diag_plain(SEVERITY_NOTE, "set TMPDIR to a folder that can be written");
        return NULL;
    }
    return remember(folder);
}

const char *process_subfolder(int number, bool create)
{
    const char *folder = process_folder(create);
    if (!folder)
        return NULL;
    const char *path = arena_printf("%s/%d", folder, number);
    if (!create)
        return path;
    if (mkdir(path, 0700) == 0)
        return remember(path);
    diag_plain(SEVERITY_ERROR, "cannot make the temporary folder '%s': %s", path, strerror(errno));
    return NULL;
}

const char *process_file(const char *folder, const char *name)
{
    return remember(arena_printf("%s/%s", folder, name));
}

/* ---- Commands ---- */

static void add_quoted(text_t *line, const char *word)
{
    if (*word &&
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%#") ==
            strlen(word)) {
        text_add(line, word, strlen(word));
        return;
    }
    text_add(line, "'", 1);
    for (; *word; word++)
        text_printf(line, *word == '\'' ? "'\\''" : "%c", *word);
    text_add(line, "'", 1);
}

void process_print(const list_t *command)
{
    text_t line = {0};
    for (int k = 0; k < command->count; k++) {
        text_add(&line, " ", k != 0);
        add_quoted(&line, command->item[k]);
    }
    fprintf(stderr, "%s\n", line.data);
}

static void cannot_run(const list_t *command, int error)
{
    diag_plain(SEVERITY_ERROR, "cannot run '%s': %s", command->item[0], strerror(error));
}

/* Starts the command with the signals as we found them; 0 after an error. */
static pid_t start(const list_t *command, posix_spawn_file_actions_t *actions)
{
    posix_spawnattr_t attributes;
    sigset_t defaults, ours, before;
    sigemptyset(&defaults);
    sigemptyset(&ours);
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        sigaddset(&ours, signals[k]);
        struct sigaction now;
        sigaction(signals[k], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            sigaddset(&defaults, signals[k]);
    }
    sigprocmask(SIG_BLOCK, &ours, &before); /* until `child` is known to the handler */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &before);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    pid_t pid = 0;
    int error = posix_spawn(&pid, command->item[0], actions, &attributes,
                            (char *const *)command->item, environ);
    posix_spawnattr_destroy(&attributes);
    child = error ? 0 : pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (error)
        cannot_run(command, error);
    return error ? 0 : pid;
}

static int finish(const list_t *command, pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    if (caught)
        end_by(caught);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    if (WTERMSIG(status) == SIGPIPE || WTERMSIG(status) == SIGINT)
        end_by(WTERMSIG(status)); /* whoever sent it knows */
    diag_plain(SEVERITY_ERROR, "'%s' was ended by signal %d (%s)", command->item[0],
               WTERMSIG(status), strsignal(WTERMSIG(status)));
    return 1;
}

int process_run(const list_t *command)
{
    fflush(NULL);
    pid_t pid = start(command, NULL);
    return pid ? finish(command, pid) : 1;
}

/* Runs the command with one of its files a pipe, from which `out` is read. */
static int run_read(const list_t *command, int file, text_t *out)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], file);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    fflush(NULL);
    pid_t pid = start(command, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char part[4096];
    ssize_t got;
    while (pid && ((got = read(ends[0], part, sizeof(part))) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0)
            text_add(out, part, (size_t)got);
    close(ends[0]);
    return pid ? finish(command, pid) : 1;
}

bool process_capture(const list_t *command, text_t *out)
{
    return run_read(command, STDOUT_FILENO, out) == 0;
}

int process_run_quiet(const list_t *command, text_t *messages)
{
    return run_read(command, STDERR_FILENO, messages);
}

int process_replace(const list_t *command)
{
    fflush(NULL);
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        struct sigaction now;
        sigaction(signals[k], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            signal(signals[k], SIG_DFL);
    }
    execv(command->item[0], (char *const *)command->item);
    cannot_run(command, errno);
    return 1;
}
