/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what object files and archives contain. */
#ifndef KMMCC_DRIVER_OBJECT_H
#define KMMCC_DRIVER_OBJECT_H

enum {
    OBJECT_MANAGED = 1, /* compiled with a kmm pragma: calls what only rewritten source does */
    OBJECT_CUDA = 2,    /* device code of nvcc, or calls of the CUDA runtime */
    OBJECT_HIP = 4,
    OBJECT_CXX = 8,
    OBJECT_HOSTED = 16, /* CUDA source compiled for the CPU */
    OBJECT_KMM = 32     /* refers to libkmm */
};
unsigned object_scan(const char *path); /* 0 for what is no ELF object and no archive of them */

#endif
