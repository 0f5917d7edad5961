/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA toolkit's header of this name. cooperative_groups.h declares all that it has. */
#include "../cooperative_groups.h"
