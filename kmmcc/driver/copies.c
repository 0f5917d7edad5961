/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder with copies of all rewritten files, which a project keeps in its history. The copy of
 * src/a.cu is DIR/src/a.cu, and those of the headers that only it includes lie in
 * DIR/src/a.cu.include. A copy begins with a line by which it is known to be one: no other file of
 * the folder is ever changed or removed.
 */
#include "driver/copies.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/path.h"
#include "base/text.h"
#include "driver/write.h"
#include "emit/diff.h"

static const char first_line[] = "/* Written by kmmcc --check-dir --update. */\n";

typedef struct copy {
    const char *path;     /* of the copy */
    const char *original; /* of the program */
    const char *text;
} copy_t;

static struct {
    const char *folder;
    copy_t *item;
    int count, capacity;
    list_t left; /* copies of files that are not rewritten any more */
} copies;

/* ---- Which there are ---- */

/* Returns the path without "." and "..", which the file system is not asked about. */
static const char *clean_path(const char *path)
{
    text_t out = {0};
    text_add(&out, "", 0);
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length == 2 && !strncmp(path, "..", 2)) {
            char *slash = out.length ? strrchr(out.data, '/') : NULL;
            out.length = slash ? (size_t)(slash - out.data) : 0;
            out.data[out.length] = '\0';
        } else if (length && !(length == 1 && *path == '.')) {
            text_printf(&out, "/%.*s", (int)length, path);
        }
        path += length + (path[length] == '/');
    }
    return out.data;
}

/* Returns the path as seen from the current folder; NULL: it is not in that folder. */
static const char *path_within(const char *path)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof(here)))
        return NULL;
    const char *whole = clean_path(*path == '/' ? path : arena_printf("%s/%s", here, path));
    size_t length = strcmp(here, "/") ? strlen(here) : 0;
    return !strncmp(whole, here, length) && whole[length] == '/' ? whole + length + 1 : NULL;
}

static void add_copy(const char *within, const char *original, const char *text)
{
    copies.item = arena_grow(copies.item, copies.count, &copies.capacity, sizeof(*copies.item));
    copies.item[copies.count++] = (copy_t){arena_printf("%s/%s", copies.folder, within), original,
                                           arena_printf("%s%s", first_line, text)};
}

static bool is_expected(const char *path)
{
    for (int k = 0; k < copies.count; k++)
        if (!strcmp(copies.item[k].path, path))
            return true;
    return false;
}

static void add_copies_of(const job_t *job)
{
    const char *within = path_within(job->path);
    if (!within) {
        diag_plain(SEVERITY_ERROR,
                   "'%s' has no place in '%s', since it does not lie below the current folder",
                   job->path, copies.folder);
        return;
    }
    if (is_expected(arena_printf("%s/%s", copies.folder, within))) {
        diag_plain(SEVERITY_ERROR, "'%s' is named twice", job->path);
        return;
    }
    add_copy(within, job->path, job->result);
    for (const header_t *h = job->headers; h; h = h->next)
        add_copy(arena_printf("%s.include/%s", within, h->name), h->path, h->text);
}

/* ---- What is in the folder ---- */

/* True if the file is one that --update may change or remove. */
static bool is_copy(const char *path)
{
    char text[sizeof(first_line)] = "";
    struct stat is;
    FILE *file = lstat(path, &is) == 0 && S_ISREG(is.st_mode) ? fopen(path, "rb") : NULL;
    if (!file)
        return false;
    size_t got = fread(text, 1, sizeof(first_line) - 1, file);
    fclose(file);
    return got == sizeof(first_line) - 1 && !memcmp(text, first_line, got);
}

static int visit(const char *path, const struct stat *is, int type, struct FTW *at)
{
    (void)is;
    (void)at;
    const char *found =
        arena_printf("%s%s", copies.folder, path + strlen(copies.folder) + strlen("/."));
    if (type == FTW_F && is_copy(found) && !is_expected(found))
        list_add(&copies.left, found);
    return 0;
}

/* Links are not followed, but for the folder itself. */
static void find_left(void)
{
    enum { MAX_OPEN = 16 };
    struct stat is;
    if (stat(copies.folder, &is) == 0 &&
        nftw(arena_printf("%s/.", copies.folder), visit, MAX_OPEN, FTW_PHYS) != 0)
        diag_plain(SEVERITY_ERROR, "cannot read the folder '%s': %s", copies.folder,
                   strerror(errno));
}

/* ---- Comparing ---- */

static void compare(const copy_t *c)
{
    const source_t *old = source_read(c->path);
    if (!old && errno == ENOENT)
        diag_file(SEVERITY_ERROR, c->original, "'%s' is missing", c->path);
    else if (!old)
        diag_plain(SEVERITY_ERROR, "cannot read '%s': %s", c->path, strerror(errno));
    else if (diff_print((version_t){c->path, old->text},
                        (version_t){arena_printf("%s (rewritten)", c->original), c->text}) ||
             old->length != strlen(c->text))
        diag_file(SEVERITY_ERROR, c->original, "the rewritten '%s' is not what '%s' says",
                  c->original, c->path);
}

static int compare_all(void)
{
    for (int k = 0; k < copies.count; k++)
        compare(&copies.item[k]);
    for (int k = 0; k < copies.left.count; k++)
        diag_file(SEVERITY_ERROR, copies.left.item[k],
                  "'%s' is left over: it is the copy of no file that is named",
                  copies.left.item[k]);
    if (!diag_error_count())
        return 0;
    diag_plain(SEVERITY_NOTE, "if that is right, --update brings '%s' up to date", copies.folder);
    return 1;
}

/* ---- Updating ---- */

static int update_one(const copy_t *c)
{
    const source_t *old = source_read(c->path);
    if (old && old->length == strlen(c->text) && !strcmp(old->text, c->text))
        return 0;
    if (write_new(c->path, c->text))
        return 1;
    printf("%s %s\n", old ? "changed" : "new    ", c->path);
    return 0;
}

/* Removes the copy, and the folders that have become empty. */
static int remove_left(const char *path)
{
    if (unlink(path) != 0) {
        diag_plain(SEVERITY_ERROR, "cannot remove '%s': %s", path, strerror(errno));
        return 1;
    }
    printf("removed %s\n", path);
    for (const char *folder = path_folder(path); strcmp(folder, copies.folder) != 0;
         folder = path_folder(folder))
        if (rmdir(folder) != 0)
            break;
    return 0;
}

static int update_all(void)
{
    int status = 0;
    for (int k = 0; k < copies.count; k++) {
        struct stat is;
        const char *path = copies.item[k].path;
        if (lstat(path, &is) != 0 || is_copy(path))
            continue;
        diag_plain(SEVERITY_ERROR, "'%s' is no copy that kmmcc has written; it stays as it is",
                   path);
        return 1;
    }
    for (int k = 0; k < copies.count && !status; k++)
        status = update_one(&copies.item[k]);
    for (int k = 0; k < copies.left.count && !status; k++)
        status = remove_left(copies.left.item[k]);
    return status;
}

int copies_handle(const plan_t *p)
{
    size_t length = strlen(p->o->check_dir);
    while (length > 1 && p->o->check_dir[length - 1] == '/')
        length--;
    copies.folder = arena_copy(p->o->check_dir, length);
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].transforms)
            add_copies_of(&p->jobs[k]);
    find_left();
    if (diag_error_count())
        return 1;
    return p->o->update ? update_all() : compare_all();
}
