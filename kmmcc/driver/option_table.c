/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of gcc, clang, nvcc and hipcc that kmmcc knows: what each is for, and its names for
 * other compilers.
 */
#include "driver/option_table.h"

#include <stddef.h>
#include <string.h>

/* Has no use for gcc and clang. */
#define DROPPED ""

/* A second dash before a name is accepted, as nvcc does. */
static const option_t table[] = {
    /* names that both families know */
    {"-include", VALUE_NEXT, ROLE_COMPILE, false, NULL, "-include"},
    {"-isystem", VALUE_JOINED, ROLE_COMPILE, false, NULL, "-isystem"},
    {"-idirafter", VALUE_JOINED, ROLE_COMPILE, false, NULL, "-idirafter"},
    {"-iquote", VALUE_JOINED, ROLE_COMPILE, false, NULL, "-iquote"},
    {"-imacros", VALUE_NEXT, ROLE_COMPILE, false, NULL, "-imacros"},
    {"-isysroot", VALUE_JOINED, ROLE_OPTION, false, NULL, "-isysroot"},
    {"-sysroot", VALUE_NEXT, ROLE_OPTION, false, "--sysroot", "--sysroot"},
    {"-I", VALUE_JOINED, ROLE_COMPILE, false, NULL, "-I"},
    {"-D", VALUE_JOINED, ROLE_COMPILE, false, NULL, "-D"},
    {"-U", VALUE_JOINED, ROLE_COMPILE, false, NULL, "-U"},
    {"-iprefix", VALUE_JOINED, ROLE_COMPILE, false, NULL, "-iprefix"},
    {"-iwithprefix", VALUE_JOINED, ROLE_COMPILE, false, NULL, "-iwithprefix"},
    {"-iwithprefixbefore", VALUE_JOINED, ROLE_COMPILE, false, NULL, "-iwithprefixbefore"},
    {"-include-directory", VALUE_NEXT, ROLE_COMPILE, false, NULL, "-I"},
    {"-include-directory-after", VALUE_NEXT, ROLE_COMPILE, false, NULL, "-idirafter"},
    {"-L", VALUE_JOINED, ROLE_LINK, false, NULL, NULL},
    {"-l", VALUE_JOINED, ROLE_LINK, false, NULL, NULL},
    {"-o", VALUE_JOINED, ROLE_OUTPUT, false, NULL, NULL},
    {"-x", VALUE_JOINED, ROLE_LANG, false, "-x", NULL},
    {"-std", VALUE_NEXT, ROLE_OPTION, false, "-std=", "-std="},
    {"-MF", VALUE_JOINED, ROLE_DEPEND, false, NULL, NULL},
    {"-MT", VALUE_JOINED, ROLE_DEPEND, false, NULL, NULL},
    {"-MQ", VALUE_JOINED, ROLE_DEPEND, false, NULL, NULL},
    {"-MD", VALUE_NONE, ROLE_DEPEND, false, NULL, NULL},
    {"-MMD", VALUE_NONE, ROLE_DEPEND, false, NULL, NULL},
    {"-MP", VALUE_NONE, ROLE_DEPEND, false, NULL, NULL},
    {"-MG", VALUE_NONE, ROLE_DEPEND, false, NULL, NULL},
    {"-M", VALUE_NONE, ROLE_MODE, false, NULL, NULL},
    {"-MM", VALUE_NONE, ROLE_MODE, false, NULL, NULL},
    {"-c", VALUE_NONE, ROLE_MODE, false, NULL, NULL},
    {"-S", VALUE_NONE, ROLE_MODE, false, NULL, NULL},
    {"-E", VALUE_NONE, ROLE_MODE, false, NULL, NULL},
    {"-fsyntax-only", VALUE_NONE, ROLE_MODE, false, NULL, NULL},
    {"-Xlinker", VALUE_NEXT, ROLE_LINK, false, "-Xlinker", NULL},
    {"-shared", VALUE_NONE, ROLE_LINK, false, NULL, NULL},
    {"-static", VALUE_NONE, ROLE_LINK, false, NULL, NULL},
    {"-rdynamic", VALUE_NONE, ROLE_LINK, false, NULL, NULL},
    {"-r", VALUE_NONE, ROLE_LINK, false, NULL, NULL},
    {"-T", VALUE_NEXT, ROLE_LINK, false, NULL, NULL},
    {"-u", VALUE_NEXT, ROLE_LINK, false, NULL, NULL},
    {"-z", VALUE_NEXT, ROLE_LINK, false, NULL, NULL},
    {"-e", VALUE_NEXT, ROLE_LINK, false, NULL, NULL},
    {"-Xpreprocessor", VALUE_NEXT, ROLE_COMPILE, false, NULL, NULL},
    {"-Xassembler", VALUE_NEXT, ROLE_COMPILE, false, NULL, NULL},
    {"-Xclang", VALUE_NEXT, ROLE_COMPILE, false, NULL, NULL},
    {"-mllvm", VALUE_NEXT, ROLE_COMPILE, false, NULL, NULL},
    {"-param", VALUE_NEXT, ROLE_OPTION, false, "--param", NULL},
    {"-aux-info", VALUE_NEXT, ROLE_COMPILE, false, NULL, NULL},
    {"-dumpbase", VALUE_NEXT, ROLE_COMPILE, false, NULL, NULL},
    {"-dumpdir", VALUE_NEXT, ROLE_COMPILE, false, NULL, NULL},
    {"-target", VALUE_NEXT, ROLE_OPTION, false, NULL, "-target"},
    {"-pthread", VALUE_NONE, ROLE_OPTION, false, NULL, "-pthread"},
    {"-fopenmp", VALUE_NONE, ROLE_OPTION, false, NULL, "-fopenmp"},
    {"-fno-exceptions", VALUE_NONE, ROLE_OPTION, false, NULL, "-fno-exceptions"},
    {"-fno-rtti", VALUE_NONE, ROLE_OPTION, false, NULL, "-fno-rtti"},
    {"-funsigned-char", VALUE_NONE, ROLE_OPTION, false, NULL, "-funsigned-char"},
    {"-ffast-math", VALUE_NONE, ROLE_OPTION, false, NULL, "-ffast-math"},
    {"-fdiagnostics-parseable-fixits", VALUE_NONE, ROLE_OPTION, false, NULL, NULL},

    /* nvcc's long names of them */
    {"-pre-include", VALUE_NEXT, ROLE_COMPILE, true, "-include", "-include"},
    {"-system-include", VALUE_NEXT, ROLE_COMPILE, true, "-isystem", "-isystem"},
    {"-include-path", VALUE_NEXT, ROLE_COMPILE, true, "-I", "-I"},
    {"-define-macro", VALUE_NEXT, ROLE_COMPILE, true, "-D", "-D"},
    {"-undefine-macro", VALUE_NEXT, ROLE_COMPILE, true, "-U", "-U"},
    {"-library-path", VALUE_NEXT, ROLE_LINK, true, "-L", NULL},
    {"-library", VALUE_NEXT, ROLE_LINK, true, "-l", NULL},
    {"-output-file", VALUE_NEXT, ROLE_OUTPUT, true, "-o", NULL},
    {"-dependency-output", VALUE_NEXT, ROLE_DEPEND, true, "-MF", NULL},
    {"-generate-dependencies-with-compile", VALUE_NONE, ROLE_DEPEND, true, "-MD", NULL},
    {"-generate-nonsystem-dependencies-with-compile", VALUE_NONE, ROLE_DEPEND, true, "-MMD", NULL},
    {"-generate-dependency-targets", VALUE_NONE, ROLE_DEPEND, true, "-MP", NULL},
    {"-compile", VALUE_NONE, ROLE_MODE, true, "-c", NULL},
    {"-preprocess", VALUE_NONE, ROLE_MODE, true, "-E", NULL},
    {"-linker-options", VALUE_NEXT, ROLE_LINK, true, "-Xlinker", NULL},
    {"-optimize", VALUE_NEXT, ROLE_OPTION, true, "-O", NULL},
    {"-device-c", VALUE_NONE, ROLE_MODE, true, "-c", NULL},
    {"-dc", VALUE_NONE, ROLE_MODE, true, "-c", NULL},
    {"-dw", VALUE_NONE, ROLE_MODE, true, "-c", NULL},

    /* nvcc's own */
    {"-Xcompiler", VALUE_NEXT, ROLE_OPTION, true, "-Xcompiler", NULL},
    {"-compiler-options", VALUE_NEXT, ROLE_OPTION, true, "-Xcompiler", NULL},
    {"-compiler-bindir", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-ccbin", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-use_fast_math", VALUE_NONE, ROLE_OPTION, true, "-funsafe-math-optimizations", "-ffast-math"},
    {"-arch", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-gpu-architecture", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-code", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-gpu-code", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-gencode", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-generate-code", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xptxas", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-ptxas-options", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xnvlink", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-nvlink-options", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xcudafe", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xfatbin", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xarchive", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-archive-options", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-rdc", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-relocatable-device-code", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-dlink", VALUE_NONE, ROLE_LINK, true, DROPPED, NULL},
    {"-device-link", VALUE_NONE, ROLE_LINK, true, DROPPED, NULL},
    {"-lib", VALUE_NONE, ROLE_LINK, true, DROPPED, NULL},
    {"-ptx", VALUE_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-cubin", VALUE_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-fatbin", VALUE_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-optix-ir", VALUE_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-ltoir", VALUE_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-cuda", VALUE_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-dlto", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-lineinfo", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-generate-line-info", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-G", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-device-debug", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-maxrregcount", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-extended-lambda", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-expt-extended-lambda", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-expt-relaxed-constexpr", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-keep", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-keep-dir", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-odir", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-output-directory", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-default-stream", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-cudart", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-cudadevrt", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-ftz", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-fmad", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-prec-div", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-prec-sqrt", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-res-usage", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-resource-usage", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-restrict", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-allow-unsupported-compiler", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-forward-unknown-to-host-compiler", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-forward-unknown-to-host-linker", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-forward-unknown-opts", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-diag-suppress", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-diag-error", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-diag-warn", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-threads", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-t", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-split-compile", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-machine", VALUE_NEXT, ROLE_OPTION, true, DROPPED, NULL},
    {"-dryrun", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-Wno-deprecated-gpu-targets", VALUE_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-disable-warnings", VALUE_NONE, ROLE_OPTION, true, "-w", NULL},

    /* hipcc's own */
    {"-offload-arch", VALUE_NEXT, ROLE_OPTION, false, OF_HIP, NULL},
    {"-no-offload-arch", VALUE_NEXT, ROLE_OPTION, false, OF_HIP, NULL},
    {"-amdgpu-target", VALUE_NEXT, ROLE_OPTION, false, OF_HIP, NULL},
    {"-offload-compress", VALUE_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-no-offload-compress", VALUE_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-fgpu-rdc", VALUE_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-fno-gpu-rdc", VALUE_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-fgpu-default-stream", VALUE_NEXT, ROLE_OPTION, false, OF_HIP, NULL},
    {"-gpu-max-threads-per-block", VALUE_NEXT, ROLE_OPTION, false, OF_HIP, NULL},
    {"-munsafe-fp-atomics", VALUE_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-hip-link", VALUE_NONE, ROLE_LINK, false, OF_HIP, NULL},
    {"-rocm-path", VALUE_NEXT, ROLE_OPTION, false, OF_HIP, NULL},
    {"-rocm-device-lib-path", VALUE_NEXT, ROLE_OPTION, false, OF_HIP, NULL},
    {"-hip-path", VALUE_NEXT, ROLE_OPTION, false, OF_HIP, NULL},
    {"-hip-device-lib-path", VALUE_NEXT, ROLE_OPTION, false, OF_HIP, NULL},
};

const char *option_rest(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* ---- Arguments of the real compiler ---- */

/* True if `rest`, what follows the option's name, can be its value. Joined values follow one dash
 * only. */
static bool rest_fits(const option_t *option, const char *rest, bool two_dashes)
{
    if (!*rest)
        return true;
    switch (option->value_form) {
    case VALUE_NONE: return false;
    case VALUE_NEXT: return *rest == '=';
    case VALUE_JOINED: return !two_dashes || *rest == '=';
    }
    return false;
}

const option_t *option_find(const char *word, const char **value)
{
    bool two_dashes = word[0] == '-' && word[1] == '-';
    const option_t *found = NULL;
    const char *found_rest = NULL;
    for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++) {
        const char *rest = option_rest(word + two_dashes, table[k].name);
        if (rest && rest_fits(&table[k], rest, two_dashes) && (!found || rest > found_rest)) {
            found = &table[k];
            found_rest = rest;
        }
    }
    if (!found || !*found_rest)
        return *value = NULL, found;
    bool equals = *found_rest == '=' &&
                  (found->value_form == VALUE_NEXT || two_dashes || found->role == ROLE_LANG);
    *value = found_rest + equals;
    return found;
}

/* ---- Options that are not in the table ---- */

/* A name that ends with = or * stands for all that begin so. */
static bool is_in(const char *word, const char *const *names)
{
    for (; *names; names++) {
        size_t length = strlen(*names);
        bool is_prefix = strchr("=*", (*names)[length - 1]);
        if (!is_prefix ? !strcmp(word, *names)
                       : !strncmp(word, *names, length - ((*names)[length - 1] == '*')))
            return true;
    }
    return false;
}

/* A processor or an extension that only the compiler knows is left out: the macros that it defines
 * are the compiler's (clang/asked.c). */
bool option_is_for_parsing(const char *word)
{
    static const char *const names[] = {"-ansi",
                                        "-trigraphs",
                                        "-undef",
                                        "-nostdinc",
                                        "-nostdinc++",
                                        "-fshort-wchar",
                                        "-fno-short-wchar",
                                        "-fshort-enums",
                                        "-fno-short-enums",
                                        "-fsigned-char",
                                        "-fno-signed-char",
                                        "-fno-unsigned-char",
                                        "-fpack-struct",
                                        "-fpack-struct=",
                                        "-m32",
                                        "-m64",
                                        "-mx32",
                                        "-mlong-double-64",
                                        "-mlong-double-80",
                                        "-mlong-double-128",
                                        "-mms-bitfields",
                                        "-mno-ms-bitfields",
                                        "-malign-double",
                                        "-fms-extensions",
                                        "-fno-ms-extensions",
                                        "-fchar8_t",
                                        "-fno-char8_t",
                                        "-fno-operator-names",
                                        "-fgnu89-inline",
                                        "-ffreestanding",
                                        "-fhosted",
                                        "-fwrapv",
                                        "-fno-wrapv",
                                        "-fexceptions",
                                        "-frtti",
                                        "-march=native",
                                        "-march=x86-64*",
                                        "-march=core*",
                                        "-march=haswell",
                                        "-march=broadwell",
                                        "-march=skylake*",
                                        "-march=ivybridge",
                                        "-march=sandybridge",
                                        "-march=icelake*",
                                        "-march=sapphirerapids",
                                        "-march=znver1",
                                        "-march=znver2",
                                        "-march=znver3",
                                        "-march=znver4",
                                        "-march=armv8*",
                                        "-mavx",
                                        "-mno-avx",
                                        "-mavx2",
                                        "-mno-avx2",
                                        "-mavx512f",
                                        "-mavx512vl",
                                        "-mavx512bw",
                                        "-mavx512dq",
                                        "-mavx512cd",
                                        "-mfma",
                                        "-mno-fma",
                                        "-mf16c",
                                        "-msse",
                                        "-msse2",
                                        "-msse3",
                                        "-mssse3",
                                        "-msse4",
                                        "-msse4.1",
                                        "-msse4.2",
                                        "-mbmi",
                                        "-mbmi2",
                                        "-mpopcnt",
                                        "-mlzcnt",
                                        "-maes",
                                        "-mpclmul",
                                        "-mrdrnd",
                                        "-mcx16",
                                        NULL};
    return is_in(word, names);
}

bool option_is_beyond_clang(const char *word)
{
    static const char *const names[] = {"-funsigned-bitfields",
                                        "-fno-signed-bitfields",
                                        "-fsso-struct=big-endian",
                                        "-fsso-struct=little-endian",
                                        "-fsingle-precision-constant",
                                        "-m96bit-long-double",
                                        "-m16",
                                        "-fplan9-extensions",
                                        NULL};
    return is_in(word, names);
}
