/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that kmmcc writes into transformed source and that the headers beside this one read; both
 * include it, as C and as C++. */
#ifndef KMM_HOST_FLAGS_H
#define KMM_HOST_FLAGS_H

/* How a kernel, or a loop over the threads of a block, must be run. */
enum {
    KMM_HOST_PLAIN = 0,
    KMM_HOST_SYNC = 1,    /* a kernel with barriers or warp operations: its threads are fibers */
    KMM_HOST_HELPERS = 2, /* it calls functions that read the index variables */
    KMM_HOST_GLOBALS = 4, /* it uses variables outside of it, which libkmm does not see: its
                             launches run one after another */
    KMM_HOST_BLOCK = 8,   /* it is one function for all threads of a block, split at its barriers */
    KMM_HOST_APART = 16,  /* a loop over threads: none of them uses what another one changes */
    KMM_HOST_STATES = 32, /* a KMM_HOST_BLOCK in which threads may diverge and so have states */
    KMM_HOST_WIDE = 64,   /* adjacent blocks may run as one wide block */
    KMM_HOST_SIZED = 128, /* a KMM_HOST_BLOCK that has a second function for blocks of one size */
    KMM_HOST_SHORT = 256, /* a loop over threads, each of which does as little as one addition */
    KMM_HOST_POINTERS = 512, /* a kernel that may find pointers in memory: libkmm does not see what
                                it reads and writes there */
    KMM_HOST_GENERIC = 1024, /* it may, if its template's arguments are pointers or classes */
    KMM_HOST_CROSSED = 2048  /* a KMM_HOST_APART: a thread reads, in steps, after it has stored to
                                what may be the same memory */
};

/* States of threads: 0 runs, other numbers wait at the end of a statement. */
enum {
    KMM_HOST_GONE = 255,     /* it has returned from the kernel */
    KMM_HOST_RETURNED = 254, /* from the function of the device that runs */
    KMM_HOST_OUTSIDE = 253   /* it did not call that function */
};

#endif
