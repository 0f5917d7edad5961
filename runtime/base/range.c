/* SPDX-License-Identifier: Apache-2.0 */
/* The profiler that is told of ranges. */
#include "base/range.h"

#include <stddef.h>

const kmm__ranges_t *kmm__ranges = NULL;
