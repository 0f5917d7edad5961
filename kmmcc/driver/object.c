/* SPDX-License-Identifier: Apache-2.0 */
/* Looks into ELF objects and archives: section and symbol names tell how they must be linked. Only
 * little-endian 64-bit objects are read, the only kind of machine with the devices we serve. */
#include "driver/object.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"

typedef struct bytes {
    const char *data;
    size_t length;
} bytes_t;

static bool holds(bytes_t b, uint64_t offset, uint64_t length)
{
    return offset <= b.length && length <= b.length - offset;
}

/* The string at `offset` of a string table; "" where it does not end inside. */
static const char *string_at(bytes_t table, uint64_t offset)
{
    if (offset >= table.length || !memchr(table.data + offset, 0, table.length - offset))
        return "";
    return table.data + offset;
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static unsigned section_kind(const char *name)
{
    if (begins(name, ".nv_fatbin") || begins(name, ".nvFatBinSegment") ||
        begins(name, "__nv_relfatbin"))
        return OBJECT_CUDA;
    return begins(name, ".hip_fatbin") || begins(name, ".hipFatBinSegment") ? OBJECT_HIP : 0;
}

/* Names of runtime calls: the prefix and a capital letter. */
static bool is_call_of(const char *name, const char *prefix)
{
    name += begins(name, "__") ? 2 : 0;
    return begins(name, prefix) && isupper((unsigned char)name[strlen(prefix)]);
}

/* True for functions that only rewritten source calls. */
static bool is_of_pragma(const char *name)
{
    return begins(name, "kmm_directive_") || begins(name, "kmm_data_") ||
           begins(name, "kmm_cuda_register_") || begins(name, "kmm_hip_register_") ||
           strcmp(name, "kmm_launch_arm") == 0;
}

static unsigned symbol_kind(const char *name, bool is_hidden)
{
    if (is_of_pragma(name))
        return OBJECT_MANAGED | OBJECT_KMM;
    if (strcmp(name, "kmm_program_must_be_linked_by_kmmcc") == 0) /* kmm/linked.h */
        return OBJECT_KMM | (is_hidden ? OBJECT_MANAGED : 0);
    if (begins(name, "kmm_host_"))
        return OBJECT_HOSTED | OBJECT_KMM;
    if (begins(name, "kmm_"))
        return OBJECT_KMM;
    if (begins(name, "_Z") || begins(name, "__cxa_") || begins(name, "__gxx_"))
        return OBJECT_CXX;
    if (is_call_of(name, "cuda"))
        return OBJECT_CUDA;
    return is_call_of(name, "hip") ? OBJECT_HIP : 0;
}

static bytes_t section_bytes(bytes_t file, const Elf64_Shdr *s)
{
    if (s->sh_type == SHT_NOBITS || !holds(file, s->sh_offset, s->sh_size))
        return (bytes_t){0};
    return (bytes_t){file.data + s->sh_offset, s->sh_size};
}

static unsigned scan_symbols(bytes_t symbols, bytes_t names)
{
    unsigned kind = 0;
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.length; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, symbols.data + at, sizeof(symbol));
        const char *name = string_at(names, symbol.st_name);
        unsigned k = symbol_kind(name, ELF64_ST_VISIBILITY(symbol.st_other) == STV_HIDDEN);
        if (symbol.st_shndx == SHN_UNDEF || k == OBJECT_CXX)
            kind |= k;
    }
    return kind;
}

static Elf64_Shdr section_at(bytes_t file, const Elf64_Ehdr *h, unsigned index)
{
    Elf64_Shdr s = {0};
    uint64_t offset = h->e_shoff + (uint64_t)index * sizeof(s);
    if (holds(file, offset, sizeof(s)))
        memcpy(&s, file.data + offset, sizeof(s));
    return s;
}

static unsigned scan_elf(bytes_t file)
{
    Elf64_Ehdr h;
    if (file.length < sizeof(h))
        return 0;
    memcpy(&h, file.data, sizeof(h));
    bool ours = memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS64 &&
                h.e_ident[EI_DATA] == ELFDATA2LSB && h.e_shentsize == sizeof(Elf64_Shdr);
    if (!ours)
        return 0;
    Elf64_Shdr first = section_at(file, &h, 0); /* holds the numbers that do not fit the header */
    uint64_t count = h.e_shnum ? h.e_shnum : first.sh_size;
    unsigned names_index = h.e_shstrndx == SHN_XINDEX ? first.sh_link : h.e_shstrndx;
    Elf64_Shdr names_section = section_at(file, &h, names_index);
    bytes_t names = section_bytes(file, &names_section);
    unsigned kind = 0;
    for (uint64_t k = 0; k < count && holds(file, h.e_shoff, (k + 1) * sizeof(Elf64_Shdr)); k++) {
        Elf64_Shdr s = section_at(file, &h, (unsigned)k);
        kind |= section_kind(string_at(names, s.sh_name));
        if (s.sh_type != SHT_SYMTAB && s.sh_type != SHT_DYNSYM)
            continue;
        Elf64_Shdr strings = section_at(file, &h, s.sh_link);
        unsigned found = scan_symbols(section_bytes(file, &s), section_bytes(file, &strings));
        /* Of a library only matters that it was compiled with a pragma. */
        kind |= s.sh_type == SHT_SYMTAB ? found : found & (OBJECT_MANAGED | OBJECT_KMM);
    }
    return kind;
}

/* An archive is a line of text, then members: a header of 60 characters, the contents, a byte of
 * padding to an even place. */
enum {
    MEMBER_HEADER = 60,
    MEMBER_NAME_LENGTH = 16,
    MEMBER_SIZE_AT = 48,
    MEMBER_SIZE_LENGTH = 10,
    ARCHIVE_START = 8
};

/* The decimal number at the begin of a header's field. */
static uint64_t number_at(const char *text, int length)
{
    uint64_t number = 0;
    for (int k = 0; k < length && isdigit((unsigned char)text[k]); k++)
        number = number * 10 + (uint64_t)(text[k] - '0');
    return number;
}

/* The member of a thin archive is a file of its own, whose name, relative to the archive, stands in
 * the table `names` at the place that the member's own name says. */
static unsigned scan_thin_member(const char *archive, bytes_t names, const char *header)
{
    uint64_t at = number_at(header + 1, MEMBER_NAME_LENGTH - 1);
    if (header[0] != '/' || !holds(names, at, 1))
        return 0;
    const char *name = names.data + at, *end = memchr(name, '\n', names.length - at);
    if (!end || end - name < 2)
        return 0;
    name = arena_copy(name, (size_t)(end - name) - 1); /* a '/' ends it */
    return object_scan(*name == '/' ? name : arena_printf("%s/%s", path_folder(archive), name));
}

static unsigned scan_archive(const char *path, bytes_t file, bool is_thin)
{
    unsigned kind = 0;
    size_t at = ARCHIVE_START;
    bytes_t names = {0};
    while (holds(file, at, MEMBER_HEADER)) {
        const char *header = file.data + at;
        uint64_t size = number_at(header + MEMBER_SIZE_AT, MEMBER_SIZE_LENGTH);
        bool is_table = header[0] == '/' && !isdigit((unsigned char)header[1]);
        at += MEMBER_HEADER;
        if (is_thin && !is_table) {
            kind |= scan_thin_member(path, names, header);
            continue;
        }
        if (!holds(file, at, size))
            break;
        if (header[0] == '/' && header[1] == '/')
            names = (bytes_t){file.data + at, size};
        if (!is_table)
            kind |= scan_elf((bytes_t){file.data + at, size});
        at += size + size % 2;
    }
    return kind;
}

/* The file as memory; no data if it cannot be read or is empty. */
static bytes_t map_file(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return (bytes_t){0};
    void *data = MAP_FAILED;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    return data == MAP_FAILED ? (bytes_t){0} : (bytes_t){data, (size_t)status.st_size};
}

unsigned object_scan(const char *path)
{
    bytes_t file = map_file(path);
    if (!file.data)
        return 0;
    bool has_start = file.length > ARCHIVE_START;
    bool is_archive = has_start && memcmp(file.data, "!<arch>\n", ARCHIVE_START) == 0;
    bool is_thin = has_start && memcmp(file.data, "!<thin>\n", ARCHIVE_START) == 0;
    unsigned kind = is_archive || is_thin ? scan_archive(path, file, is_thin) : scan_elf(file);
    munmap((void *)file.data, file.length);
    return kind;
}
