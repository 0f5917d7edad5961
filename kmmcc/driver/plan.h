/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: the files of a command line and the steps for each. */
#ifndef KMMCC_DRIVER_PLAN_H
#define KMMCC_DRIVER_PLAN_H

#include <stdbool.h>

#include "base/options.h"
#include "base/source.h"
#include "base/toolchain.h"
#include "driver/transform.h"
#include "pragma/includes.h"

/* One source file of the command line. */
typedef struct job {
    int index; /* of its argument */
    const char *path;
    lang_t lang;
    target_t target;
    const source_t *source; /* NULL for a file that kmmcc never transforms */
    includes_t *includes;
    bool has_pragma;   /* itself, or a header of the program that it includes */
    bool is_automatic; /* -fkmm-auto has given launches pragmas */
    bool transforms;   /* is compiled from rewritten text */
    unsigned uses;     /* USES_... */
    compiler_t compiler;
    const char *result;      /* transformed text */
    const header_t *headers; /* that it includes */
    const char *folder;      /* of its temporary files */
    const char *object;      /* NULL if only compiled */
} job_t;

typedef struct plan {
    const options_t *o;
    job_t *jobs;
    int job_count;
    unsigned objects; /* OBJECT_... of the linked objects */
    compiler_t linker;
} plan_t;

/* True if some file is compiled by a compiler of the family. */
bool plan_has_family(const plan_t *p, family_t family);
/* True if the program has C++ code. */
bool plan_has_cxx(const plan_t *p);
/* True if the program has CUDA or HIP source that is compiled for the CPU. */
bool plan_is_hosted(const plan_t *p);
/* Returns OBJECT_... of all objects and archives of the command line. */
unsigned plan_scan_objects(const options_t *o);
/* Reads the sources; errors are reported. */
plan_t *plan_make(const options_t *o);
/* True if a source has a pragma, or an object was compiled from one with a pragma. */
bool plan_has_pragma(const plan_t *p);
bool plan_has_transformed(const plan_t *p);

#endif
