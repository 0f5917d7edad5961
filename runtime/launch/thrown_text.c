/* SPDX-License-Identifier: Apache-2.0 */
/* The values of C++ objects, as text. The name of a type says which type it is, with those of its
 * elements; so the layout is known where the object is not declared. */
#include "launch/thrown_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/alloc.h"

enum { MAX_ARGUMENTS = 16, MAX_DEPTH = 16 };

/* A part of the name. */
typedef struct name {
    const char *at;
    size_t length;
} name_t;

/* `object` NULL: only size and alignment are asked for. */
typedef struct shown {
    char *text;
    uint32_t length, capacity;
    int depth;
} shown_t;

typedef struct layout {
    size_t bytes, alignment;
} layout_t;

static bool show(shown_t *s, name_t type, const char *object, layout_t *l);

static void add(shown_t *s, const char *text, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        s->text = kmm__grow(s->text, s->length, &s->capacity, 1);
        s->text[s->length++] = text[k];
    }
}

static void add_text(shown_t *s, const char *text)
{
    add(s, text, strlen(text));
}

/* Different texts are shown differently, also within braces. */
static void add_string(shown_t *s, const char *text, size_t length)
{
    const bool is_part = s->depth > 1;
    add(s, "\"", is_part);
    for (size_t k = 0; k < length; k++) {
        if (text[k] == '\\' || (text[k] == '"' && is_part))
            add(s, "\\", 1);
        add(s, text[k] ? text + k : "\\0", text[k] ? 1 : 2);
    }
    add(s, "\"", is_part);
}

static bool is(name_t n, const char *text)
{
    return strlen(text) == n.length && !memcmp(n.at, text, n.length);
}

/* ---- Numbers ---- */

#define NUMBERS(NUMBER)                                                                            \
    NUMBER("bool", bool, "%d", int)                                                                \
    NUMBER("char", char, "%d", int)                                                                \
    NUMBER("signed char", signed char, "%d", int)                                                  \
    NUMBER("unsigned char", unsigned char, "%d", int)                                              \
    NUMBER("wchar_t", wchar_t, "%ld", long)                                                        \
    NUMBER("char16_t", uint16_t, "%d", int)                                                        \
    NUMBER("char32_t", uint32_t, "%u", uint32_t)                                                   \
    NUMBER("short", short, "%d", int)                                                              \
    NUMBER("unsigned short", unsigned short, "%d", int)                                            \
    NUMBER("int", int, "%d", int)                                                                  \
    NUMBER("unsigned int", unsigned, "%u", unsigned)                                               \
    NUMBER("long", long, "%ld", long)                                                              \
    NUMBER("unsigned long", unsigned long, "%lu", unsigned long)                                   \
    NUMBER("long long", long long, "%lld", long long)                                              \
    NUMBER("unsigned long long", unsigned long long, "%llu", unsigned long long)                   \
    NUMBER("float", float, "%.9g", double)                                                         \
    NUMBER("double", double, "%.17g", double)                                                      \
    NUMBER("long double", long double, "%.21Lg", long double)

static bool show_number(shown_t *s, name_t type, const char *object, layout_t *l)
{
    char text[64];
#define NUMBER(name, kind, format, wide)                                                           \
    if (is(type, name)) {                                                                          \
        kind value;                                                                                \
        *l = (layout_t){sizeof(kind), _Alignof(kind)};                                             \
        if (object) {                                                                              \
            memcpy(&value, object, sizeof(value));                                                 \
            snprintf(text, sizeof(text), format, (wide)value);                                     \
            add_text(s, text);                                                                     \
        }                                                                                          \
        return true;                                                                               \
    }
    NUMBERS(NUMBER)
#undef NUMBER
    return false;
}

/* ---- Texts ---- */

static bool show_string(shown_t *s, name_t type, const char *object, layout_t *l)
{
    struct {
        const char *text;
        size_t length;
    } value = {NULL, 0};
    if (is(type, "char const*")) {
        *l = (layout_t){sizeof(char *), _Alignof(char *)};
        if (object)
            memcpy(&value.text, object, sizeof(value.text));
        value.length = value.text ? strlen(value.text) : 0;
    } else if (is(type, "std::__cxx11::basic_string<char, std::char_traits<char>, "
                        "std::allocator<char> >")) {
        *l = (layout_t){4 * sizeof(size_t), _Alignof(char *)};
        if (object)
            memcpy(&value, object, sizeof(value));
    } else
        return false;
    if (object)
        add_string(s, value.text, value.length);
    return true;
}

/* ---- Templates ---- */

/* Splits `template<A, B>`. Returns the number of arguments; 0: it is no such name. */
static int split(name_t type, const char *template, name_t *argument)
{
    const size_t begin = strlen(template) + 1;
    int count = 0, depth = 0;
    if (type.length <= begin + 1 || memcmp(type.at, template, begin - 1) != 0 ||
        type.at[begin - 1] != '<' || type.at[type.length - 1] != '>')
        return 0;
    const char *at = type.at + begin, *end = type.at + type.length - 1;
    for (const char *from = at; at <= end; at++) {
        depth += at < end ? (*at == '<') - (*at == '>') : 0;
        if (at < end && (*at != ',' || depth))
            continue;
        if (count == MAX_ARGUMENTS)
            return 0;
        size_t length = (size_t)(at - from);
        while (length && from[length - 1] == ' ')
            length--;
        argument[count++] = (name_t){from, length};
        from = at + 1;
        while (from < end && *from == ' ')
            from++;
    }
    return count;
}

static bool show_elements(shown_t *s, name_t type, const char *begin, size_t count, layout_t *l)
{
    if (!show(s, type, NULL, l))
        return false;
    add_text(s, "{");
    for (size_t k = 0; k < count; k++) {
        add_text(s, k ? ", " : "");
        show(s, type, begin + k * l->bytes, l);
    }
    add_text(s, "}");
    return true;
}

static bool show_vector(shown_t *s, const name_t *argument, const char *object, layout_t *l)
{
    static const char allocator[] = "std::allocator<";
    const char *bounds[2] = {NULL, NULL};
    layout_t element;
    *l = (layout_t){3 * sizeof(char *), _Alignof(char *)};
    if (is(argument[0], "bool") || argument[1].length < sizeof(allocator) ||
        memcmp(argument[1].at, allocator, sizeof(allocator) - 1) != 0 ||
        !show(s, argument[0], NULL, &element))
        return false;
    if (!object)
        return true;
    memcpy(bounds, object, sizeof(bounds));
    return show_elements(s, argument[0], bounds[0],
                         bounds[0] ? (size_t)(bounds[1] - bounds[0]) / element.bytes : 0, &element);
}

static bool show_array(shown_t *s, const name_t *argument, const char *object, layout_t *l)
{
    layout_t element;
    const size_t count = strtoull(argument[1].at, NULL, 10);
    if (!count || !show(s, argument[0], NULL, &element))
        return false;
    *l = (layout_t){count * element.bytes, element.alignment};
    return !object || show_elements(s, argument[0], object, count, &element);
}

/* The last member of a tuple lies first. */
static bool show_members(shown_t *s, const name_t *argument, int count, bool is_tuple,
                         const char *object, layout_t *l)
{
    size_t at[MAX_ARGUMENTS], end = 0;
    *l = (layout_t){0, 1};
    for (int n = 0; n < count; n++) {
        const int k = is_tuple ? count - 1 - n : n;
        layout_t member;
        if (!show(s, argument[k], NULL, &member))
            return false;
        at[k] = (end + member.alignment - 1) / member.alignment * member.alignment;
        end = at[k] + member.bytes;
        l->alignment = member.alignment > l->alignment ? member.alignment : l->alignment;
    }
    l->bytes = (end + l->alignment - 1) / l->alignment * l->alignment;
    for (int k = 0; k < count && object; k++) {
        layout_t member;
        add_text(s, k ? ", " : "{");
        show(s, argument[k], object + at[k], &member);
    }
    add_text(s, object ? "}" : "");
    return true;
}

static bool show_template(shown_t *s, name_t type, const char *object, layout_t *l)
{
    name_t argument[MAX_ARGUMENTS];
    int count;
    if (split(type, "std::vector", argument) == 2)
        return show_vector(s, argument, object, l);
    if (split(type, "std::array", argument) == 2)
        return show_array(s, argument, object, l);
    if (split(type, "std::pair", argument) == 2)
        return show_members(s, argument, 2, false, object, l);
    count = split(type, "std::tuple", argument);
    return count && show_members(s, argument, count, true, object, l);
}

static bool show(shown_t *s, name_t type, const char *object, layout_t *l)
{
    if (++s->depth > MAX_DEPTH)
        return false;
    const bool known = show_number(s, type, object, l) || show_string(s, type, object, l) ||
                       show_template(s, type, object, l);
    s->depth--;
    return known;
}

char *kmm__thrown_text(const char *type, const void *object)
{
    shown_t s = {.text = NULL};
    layout_t l;
    const name_t name = {type, strlen(type)};
    if (!show(&s, name, NULL, &l) || !show(&s, name, object, &l)) {
        free(s.text);
        return NULL;
    }
    add(&s, "", 1);
    return s.text;
}
