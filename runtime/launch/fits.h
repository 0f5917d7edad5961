/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of what kmmcc has inferred of a launch. */
#ifndef KMM__LAUNCH_FITS_H
#define KMM__LAUNCH_FITS_H

#include "launch/builder.h"

/* True if all conditions hold for the launch with this grid. */
bool kmm__fits_hold(const kmm_launch_t *l, const kmm_geometry_t *geometry);

#endif
