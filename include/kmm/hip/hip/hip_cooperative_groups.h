/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's header of cooperative groups, which are CUDA's. */
#include "hip_runtime.h"
#include <cooperative_groups.h>
