/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a call of kmm_check_access (kmm/check.h) before each access of a PTX module that may be of
 * global memory, and makes the instruction access the address that the call returns.
 *
 * A clone has the address of its chunk's table in its first parameter. Called functions read the
 * address from shared memory, into which every kernel that may call one writes it first. A kernel
 * that is no clone writes 0, and then nothing is checked. The address is in no global variable,
 * because several chunks may run at the same time.
 */
#include "ptx/check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../../include/kmm/check.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/text.h"
#include "device/function.h"
#include "device/places.h"
#include "ptx/line.h"
#include "ptx/module.h"
#include "ptx/opcode.h"
#include "ptx/statement.h"

/* Where a clone's first parameter has the table's address: kmm_checked_blocks_t. */
enum { TABLE_AT = 24 };

typedef struct module {
    const char *ptx;
    device_function_t *functions;
    const char *check; /* the name of kmm_check_access */
    lines_t *lines;
    place_texts_t places; /* as global strings */
    list_t registers;     /* declared in the function without a % */
    int labels;
} module_t;

/* ---- Names ---- */

/* Remembers the names of `.reg .b64 a, b<4>`. */
static void add_registers(module_t *m, const char *directive)
{
    const char *at = directive + strlen(".reg");
    while (*at == ' ' || *at == '.') { /* the type */
        at += strspn(at, " ");
        if (*at == '.')
            at += strcspn(at, " ");
    }
    while (*at) {
        size_t length = strcspn(at, " ,<");
        if (length && *at != '%')
            list_add(&m->registers, arena_copy(at, length));
        at += strcspn(at, ",");
        at += strspn(at, ", ");
    }
}

/* Whether an address is in a register or a number. Otherwise it is that of one of the module's own
 * variables, which are no arrays. */
static bool is_computed(const module_t *m, const char *base)
{
    if (*base == '%' || (*base >= '0' && *base <= '9'))
        return true;
    for (int k = 0; k < m->registers.count; k++)
        if (!strcmp(m->registers.item[k], base))
            return true;
    return false;
}

/* ---- One access ---- */

static void add_address(const access_t *a, text_t *out)
{
    const char *offset = a->offset + strspn(a->offset, "+ ");
    if (*offset)
        text_printf(out, "add.s64 %%kmm_at, %s, %s;\n", a->base, offset);
    else
        text_printf(out, "mov.b64 %%kmm_at, %s;\n", a->base);
}

static void add_what(const access_t *a, text_t *out)
{
    if (a->register_bytes)
        text_printf(out, "mad.lo.u32 %%kmm_what, %s, %u, %u;\n", a->register_bytes,
                    1u << KMM_CHECK_BYTES, a->kind);
    else
        text_printf(out, "mov.b32 %%kmm_what, %u;\n", a->bytes << KMM_CHECK_BYTES | a->kind);
}

/* The access is skipped if its own guard is false, and its check is, too. Nothing is checked for a
 * chunk without a table. */
static void add_check(module_t *m, const access_t *a, text_t *out)
{
    const char *guard = a->guard;
    int label = ++m->labels;
    text_printf(out, "// kmm: check\n\t");
    add_address(a, out);
    text_printf(out, "\t@!%%kmm_on bra $kmm_%d;\n", label);
    if (*guard)
        text_printf(out, "\t@%s%sbra $kmm_%d;\n", guard[1] == '!' ? "" : "!",
                    guard + (guard[1] == '!' ? 2 : 1), label);
    text_printf(out, "\t");
    add_what(a, out);
    text_printf(out,
                "\tmov.b64 %%kmm_line, kmm_line_%d;\n"
                "\tcvta.global.u64 %%kmm_line, %%kmm_line;\n"
                "\t{\n"
                "\t.param .b64 kmm_0; .param .b64 kmm_1; .param .b32 kmm_2; .param .b64 kmm_3; "
                ".param .b64 kmm_4;\n"
                "\tst.param.b64 [kmm_0], %%kmm_table;\n"
                "\tst.param.b64 [kmm_1], %%kmm_at;\n"
                "\tst.param.b32 [kmm_2], %%kmm_what;\n"
                "\tst.param.b64 [kmm_3], %%kmm_line;\n"
                "\tcall.uni (kmm_4), %s, (kmm_0, kmm_1, kmm_2, kmm_3);\n"
                "\tld.param.b64 %%kmm_at, [kmm_4];\n"
                "\t}\n",
                place_number(&m->places, lines_text(m->lines)), m->check);
    text_printf(out, "$kmm_%d:\n", label);
    text_printf(out, "\t%s%%kmm_at%s;", a->before, a->behind);
}

/* ---- One function ---- */

static void read_instruction(module_t *m, device_function_t *f, const statement_t *s, text_t *out)
{
    access_t a;
    opcode_kind_t kind = opcode_read(s->text, &a);
    if (kind == OPCODE_ACCESS && is_computed(m, a.base)) {
        f->accesses++;
        add_check(m, &a, out);
        return;
    }
    if (kind == OPCODE_UNKNOWN)
        function_refuse(f,
                        arena_printf("does not know the accesses of its instruction '%s'",
                                     opcode_name(s->text)),
                        lines_text(m->lines));
    if (kind == OPCODE_CALL) {
        const char *callee = opcode_callee(s->text);
        if (is_computed(m, callee))
            f->calls_unknown = true;
        else
            list_add(&f->calls, callee);
    }
    text_add(out, m->ptx + s->begin, s->end - s->begin);
}

static void read_body(module_t *m, device_function_t *f)
{
    text_t out = {0};
    statement_t s;
    size_t from = f->body;
    text_add(&out, "", 0);
    m->registers = (list_t){0};
    for (s = statement_next(m->ptx, from); s.begin < f->end; s = statement_next(m->ptx, from)) {
        text_add(&out, m->ptx + from, s.begin - from);
        if (s.kind == STATEMENT_DIRECTIVE && !strncmp(s.text, ".reg ", 5))
            add_registers(m, s.text);
        if (s.kind == STATEMENT_DIRECTIVE)
            lines_follow(m->lines, s.text);
        if (s.kind == STATEMENT_INSTRUCTION)
            read_instruction(m, f, &s, &out);
        else
            text_add(&out, m->ptx + s.begin, s.end - s.begin);
        from = s.end;
    }
    text_add(&out, m->ptx + from, f->end - from);
    f->text = out.data;
}

/* Functions of the driver that access no array. */
static const char *const harmless[] = {"vprintf", "malloc", "free", "__assertfail", NULL};

/* ---- The module ---- */

static const char registers[] = "\n\t.reg .b64 %kmm_table, %kmm_at, %kmm_line;\n"
                                "\t.reg .b32 %kmm_what;\n"
                                "\t.reg .pred %kmm_on;\n";

/* What a function does first. */
static void add_begin(module_t *m, device_function_t *f, text_t *out)
{
    bool shares = f->is_kernel && functions_are_checked(m->functions, f, harmless),
         checks = f->is_clone || !f->is_kernel;
    if (!shares && !(checks && f->accesses))
        return;
    text_printf(out, "%s", registers);
    if (f->is_clone)
        text_printf(out, "\tld.param.b64 %%kmm_table, [%s+%d];\n", f->first_parameter, TABLE_AT);
    else if (f->is_kernel)
        text_printf(out, "\tmov.b64 %%kmm_table, 0;\n");
    else
        text_printf(out, "\tld.shared.b64 %%kmm_table, [kmm_shared_table];\n");
    if (checks && f->accesses)
        text_printf(out, "\tsetp.ne.b64 %%kmm_on, %%kmm_table, 0;\n");
    if (shares)
        text_printf(out, "\tst.shared.b64 [kmm_shared_table], %%kmm_table;\n");
}

/* The strings, and what is named before it is defined. They stand behind the line that says the
 * size of addresses. */
static void add_declarations(const module_t *m, text_t *out)
{
    text_printf(out, "\n.shared .align 8 .b64 kmm_shared_table;\n");
    text_printf(out,
                ".func (.param .b64 kmm_return) %s(.param .b64 kmm_a, .param .b64 kmm_b, "
                ".param .b32 kmm_c, .param .b64 kmm_d);\n",
                m->check);
    for (int k = 0; k < m->places.texts.count; k++) {
        const char *text = m->places.texts.item[k];
        size_t length = strlen(text);
        length = length < KMM_CHECK_LINE ? length : KMM_CHECK_LINE - 1;
        text_printf(out, ".global .align 1 .b8 kmm_line_%d[%zu] = {", k, length + 1);
        for (size_t i = 0; i < length; i++)
            text_printf(out, "%u, ", (unsigned)(unsigned char)text[i]);
        text_printf(out, "0};\n");
    }
}

static const char *assemble(module_t *m)
{
    text_t out = {0};
    const char *size = strstr(m->ptx, ".address_size 64");
    size_t from = (size_t)(size - m->ptx) + strcspn(size, "\n");
    text_add(&out, m->ptx, from);
    add_declarations(m, &out);
    for (device_function_t *f = m->functions; f; f = f->next) {
        bool is_changed = !f->is_check && (f->is_clone || !f->is_kernel);
        text_add(&out, m->ptx + from, f->body - from);
        if (!f->is_check)
            add_begin(m, f, &out);
        if (is_changed)
            text_printf(&out, "%s", f->text);
        else
            text_add(&out, m->ptx + f->body, f->end - f->body);
        from = f->end;
    }
    text_printf(&out, "%s", m->ptx + from);
    return out.data;
}

const char *check_module(const char *ptx, const char *path)
{
    module_t *m = arena_alloc(sizeof(*m));
    *m = (module_t){.ptx = ptx, .functions = module_functions(ptx), .lines = lines_read(ptx)};
    bool has_clone = false;
    for (device_function_t *f = m->functions; f; f = f->next) {
        has_clone |= f->is_clone;
        m->check = f->is_check ? f->name : m->check;
    }
    if (!has_clone)
        return ptx;
    if (!m->check || !strstr(ptx, ".address_size 64")) {
        diag_plain(SEVERITY_ERROR, "-fkmm-check cannot check '%s': its PTX code lacks %s", path,
                   m->check ? "addresses of 64 bits" : "the function kmm_check_access");
        return NULL;
    }
    for (device_function_t *f = m->functions; f; f = f->next)
        if (!f->is_check)
            read_body(m, f);
    return functions_refuse(m->functions, harmless, path) ? NULL : assemble(m);
}
