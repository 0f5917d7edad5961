/* SPDX-License-Identifier: Apache-2.0 */
/* The file of KMM_TRACE. */
#include "observe/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

enum { TAIL = 256 }; /* bytes that the end of the array takes at most, without open events */

static struct {
    const char *variable;
    char *name;
    int fd;           /* negative: none, or writing has failed */
    uint64_t most;    /* bytes */
    uint64_t at;      /* where the next event goes */
    uint64_t end;     /* behind all that was ever written */
    uint64_t dropped; /* events that were left out */
    uint64_t told;    /* the same when it was said */
    kmm__json_t text; /* events that are not written yet */
} file = {.fd = -1};

char *kmm__trace_name(const char *name)
{
    kmm__json_t out = {0};
    for (const char *c = name; *c; c++) {
        const bool is_code = c[0] == '%' && (c[1] == 'p' || c[1] == '%');
        if (is_code && c[1] == 'p')
            kmm__json_number(&out, (uint64_t)getpid());
        else
            kmm__json_text(&out, (const char[]){*c, 0});
        c += is_code;
    }
    kmm__json_text(&out, "");
    char *text = kmm__alloc(out.length + 1);
    if (out.length)
        memcpy(text, out.text, out.length);
    free(out.text);
    return text;
}

static void warn(const char *what)
{
    kmm__log(KMM__LOG_WARNING, "%s=%s: %s", file.variable, file.name, what);
}

/* Opens a regular file and locks it. EWOULDBLOCK: another process has locked it. */
static int try_open(void)
{
    struct stat s;
    file.fd = open(file.name, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    int error = file.fd < 0 ? errno : 0;
    if (!error && (fstat(file.fd, &s) || !S_ISREG(s.st_mode)))
        error = EINVAL;
    if (!error && flock(file.fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        error = EWOULDBLOCK;
    if (!error && ftruncate(file.fd, 0))
        error = errno;
    if (error && file.fd >= 0) {
        close(file.fd);
        file.fd = -1;
    }
    return error;
}

static void name_of_process(void)
{
    enum { NUMBER = 24 };
    const size_t bytes = strlen(file.name) + NUMBER;
    char *name = kmm__alloc(bytes);
    snprintf(name, bytes, "%s.%ld", file.name, (long)getpid());
    kmm__log(KMM__LOG_WARNING, "%s=%s: another process writes this file, so %s is written",
             file.variable, file.name, name);
    free(file.name);
    file.name = name;
}

bool kmm__trace_file_open(const char *variable, const char *name, uint64_t most)
{
    file.variable = variable;
    free(file.name); /* of one that could not be opened */
    file.name = kmm__trace_name(name);
    file.most = most;
    file.at = file.end = file.dropped = file.told = 0;
    file.text.length = 0;
    int error = try_open();
    if (error == EWOULDBLOCK) {
        name_of_process();
        error = try_open();
    }
    if (error)
        warn(error == EINVAL ? "it is no regular file" : strerror(error));
    return !error;
}

void kmm__trace_file_add(const kmm__json_t *event)
{
    const size_t length = file.text.length;
    if (file.fd < 0)
        return;
    if (file.dropped || file.at + length + event->length + TAIL > file.most) {
        file.dropped++; /* nor do later ones that are shorter get in */
        return;
    }
    kmm__json_text(&file.text, file.at + length ? ",\n" : "[\n");
    kmm__json_bytes(&file.text, event->text, event->length);
}

/* Adds the end of the array. */
static void add_tail(const kmm__json_t *open)
{
    kmm__json_t *t = &file.text;
    if (file.dropped) {
        kmm__json_text(t, file.at + t->length ? ",\n" : "[\n");
        kmm__json_text(t, "{\"ph\":\"M\",\"pid\":1,\"name\":\"left_out\",\"args\":{\"events\":");
        kmm__json_number(t, file.dropped);
        kmm__json_text(t, "}}");
    }
    if (file.at + t->length + open->length + TAIL <= file.most && open->length)
        kmm__json_bytes(t, open->text, open->length);
    kmm__json_text(t, "\n]\n");
    while (file.at + t->length < file.end) /* over the rest of a longer end */
        kmm__json_text(t, "\n");
}

void kmm__trace_file_flush(const kmm__json_t *open)
{
    const uint64_t events = file.text.length;
    if (file.fd < 0 || (!(file.at + events) && !file.dropped))
        return;
    add_tail(open);
    for (size_t done = 0; done < file.text.length && file.fd >= 0;) {
        ssize_t n = pwrite(file.fd, file.text.text + done, file.text.length - done,
                           (off_t)(file.at + done));
        if (n < 0 && errno != EINTR) {
            warn(strerror(errno));
            close(file.fd);
            file.fd = -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    file.end = file.at + file.text.length;
    file.at += events;
    file.text.length = 0;
}

void kmm__trace_file_tell(void)
{
    if (file.dropped == file.told)
        return;
    file.told = file.dropped;
    kmm__log(KMM__LOG_WARNING,
             "%s=%s: %" PRIu64 " events were left out, because the file has %" PRIu64
             " bytes then (KMM_TRACE_MAX)",
             file.variable, file.name, file.dropped, file.most);
}

void kmm__trace_file_forked(void)
{
    if (file.fd >= 0)
        close(file.fd);
    file.fd = -1;
    file.text = (kmm__json_t){0}; /* not freed: the tracer may have been growing it */
}
