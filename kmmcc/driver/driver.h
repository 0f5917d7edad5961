/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the driver: which compilers there are, what objects hold, commands, temporary files.
 */
#ifndef KMMCC_DRIVER_H
#define KMMCC_DRIVER_H

#include "kmmcc.h"

/* ---- toolchain.c: the real compilers ---- */
typedef enum family { FAMILY_GNU, FAMILY_CLANG, FAMILY_NVCC, FAMILY_HIPCC } family_t;
typedef struct compiler {
    const char *path;
    family_t family;
} compiler_t; /* path NULL: there is none */

compiler_t
toolchain_named(const char *name); /* of --compiler= or -ccbin; an error if there is none */
compiler_t toolchain_c(void);
compiler_t toolchain_cxx(void);
compiler_t toolchain_nvcc(void);
compiler_t toolchain_hipcc(void);
const char *toolchain_cuda(void); /* the folder of the CUDA toolkit; NULL without one */
const char *
toolchain_rocm(void); /* the folder in which HIP's headers are as include/hip; NULL without them */
/* The compiler that this program was called as, through a link named nvcc, cc, g++ ...; NULL as
 * kmmcc. */
const char *toolchain_called_as(const char *argv0);

/* ---- object.c: what an object or archive holds ---- */
enum {
    OBJECT_MANAGED = 1, /* compiled with a kmm pragma: calls what only rewritten source does */
    OBJECT_CUDA = 2,    /* device code of nvcc, or calls of the CUDA runtime */
    OBJECT_HIP = 4,
    OBJECT_CXX = 8,
    OBJECT_HOSTED = 16, /* CUDA source compiled for the CPU */
    OBJECT_KMM = 32     /* refers to libkmm */
};
unsigned object_scan(const char *path); /* 0 for what is no ELF object and no archive of them */

/* ---- process.c: commands and temporary files, all removed at exit and after signals ---- */
void process_start(void);
const char *process_folder(bool create); /* the folder of temporary files, made at first use */
const char *process_file(const char *folder, const char *name); /* its path; it will be removed */
const char *process_subfolder(int number, bool create);
int process_run(const list_t *command);     /* its exit status; errors are printed */
int process_replace(const list_t *command); /* becomes the command; returns only on failure */
void process_print(const list_t *command);  /* on stderr, quoted for a shell */
bool process_capture(const list_t *command, text_t *out); /* its stdout */
int process_run_quiet(const list_t *command,
                      text_t *messages); /* as process_run; what it says on stderr is kept */

/* ---- clang.c ---- */
/* Parses a file that kmmcc wrote, as plain C++ with these flags; `source` is what it was made of.
 * False after its errors have been shown: they are mistakes of kmmcc. */
bool clang_verify_file(const source_t *source, const char *path, const list_t *flags);

/* ---- diff.c ---- */
/* Prints a unified diff on stdout; false if the texts are equal. */
typedef struct version {
    const char *label, *text;
} version_t;
bool diff_print(version_t before, version_t after);

/* ---- depend.c: the dependency file of a source that was compiled from a temporary copy ---- */
const char *depend_file(const options_t *o, const char *source, const compiler_t *compiler);
/* Replaces the copy's name by the original's. False after an error. */
bool depend_mend(const char *path, const char *copy, const char *original);
bool depend_mend_lines(const char *path, const char *copy,
                       const char *original); /* the same in preprocessed text */

/* ---- includes.c: whose headers a source includes, itself or by its own headers ---- */
enum { USES_CUDA = 1, USES_HIP = 2, USES_KMM = 4, USES_MACRO = 8 /* the word _KMM */ };

/* ---- link.c: what kmm adds to a link ---- */
typedef struct link_kind {
    bool needs_kmm;    /* otherwise libkmm is linked only if something refers to it */
    bool managed_cuda; /* calls of the CUDA runtime go through libkmm */
    bool managed_hip;  /* the same for HIP */
    bool hosted;       /* CUDA or HIP source compiled for the CPU */
    bool needs_cxx;    /* the linking compiler would not add the C++ library */
} link_kind_t;
void link_flags(link_kind_t kind, list_t *command);

/* ---- help.c ---- */
void help_print(void);

#endif
