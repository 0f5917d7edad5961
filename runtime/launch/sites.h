/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many devices a launch pays for. For each place in the source with an annotated launch, a
 * site, libkmm learns how long the kernel takes on one GPU and how many bytes move when the launch
 * is divided. In native standing (memory/residency/native.h) these say whether managed standing,
 * which can divide launches, would be faster. In managed standing they say how many devices a
 * launch of the site uses.
 *
 * Times are of sampled launches: the 2nd, the 4th and so on, of which the wrappers record events.
 * The first launch may load the kernel. Of the latest two samples the shorter one counts.
 */
#ifndef KMM__LAUNCH_SITES_H
#define KMM__LAUNCH_SITES_H

#include "launch/submission.h"

/* What is known of a launch. */
typedef struct kmm__figures {
    uint64_t kernel_ns; /* time of the kernel on one device; 0: not known yet */
    uint64_t blocks;
    uint64_t each;  /* bytes that each device beyond the first needs from others in each launch */
    uint32_t parts; /* number of chunks: at most so many devices */
} kmm__figures_t;

/* ---- Pure functions ---- */
/* Nanoseconds that a launch of managed standing takes on that many devices. */
uint64_t kmm__figures_time(const kmm__figures_t *f, uint32_t devices);
/* The number of devices, at most `most`, on which it takes least. */
uint32_t kmm__figures_devices(const kmm__figures_t *f, uint32_t most);
/* Nanoseconds that a launch would gain by managed standing; negative: it would lose. */
int64_t kmm__figures_gain(const kmm__figures_t *f, uint32_t most);

/* ---- Locked ---- */
/* For a checked launch in native standing: true if the standing should end. That is so when the
 * time which managed standing would have saved, over all sites, exceeds a multiple of what the
 * takeover costs. The sum begins anew whenever it falls to 0. */
bool kmm__site_pays(const kmm__submission_t *s, const kmm_kernel_t *kernel);
/* Leaves the devices, of several, that a launch in managed standing pays for. A site that is not
 * known has all; so has a launch whose data is on all. */
void kmm__site_place(kmm__submission_t *s);

/* ---- Not locked ---- */
/* The calling thread makes the launch that it submitted last. Returns a number for
 * kmm__site_measured if it is to be timed; else 0. */
int kmm__site_sample(kmm_runtime_t *rt);
/* The launch with this number took so long. 0 ns: it could not be timed. */
void kmm__site_measured(kmm_runtime_t *rt, int sample, uint64_t ns);

#endif
