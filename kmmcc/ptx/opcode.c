/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which PTX instructions access global memory, and how. Every instruction is on one of the lists
 * here, or is unknown. Loads and stores without a state space are generic.
 */
#include "ptx/opcode.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/kmm/check.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/text.h"

/* ---- Words ---- */

/* The text behind "@%p1 ". */
static const char *unguarded(const char *text)
{
    if (*text != '@')
        return text;
    text += strcspn(text, " ");
    return text + strspn(text, " ");
}

const char *opcode_name(const char *text)
{
    text = unguarded(text);
    return arena_copy(text, strcspn(text, " \t"));
}

/* True if the opcode has the modifier: "global" in "ld.global.f32". */
static bool has(const char *name, const char *modifier)
{
    size_t length = strlen(modifier);
    for (const char *at = strchr(name, '.'); at; at = strchr(at + 1, '.'))
        if (!strncmp(at + 1, modifier, length) && (!at[1 + length] || at[1 + length] == '.'))
            return true;
    return false;
}

/* True if it is in a state space other than global memory and the generic one. */
static bool is_elsewhere(const char *name)
{
    for (const char *at = strchr(name, '.'); at; at = strchr(at + 1, '.'))
        if (!strncmp(at, ".shared", 7) || !strncmp(at, ".local", 6) || !strncmp(at, ".param", 6) ||
            !strncmp(at, ".const", 6))
            return true;
    return false;
}

/* ---- Lists ---- */

/* Instructions of registers, of control, of shared memory, and those that wait. */
static const char *const harmless[] = {"abs",          "activemask",
                                       "add",          "addc",
                                       "alloca",       "and",
                                       "bar",          "barrier",
                                       "bfe",          "bfi",
                                       "bfind",        "bmsk",
                                       "bra",          "brev",
                                       "brkpt",        "brx",
                                       "clz",          "cnot",
                                       "copysign",     "cos",
                                       "createpolicy", "cvt",
                                       "cvta",         "div",
                                       "dp2a",         "dp4a",
                                       "elect",        "ex2",
                                       "exit",         "fence",
                                       "fma",          "fns",
                                       "getctarank",   "griddepcontrol",
                                       "isspacep",     "istypep",
                                       "ldmatrix",     "lg2",
                                       "lop3",         "mad",
                                       "mad24",        "madc",
                                       "mapa",         "match",
                                       "max",          "mbarrier",
                                       "membar",       "min",
                                       "mma",          "mov",
                                       "movmatrix",    "mul",
                                       "mul24",        "nanosleep",
                                       "neg",          "not",
                                       "or",           "pmevent",
                                       "popc",         "prefetch",
                                       "prefetchu",    "prmt",
                                       "rcp",          "redux",
                                       "rem",          "ret",
                                       "rsqrt",        "sad",
                                       "selp",         "set",
                                       "setmaxnreg",   "setp",
                                       "shf",          "shfl",
                                       "shl",          "shr",
                                       "sin",          "slct",
                                       "sqrt",         "stackrestore",
                                       "stacksave",    "stmatrix",
                                       "sub",          "subc",
                                       "suq",          "szext",
                                       "tanh",         "testp",
                                       "trap",         "txq",
                                       "vabsdiff",     "vabsdiff2",
                                       "vabsdiff4",    "vadd",
                                       "vadd2",        "vadd4",
                                       "vavrg2",       "vavrg4",
                                       "vmad",         "vmax",
                                       "vmax2",        "vmax4",
                                       "vmin",         "vmin2",
                                       "vmin4",        "vote",
                                       "vset",         "vset2",
                                       "vset4",        "vshl",
                                       "vshr",         "vsub",
                                       "vsub2",        "vsub4",
                                       "xor",          NULL};

/* With these beginnings, too. */
static bool is_harmless_form(const char *name)
{
    static const char *const forms[] = {"wmma.mma.",
                                        "wgmma.",
                                        "cp.async.commit_group",
                                        "cp.async.wait_",
                                        "cp.async.mbarrier.arrive",
                                        "cp.async.bulk.commit_group",
                                        "cp.async.bulk.wait_group",
                                        "cp.async.bulk.shared::cluster.shared::cta",
                                        "applypriority."};
    for (size_t k = 0; k < sizeof(forms) / sizeof(*forms); k++)
        if (!strncmp(name, forms[k], strlen(forms[k])))
            return true;
    return (!strncmp(name, "wmma.load.", 10) || !strncmp(name, "wmma.store.", 11)) &&
           is_elsewhere(name);
}

/* ---- Sizes ---- */

/* Bytes of the type that the modifier names, as "f32" or "f16x2"; 0: it is no type. */
static unsigned type_bytes(const char *type, size_t length)
{
    static const char *const letters[] = {"bf", "b", "u", "s", "f"};
    for (size_t k = 0; k < sizeof(letters) / sizeof(*letters); k++) {
        size_t n = strlen(letters[k]);
        char *end;
        if (length <= n || strncmp(type, letters[k], n) || !isdigit((unsigned char)type[n]))
            continue;
        unsigned bits = (unsigned)strtoul(type + n, &end, 10);
        if (end < type + length && *end == 'x' && isdigit((unsigned char)end[1]))
            bits *= (unsigned)strtoul(end + 1, &end, 10);
        return end == type + length ? bits / 8 : 0;
    }
    return 0;
}

/* All bytes that a load or store is of: of its type, times its vector's length. 0: not known. */
static unsigned access_bytes(const char *name)
{
    unsigned bytes = 0, count = 1;
    for (const char *at = strchr(name, '.'); at; at = strchr(at + 1, '.')) {
        size_t length = strcspn(at + 1, ".");
        unsigned size = type_bytes(at + 1, length);
        bytes = size ? size : bytes;
        if (at[1] == 'v' && isdigit((unsigned char)at[2]) && length == 2)
            count = (unsigned)(at[2] - '0');
    }
    return bytes * count;
}

/* ---- Addresses ---- */

static const char *trimmed(const char *begin, const char *end)
{
    while (begin < end && *begin == ' ')
        begin++;
    while (end > begin && end[-1] == ' ')
        end--;
    return arena_copy(begin, (size_t)(end - begin));
}

/* Splits the instruction at its address, the brackets numbered `which` from 0. */
static bool split(const char *text, int which, access_t *out)
{
    const char *open = strchr(text, '[');
    while (open && which--)
        open = strchr(open + 1, '[');
    const char *close = open ? strchr(open, ']') : NULL;
    if (!close)
        return false;
    const char *plus = open + 1 + strcspn(open + 1, "+]");
    out->base = trimmed(open + 1, plus);
    out->offset = trimmed(plus, close);
    out->before = arena_copy(text, (size_t)(open + 1 - text));
    out->behind = close;
    return *out->base && !strchr(out->base, ',');
}

/* Behind the address, cp.async names the bytes of its copy, and then maybe those of its source. */
static bool read_copy(const char *name, access_t *out)
{
    const char *at = strchr(out->behind, ',');
    list_t operands = {0};
    for (; at; at = strchr(at + 1, ','))
        list_add(&operands, trimmed(at + 1, at + 1 + strcspn(at + 1, ",")));
    int count = operands.count - (strstr(name, "cache_hint") != NULL);
    out->kind = KMM_CHECK_LOAD;
    out->bytes = count >= 1 ? (unsigned)strtoul(operands.item[0], NULL, 0) : 0;
    if (count < 2)
        return out->bytes != 0;
    if (!isdigit((unsigned char)*operands.item[1]))
        out->register_bytes = operands.item[1];
    else
        out->bytes = (unsigned)strtoul(operands.item[1], NULL, 0);
    return !out->register_bytes || !strncmp(out->register_bytes, "%r", 2); /* not a predicate */
}

/* ---- Instructions ---- */

static bool begins(const char *name, const char *word)
{
    size_t length = strlen(word);
    return !strncmp(name, word, length) && (!name[length] || name[length] == '.');
}

static opcode_kind_t read_access(const char *text, const char *name, unsigned kind, access_t *out)
{
    out->kind = kind;
    out->bytes = access_bytes(name);
    return out->bytes && !has(name, "bulk") && split(text, 0, out) ? OPCODE_ACCESS : OPCODE_UNKNOWN;
}

opcode_kind_t opcode_read(const char *text, access_t *out)
{
    const char *name = opcode_name(text), *rest = unguarded(text);
    const char *opcode = arena_copy(name, strcspn(name, "."));
    const unsigned both = KMM_CHECK_LOAD | KMM_CHECK_STORE;
    *out = (access_t){.guard = arena_copy(text, (size_t)(rest - text))};
    if (text_is_one_of(opcode, harmless) || is_harmless_form(name))
        return OPCODE_HARMLESS;
    if (!strcmp(opcode, "call"))
        return OPCODE_CALL;
    if (begins(name, "cp.async.ca") || begins(name, "cp.async.cg"))
        return split(text, 1, out) && read_copy(name, out) ? OPCODE_ACCESS : OPCODE_UNKNOWN;
    bool loads = !strcmp(opcode, "ld") || !strcmp(opcode, "ldu"), stores = !strcmp(opcode, "st"),
         changes = !strcmp(opcode, "atom") || !strcmp(opcode, "red");
    if (!loads && !stores && !changes)
        return OPCODE_UNKNOWN;
    if (is_elsewhere(name))
        return OPCODE_HARMLESS;
    return read_access(text, name, loads ? KMM_CHECK_LOAD : stores ? KMM_CHECK_STORE : both, out);
}

const char *opcode_callee(const char *text)
{
    int depth = 0;
    text = unguarded(text);
    for (text += strcspn(text, " "); *text; text++) {
        depth += (*text == '(') - (*text == ')');
        if (depth == 0 && !strchr(" ,)", *text))
            return arena_copy(text, strcspn(text, " ,;("));
    }
    return "";
}
