/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers that clang has read, kept from one run to the next. Nearly all of kmmcc's time is clang's
 * with the headers with which a file begins: those in angle brackets that are none of the program's
 * are precompiled into a file in the user's cache folder. Its name is KEY-SUM.pch: a hash of all
 * that the headers depend on, and one of what the file holds. clang itself looks whether one of the
 * headers has changed since. A file appears whole or not at all, and is never replaced by another,
 * since runs that use it read it twice; an empty one says that these headers cannot be precompiled.
 * clang trusts what it reads, so a file is used only if it is the user's own and has its sum.
 */
#include "clang/cache.h"

#include <clang-c/Index.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "pragma/includes.h"

enum {
    MAX_MIB = 256,
    MOST_FILES = 4096,
    DAY = 86400,
    IN_USE = 600 /* seconds since a run that may go on */
};

/* ---- The folder ---- */

/* True if only the user can have written the file. */
static bool is_own(const struct stat *s)
{
    return s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH));
}

static bool make_folder(const char *path)
{
    struct stat s;
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/'))
        mkdir(arena_copy(path, (size_t)(slash - path)), 0777);
    mkdir(path, 0700);
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode) && is_own(&s);
}

/* NULL: nothing is kept. */
static const char *folder(void)
{
    const char *own = getenv("KMM_CACHE_DIR"), *user = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    const char *path = own && *own            ? own
                       : user && *user == '/' ? arena_printf("%s/kmm", user)
                       : home && *home == '/' ? arena_printf("%s/.cache/kmm", home)
                                              : "";
    if (*path != '/') /* "none" */
        return NULL;
    return make_folder(path) ? path : NULL;
}

/* ---- The name ---- */

typedef struct hash {
    uint64_t a, b;
} hash_t;

static void add(hash_t *h, const char *text)
{
    for (;; text++) {
        h->a = (h->a ^ (unsigned char)*text) * 0x100000001B3u;
        h->b = (h->b + (unsigned char)*text) * 0x9E3779B97F4A7C15u;
        h->b ^= h->b >> 29;
        if (!*text)
            return;
    }
}

static bool is_relative(const char *flag)
{
    return (!strncmp(flag, "-I", 2) && flag[2] != '/') ||
           (!strncmp(flag, "-isystem", 8) && flag[8] != '/') || !strncmp(flag, "-iquote", 7);
}

/* When each file of a folder was written. */
static void add_files(hash_t *h, const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        const char *file = arena_printf("%s/%s", path, e->d_name);
        struct stat s;
        if (*e->d_name == '.' || stat(file, &s))
            continue;
        if (S_ISDIR(s.st_mode))
            add_files(h, file);
        else
            add(h, arena_printf("%s %lld %lld.%ld", file, (long long)s.st_size,
                                (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec));
    }
    if (d)
        closedir(d);
}

/* kmm's own headers: clang takes one that has changed for the old one until it needs its text, and
 * is confused then. */
static void add_own(hash_t *h, const char *flag)
{
    static const char *const known[] = {"kmm_launch.h", "hip/kmm_hip_names.h", "kmm/launch.h"};
    const char *path = strchr(flag, '/');
    for (size_t k = 0; path && k < sizeof(known) / sizeof(*known); k++)
        if (access(arena_printf("%s/%s", path, known[k]), R_OK) == 0)
            add_files(h, k == 2 ? arena_printf("%s/kmm", path) : path);
}

static const char *key_of(const char *headers, const char *const *flags, int count,
                          bool skips_bodies)
{
    static const char *const variables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"};
    hash_t h = {0xCBF29CE484222325u, 0};
    bool relative = false;
    char place[4096];
    add(&h, "2"); /* of what the files hold */
    add(&h, clang_text(clang_getClangVersion()));
    add(&h, headers);
    add(&h, skips_bodies ? "skip" : "all");
    for (int k = 0; k < count; k++) {
        add(&h, flags[k]);
        add_own(&h, flags[k]);
        relative |= is_relative(flags[k]);
    }
    for (size_t k = 0; k < sizeof(variables) / sizeof(*variables); k++) {
        const char *value = getenv(variables[k]);
        add(&h, value ? value : "");
        relative |= value != NULL;
    }
    add(&h, relative && getcwd(place, sizeof(place)) ? place : "");
    return arena_printf("%016llx%016llx", (unsigned long long)h.a, (unsigned long long)h.b);
}

/* ---- What there is too much ---- */

typedef struct entry {
    const char *path;
    time_t used;
    long long bytes;
} entry_t;

static int by_use(const void *left, const void *right)
{
    const entry_t *a = left, *b = right;
    return a->used < b->used ? -1 : a->used > b->used;
}

/* Bytes that all files may have. */
static long long room(void)
{
    enum { MOST = 1 << 30 };
    const char *text = getenv("KMM_CACHE_MAX");
    char *end = NULL;
    long long mib = text ? strtoll(text, &end, 10) : 0;
    bool is_given = text && *text, is_right = is_given && !*end && mib > 0 && mib <= MOST;
    if (is_given && !is_right)
        diag_plain(SEVERITY_WARNING, "KMM_CACHE_MAX=%s is ignored: it is a number from 1 to %d",
                   text, MOST);
    return (is_right ? mib : MAX_MIB) << 20;
}

/* Removes the files that were used longest ago. Files that may be in use stay. */
static void trim(const char *path)
{
    entry_t *entries = arena_alloc(MOST_FILES * sizeof(*entries));
    int count = 0;
    long long total = 0, most = room();
    time_t now = time(NULL);
    DIR *dir = opendir(path);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && count < MOST_FILES; e = readdir(dir)) {
        struct stat s;
        const char *file = arena_printf("%s/%s", path, e->d_name);
        if (!strstr(e->d_name, ".pch") || stat(file, &s) || !S_ISREG(s.st_mode))
            continue;
        entries[count++] = (entry_t){file, s.st_atime, s.st_size};
        total += s.st_size;
    }
    if (dir)
        closedir(dir);
    qsort(entries, (size_t)count, sizeof(*entries), by_use);
    for (int k = 0; k < count && total > most && entries[k].used < now - IN_USE; k++) {
        unlink(entries[k].path);
        total -= entries[k].bytes;
    }
}

/* ---- Making one ---- */

void cache_forget(const char *path)
{
    unlink(path);
}

static bool has_errors(CXTranslationUnit tu)
{
    bool found = false;
    for (unsigned k = 0; k < clang_getNumDiagnostics(tu) && !found; k++) {
        CXDiagnostic d = clang_getDiagnostic(tu, k);
        found = clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error;
        clang_disposeDiagnostic(d);
    }
    return found;
}

/* A hash of what the file holds, as text; "0" if it is empty; NULL if it cannot be read. */
static const char *sum_of(const char *path)
{
    enum { WORDS = 8192 };
    uint64_t *words = arena_alloc(WORDS * sizeof(*words)), sum = 0xCBF29CE484222325u;
    unsigned long long bytes = 0;
    FILE *file = fopen(path, "rb");
    for (size_t got; file && (got = fread(words, 1, WORDS * sizeof(*words), file)); bytes += got) {
        memset((char *)words + got, 0, (0 - got) % sizeof(*words));
        for (size_t k = 0; k * sizeof(*words) < got; k++)
            sum = ((sum ^ words[k]) * 0x9E3779B97F4A7C15u) ^ (sum >> 29);
    }
    bool failed = !file || ferror(file);
    if (file)
        fclose(file);
    return failed ? NULL : bytes ? arena_printf("%016llx", (unsigned long long)sum ^ bytes) : "0";
}

/* Saves a translation unit, or an empty file where there is none. */
static bool save(CXTranslationUnit tu, const char *path)
{
    if (tu && clang_saveTranslationUnit(tu, path, clang_defaultSaveOptions(tu)) != CXSaveError_None)
        return false;
    if (!tu)
        close(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600));
    return chmod(path, 0600) == 0;
}

/* The flags, and one with which clang instantiates what the headers use of templates now. Otherwise
 * every file that begins with these headers instantiates it. */
static const char *const *with_instances(const char *const *flags, int count)
{
    const char **all = arena_alloc(((size_t)count + 1) * sizeof(*all));
    memcpy(all, flags, (size_t)count * sizeof(*all));
    all[count] = "-fpch-instantiate-templates";
    return all;
}

/* Writes the file, an empty one where clang cannot; its path, or NULL. */
static const char *precompile(const char *key, const char *headers, const char *const *flags,
                              int count, bool skips_bodies)
{
    struct CXUnsavedFile text = {arena_printf("%s/kmm_headers.h", folder()), headers,
                                 strlen(headers)};
    unsigned options = CXTranslationUnit_Incomplete | CXTranslationUnit_ForSerialization |
                       (skips_bodies ? CXTranslationUnit_SkipFunctionBodies : 0);
    CXIndex index = clang_createIndex(0, 0);
    CXTranslationUnit tu = NULL;
    const char *made = arena_printf("%s.%ld.pch", key, (long)getpid());
    bool good = clang_parseTranslationUnit2(index, text.Filename, with_instances(flags, count),
                                            count + 1, &text, 1, options, &tu) == CXError_Success &&
                tu && !has_errors(tu) && save(tu, made);
    if (!good)
        save(NULL, made);
    if (tu)
        clang_disposeTranslationUnit(tu);
    clang_disposeIndex(index);
    const char *sum = sum_of(made), *path = sum ? arena_printf("%s-%s.pch", key, sum) : NULL;
    bool kept = path && (link(made, path) == 0 || errno == EEXIST); /* another run was quicker */
    unlink(made);
    return good && kept ? path : NULL;
}

/* Notes that the file is used now, as its time of access: clang takes a file whose time of
 * modification has changed since it was read for another one. */
static bool note_use(const char *path)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    return utimensat(AT_FDCWD, path, times, 0) == 0;
}

/* True if the file, KEY-SUM.pch, may be given to clang; otherwise it is removed. *none becomes true
 * if the file says that these headers cannot be precompiled. */
static bool is_sound(const char *path, const char *key, bool *none)
{
    struct stat s;
    const char *named = path + strlen(key) + 1, *sum;
    if (lstat(path, &s))
        return false;
    bool own = S_ISREG(s.st_mode) && is_own(&s);
    *none |= own && s.st_size == 0 && s.st_mtime > time(NULL) - DAY;
    if (own && s.st_size && (sum = sum_of(path)) && !strcmp(named, arena_printf("%s.pch", sum)) &&
        note_use(path))
        return true;
    if (!*none)
        cache_forget(path);
    return false;
}

/* The file of that key; NULL: there is none. */
static const char *find(const char *in, const char *key, bool *none)
{
    const char *found = NULL, *begin = arena_printf("%s-", strrchr(key, '/') + 1);
    DIR *dir = opendir(in);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && !found; e = readdir(dir)) {
        const char *path = arena_printf("%s/%s", in, e->d_name);
        if (!strncmp(e->d_name, begin, strlen(begin)) && is_sound(path, key, none))
            found = path;
    }
    if (dir)
        closedir(dir);
    return found;
}

const char *cache_headers(const char *headers, const char *const *flags, int count,
                          bool skips_bodies)
{
    const char *in = folder();
    bool none = false;
    if (!in)
        return NULL;
    const char *key = arena_printf("%s/%s", in, key_of(headers, flags, count, skips_bodies)),
               *path = find(in, key, &none);
    if (path || none)
        return path;
    path = precompile(key, headers, flags, count, skips_bodies);
    if (path)
        trim(in);
    return path;
}

/* ---- Which headers ---- */

static bool is_of_program(const unit_t *u, token_t line)
{
    const include_file_t *file = u->includes->file[0];
    for (int k = 0; k < file->include_count; k++)
        if (file->include[k].begin >= line.begin && file->include[k].begin < line.end)
            return true;
    return false;
}

const char *cache_leading(const unit_t *u)
{
    const source_t *s = u->source;
    lexer_t l = lexer_at(s, 0, s->length);
    text_t out = {0};
    text_add(&out, "", 0);
    for (token_t t = lex(&l); t.kind == TOKEN_DIRECTIVE && !is_of_program(u, t); t = lex(&l)) {
        lexer_t words = lexer_at(s, t.begin, t.end);
        words.line_start = false;
        lex(&words); /* # */
        if (!token_is(s, lex(&words), "include") || !token_is(s, lex(&words), "<"))
            break;
        text_printf(&out, "%s\n", source_words(s, t.begin, t.end));
    }
    return out.data;
}
