/* SPDX-License-Identifier: Apache-2.0 */
/* The size of types, as LLVM writes them: "float", "<4 x i32>", "ptr addrspace(1)", "[2 x i64]". */
#include "amd/type.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "amd/text.h"
#include "base/arena.h"

static unsigned long bits_of(const char *ir, const char *text, size_t *length);

static bool is_power(unsigned long n)
{
    return n && !(n & (n - 1));
}

/* Of "[2 x float]" or "<2 x float>". Elements of an array lie behind each other without a gap if
 * their size is a power of two. */
static unsigned long many_bits(const char *ir, const char *text, size_t *length)
{
    char *end;
    unsigned long count = strtoul(text + 1, &end, 10), bits;
    size_t inner = 0;
    *length = ir_behind(text, 0);
    if (strncmp(end, " x ", 3))
        return 0;
    bits = bits_of(ir, end + 3, &inner);
    return *text == '<' || (is_power(bits) && bits >= 8) ? count * bits : 0;
}

/* Of "{ i64, i32 }": known if its members leave no gap. */
static unsigned long struct_bits(const char *ir, const char *text, size_t *length)
{
    unsigned long at = 0, largest = 8;
    *length = ir_behind(text, 0);
    for (size_t k = 1; k < *length - 1;) {
        size_t inner = 0;
        k += strspn(text + k, " ,");
        if (k >= *length - 1)
            break;
        unsigned long bits = bits_of(ir, text + k, &inner);
        if (!inner || !is_power(bits) || bits < 8 || at % bits)
            return 0;
        at += bits;
        largest = bits > largest ? bits : largest;
        k += inner;
    }
    return at % largest ? 0 : at;
}

/* Of "%struct.pair", by the line that defines it. */
static unsigned long named_bits(const char *ir, const char *text, size_t *length)
{
    size_t inner = 0;
    *length = 1 + ir_name(text + 1);
    const char *line = strstr(ir, arena_printf("\n%.*s = type {", (int)*length, text));
    return line ? struct_bits(ir, strchr(line, '{'), &inner) : 0;
}

static unsigned long pointer_bits(const char *text, size_t *length)
{
    static const unsigned bits[] = {64, 64, 32, 32, 64, 32, 32};
    size_t space = 0;
    *length = 3 + ir_address_space(text + 3, &space);
    return space < sizeof(bits) / sizeof(*bits) ? bits[space] : 0;
}

static unsigned long bits_of(const char *ir, const char *text, size_t *length)
{
    static const struct {
        const char *name;
        unsigned bits;
    } floats[] = {{"half", 16}, {"bfloat", 16}, {"float", 32}, {"double", 64}};
    *length = 0;
    if (*text == '[' || *text == '<')
        return text[1] == '{' ? 0 : many_bits(ir, text, length);
    if (*text == '{')
        return struct_bits(ir, text, length);
    if (*text == '%')
        return named_bits(ir, text, length);
    while (isalnum((unsigned char)text[*length]))
        ++*length;
    if (*text == 'i' && *length > 1)
        return strtoul(text + 1, NULL, 10);
    if (*length == 3 && !strncmp(text, "ptr", 3))
        return pointer_bits(text, length);
    for (size_t k = 0; k < sizeof(floats) / sizeof(*floats); k++)
        if (*length == strlen(floats[k].name) && !strncmp(text, floats[k].name, *length))
            return floats[k].bits;
    return 0;
}

unsigned type_bytes(const char *ir, const char *text, size_t *length)
{
    return (unsigned)((bits_of(ir, text, length) + 7) / 8);
}
