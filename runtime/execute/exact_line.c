/* SPDX-License-Identifier: Apache-2.0 */
/* The source line of an instruction, by the program addr2line, and variables, by nm. */
#include "execute/exact_line.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A name that the shell takes as it is within single quotes. */
static bool is_plain(const char *path)
{
    return !strchr(path, '\'');
}

/* Cuts an answer to "file:line". False: the line is not known, or is one of kmm's headers, into
 * which the user's line was inlined. */
static bool trim(char *answer)
{
    answer[strcspn(answer, " \n")] = 0;
    char *name = strrchr(answer, '/');
    if (name)
        memmove(answer, name + 1, strlen(name + 1) + 1);
    char *line = strrchr(answer, ':');
    return line && line[1] >= '1' && line[1] <= '9' && answer[0] != '?' &&
           strncmp(answer, "kmm_", 4) != 0;
}

/* False: addr2line is not there, or does not know the line. */
static bool ask(const char *object, uintptr_t offset, char *out, size_t size)
{
    char command[PATH_MAX + 64], answer[1024];
    int n = snprintf(command, sizeof(command), "addr2line -i -e '%s' 0x%llx 2>/dev/null", object,
                     (unsigned long long)offset);
    bool found = false;
    if (!is_plain(object) || n >= (int)sizeof(command))
        return false;
    FILE *pipe = popen(command, "re");
    while (pipe && fgets(answer, sizeof(answer), pipe)) {
        if (!found && trim(answer)) {
            snprintf(out, size, "%s", answer);
            found = true;
        }
    }
    if (pipe)
        pclose(pipe);
    return found;
}

/* Finds the object of an address: its path, and how far its addresses are from those in its file.
 * False: there is none. */
static bool object_of(uintptr_t at, Dl_info *info, char *path, size_t size, uintptr_t *distance)
{
    struct link_map *map = NULL;
    if (!dladdr1((const void *)at, info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    if (map->l_name && *map->l_name && strcmp(map->l_name, "/proc/self/exe") != 0)
        snprintf(path, size, "%s", map->l_name);
    else /* addr2line's own /proc/self is another one */
        snprintf(path, size, "/proc/%d/exe", (int)getpid());
    *distance = map->l_addr;
    return true;
}

static void offset_text(const Dl_info *info, uintptr_t offset, char *out, size_t size)
{
    const char *name = strrchr(info->dli_fname, '/');
    snprintf(out, size, "%s+0x%llx", name ? name + 1 : info->dli_fname, (unsigned long long)offset);
}

void kmm__exact_line(const void *pc, char *out, size_t size)
{
    Dl_info info;
    char object[PATH_MAX];
    uintptr_t at = (uintptr_t)pc - 1, distance;
    if (!pc || !object_of(at, &info, object, sizeof(object), &distance))
        snprintf(out, size, "%p", pc);
    else if (!ask(object, at - distance, out, size))
        offset_text(&info, at - distance, out, size);
}

/* ---- Variables ---- */

/* Writes "'f::total'" for "f(int)::total.0": without parameters, and without the number that a
 * compiler puts behind a local static variable. */
static void name_variable(const char *name, kmm__variable_t *v)
{
    char text[sizeof(v->name) - 2];
    size_t n = 0;
    int depth = 0;
    for (const char *at = name; *at && *at != '\n' && n + 1 < sizeof(text); at++) {
        bool begins = *at == '(' && at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins || (depth && *at == '('))
            depth++;
        else if (depth && *at == ')')
            depth--;
        else if (!depth)
            text[n++] = *at;
    }
    text[n] = 0;
    char *dot = strrchr(text, '.');
    if (dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")])
        *dot = 0;
    snprintf(v->name, sizeof(v->name), "'%s'", text);
}

/* False: nm is not there, or the object has no symbol there. */
static bool ask_variable(const char *object, uintptr_t offset, kmm__variable_t *v)
{
    char command[PATH_MAX + 64], answer[512];
    bool found = false;
    if (!is_plain(object))
        return false;
    snprintf(command, sizeof(command), "nm -C -S --defined-only '%s' 2>/dev/null", object);
    FILE *pipe = popen(command, "re");
    while (pipe && fgets(answer, sizeof(answer), pipe)) {
        unsigned long long begin, size;
        int name = 0;
        char type;
        if (found || sscanf(answer, "%llx %llx %c %n", &begin, &size, &type, &name) != 3 || !name ||
            !strchr("bBdDgGsSuvV", type) || offset < begin || offset - begin >= size)
            continue;
        v->begin = begin;
        v->end = begin + size;
        name_variable(answer + name, v);
        found = true;
    }
    if (pipe)
        pclose(pipe);
    return found;
}

void kmm__exact_variable(uintptr_t address, kmm__variable_t *out)
{
    enum { WORD = 8 };
    Dl_info info;
    char object[PATH_MAX];
    uintptr_t distance;
    const ElfW(Sym) *symbol = NULL;
    out->begin = address & ~(uintptr_t)(WORD - 1);
    out->end = out->begin + WORD;
    if (!object_of(address, &info, object, sizeof(object), &distance)) {
        snprintf(out->name, sizeof(out->name), "at %p", (void *)address);
    } else if (ask_variable(object, address - distance, out)) {
        out->begin += distance;
        out->end += distance;
    } else if (dladdr1((const void *)address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
               info.dli_sname && address - (uintptr_t)info.dli_saddr < symbol->st_size) {
        out->begin = (uintptr_t)info.dli_saddr;
        out->end = out->begin + symbol->st_size;
        name_variable(info.dli_sname, out);
    } else {
        char text[sizeof(out->name) - 3];
        offset_text(&info, address - distance, text, sizeof(text));
        snprintf(out->name, sizeof(out->name), "at %s", text);
    }
}
