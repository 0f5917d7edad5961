/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's header of bfloat16: CUDA's types under HIP's names. */
#include "hip_runtime.h"
#include <cuda_bf16.h>
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
