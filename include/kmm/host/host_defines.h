/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA toolkit's header of this name. cuda_runtime.h declares all that it has on the CPU. */
#include "cuda_runtime.h"
