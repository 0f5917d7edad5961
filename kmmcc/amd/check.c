/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a call of kmm_check_access (kmm/check.h) before each access of a module of LLVM's IR that
 * may be of an array, and makes the instruction access the address that the call returns. The text
 * is that of the clang which also compiles it further: IR has no form that two releases share.
 *
 * A clone has the address of its chunk's table in its first parameter. Called functions read the
 * address from shared memory, into which every kernel that may call one writes it first. A kernel
 * that is no clone writes 0, and then nothing is checked. The address is in no global variable,
 * because several chunks may run at the same time.
 */
#include "amd/check.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/kmm/check.h"
#include "amd/instruction.h"
#include "amd/module.h"
#include "amd/place.h"
#include "amd/text.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/text.h"
#include "device/function.h"
#include "device/places.h"

/* Where a clone's first parameter has the table's address: kmm_checked_blocks_t. */
enum { TABLE_AT = 24 };

typedef struct module {
    const char *ir;
    device_function_t *functions;
    const device_function_t *check; /* kmm_check_access */
    places_t *places;
    place_texts_t texts; /* as constant strings */
    const char *place;   /* of the last instruction that has one */
    const char *debug;   /* and what names it: ", !dbg !5" */
    int values;          /* made so far */
} module_t;

/* ---- Lines ---- */

/* An instruction without a line is of that before it. */
static void follow(module_t *m, const char *line)
{
    static const char word[] = ", !dbg !";
    const char *found = strstr(line, word);
    if (!found)
        return;
    char *end;
    unsigned long number = strtoul(found + sizeof(word) - 1, &end, 10);
    const char *place = places_text(m->places, number);
    m->debug = arena_copy(found, (size_t)(end - found));
    m->place = *place == '?' ? m->place : place;
}

/* ---- One instruction ---- */

/* What LLVM has found out of an access's address does not hold for the one that the call returns.
 */
static const char *without_findings(const char *line)
{
    static const char *const words[] = {", !amdgpu.noclobber !", ", !amdgpu.uniform !"};
    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++) {
        const char *found = strstr(line, words[k]);
        if (!found)
            continue;
        const char *behind = found + strlen(words[k]);
        behind += strspn(behind, "0123456789");
        line = arena_printf("%.*s%s", (int)(found - line), line, behind);
    }
    return line;
}

/* Adds a value of 32 bits with what an access does, and returns it: a number or a name. */
static const char *add_what(module_t *m, const instruction_t *i, const ir_access_t *a, text_t *out)
{
    if (a->bytes)
        return arena_printf("%u", a->bytes << KMM_CHECK_BYTES | a->kind);
    int n = ++m->values;
    const unsigned long most = UINT32_MAX >> KMM_CHECK_BYTES;
    text_printf(out,
                "  %%kmm.%d.large = icmp ugt %s %s, %lu\n"
                "  %%kmm.%d.bytes = select i1 %%kmm.%d.large, %s %lu, %s %s\n",
                n, i->count_type, i->count, most, n, n, i->count_type, most, i->count_type,
                i->count);
    if (strcmp(i->count_type, "i32"))
        text_printf(out, "  %%kmm.%d.short = trunc %s %%kmm.%d.bytes to i32\n", n, i->count_type,
                    n);
    text_printf(out,
                "  %%kmm.%d.shifted = shl i32 %%kmm.%d.%s, %d\n"
                "  %%kmm.%d.what = or i32 %%kmm.%d.shifted, %u\n",
                n, n, strcmp(i->count_type, "i32") ? "short" : "bytes", KMM_CHECK_BYTES, n, n,
                a->kind);
    return arena_printf("%%kmm.%d.what", n);
}

/* Adds the call. Returns its number: %kmm.N is the pointer that it gives. */
static int add_call(module_t *m, const instruction_t *i, const ir_access_t *a, text_t *out)
{
    const char *what = add_what(m, i, a, out);
    int n = ++m->values;
    text_printf(out,
                "  %%kmm.%d.from = ptrtoint %s %s to i64\n"
                "  %%kmm.%d.to = call i64 @kmm_check_if(i64 %%kmm.table, i64 %%kmm.%d.from, i32 "
                "%s, i64 ptrtoint (ptr addrspace(1) @kmm_line_%d to i64))%s\n"
                "  %%kmm.%d = inttoptr i64 %%kmm.%d.to to %s\n",
                n, a->type, a->pointer, n, n, what, place_number(&m->texts, m->place), m->debug, n,
                n, a->type);
    return n;
}

/* A copy of a number of bytes that is not known, or of more than the scratch has, is not made if
 * one of its addresses is the scratch. Returns the number of bytes to copy. */
static const char *add_count(module_t *m, const instruction_t *i, const int *calls, text_t *out)
{
    const char *count = i->count;
    for (int k = 0; k < i->access_count; k++) {
        int n = ++m->values;
        text_printf(out,
                    "  %%kmm.%d.away = icmp eq i64 %%kmm.%d.to, %%kmm.table\n"
                    "  %%kmm.%d = select i1 %%kmm.%d.away, %s 0, %s %s\n",
                    n, calls[k], n, n, i->count_type, i->count_type, count);
        count = arena_printf("%%kmm.%d", n);
    }
    return count;
}

static const char *replaced(const char *line, size_t begin, size_t end, const char *text)
{
    return arena_printf("%.*s%s%s", (int)begin, line, text, line + end);
}

/* Adds the checks of an instruction. Returns the instruction with the addresses to access. */
static const char *add_checks(module_t *m, const instruction_t *i, const char *line, text_t *out)
{
    int calls[2] = {0};
    text_printf(out, "  ; kmm: check\n");
    for (int k = i->access_count; k-- > 0;) /* a copy loads before it stores */
        calls[k] = add_call(m, i, &i->access[k], out);
    if (i->count && !i->access[0].bytes)
        line = replaced(line, i->count_begin, i->count_end, add_count(m, i, calls, out));
    for (int k = i->access_count; k-- > 0;)
        line = replaced(line, i->access[k].begin, i->access[k].end,
                        arena_printf("%%kmm.%d", calls[k]));
    return without_findings(line);
}

/* ---- One function ---- */

static void read_instruction(module_t *m, device_function_t *f, const char *line, text_t *out)
{
    instruction_t i;
    instruction_read(m->ir, line, &i);
    follow(m, line);
    if (i.kind == INSTRUCTION_UNKNOWN)
        function_refuse(f,
                        arena_printf("does not know the accesses of its instruction '%s'", i.name),
                        m->place);
    if (i.kind == INSTRUCTION_CALL && *i.callee)
        list_add(&f->calls, i.callee);
    f->calls_unknown |= i.kind == INSTRUCTION_CALL && !*i.callee;
    f->accesses += i.kind == INSTRUCTION_ACCESS;
    if (i.kind == INSTRUCTION_ACCESS)
        line = add_checks(m, &i, line, out);
    bool is_call = !strcmp(i.name, "call") || *i.callee || i.count;
    text_printf(out, "  %s\n", is_call ? ir_without_promises(line) : line);
}

/* Instructions stand behind two spaces; what belongs to one before it behind more. */
static void read_body(module_t *m, device_function_t *f)
{
    text_t out = {0};
    text_add(&out, "", 0);
    m->place = "?";
    m->debug = "";
    for (size_t at = f->body, length; at < f->end; at += length + 1) {
        length = strcspn(m->ir + at, "\n");
        const char *line = arena_copy(m->ir + at, length);
        size_t spaces = strspn(line, " ");
        bool is_rest = line[spaces] == ']' || !strncmp(line + spaces, "#dbg_", 5);
        if (spaces == 2 && length > 2 && !is_rest)
            read_instruction(m, f, line + 2, &out);
        else
            text_printf(&out, "%s\n", line);
    }
    f->text = out.data;
}

/* LLVM's own functions are no calls; all others may access arrays. */
static const char *const harmless[] = {NULL};

/* ---- The module ---- */

/* The length of a label at the beginning of a body, which stays first. */
static size_t label_length(const char *body)
{
    size_t length = strcspn(body, "\n"), name = ir_name(body);
    return name && body[name] == ':' ? length + 1 : 0;
}

/* What a function does first. */
static void add_begin(const device_function_t *f, bool shares, text_t *out)
{
    if (f->is_clone)
        text_printf(out,
                    "  %%kmm.table.at = getelementptr i8, ptr addrspace(4) %s, i64 %d\n"
                    "  %%kmm.table = load i64, ptr addrspace(4) %%kmm.table.at, align 8\n",
                    f->first_parameter, TABLE_AT);
    else if (!f->is_kernel && f->accesses)
        text_printf(out, "  %%kmm.table = load i64, ptr addrspace(3) @kmm_shared_table, align 8\n");
    if (shares)
        text_printf(out, "  store i64 %s, ptr addrspace(3) @kmm_shared_table, align 8\n",
                    f->is_clone ? "%kmm.table" : "0");
}

/* The attributes of kmm_check_access, for a function that is inlined. */
static const char *inlined_attributes(const module_t *m)
{
    const char *group = strstr(m->ir, arena_printf("\nattributes #%lu = {", m->check->attributes));
    if (!group)
        return "alwaysinline nounwind";
    group += strcspn(group + 1, "{") + 2;
    const char *text = arena_copy(group, strcspn(group, "}"));
    text_t out = {0};
    text_printf(&out, "alwaysinline");
    for (size_t at = 0; text[at];) {
        size_t end = at;
        while (text[end] && text[end] != ' ')
            end = ir_behind(text, end);
        const char *word = arena_copy(text + at, end - at);
        if (*word && !text_is_one_of(
                         word, (const char *const[]){"noinline", "optnone", "alwaysinline", NULL}))
            text_printf(&out, " %s", word);
        at = end + (text[end] == ' ');
    }
    return ir_without_promises(out.data);
}

/* What is named by the changed functions. */
static void add_declarations(const module_t *m, text_t *out)
{
    text_printf(out, "\n@kmm_shared_table = internal addrspace(3) global i64 undef, align 8\n");
    for (int k = 0; k < m->texts.texts.count; k++) {
        const char *text = m->texts.texts.item[k];
        size_t length = strlen(text);
        length = length < KMM_CHECK_LINE ? length : KMM_CHECK_LINE - 1;
        text_printf(out, "@kmm_line_%d = internal addrspace(1) constant [%zu x i8] c\"", k,
                    length + 1);
        for (size_t i = 0; i < length; i++)
            text_printf(out, strchr("\"\\", text[i]) ? "\\%02X" : "%c", (unsigned char)text[i]);
        text_printf(out, "\\00\", align 1\n");
    }
    text_printf(out,
                "\n; Without a table nothing is checked.\n"
                "define internal i64 @kmm_check_if(i64 %%table, i64 %%address, i32 %%what, i64 "
                "%%line) %s {\n"
                "begin:\n"
                "  %%off = icmp eq i64 %%table, 0\n"
                "  br i1 %%off, label %%end, label %%on\n"
                "on:\n"
                "  %%checked = call i64 @%s(i64 %%table, i64 %%address, i32 %%what, i64 %%line)\n"
                "  br label %%end\n"
                "end:\n"
                "  %%to = phi i64 [ %%address, %%begin ], [ %%checked, %%on ]\n"
                "  ret i64 %%to\n"
                "}\n",
                inlined_attributes(m), m->check->name);
}

/* A group of attributes must not be empty. */
static const char *without_promises(const char *group)
{
    const char *text = ir_without_promises(group), *empty = strstr(text, "{ }");
    return empty ? arena_printf("%.*s{ \"kmm\" }\n", (int)(empty - text), text) : text;
}

/* The lines between functions, with groups of attributes that promise nothing. */
static void add_between(const module_t *m, size_t from, size_t end, text_t *out)
{
    for (size_t length; from < end; from += length) {
        length = strcspn(m->ir + from, "\n") + 1;
        length = from + length > end ? end - from : length;
        const char *line = arena_copy(m->ir + from, length);
        if (!strncmp(line, "attributes #", 12))
            line = without_promises(line);
        text_add(out, line, strlen(line));
    }
}

/* The function that checks has no lines: a call of one that has some needs a line itself. */
static void add_without_debug(const module_t *m, size_t from, size_t end, text_t *out)
{
    static const char word[] = "!dbg !";
    while (from < end) {
        const char *found = strstr(m->ir + from, word);
        size_t at = found ? (size_t)(found - m->ir) : end;
        if (at >= end)
            break;
        size_t cut = at - 1; /* a space, and perhaps a comma */
        cut -= m->ir[cut - 1] == ',';
        text_add(out, m->ir + from, cut - from);
        from = at + sizeof(word) - 1;
        from += strspn(m->ir + from, "0123456789");
    }
    text_add(out, m->ir + from, end - from);
}

static void add_function(module_t *m, device_function_t *f, text_t *out)
{
    bool is_changed = f->is_clone || !f->is_kernel,
         shares = f->is_kernel && functions_are_checked(m->functions, f, harmless);
    if (f->is_check) {
        add_without_debug(m, f->begin, f->end, out);
        return;
    }
    const char *head = arena_copy(m->ir + f->begin, f->body - f->begin);
    const char *body = is_changed ? f->text : arena_copy(m->ir + f->body, f->end - f->body);
    size_t label = label_length(body);
    head = ir_without_promises(head);
    text_add(out, head, strlen(head));
    text_add(out, body, label);
    add_begin(f, shares, out);
    text_add(out, body + label, strlen(body + label));
}

static const char *assemble(module_t *m)
{
    text_t out = {0};
    size_t from = 0;
    for (device_function_t *f = m->functions; f; f = f->next) {
        add_between(m, from, f->begin, &out);
        add_function(m, f, &out);
        from = f->end;
    }
    add_between(m, from, strlen(m->ir), &out);
    add_declarations(m, &out);
    return out.data;
}

const char *amd_check_module(const char *ir, const char *path)
{
    module_t *m = arena_alloc(sizeof(*m));
    *m = (module_t){.ir = ir, .functions = ir_module_functions(ir), .places = places_read(ir)};
    bool has_clone = false;
    for (device_function_t *f = m->functions; f; f = f->next) {
        has_clone |= f->is_clone || f->is_odd;
        m->check = f->is_check ? f : m->check;
    }
    if (!has_clone)
        return ir;
    if (!m->check) {
        diag_plain(SEVERITY_ERROR,
                   "-fkmm-check cannot check '%s': its code for AMD's GPUs lacks the function "
                   "kmm_check_access",
                   path);
        return NULL;
    }
    for (device_function_t *f = m->functions; f; f = f->next)
        if (!f->is_check)
            read_body(m, f);
    return functions_refuse(m->functions, harmless, path) ? NULL : assemble(m);
}
