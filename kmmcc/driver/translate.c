/* SPDX-License-Identifier: Apache-2.0 */
/* Translates options into the spelling of gcc and clang. */
#include "driver/translate.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "driver/option_table.h"

static void add_split(list_t *list, const char *value)
{
    while (*value) {
        size_t length = strcspn(value, ",");
        list_add(list, arena_copy(value, length));
        value += length + (value[length] == ',');
    }
}

void options_translate(const options_t *o, int index, list_t *list)
{
    const argument_t *a = &o->arguments[index];
    const char *value = NULL;
    const option_t *option = a->is_value || a->text[0] != '-' ? NULL : option_find(a->text, &value);
    bool separate = index + 1 < o->argument_count && o->arguments[index + 1].is_value;
    bool spelled_alike =
        !option || (!a->nvcc_only && !(separate && strcmp(option->name, "-std") == 0));
    if (a->is_value)
        return;
    if (separate)
        value = o->arguments[index + 1].text;
    if (option && option->role == ROLE_LANG && value && strcmp(value, "cu") == 0)
        return;
    if (spelled_alike) {
        list_add(list, a->text);
        if (separate)
            list_add(list, value);
    } else if (!option->host) {
        list_add(list, option->name);
    } else if (strcmp(option->host, "-Xcompiler") == 0) {
        add_split(list, value);
    } else if (value && (strlen(option->host) == 2 || strchr(option->host, '='))) {
        list_add(list, arena_printf("%s%s", option->host, value));
    } else if (*option->host) {
        list_add(list, option->host);
        if (value)
            list_add(list, value);
    }
}
