/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the libraries and options that kmm adds to a link. */
#ifndef KMMCC_DRIVER_LINK_H
#define KMMCC_DRIVER_LINK_H

#include <stdbool.h>

#include "base/list.h"

typedef struct link_kind {
    bool needs_kmm;    /* otherwise libkmm is linked only if something refers to it */
    bool managed_cuda; /* calls of the CUDA runtime go through libkmm */
    bool managed_hip;  /* the same for HIP */
    bool hosted;       /* CUDA or HIP source compiled for the CPU */
    bool checks;       /* -fkmm-check: the calls that its code makes */
    bool is_program;   /* no shared library */
    bool needs_cxx;    /* the linking compiler would not add the C++ library */
} link_kind_t;
void link_flags(link_kind_t kind, list_t *command);

#endif
