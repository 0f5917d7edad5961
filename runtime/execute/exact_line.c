/* SPDX-License-Identifier: Apache-2.0 */
/* The source line of an instruction, by the program addr2line. */
#include "execute/exact_line.h"

#include <dlfcn.h>
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
    char command[4200], answer[1024];
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

void kmm__exact_line(const void *pc, char *out, size_t size)
{
    Dl_info info;
    struct link_map *map = NULL;
    uintptr_t at = (uintptr_t)pc - 1;
    if (!pc || !dladdr1((const void *)at, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) {
        snprintf(out, size, "%p", pc);
        return;
    }
    const char *object = map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
    char self[64];
    if (object[0] == '/' && !strcmp(object, "/proc/self/exe")) {
        snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
        object = self;
    }
    const char *name = strrchr(info.dli_fname, '/');
    if (!ask(object, at - map->l_addr, out, size))
        snprintf(out, size, "%s+0x%llx", name ? name + 1 : info.dli_fname,
                 (unsigned long long)(at - map->l_addr));
}
