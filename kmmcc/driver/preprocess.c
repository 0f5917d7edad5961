/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the preprocessor of the real compiler over copies of a program's files: for the host, and
 * for each kind of GPU that the command line names.
 */
#include "driver/preprocess.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/path.h"
#include "base/process.h"
#include "base/source.h"
#include "driver/command.h"
#include "driver/compiler.h"
#include "driver/instrument.h"
#include "driver/write.h"
#include "pragma/asked.h"
#include "pragma/line.h"
#include "pragma/macro.h"

typedef struct context {
    const plan_t *p;
    const job_t *job;
    const includes_t *includes;
    const char *folder;
    bool is_written;      /* the copies, once */
    bool keeps_macros;    /* the output has #define lines, and the compiler's macros */
    list_t architectures; /* values of __CUDA_ARCH__; known after the pass of the host */
} context_t;

/* Files whose compiler is not chosen yet are only shown. Without a compiler for GPUs they are
 * preprocessed as for the CPU. */
static job_t job_with_compiler(const plan_t *p, const job_t *job)
{
    job_t own = *job;
    int first = diag_count();
    if (!own.compiler.path)
        own.compiler = compiler_of(p->o, &own);
    if (!own.compiler.path && is_device_lang(own.lang)) {
        own.target = TARGET_HOST;
        own.compiler = compiler_of(p->o, &own);
    }
    diag_retract(first, diag_count());
    own.transforms = true;
    return own;
}

static bool is_for_gpus(const context_t *c)
{
    return is_device_lang(c->job->lang) && c->job->target != TARGET_HOST;
}

/* ---- The command ---- */

/* Adds what tells the pass. False: there is no such pass. */
static bool add_pass(const context_t *c, int pass, list_t *command)
{
    if (!is_for_gpus(c))
        return pass == 0;
    if (c->job->compiler.family != FAMILY_NVCC) {
        list_add(command, pass ? "--cuda-device-only" : "--cuda-host-only");
        return pass <= 1;
    }
    list_add(command, "-U__CUDA_ARCH__");
    if (pass)
        list_add(command, pass <= c->architectures.count
                              ? arena_printf("-D__CUDA_ARCH__=%s", c->architectures.item[pass - 1])
                              : "");
    return pass <= c->architectures.count;
}

/* Headers in quotes of copies are searched beside the originals. */
static void add_folders(const context_t *c, list_t *command)
{
    for (int k = 0; k < c->includes->count; k++)
        command_add_host_flag(&c->job->compiler, command, "-iquote",
                              path_folder(c->includes->file[k]->path));
}

static bool make_command(const context_t *c, int pass, const char *copy, const char *output,
                         list_t *command)
{
    const char *source = copy ? copy : c->includes->file[0]->path;
    list_add(command, c->job->compiler.path);
    if (!add_pass(c, pass, command))
        return false;
    command_add_preprocessing(c->p, c->job, source, command);
    if (copy)
        add_folders(c, command);
    if (c->keeps_macros) {
        command_add_host_flag(&c->job->compiler, command, "-dD", NULL);
        if (instrument_wants(c->p->o, c->job))
            instrument_behind(command);
    }
    command_add_host_flag(&c->job->compiler, command, "-w", NULL);
    if (copy) {
        list_add(command, "-D_Pragma(x)=kmm__pragma(x)");
        list_add(command, "-D__COUNTER__=kmm__counter");
    }
    list_add(command, "-E");
    list_add(command, "-o");
    list_add(command, output);
    return true;
}

/* ---- Running it ---- */

/* nvcc defines __CUDA_ARCH_LIST__ as the values that __CUDA_ARCH__ gets, with commas. They are
 * taken from the end of the text. Returns what is left of its length. */
static size_t read_architectures(context_t *c, const source_t *text)
{
    static const char mark[] = "kmm__architectures";
    const char *list = strstr(text->text, mark);
    size_t length = list ? (size_t)(list - text->text) : text->length;
    if (!list || c->architectures.count)
        return length;
    for (list += strlen(mark); *list == ' ' || *list == ','; list += strspn(list, "0123456789")) {
        list += strspn(list, " ,");
        size_t digits = strspn(list, "0123456789");
        if (!digits)
            break;
        list_add(&c->architectures, arena_copy(list, digits));
    }
    return length;
}

/* The folder of this job's copies; NULL after an error. A job may be preprocessed twice. */
static const char *make_folder(void)
{
    enum { BEHIND_JOBS = 100000 };
    static int made;
    return process_subfolder(BEHIND_JOBS + made++, true);
}

static bool write_copies(context_t *c, const macro_copy_t *copies, int count)
{
    bool asks = is_for_gpus(c) && c->job->compiler.family == FAMILY_NVCC;
    for (int k = 0; k < count; k++) {
        const char *text = copies[k].text;
        if (k == 0 && asks)
            text = arena_printf("%s\nkmm__architectures __CUDA_ARCH_LIST__\n", text);
        const char *path = arena_printf("%s/%s", c->folder, copies[k].name);
        if (!c->is_written)
            process_file(c->folder, copies[k].name); /* to be removed */
        if (write_text(path, text) != 0)
            return false;
    }
    c->is_written = true;
    return true;
}

/* ---- Names with letters beyond ASCII ---- */

/* The end of a literal that begins at a quote. */
static const char *behind_literal(const char *begin, const char *at)
{
    if (*at == '"' && at > begin && at[-1] == 'R') {
        const char *open = strchr(at, '(');
        const char *end =
            open ? strstr(open, arena_printf(")%s\"", arena_copy(at + 1, (size_t)(open - at - 1))))
                 : NULL;
        return end ? end + (open - at) + 1 : at + strlen(at);
    }
    const char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* Adds the letter with this number, in UTF-8. */
static void add_letter(text_t *out, unsigned long letter)
{
    char bytes[4];
    int count = letter < 0x80 ? 1 : letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4;
    for (int k = count - 1; k > 0; k--, letter >>= 6)
        bytes[k] = (char)(0x80 | (letter & 0x3f));
    bytes[0] = (char)(count == 1 ? letter : (0xf00u >> count & 0xf0u) | letter);
    text_add(out, bytes, (size_t)count);
}

/* Adds preprocessed text. gcc writes letters beyond ASCII of names as \U000000e9, outside of
 * literals. kmmcc looks for names as the program writes them. */
static void add_with_letters(text_t *out, const char *text, size_t length)
{
    enum { DIGITS = 8 };
    const char *end = text + length, *from = text;
    bool in_number = false, in_name = false;
    for (const char *at = text; at < end;) {
        bool is_word = *at == '_' || (*at & 0x80) || (*at >= '0' && *at <= '9') ||
                       (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        if (*at == '"' || (*at == '\'' && !in_number)) {
            at = behind_literal(text, at);
            in_number = in_name = false;
            continue;
        }
        if (*at == '\\' && end - at > DIGITS + 1 && at[1] == 'U' &&
            strspn(at + 2, "0123456789abcdefABCDEF") >= DIGITS) {
            text_add(out, from, (size_t)(at - from));
            add_letter(out, strtoul(arena_copy(at + 2, DIGITS), NULL, 16));
            from = at += 2 + DIGITS;
            in_name = true;
            continue;
        }
        in_number = is_word && (in_number || (!in_name && *at >= '0' && *at <= '9'));
        in_name = is_word && !in_number;
        at++;
    }
    text_add(out, from, (size_t)(end - from));
}

static bool run(const preprocessor_t *p, int pass, const macro_copy_t *copies, int count,
                text_t *out)
{
    context_t *c = p->context;
    list_t command = {0};
    if (!c->folder && c->job->compiler.path && (c->folder = make_folder()))
        process_file(c->folder, "kmm_preprocessed");
    if (!c->folder)
        return text_printf(out, "no compiler was found"), false;
    const char *copy = copies ? arena_printf("%s/%s", c->folder, copies[0].name) : NULL,
               *output = arena_printf("%s/kmm_preprocessed", c->folder);
    if (!make_command(c, pass, copy, output, &command) ||
        (copies && !write_copies(c, copies, count)))
        return false;
    if (c->p->o->verbose)
        process_print(&command);
    if (process_run_quiet(&command, out) != 0)
        return false;
    const source_t *text = source_read(output);
    if (!text)
        return text_printf(out, "it has written nothing"), false;
    out->length = 0;
    add_with_letters(out, text->text, read_architectures(c, text));
    return true;
}

/* A file that the compiler refuses is left to the compiler's messages. */
static void read_compiled(const plan_t *p, const job_t *job, includes_t *includes)
{
    context_t context = {.p = p, .job = job, .includes = includes, .keeps_macros = true};
    const preprocessor_t preprocessor = {.run = run, .context = &context};
    text_t text = {0};
    includes->asked = asked_names(includes, p->o);
    if (includes->asked.count && run(&preprocessor, 0, NULL, 0, &text))
        includes->compiled = source_from("", text.data, text.length);
}

void preprocess_macros(const plan_t *p, const job_t *job, includes_t *includes)
{
    const job_t own = job_with_compiler(p, job);
    context_t context = {.p = p, .job = &own, .includes = includes};
    const preprocessor_t preprocessor = {.run = run, .context = &context};
    macro_expand(includes, p->o, &preprocessor);
    line_replace(includes);
    read_compiled(p, &own, includes);
}
