/* SPDX-License-Identifier: Apache-2.0 */
/* libclang: parsing, clang's messages at their places in the source, and the map between the two
 * texts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "directive.h"
#include "driver/driver.h"

char *clang_text(CXString string)
{
    const char *text = clang_getCString(string);
    char *copy = arena_copy(text ? text : "", text ? strlen(text) : 0);
    clang_disposeString(string);
    return copy;
}

/* ---- clang's messages ---- */

static size_t word_end(const source_t *s, size_t begin)
{
    lexer_t l = lexer_at(s, begin, s->length);
    l.line_start = false;
    token_t t = lex(&l);
    return t.begin == begin ? t.end : begin;
}

/* The directive whose pragma has the place; NULL: none. */
static directive_t *directive_around(const unit_t *u, size_t offset)
{
    for (int k = 0; k < u->directive_count; k++)
        if (offset >= u->directives[k]->pragma.begin && offset <= u->directives[k]->pragma.end)
            return u->directives[k];
    return NULL;
}

static bool contains(const expr_t *e, size_t offset)
{
    return e && e->begin <= offset && offset < e->end;
}

/* Where an axis has no meaning: there its name is clang's unknown one. */
static bool outside_sections(const directive_t *d, size_t offset)
{
    bool inside = offset >= d->chunk_begin && offset < d->chunk_end;
    for (int k = 0; k < d->axis_count; k++)
        inside |= contains(d->axis[k].lower, offset) || contains(d->axis[k].length, offset);
    for (int k = 0; k < d->shape_count; k++)
        inside |= d->shape[k].begin <= offset && offset < d->shape[k].end;
    for (int k = 0; k < d->item_count; k++)
        inside |= contains(d->item[k].base, offset);
    return inside;
}

/* clang's message in the words of the pragma; its own where that says it best. */
static const char *explain(const unit_t *u, const directive_t *d, size_t begin, const char *text)
{
    if (begin <= d->pragma.begin || begin >= d->pragma.end)
        return "the pragma governs nothing: it stands before a statement in a function";
    for (int k = 0; strstr(text, "undeclared identifier") && k < d->axis_count; k++)
        if (!strncmp(u->source->text + begin, d->axis[k].name, strlen(d->axis[k].name)) &&
            word_end(u->source, begin) == begin + strlen(d->axis[k].name) &&
            outside_sections(d, begin))
            return arena_printf("axis '%s' has a meaning only in the sections of items; this must "
                                "be the same for the whole launch",
                                d->axis[k].name);
    return text;
}

/* The directive that stands before the place with nothing in between. */
static directive_t *directive_before(const unit_t *u, size_t offset)
{
    for (int k = 0; k < u->directive_count; k++) {
        lexer_t l = lexer_at(u->source, u->directives[k]->pragma.end, u->source->length);
        if (u->directives[k]->pragma.end <= offset && lex(&l).begin == offset)
            return u->directives[k];
    }
    return NULL;
}

/* An error at a place of the main file. One for each directive: what follows is seldom another
 * mistake. */
static void show_at(const unit_t *u, severity_t severity, size_t begin, const char *text,
                    int *foreign)
{
    directive_t *d = directive_around(u, begin), *before = directive_before(u, begin);
    if (!d && before && !before->broken && !strncmp(text, "expected", 8)) {
        before->broken = true;
        diag_at(severity, u->source, before->name_begin, before->name_end,
                "the pragma governs nothing: it stands before a statement in a function");
        return;
    }
    const directive_t *declared = d ? directive_declared(d) : NULL;
    *foreign += !d && severity == SEVERITY_ERROR;
    if (d && severity == SEVERITY_ERROR && (d->broken || (declared && declared->broken))) {
        d->broken = true;
        return;
    }
    if (d && severity == SEVERITY_ERROR) {
        d->broken = true;
        text = explain(u, d, begin, text);
        if (begin <= d->pragma.begin || begin >= d->pragma.end) {
            diag_at(severity, u->source, d->name_begin, d->name_end, "%s", text);
            return;
        }
    }
    diag_at(severity, u->source, begin, word_end(u->source, begin), "%s", text);
}

/* The file of the translation unit in which clang says the place is; NULL: none that kmmcc knows.
 */
static const unit_t *unit_at(const unit_t *u, CXFile file)
{
    for (; u; u = u->next)
        if (clang_File_isEqual(file, clang_getFile(u->tu, u->path)))
            return u;
    return NULL;
}

/* "'thrust/sort.h' file not found", where that is of a library that the CPU target lacks, with the
 * library's name. */
static char *with_library(const unit_t *u, char *text)
{
    static const char *const libraries[][2] = {
        {"'thrust/", "Thrust"},
        {"'cub/", "CUB"},
        {"'cuda/", "the CUDA C++ library"},
        {"'cutlass/", "CUTLASS"},
        {"'rocthrust/", "rocThrust"},
        {"'hipcub/", "hipCUB"},
        {"'rocprim/", "rocPRIM"},
        {"'hipblas", "hipBLAS"},
        {"'rocblas", "rocBLAS"},
        {"'hipfft", "hipFFT"},
        {"'hiprand", "hipRAND"},
        {"'rocrand", "rocRAND"},
        {"'hipsparse", "hipSPARSE"},
        {"'hipsolver", "hipSOLVER"},
        {"'miopen", "MIOpen"},
    };
    if (u->target != TARGET_HOST || !is_device_lang(u->lang) || !strstr(text, "' file not found"))
        return text;
    for (size_t k = 0; k < sizeof(libraries) / sizeof(*libraries); k++)
        if (!strncmp(text, libraries[k][0], strlen(libraries[k][0])))
            return arena_printf("%s: %s is missing on the CPU target", text, libraries[k][1]);
    return text;
}

static void show_diagnostic(const unit_t *u, CXDiagnostic d, severity_t severity, int *foreign)
{
    CXFile file;
    unsigned line, column, offset;
    char *text = with_library(u, clang_text(clang_getDiagnosticSpelling(d)));
    CXSourceLocation location = clang_getDiagnosticLocation(d);
    clang_getFileLocation(location, &file, &line, &column, &offset);
    const unit_t *in = file ? unit_at(u, file) : NULL;
    if (!strncmp(text, "in file included from", strlen("in file included from")))
        return;
    if (in) {
        show_at(in, severity, unit_offset(in, offset), text, foreign);
        return;
    }
    *foreign += severity == SEVERITY_ERROR;
    if (file)
        diag_plain(severity, "%s:%u:%u: %s", clang_text(clang_getFileName(file)), line, column,
                   text);
    else
        diag_plain(severity, "%s", text);
}

/* Shows the errors with their notes; returns how many are not about a pragma. Warnings are the real
 * compiler's business. */
static int show_errors(const unit_t *u)
{
    int foreign = 0;
    for (unsigned k = 0; k < clang_getNumDiagnostics(u->tu); k++) {
        CXDiagnostic d = clang_getDiagnostic(u->tu, k);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            show_diagnostic(u, d, SEVERITY_ERROR, &foreign);
            CXDiagnosticSet notes = clang_getChildDiagnostics(d);
            for (unsigned i = 0; i < clang_getNumDiagnosticsInSet(notes); i++)
                show_diagnostic(u, clang_getDiagnosticInSet(notes, i), SEVERITY_NOTE, &foreign);
        }
        clang_disposeDiagnostic(d);
    }
    return foreign;
}

/* ---- Parsing ---- */

typedef struct flags {
    const char **flag;
    int count;
} flags_t;

static void add_flag(flags_t *f, const char *flag)
{
    f->flag[f->count++] = flag;
}

/*
 * What CUDA and HIP source is parsed with, the quickest first; the next one is tried where a file
 * does not parse. kmm's own headers declare what most programs use, and take a quarter of the time
 * of the toolkit's. Light: without <cmath>, unless the file includes it. include/kmm/parse stands
 * in for the toolkit's headers of textures until a file needs them.
 */
typedef enum headers { HEADERS_LIGHT, HEADERS_OWN, HEADERS_TOOLKIT, HEADERS_TEXTURES } headers_t;

static bool is_toolkit(const unit_t *u)
{
    if (u->lang == LANG_HIP && u->target == TARGET_HIP)
        return toolchain_rocm();
    return is_device_lang(u->lang) && u->target != TARGET_HOST && toolchain_cuda();
}

static bool is_nvcc(const unit_t *u)
{
    return u->target == TARGET_CUDA && toolchain_cuda();
}

/* What HIP's compilers define; its headers over CUDA's are kmm's own. */
static void add_hip_macros(const unit_t *u, flags_t *f)
{
    add_flag(f, "-D__HIP__=1");
    add_flag(f, "-D__HIPCC__=1");
    add_flag(f,
             u->target == TARGET_CUDA ? "-D__HIP_PLATFORM_NVIDIA__=1" : "-D__HIP_PLATFORM_AMD__=1");
    add_flag(f, u->target == TARGET_CUDA ? "-D__HIP_PLATFORM_NVCC__=1" : "-U__CUDA__");
    add_flag(f, arena_printf("-isystem%s", driver_folder("include/kmm/hip")));
    add_flag(f, "-includehip/hip_runtime.h");
}

static void add_own_flags(const unit_t *u, headers_t headers, flags_t *f)
{
    static const char *const of_nvcc[] = {"-D__CUDACC__=1", "-D__NVCC__=1",
                                          "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0"};
    const char **flags;
    int count;
    if (headers == HEADERS_LIGHT)
        add_flag(f, "-DKMM_PARSE_LIGHT=1");
    for (size_t k = 0; is_nvcc(u) && k < sizeof(of_nvcc) / sizeof(*of_nvcc); k++)
        add_flag(f, of_nvcc[k]);
    host_parse_flags(u->options, &flags, &count);
    for (int k = 0; k < count; k++)
        add_flag(f, flags[k]);
    if (u->lang == LANG_HIP)
        add_hip_macros(u, f);
}

/* HIP's own headers, as clang includes them by itself. */
static void add_rocm_flags(flags_t *f)
{
    add_flag(f, "-xhip");
    add_flag(f, "--cuda-host-only");
    add_flag(f, "-nogpulib");
    add_flag(f, "-D__HIP_PLATFORM_AMD__=1");
    add_flag(f, "-D__HIP_PLATFORM_HCC__=1");
    add_flag(f, "-D__AMDGCN_WAVEFRONT_SIZE=64"); /* ROCm's headers before 7 ask it, and newer clangs
                                                    do not say */
    add_flag(
        f, "-D__llvm_amdgcn_rcp_f16(x)=(x)"); /* which these headers call and hipcc's clang knows */
    add_flag(f, "-D__llvm_amdgcn_rcp_2f16(x)=(x)");
    add_flag(f, arena_printf("--rocm-path=%s", toolchain_rocm()));
    if (strcmp(toolchain_rocm(), "/usr") != 0) /* is looked in anyway, behind the C++ library's */
        add_flag(f, arena_printf("-isystem%s/include", toolchain_rocm()));
}

static void add_cuda_flags(const unit_t *u, headers_t headers, flags_t *f)
{
    const char *cuda = toolchain_cuda(), *own = driver_folder("include");
    if (headers <= HEADERS_OWN) {
        add_own_flags(u, headers, f);
        return;
    }
    if (u->lang == LANG_HIP && u->target == TARGET_HIP) {
        add_rocm_flags(f);
        return;
    }
    add_flag(f, "-xcuda");
    add_flag(f, "--cuda-host-only");
    add_flag(f, arena_printf("--cuda-path=%s", cuda));
    add_flag(f, "-nocudalib");
    add_flag(f, "-Wno-unknown-cuda-version");
    add_flag(f, arena_printf("-I%s/kmm/parse", own));
    add_flag(f, arena_printf("-include%s/kmm/parse/nvcc.h", own));
    add_flag(f, arena_printf("-isystem%s/include/cccl", cuda));
    if (headers == HEADERS_TEXTURES)
        add_flag(f, "-DKMM_PARSE_TEXTURES");
    if (u->lang == LANG_HIP)
        add_hip_macros(u, f);
}

static flags_t all_flags(const unit_t *u, headers_t headers)
{
    enum { ROOM = 80 };
    flags_t f = {.flag =
                     arena_alloc((ROOM + (size_t)u->options->parse_flag_count) * sizeof(char *))};
    if (is_device_lang(u->lang))
        add_cuda_flags(u, headers, &f);
    else
        add_flag(&f, u->lang == LANG_C ? "-xc" : "-xc++");
    for (int k = 0; k < u->options->parse_flag_count; k++)
        add_flag(&f, u->options->parse_flags[k]);
    add_flag(&f, "-w");
    add_flag(&f, "-Wno-register"); /* nvcc only warns of it */
    if (u->lang == LANG_CUDA || u->lang == LANG_HIP)
        add_flag(&f, "-fgpu-rdc"); /* without it clang rejects kernels that launch kernels */
    add_flag(&f, "-fspell-checking");
    if (!u->options->ignores_pragmas)
        add_flag(&f, "-D_KMM=1");
    add_flag(&f, arena_printf("-I%s", driver_folder("include")));
    add_flag(&f, "-idirafter");
    add_flag(&f, driver_folder("include/kmm/parse/last"));
    return f;
}

typedef struct unsaved {
    struct CXUnsavedFile *at;
    unsigned count;
} unsaved_t;

static headers_t last_headers(const unit_t *u)
{
    if (!is_toolkit(u))
        return HEADERS_OWN;
    return u->target == TARGET_HIP ? HEADERS_TOOLKIT : HEADERS_TEXTURES;
}

/* The files as clang is to see them; headers without pragmas are as they are. */
static unsaved_t unsaved(const unit_t *u)
{
    unsaved_t files = {0};
    for (const unit_t *k = u->main; k; k = k->next)
        files.count++;
    files.at = arena_alloc(files.count * sizeof(*files.at));
    files.count = 0;
    for (const unit_t *k = u->main; k; k = k->next)
        if (k->parsed)
            files.at[files.count++] = (struct CXUnsavedFile){k->path, k->parsed, strlen(k->parsed)};
    return files;
}

/* Preambles in memory: nothing is left behind in a temporary folder. */
static CXIndex create_index(void)
{
    CXIndexOptions options = {.Size = sizeof(options), .StorePreamblesInMemory = 1};
    CXIndex index = clang_createIndexWithOptions(&options);
    return index ? index : clang_createIndex(0, 0);
}

/* clang remembers disabled regions only on demand, and then is slower; so this is a parse of its
 * own, which few files need. */
static CXSourceRangeList *disabled_ranges(const unit_t *u)
{
    flags_t f = all_flags(u, last_headers(u));
    unsaved_t files = unsaved(u);
    CXTranslationUnit tu;
    unsigned options = CXTranslationUnit_KeepGoing | CXTranslationUnit_DetailedPreprocessingRecord |
                       CXTranslationUnit_SkipFunctionBodies;
    if (clang_parseTranslationUnit2(create_index(), u->main->path, f.flag, f.count, files.at,
                                    files.count, options, &tu))
        return NULL;
    return clang_getSkippedRanges(tu, clang_getFile(tu, u->path));
}

bool clang_disabled(unit_t *u, size_t parsed)
{
    if (u->disabled_of != u->parsed) {
        u->disabled = disabled_ranges(u);
        u->disabled_of = u->parsed;
    }
    const CXSourceRangeList *list = u->disabled;
    for (unsigned k = 0; list && k < list->count; k++) {
        unsigned begin, end;
        clang_getFileLocation(clang_getRangeStart(list->ranges[k]), NULL, NULL, NULL, &begin);
        clang_getFileLocation(clang_getRangeEnd(list->ranges[k]), NULL, NULL, NULL, &end);
        if (begin <= parsed && parsed < end)
            return true;
    }
    return false;
}

bool clang_disabled_source(unit_t *u, size_t offset)
{
    size_t parsed = unit_parsed_offset(u, offset);
    return parsed != SIZE_MAX && clang_disabled(u, parsed);
}

/* The precompiled headers with which the file begins; NULL: there are none. What the command line
 * includes may be the program's. */
static const char *precompiled(const unit_t *u, const flags_t *f, bodies_t bodies)
{
    const char *leading = u->lang == LANG_C ? "" : cache_leading(u->main);
    if (u->lang == LANG_C || (u->lang == LANG_CXX && !*leading))
        return NULL;
    for (int k = 0; k < u->options->parse_flag_count; k++)
        if (!strcmp(u->options->parse_flags[k], "-include") ||
            !strcmp(u->options->parse_flags[k], "-imacros"))
            return NULL;
    return cache_headers(leading, f->flag, f->count, bodies == BODIES_OF_MAIN_FILE);
}

/* *cache: whether precompiled headers may be used; then, which were. */
static bool parse_once(unit_t *u, bodies_t bodies, headers_t headers, const char **cache)
{
    flags_t f = all_flags(u, headers);
    if (cache && (*cache = precompiled(u, &f, bodies))) {
        add_flag(&f, "-include-pch");
        add_flag(&f, *cache);
        add_flag(&f, "-Xclang"); /* otherwise clang asks only of headers that are none of the
                                    system's whether they have changed */
        add_flag(&f, "-fmodules-validate-system-headers");
    }
    unsaved_t files = unsaved(u);
    unsigned options = CXTranslationUnit_KeepGoing;
    if (is_toolkit(u) || u->lang == LANG_C ||
        u->lang == LANG_CXX) /* the rewritten text is parsed, too */
        options |=
            CXTranslationUnit_PrecompiledPreamble | CXTranslationUnit_CreatePreambleOnFirstParse;
    if (bodies == BODIES_OF_MAIN_FILE)
        options |= CXTranslationUnit_SkipFunctionBodies |
                   CXTranslationUnit_LimitSkipFunctionBodiesToPreamble;
    enum CXErrorCode error = clang_parseTranslationUnit2(create_index(), u->path, f.flag, f.count,
                                                         files.at, files.count, options, &u->tu);
    for (unit_t *k = u->next; k; k = k->next)
        k->tu = u->tu;
    return error == CXError_Success && u->tu;
}

static bool has_errors(const unit_t *u)
{
    bool found = false;
    for (unsigned k = 0; k < clang_getNumDiagnostics(u->tu) && !found; k++) {
        CXDiagnostic d = clang_getDiagnostic(u->tu, k);
        found = clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error;
        clang_disposeDiagnostic(d);
    }
    return found;
}

/* What goes wrong with precompiled headers is tried without them; those are out of date, or not
 * ours to precompile, where that goes well. */
static bool parse_with(unit_t *u, bodies_t bodies, headers_t headers)
{
    const char *cache = NULL;
    bool parsed = parse_once(u, bodies, headers, &cache);
    if (!cache || (parsed && !has_errors(u)))
        return parsed;
    if (u->tu)
        clang_disposeTranslationUnit(u->tu);
    parsed = parse_once(u, bodies, headers, NULL);
    if (parsed && !has_errors(u))
        cache_forget(cache);
    return parsed;
}

/* Whether clang found errors that are not about pragmas. */
static bool has_foreign_errors(const unit_t *u)
{
    bool found = false;
    for (unsigned k = 0; k < clang_getNumDiagnostics(u->tu); k++) {
        CXDiagnostic d = clang_getDiagnostic(u->tu, k);
        unsigned offset;
        CXFile file;
        clang_getFileLocation(clang_getDiagnosticLocation(d), &file, NULL, NULL, &offset);
        const unit_t *in = file ? unit_at(u, file) : NULL;
        found |= clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error &&
                 (!in || !directive_around(in, unit_offset(in, offset)));
        clang_disposeDiagnostic(d);
    }
    return found;
}

bool clang_parse(unit_t *u, bodies_t bodies)
{
    bool cuda = is_device_lang(u->lang);
    headers_t headers = cuda ? HEADERS_LIGHT : HEADERS_OWN, last = last_headers(u);
    bool parsed = parse_with(u, bodies, headers);
    while (parsed && headers < last &&
           (headers < HEADERS_TOOLKIT ? has_errors(u) : has_foreign_errors(u))) {
        /* Errors are the file's own only when they stand in the light of what it is compiled with.
         */
        headers = headers == HEADERS_LIGHT && is_toolkit(u) ? HEADERS_TOOLKIT : headers + 1;
        clang_disposeTranslationUnit(u->tu);
        parsed = parse_with(u, bodies, headers);
    }
    if (!parsed)
        diag_plain(SEVERITY_ERROR, "clang cannot parse '%s'", u->source->path);
    return parsed && show_errors(u) == 0;
}

/* clang keeps what it knows of the headers only while the text up to the first declaration is the
 * same. Ours may stand before that declaration, so an empty one goes before it. */
static char *keep_preamble(unit_t *u, const char *text)
{
    const char *ours = strstr(text, "\n#include <kmm/");
    size_t at = ours ? (size_t)(ours + 1 - text) : 0, length = strlen(text);
    piece_t *pieces = arena_alloc(2 * sizeof(*pieces));
    pieces[0] = (piece_t){0, 0, at};
    pieces[1] = (piece_t){at + 2, at, length - at};
    u->pieces = pieces;
    u->piece_count = 2;
    return arena_printf("%.*s;\n%s", (int)at, text, text + at);
}

/* The unit as clang is to see it after the rewriting: a file without directives whose text is the
 * new one. */
static unit_t *rewritten_unit(const unit_t *u, const source_t *of, const char *text)
{
    unit_t *r = arena_alloc(sizeof(*r));
    *r = *u;
    r->directive_count = 0;
    r->source = source_from(arena_printf("%s (as rewritten)", of->path), text, strlen(text));
    piece_t *all = arena_alloc(sizeof(*all));
    *all = (piece_t){0, 0, strlen(text)};
    r->pieces = all;
    r->piece_count = 1;
    r->parsed = u == u->main ? keep_preamble(r, text) : text;
    return r;
}

static bool is_right(int errors)
{
    if (errors)
        diag_plain(
            SEVERITY_NOTE,
            "this is a mistake of kmmcc: the source is right, but what it was rewritten to is not");
    return errors == 0;
}

bool clang_verify(unit_t *u, const char *(*text_of)(unit_t *u))
{
    unit_t *main = NULL, **last = &main;
    for (unit_t *k = u; k; k = k->next) {
        const char *text = text_of(k);
        if (!text)
            continue;
        *last = rewritten_unit(k, k->source, text);
        (*last)->main = main;
        last = &(*last)->next;
        *last = NULL;
    }
    unsaved_t files = unsaved(main);
    if (clang_reparseTranslationUnit(u->tu, files.count, files.at,
                                     clang_defaultReparseOptions(u->tu))) {
        diag_plain(SEVERITY_ERROR,
                   "this is a mistake of kmmcc: clang cannot parse what it wrote for '%s'",
                   u->source->path);
        return false;
    }
    return is_right(show_errors(main));
}

bool clang_verify_file(const source_t *source, const char *path, const list_t *flags)
{
    const source_t *text = source_read(path);
    unit_t *u = arena_alloc(sizeof(*u));
    *u = (unit_t){.lang = LANG_CXX, .target = TARGET_HOST, .path = path};
    if (!text || clang_parseTranslationUnit2(create_index(), path, flags->item, flags->count, NULL,
                                             0, CXTranslationUnit_KeepGoing, &u->tu))
        return true; /* nothing can be said of it */
    *u = *rewritten_unit(u, source, text->text);
    return is_right(show_errors(u));
}
