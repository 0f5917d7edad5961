/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every instruction is on a list here, or it is not known. Address spaces: 0 is any memory, 1 the
 * GPU's memory, 2 and 3 are memory that a block shares, 4 holds constants, 5 is a thread's own.
 */
#include "amd/instruction.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/kmm/check.h"
#include "amd/intrinsic.h"
#include "amd/text.h"
#include "amd/type.h"
#include "base/arena.h"
#include "base/text.h"

enum {
    ANY = 0,
    GLOBAL = 1,
    CONSTANT = 4,
    OWN = 5,
    LOAD = KMM_CHECK_LOAD,
    STORE = KMM_CHECK_STORE,
    MOST_BYTES = 64 /* of one access: those of the table's scratch */
};

/* ---- Operands ---- */

/* Skips words such as `volatile`. */
static size_t skip_words(const char *line, size_t at, const char *const *words)
{
    for (bool found = true; found;) {
        found = false;
        at += strspn(line + at, " ");
        for (int k = 0; words[k] && !found; k++)
            found = ir_begins(line + at, words[k]);
        if (found)
            at += strcspn(line + at, " ");
    }
    return at;
}

/* Reads the value at the offset: a name, or a constant. Returns the offset behind it. */
static size_t value_end(const char *line, size_t at)
{
    if (line[at] == '%' || line[at] == '@')
        return at + 1 + ir_name(line + at + 1);
    if (strchr("<[{\"", line[at]))
        return ir_behind(line, at);
    while (line[at] && line[at] != '(' && line[at] != ',') { /* getelementptr inbounds (...) */
        size_t word = at + strcspn(line + at, " (,");
        bool is_last = line[word] != ' ' || (line[at] >= '0' && line[at] <= '9');
        at = word;
        if (is_last)
            break;
        size_t open = at + strcspn(line + at, "(,");
        if (line[open] != '(') /* `null`, and something else behind it */
            break;
        at++;
    }
    return line[at] == '(' ? ir_behind(line, at) : at;
}

/* Reads a pointer with its type: "ptr addrspace(1) %3". False: it is none. */
static bool read_pointer(const char *line, size_t at, size_t *space, ir_access_t *out)
{
    if (strncmp(line + at, "ptr", 3))
        return false;
    size_t end = at + 3 + ir_address_space(line + at + 3, space);
    out->type = arena_copy(line + at, end - at);
    static const char *const attributes[] = {"align",  "noundef", "nonnull", "noalias",
                                             "nofree", "undef",   NULL};
    for (;;) { /* attributes of arguments of calls */
        end += strspn(line + end, " ");
        size_t word = strcspn(line + end, " (,");
        bool is_value = strchr("%@", line[end]) != NULL;
        if (is_value || !line[end])
            break;
        const char *text = arena_copy(line + end, word);
        bool takes_number = !strcmp(text, "align");
        bool has_brackets =
            text_is_one_of(text, (const char *const[]){"dereferenceable", "dereferenceable_or_null",
                                                       "captures", "initializes", "range", NULL});
        bool is_known =
            has_brackets || text_is_one_of(text, attributes) ||
            text_is_one_of(text, (const char *const[]){"nocapture", "readonly", "writeonly",
                                                       "readnone", "returned", "inreg", NULL});
        if (!is_known || !strcmp(text, "undef"))
            break;
        end += word;
        if (has_brackets && line[end] == '(')
            end = ir_behind(line, end);
        if (takes_number) {
            end += strspn(line + end, " ");
            end += strcspn(line + end, " ,");
        }
    }
    out->begin = end;
    out->end = value_end(line, end);
    out->pointer = arena_copy(line + out->begin, out->end - out->begin);
    return out->end > out->begin;
}

/* Whether the pointer may be into an array. Variables of the module, and addresses of nothing, are
 * not. */
static bool is_computed(const char *pointer)
{
    return *pointer == '%' ||
           (!strchr(pointer, '@') &&
            !text_is_one_of(pointer, (const char *const[]){"null", "undef", "poison", NULL}));
}

/* Adds an access. False: it is not known. */
static bool add_access(instruction_t *i, const char *line, size_t at, unsigned kind, unsigned bytes)
{
    ir_access_t *a = &i->access[i->access_count];
    size_t space = 0;
    if (!read_pointer(line, at, &space, a) || space > OWN)
        return false;
    if ((space != ANY && space != GLOBAL) || !is_computed(a->pointer))
        return space != CONSTANT || kind == LOAD;
    a->kind = kind;
    a->bytes = bytes;
    i->access_count++;
    i->kind = INSTRUCTION_ACCESS;
    return true;
}

/* Adds the access of an instruction that is one of a value of so many bytes. */
static bool add_value(instruction_t *i, const char *line, size_t at, unsigned kind, unsigned bytes)
{
    return add_access(i, line, at, kind, bytes) &&
           (i->access_count == 0 || (bytes > 0 && bytes <= MOST_BYTES));
}

/* ---- Loads, stores, atomic operations ---- */

static const char *const modifiers[] = {"atomic", "volatile", "weak", NULL};

static bool read_load(instruction_t *i, const char *line, size_t at)
{
    size_t length;
    at = skip_words(line, at, modifiers);
    unsigned bytes = type_bytes(i->ir, line + at, &length);
    return add_value(i, line, ir_operand(line, at), LOAD, bytes);
}

static bool read_store(instruction_t *i, const char *line, size_t at)
{
    size_t length;
    at = skip_words(line, at, modifiers);
    unsigned bytes = type_bytes(i->ir, line + at, &length);
    return add_value(i, line, ir_operand(line, at), STORE, bytes);
}

/* Pointer and value: "atomicrmw add ptr %p, i32 1", "cmpxchg ptr %p, i32 0, i32 1". */
static bool read_atomic(instruction_t *i, const char *line, size_t at, bool has_operator)
{
    size_t length;
    at = skip_words(line, at, modifiers);
    if (has_operator) {
        at += strcspn(line + at, " ");
        at += strspn(line + at, " ");
    }
    unsigned bytes = type_bytes(i->ir, line + ir_operand(line, at), &length);
    return add_value(i, line, at, LOAD | STORE, bytes);
}

/* ---- Calls ---- */

/* The offset of the operand with that number, from 0, of a call whose parenthesis is at `open`. */
static size_t argument(const char *line, size_t open, int number)
{
    size_t at = open + 1;
    for (int k = 0; k < number; k++)
        at = ir_operand(line, at);
    return at;
}

/* Reads the number of bytes: argument 2. */
static bool read_count(instruction_t *i, const char *line, size_t open)
{
    size_t at = argument(line, open, 2), type = at + strcspn(line + at, " ");
    i->count_type = arena_copy(line + at, type - at);
    at = type + strspn(line + type, " ");
    while (!strncmp(line + at, "noundef ", 8) || !strncmp(line + at, "range(", 6)) {
        at = line[at] == 'r' ? ir_behind(line, at + 5) : at + 7;
        at += strspn(line + at, " ");
    }
    i->count_begin = at;
    i->count_end = value_end(line, at);
    i->count = arena_copy(line + at, i->count_end - at);
    return *i->count_type == 'i' && i->count_end > at;
}

/* memcpy, memmove, memset. A constant number of bytes is one of the access. */
static bool read_copy(instruction_t *i, const char *line, size_t open, bool is_set)
{
    unsigned long bytes = 0;
    if (!read_count(i, line, open))
        return false;
    if (*i->count >= '0' && *i->count <= '9')
        bytes = strtoul(i->count, NULL, 10);
    if (bytes == 0 && *i->count == '0')
        return true;
    unsigned most = bytes <= MOST_BYTES ? (unsigned)bytes : 0;
    return add_access(i, line, argument(line, open, 0), STORE, most) &&
           (is_set || add_access(i, line, argument(line, open, 1), LOAD, most));
}

/* An atomic operation of AMD's: pointer and value. */
static bool read_amd_atomic(instruction_t *i, const char *line, size_t open)
{
    size_t length;
    unsigned bytes = type_bytes(i->ir, line + argument(line, open, 1), &length);
    return add_value(i, line, argument(line, open, 0), LOAD | STORE, bytes);
}

static bool read_intrinsic(instruction_t *i, const char *line, size_t open)
{
    switch (intrinsic_kind(i->callee)) {
    case INTRINSIC_HARMLESS: return true;
    case INTRINSIC_COPY: return read_copy(i, line, open, false);
    case INTRINSIC_SET: return read_copy(i, line, open, true);
    case INTRINSIC_ATOMIC: return read_amd_atomic(i, line, open);
    default: return false;
    }
}

/* The offset of the function's name behind @, or of the assembler's text; of nothing: a call by an
 * address. */
static size_t find_callee(const char *line, size_t at, bool *is_assembler)
{
    *is_assembler = false;
    while (line[at] && line[at] != '@') {
        if (!strncmp(line + at, " asm ", 5)) {
            *is_assembler = true;
            return at + strcspn(line + at, "\"");
        }
        at = ir_behind(line, at);
    }
    return at + (line[at] == '@');
}

static bool read_call(instruction_t *i, const char *line, size_t at)
{
    bool is_assembler;
    at = find_callee(line, at, &is_assembler);
    if (is_assembler) {
        const char *text = arena_copy(line + at + 1, ir_behind(line, at) - at - 2);
        i->name = arena_printf("asm(\"%s\")", text);
        return intrinsic_is_harmless_assembler(text);
    }
    size_t length = ir_name(line + at), open = at + length;
    i->callee = arena_copy(line + at, length);
    if (length && strncmp(i->callee, "llvm.", 5) == 0) {
        i->name = i->callee;
        return line[open] == '(' && read_intrinsic(i, line, open);
    }
    i->kind = INSTRUCTION_CALL;
    return true;
}

/* ---- All ---- */

/* A cast to the space of constants could make an access look like one of a constant. */
static bool is_cast_to_constants(const char *line, size_t at)
{
    const char *to = strstr(line + at, " to ptr addrspace(4)");
    return to && !strstr(line + at, "@");
}

static bool is_harmless(const char *opcode, const char *line, size_t at)
{
    static const char *const names[] = {
        "add",         "sub",       "mul",           "udiv",          "sdiv",
        "urem",        "srem",      "shl",           "lshr",          "ashr",
        "and",         "or",        "xor",           "fneg",          "fadd",
        "fsub",        "fmul",      "fdiv",          "frem",          "icmp",
        "fcmp",        "phi",       "select",        "freeze",        "trunc",
        "zext",        "sext",      "fptrunc",       "fpext",         "fptoui",
        "fptosi",      "uitofp",    "sitofp",        "ptrtoint",      "inttoptr",
        "bitcast",     "ptrtoaddr", "addrspacecast", "getelementptr", "extractelement",
        "insertvalue", "alloca",    "insertelement", "shufflevector", "extractvalue",
        "br",          "switch",    "indirectbr",    "ret",           "unreachable",
        "fence",       NULL};
    return text_is_one_of(opcode, names) && !is_cast_to_constants(line, at);
}

void instruction_read(const char *ir, const char *line, instruction_t *out)
{
    size_t at = 0;
    bool is_known = true;
    *out = (instruction_t){.ir = ir, .kind = INSTRUCTION_HARMLESS, .callee = ""};
    if (*line == '%') {
        at = 1 + ir_name(line + 1);
        at += strspn(line + at, " =");
    }
    at = skip_words(line, at, (const char *const[]){"tail", "musttail", "notail", NULL});
    size_t length = strcspn(line + at, " ");
    out->name = arena_copy(line + at, length);
    at += length;
    at += strspn(line + at, " ");
    if (!strcmp(out->name, "load"))
        is_known = read_load(out, line, at);
    else if (!strcmp(out->name, "store"))
        is_known = read_store(out, line, at);
    else if (!strcmp(out->name, "atomicrmw") || !strcmp(out->name, "cmpxchg"))
        is_known = read_atomic(out, line, at, *out->name == 'a');
    else if (!strcmp(out->name, "call"))
        is_known = read_call(out, line, at - 1);
    else
        is_known = is_harmless(out->name, line, at);
    if (!is_known && text_is_one_of(out->name, (const char *const[]){"load", "store", NULL}))
        out->name =
            arena_printf("%s %s", out->name, arena_copy(line + at, ir_comma(line, at) - at));
    if (!is_known)
        out->kind = INSTRUCTION_UNKNOWN;
}
