/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's header of half, which is CUDA's. */
#include "hip_runtime.h"
#include <cuda_fp16.h>
