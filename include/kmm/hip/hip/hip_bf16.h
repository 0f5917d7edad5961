/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_runtime.h"
#include <cuda_bf16.h>
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
