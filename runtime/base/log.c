/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: their levels, KMM_LOG and KMM_LOG_FILE. */
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "base/descriptor.h"

static const char *const begins[] = {[KMM__LOG_ERROR] = "kmm: error: ",
                                     [KMM__LOG_WARNING] = "kmm: warning: ",
                                     [KMM__LOG_NOTE] = "kmm: note: ",
                                     [KMM__LOG_INFO] = "kmm: info: ",
                                     [KMM__LOG_DEBUG] = "kmm: debug: "};

_Atomic int kmm__log_most = KMM__LOG_NOTE;
static atomic_bool is_started; /* what follows is constant, but for its atomic members */
static bool is_timed;          /* KMM_LOG is set: lines on stderr have time and thread */
static int file = -1;          /* of KMM_LOG_FILE; -1: there is none */
static char pattern[PATH_MAX]; /* KMM_LOG_FILE, if it has %p */
static _Atomic pid_t owner;    /* the process whose number is in the file's name; 0: in no name */
static struct timespec began;
/* The process was started without stderr. Its number belongs to a file of the program, if any. */
static bool has_no_stderr;
atomic_bool kmm__log_has_bar;

/* ---- Writing ---- */

/* Waits a moment for a terminal or pipe that the program has made non-blocking. */
static bool is_soon_writable(int to)
{
    enum { MOST_MS = 1000 };
    struct pollfd p = {.fd = to, .events = POLLOUT};
    return poll(&p, 1, MOST_MS) == 1 && (p.revents & POLLOUT);
}

/* Writes all parts, by one call unless the system takes only some of them. */
static void put(int to, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t n = writev(to, parts, count);
        if (n < 0 && errno != EINTR && !(errno == EAGAIN && is_soon_writable(to)))
            return;
        for (size_t left = n > 0 ? (size_t)n : 0; count > 0; parts++, count--) {
            if (left < parts->iov_len) {
                parts->iov_base = (char *)parts->iov_base + left;
                parts->iov_len -= left;
                break;
            }
            left -= parts->iov_len;
        }
    }
}

static struct iovec part(const char *text, size_t length)
{
    return (struct iovec){.iov_base = (void *)(uintptr_t)text, .iov_len = length};
}

static void put_stderr(const char *prefix, const char *text, size_t length)
{
    static const char erase[] = "\r\033[K";
    bool erases = atomic_exchange(&kmm__log_has_bar, false);
    struct iovec parts[] = {part(erase, erases ? sizeof(erase) - 1 : 0),
                            part(prefix, strlen(prefix)), part(text, length)};
    if (!has_no_stderr)
        put(STDERR_FILENO, parts, 3);
}

/* ---- The file ---- */

/* Writes the name that a pattern stands for: %p is the process, and %% is %. False: it is too long.
 */
static bool file_name(const char *from, char out[PATH_MAX])
{
    size_t length = 0;
    for (const char *at = from; *at; at++) {
        bool is_process = at[0] == '%' && at[1] == 'p', is_percent = at[0] == '%' && at[1] == '%';
        int n = is_process ? snprintf(out + length, PATH_MAX - length, "%ld", (long)getpid())
                           : snprintf(out + length, PATH_MAX - length, "%c", *at);
        if (n < 0 || (length += (size_t)n) >= PATH_MAX)
            return false;
        at += is_process || is_percent;
    }
    out[length] = '\0';
    return true;
}

int kmm__log_open(const char *from)
{
    char name[PATH_MAX];
    if (!file_name(from, name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return kmm__descriptor_keep(open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
}

/* A forked process whose file has another name opens it, in place of its parent's. */
static void file_follow(void)
{
    pid_t now = getpid(), was = atomic_load(&owner);
    if (was == now || !atomic_compare_exchange_strong(&owner, &was, now))
        return;
    int own = kmm__log_open(pattern);
    if (own >= 0)
        dup3(own, file, O_CLOEXEC);
    if (own >= 0)
        close(own);
}

/* ---- Lines ---- */

static void prefix_write(char out[64])
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long s = now.tv_sec - began.tv_sec, us = (now.tv_nsec - began.tv_nsec) / 1000;
    s -= us < 0;
    us += us < 0 ? 1000000 : 0;
    snprintf(out, 64, "[%4ld.%06ld %ld] ", s, us, (long)gettid());
}

void kmm__log_text(kmm__log_level_t level, const char *text, size_t length)
{
    char prefix[64] = "";
    bool started = atomic_load_explicit(&is_started, memory_order_acquire),
         has_file = started && file >= 0;
    int error = errno;
    if (length == 0 || !kmm__log_says(level))
        return;
    if (has_file || (started && is_timed))
        prefix_write(prefix);
    if (has_file) {
        if (atomic_load(&owner))
            file_follow();
        struct iovec parts[] = {part(prefix, strlen(prefix)), part(text, length)};
        put(file, parts, 2);
    }
    if (!has_file || level <= KMM__LOG_NOTE)
        put_stderr(has_file ? "" : prefix, text, length);
    errno = error;
}

void kmm__log_plain(const char *text, size_t length)
{
    put_stderr("", text, length);
}

void kmm__log_bar(const char *text)
{
    if (text) {
        struct iovec bar = part(text, strlen(text));
        atomic_store(&kmm__log_has_bar, true);
        put(STDERR_FILENO, &bar, 1);
    } else if (atomic_load(&kmm__log_has_bar)) {
        put_stderr("", "", 0);
    }
}

/* Makes a line of a message. Returns its length. */
static __attribute__((format(printf, 3, 0))) size_t line_of(kmm__log_level_t level, char *out,
                                                            const char *format, va_list args)
{
    enum { ROOM = KMM__LOG_BYTES - 64 - 1 }; /* for the prefix and the newline */
    int begin = snprintf(out, ROOM, "%s", begins[level]);
    int n = vsnprintf(out + begin, (size_t)(ROOM - begin), format, args);
    size_t length = (size_t)begin + (size_t)(n > 0 ? n : 0);
    if (length >= ROOM)
        length = ROOM - 1;
    out[length] = '\n';
    return length + 1;
}

static __attribute__((format(printf, 2, 0))) void say(kmm__log_level_t level, const char *format,
                                                      va_list args)
{
    char line[KMM__LOG_BYTES];
    int error = errno;
    kmm__log_text(level, line, line_of(level, line, format, args));
    errno = error;
}

/* ---- The environment ---- */

static int level_of(const char *word)
{
    static const struct {
        const char *word;
        int level;
    } words[] = {{"error", KMM__LOG_ERROR},
                 {"warning", KMM__LOG_NOTE},
                 {"info", KMM__LOG_INFO},
                 {"debug", KMM__LOG_DEBUG}};
    for (size_t k = 0; word && k < sizeof(words) / sizeof(*words); k++)
        if (strcmp(word, words[k].word) == 0)
            return words[k].level;
    return 0;
}

/* Before kmm__log_start has returned, in its thread. */
static __attribute__((format(printf, 1, 2))) void warn_early(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(KMM__LOG_WARNING, format, args);
    va_end(args);
}

static void start_file(const char *name)
{
    if (strlen(name) >= sizeof(pattern))
        return warn_early("KMM_LOG_FILE is ignored: its name is too long; messages go to stderr");
    strcpy(pattern, name);
    if (strstr(name, "%p"))
        atomic_store(&owner, getpid());
    file = kmm__log_open(pattern);
    if (file < 0)
        warn_early("KMM_LOG_FILE=%s cannot be written: %s; messages go to stderr", name,
                   strerror(errno));
}

static void start(void)
{
    const char *level = getenv("KMM_LOG"), *name = getenv("KMM_LOG_FILE");
    clock_gettime(CLOCK_MONOTONIC, &began);
    is_timed = level_of(level) != 0;
    if (is_timed)
        kmm__log_most = level_of(level);
    if (name && *name)
        start_file(name);
    atomic_store_explicit(&is_started, true, memory_order_release);
}

void kmm__log_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}

void kmm__log(kmm__log_level_t level, const char *format, ...)
{
    va_list args;
    kmm__log_start();
    va_start(args, format);
    say(level, format, args);
    va_end(args);
}

bool kmm__log_first(const char *file, int line)
{
    enum { MOST = 256 };
    static _Atomic(uintptr_t) said[MOST];
    const uintptr_t place = (uintptr_t)file + (uintptr_t)line * 64 + 1;
    for (int k = 0; k < MOST; k++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&said[k], &none, place))
            return true;
        if (none == place)
            return false;
    }
    return false;
}

/* Before the program opens files, one of which may get the number of a stderr that is closed. */
__attribute__((constructor(101))) static void look_at_stderr(void)
{
    has_no_stderr = fcntl(STDERR_FILENO, F_GETFD) < 0;
}
