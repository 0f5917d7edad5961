/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code: build ids are read from the notes of loaded files. */
#include "base/code.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* What a walk over the loaded files looks for, and what it has found. */
typedef struct search {
    uintptr_t address; /* that lies in the file; 0: the file with the build id of `name` */
    const kmm__code_t *name;
    bool is_found;
    uintptr_t base;   /* of the file */
    kmm__code_t code; /* its build id */
} search_t;

static bool contains(const struct dl_phdr_info *file, uintptr_t address)
{
    for (int k = 0; k < file->dlpi_phnum; k++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[k];
        if (part->p_type == PT_LOAD && address - (file->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    }
    return false;
}

/* Reads a build id from a segment of notes. */
static bool read_notes(const char *at, size_t bytes, kmm__code_t *out)
{
    const size_t unit = 4;
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, at, sizeof(note));
        const size_t name = (note.n_namesz + unit - 1) / unit * unit,
                     whole = sizeof(note) + name + (note.n_descsz + unit - 1) / unit * unit;
        if (whole > bytes)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
            !memcmp(at + sizeof(note), "GNU", sizeof("GNU")) &&
            note.n_descsz <= KMM__BUILD_ID_MOST) {
            out->id_bytes = note.n_descsz;
            memcpy(out->id, at + sizeof(note) + name, note.n_descsz);
            return true;
        }
        at += whole;
        bytes -= whole;
    }
    return false;
}

static bool read_id(const struct dl_phdr_info *file, kmm__code_t *out)
{
    bool is_found = false;
    memset(out, 0, sizeof(*out));
    for (int k = 0; k < file->dlpi_phnum && !is_found; k++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[k];
        if (part->p_type == PT_NOTE)
            is_found =
                read_notes((const char *)(file->dlpi_addr + part->p_vaddr), part->p_memsz, out);
    }
    return is_found;
}

static bool same_id(const kmm__code_t *a, const kmm__code_t *b)
{
    return a->id_bytes == b->id_bytes && !memcmp(a->id, b->id, sizeof(a->id));
}

static int look(struct dl_phdr_info *file, size_t size, void *arg)
{
    (void)size;
    search_t *s = arg;
    const bool is_it = s->address ? contains(file, s->address)
                                  : read_id(file, &s->code) && same_id(&s->code, s->name);
    if (is_it) {
        s->is_found = true;
        s->base = file->dlpi_addr;
        read_id(file, &s->code);
        return 1;
    }
    return 0;
}

static search_t search(const void *address, const kmm__code_t *name)
{
    search_t s = {.address = (uintptr_t)address, .name = name};
    dl_iterate_phdr(look, &s);
    return s;
}

bool kmm__code_name(const void *address, kmm__code_t *out)
{
    const search_t s = search(address, NULL);
    if (!s.is_found || s.code.id_bytes == 0)
        return false;
    *out = s.code;
    out->offset = (uintptr_t)address - s.base;
    return true;
}

const void *kmm__code_find(const kmm__code_t *name)
{
    const search_t s = search(NULL, name);
    return s.is_found ? (const void *)(s.base + name->offset) : NULL;
}

void kmm__code_id_text(const kmm__code_t *name, char out[KMM__BUILD_ID_TEXT])
{
    out[0] = '\0';
    for (uint32_t k = 0; k < name->id_bytes; k++)
        snprintf(out + 2 * k, 3, "%02x", name->id[k]);
}

/* The program, which is the first file. */
static struct {
    uintptr_t base, begin, end;
} program;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int note_program(struct dl_phdr_info *file, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    program.base = file->dlpi_addr;
    program.begin = UINTPTR_MAX;
    for (int k = 0; k < file->dlpi_phnum; k++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[k];
        const uintptr_t at = file->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        program.begin = at < program.begin ? at : program.begin;
        program.end = at + part->p_memsz > program.end ? at + part->p_memsz : program.end;
    }
    return 1;
}

static void find_program(void)
{
    dl_iterate_phdr(note_program, NULL);
}

bool kmm__code_offset(const void *address, uintptr_t *out)
{
    pthread_once(&once, find_program);
    *out = (uintptr_t)address - program.base;
    return kmm__code_is_program(address);
}

const void *kmm__code_at(uintptr_t offset)
{
    pthread_once(&once, find_program);
    return (const void *)(program.base + offset);
}

bool kmm__code_is_program(const void *address)
{
    pthread_once(&once, find_program);
    return program.begin <= (uintptr_t)address && (uintptr_t)address < program.end;
}
