/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_runtime.h"
#include <cooperative_groups.h>
