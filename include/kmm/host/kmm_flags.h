/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that kmmcc writes into transformed source and that the headers beside this one read; both
 * include it, as C and as C++. */
#ifndef KMM_HOST_FLAGS_H
#define KMM_HOST_FLAGS_H

/* Properties of a kernel, or of a loop over the threads of a block, that decide how it is run. */
enum {
    KMM_HOST_PLAIN = 0,
    KMM_HOST_SYNC = 1,    /* a kernel with barriers or warp operations; its threads run as fibers */
    KMM_HOST_HELPERS = 2, /* a kernel that calls functions which read the index variables */
    /* a kernel that uses global variables, which libkmm does not see; its launches run one after
     * another */
    KMM_HOST_GLOBALS = 4,
    /* a kernel split at its barriers into one function for all threads of a block */
    KMM_HOST_BLOCK = 8,
    KMM_HOST_APART = 16,  /* a loop over threads in which no thread uses what another one changes */
    KMM_HOST_STATES = 32, /* a KMM_HOST_BLOCK in which threads may diverge, so each has a state */
    KMM_HOST_WIDE = 64,   /* a kernel whose adjacent blocks may run as one wide block */
    /* a KMM_HOST_BLOCK that also has a function for blocks of one fixed size */
    KMM_HOST_SIZED = 128,
    KMM_HOST_SHORT = 256, /* a loop over threads whose body is as small as one addition */
    /* a kernel that may find pointers in memory; libkmm does not see what it reads and writes
     * there */
    KMM_HOST_POINTERS = 512,
    /* KMM_HOST_POINTERS if the template's arguments are pointers or classes */
    KMM_HOST_GENERIC = 1024,
    /* a KMM_HOST_APART in which a thread loads with a stride after a store that may be to the
     * same memory */
    KMM_HOST_CROSSED = 2048
};

/* States of threads. 0 means active. A number from 1 on is that of the statement at whose end the
 * thread waits. */
enum {
    KMM_HOST_GONE = 255,     /* the thread has returned from the kernel */
    KMM_HOST_RETURNED = 254, /* the thread has returned from the device function that runs */
    KMM_HOST_OUTSIDE = 253   /* the thread did not call the device function that runs */
};

#endif
