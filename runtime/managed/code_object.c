/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the sizes of a kernel's parameters from its code object, as HIP's own runtime does; HIP has
 * no call that returns them. A bundle has one code object for each kind of GPU: an ELF file whose
 * note describes its kernels as a tree in MessagePack. The bundle is part of the program. A
 * malformed part is treated as absent.
 */
#include "managed/code_object.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { NOTE_METADATA = 32, MACHINE_AMDGPU = 224, MAX_CODES = 1024 };

/* ---- MessagePack ---- */

typedef struct reader {
    const uint8_t *at, *end;
    bool failed;
} reader_t;
typedef enum kind { NUMBER, STRING, ARRAY, MAP, OTHER } kind_t;

/* One MessagePack value. `value` is a number, the number of bytes of a string (which begin at
 * `text`), the number of members of an array, or the number of pairs of a map. Members and pairs
 * follow the item. */
typedef struct item {
    kind_t kind;
    uint64_t value;
    const char *text;
} item_t;

/* Reads a number of `bytes` bytes, the highest first. */
static uint64_t number(reader_t *r, size_t bytes)
{
    uint64_t value = 0;
    r->failed |= (size_t)(r->end - r->at) < bytes;
    for (size_t k = 0; k < bytes && !r->failed; k++)
        value = value << 8 | *r->at++;
    return value;
}

static item_t text_item(reader_t *r, kind_t kind, uint64_t length)
{
    item_t item = {kind, length, (const char *)r->at};
    r->failed |= (uint64_t)(r->end - r->at) < length;
    r->at += r->failed ? 0 : length;
    return item;
}

/* Reads an item whose first byte is from 0xc0 to 0xdf. */
static item_t long_item(reader_t *r, unsigned tag)
{
    if (tag >= 0xcc && tag <= 0xd3) /* 8, 16, 32 and 64 bits, unsigned and signed */
        return (item_t){NUMBER, number(r, (size_t)1 << (tag & 3)), NULL};
    if (tag >= 0xd9 && tag <= 0xdb)
        return text_item(r, STRING, number(r, (size_t)1 << (tag - 0xd9)));
    if (tag == 0xdc || tag == 0xdd)
        return (item_t){ARRAY, number(r, tag == 0xdc ? 2 : 4), NULL};
    if (tag == 0xde || tag == 0xdf)
        return (item_t){MAP, number(r, tag == 0xde ? 2 : 4), NULL};
    if (tag >= 0xc4 && tag <= 0xc6)
        return text_item(r, OTHER, number(r, (size_t)1 << (tag - 0xc4)));
    if (tag == 0xca || tag == 0xcb)
        return text_item(r, OTHER, tag == 0xca ? 4 : 8);
    r->failed |= tag != 0xc0 && tag != 0xc2 &&
                 tag != 0xc3; /* nil, false and true; extensions are not used */
    return (item_t){OTHER, 0, NULL};
}

static item_t next(reader_t *r)
{
    unsigned tag = (unsigned)number(r, 1);
    if (r->failed)
        return (item_t){OTHER, 0, NULL};
    if (tag < 0x80 || tag >= 0xe0)
        return (item_t){NUMBER, tag, NULL};
    if (tag < 0x90)
        return (item_t){MAP, tag & 0xf, NULL};
    if (tag < 0xa0)
        return (item_t){ARRAY, tag & 0xf, NULL};
    return tag < 0xc0 ? text_item(r, STRING, tag & 0x1f) : long_item(r, tag);
}

static void skip(reader_t *r)
{
    for (uint64_t left = 1; left && !r->failed; left--) {
        item_t item = next(r);
        left += item.kind == ARRAY ? item.value : item.kind == MAP ? 2 * item.value : 0;
    }
}

static bool is(item_t item, const char *text)
{
    return item.kind == STRING && item.value == strlen(text) &&
           memcmp(item.text, text, item.value) == 0;
}

static bool begins(item_t item, const char *text)
{
    return item.kind == STRING && item.value >= strlen(text) &&
           memcmp(item.text, text, strlen(text)) == 0;
}

/* Moves *r to the value of a key in the map that begins at *r. False: the map has no such key. */
static bool find(reader_t *r, const char *key)
{
    item_t map = next(r);
    for (uint64_t k = 0; map.kind == MAP && k < map.value && !r->failed; k++) {
        if (is(next(r), key))
            return true;
        skip(r);
    }
    return false;
}

/* Returns the value of a key in the map that begins at `at`. */
static item_t value_of(reader_t at, const char *key)
{
    if (!find(&at, key))
        return (item_t){OTHER, 0, NULL};
    item_t item = next(&at);
    return at.failed ? (item_t){OTHER, 0, NULL} : item;
}

/* ---- A kernel ---- */

typedef struct query {
    const char *kernel;
    uint32_t *bytes, capacity, *count;
} query_t;

/* Reads the sizes of a kernel's parameters. Hidden parameters, which the compiler adds after the
 * others, are left out. */
static bool read_parameters(reader_t r, const query_t *q)
{
    *q->count = 0;
    if (!find(&r, ".args"))
        return true;
    item_t list = next(&r);
    for (uint64_t k = 0; list.kind == ARRAY && k < list.value && !r.failed; k++, skip(&r)) {
        item_t size = value_of(r, ".size"), kind = value_of(r, ".value_kind");
        if (begins(kind, "hidden_"))
            continue;
        if (size.kind != NUMBER || *q->count == q->capacity)
            return false;
        q->bytes[(*q->count)++] = (uint32_t)size.value;
    }
    return list.kind == ARRAY && !r.failed;
}

static bool read_metadata(reader_t r, const query_t *q)
{
    if (!find(&r, "amdhsa.kernels"))
        return false;
    item_t list = next(&r);
    for (uint64_t k = 0; list.kind == ARRAY && k < list.value && !r.failed; k++, skip(&r))
        if (is(value_of(r, ".name"), q->kernel))
            return read_parameters(r, q);
    return false;
}

/* ---- ELF ---- */

typedef struct bytes {
    const uint8_t *data;
    uint64_t length;
} bytes_t;

static bool holds(bytes_t b, uint64_t offset, uint64_t length)
{
    return offset <= b.length && length <= b.length - offset;
}

static uint64_t round_up(uint64_t n)
{
    return (n + 3) / 4 * 4;
}

static bool read_notes(bytes_t notes, const query_t *q)
{
    Elf64_Nhdr h;
    for (uint64_t at = 0; holds(notes, at, sizeof(h));) {
        memcpy(&h, notes.data + at, sizeof(h));
        uint64_t name = at + sizeof(h), text = name + round_up(h.n_namesz);
        at = text + round_up(h.n_descsz);
        if (!holds(notes, name, h.n_namesz) || !holds(notes, text, h.n_descsz))
            return false;
        bool ours = h.n_type == NOTE_METADATA && h.n_namesz == sizeof("AMDGPU") &&
                    memcmp(notes.data + name, "AMDGPU", sizeof("AMDGPU")) == 0;
        if (ours &&
            read_metadata((reader_t){notes.data + text, notes.data + text + h.n_descsz, false}, q))
            return true;
    }
    return false;
}

static bool is_code(bytes_t file, Elf64_Ehdr *h)
{
    if (file.length < sizeof(*h))
        return false;
    memcpy(h, file.data, sizeof(*h));
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
           h->e_machine == MACHINE_AMDGPU && h->e_phentsize == sizeof(Elf64_Phdr);
}

static bool read_code(bytes_t file, const Elf64_Ehdr *h, const query_t *q)
{
    for (unsigned k = 0; k < h->e_phnum; k++) {
        Elf64_Phdr p;
        if (!holds(file, h->e_phoff, (k + 1) * sizeof(p)))
            return false;
        memcpy(&p, file.data + h->e_phoff + k * sizeof(p), sizeof(p));
        bool is_note = p.p_type == PT_NOTE && holds(file, p.p_offset, p.p_filesz);
        if (is_note && read_notes((bytes_t){file.data + p.p_offset, p.p_filesz}, q))
            return true;
    }
    return false;
}

/* ---- Bundles ---- */

static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__", compressed[] = "CCOB";

/* The magic word, the number of codes, and of each where it is in the bundle, its size, and its
 * name behind its length. */
kmm__code_result_t kmm__code_object_parameters(const void *bundle, const char *kernel,
                                               uint32_t *bytes, uint32_t capacity, uint32_t *count)
{
    const uint8_t *start = bundle, *at = start + strlen(magic);
    const query_t q = {kernel, bytes, capacity, count};
    uint64_t codes, entry[3];
    bool any = false;
    if (memcmp(start, compressed, strlen(compressed)) == 0)
        return KMM__CODE_COMPRESSED;
    if (memcmp(start, magic, strlen(magic)) != 0)
        return KMM__CODE_NO_BUNDLE;
    memcpy(&codes, at, sizeof(codes));
    at += sizeof(codes);
    for (uint64_t k = 0; k < codes && codes <= MAX_CODES; k++, at += sizeof(entry) + entry[2]) {
        Elf64_Ehdr h;
        memcpy(entry, at, sizeof(entry));
        bytes_t file = {start + entry[0], entry[1]};
        if (!is_code(file, &h))
            continue;
        any = true;
        if (read_code(file, &h, &q))
            return KMM__CODE_FOUND;
    }
    return any ? KMM__CODE_NO_KERNEL : KMM__CODE_NO_CODE;
}
