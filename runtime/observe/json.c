/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows, and JSON values in it. */
#include "observe/json.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

void kmm__json_room(kmm__json_t *j, size_t bytes)
{
    enum { LEAST = 4096 };
    const size_t capacity = 2 * (j->length + bytes) + LEAST;
    char *text = kmm__alloc(capacity);
    if (j->length)
        memcpy(text, j->text, j->length);
    free(j->text);
    j->text = text;
    j->capacity = capacity;
}

/* Leaves out what is longer than it must be, halves of pairs, and what is beyond Unicode. */
size_t kmm__utf8_bytes(const char *text)
{
    const unsigned char *u = (const unsigned char *)text;
    const size_t bytes = u[0] < 0x80   ? u[0] != 0
                         : u[0] < 0xc2 ? 0
                         : u[0] < 0xe0 ? 2
                         : u[0] < 0xf0 ? 3
                         : u[0] < 0xf5 ? 4
                                       : 0;
    for (size_t k = 1; k < bytes; k++)
        if ((u[k] & 0xc0) != 0x80)
            return 0;
    const bool is_wrong = (u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] >= 0xa0) ||
                          (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] >= 0x90);
    return bytes > 1 && is_wrong ? 0 : bytes;
}

void kmm__json_string(kmm__json_t *j, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    kmm__json_bytes(j, "\"", 1);
    for (const char *c = text ? text : "?"; *c; c++) {
        const unsigned char u = (unsigned char)*c;
        const char code[] = {'\\', 'u', '0', '0', digits[u >> 4], digits[u & 15]};
        const size_t bytes = kmm__utf8_bytes(c);
        if (bytes == 0) {
            kmm__json_bytes(j, "?", 1);
        } else if (u < ' ') {
            kmm__json_bytes(j, code, sizeof(code));
        } else if (u == '"' || u == '\\') {
            kmm__json_bytes(j, (const char[]){'\\', *c}, 2);
        } else {
            kmm__json_bytes(j, c, bytes);
            c += bytes - 1;
        }
    }
    kmm__json_bytes(j, "\"", 1);
}

void kmm__json_number(kmm__json_t *j, uint64_t n)
{
    enum { DIGITS = 20 };
    char text[DIGITS];
    int at = DIGITS;
    do
        text[--at] = (char)('0' + n % 10);
    while ((n /= 10));
    kmm__json_bytes(j, text + at, (size_t)(DIGITS - at));
}

void kmm__json_micros(kmm__json_t *j, uint64_t ns)
{
    const uint64_t rest = ns % 1000;
    const char decimals[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                             (char)('0' + rest % 10)};
    kmm__json_number(j, ns / 1000);
    kmm__json_bytes(j, decimals, sizeof(decimals));
}
