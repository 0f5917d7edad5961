/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA toolkit's header of this name. */
#include "../nvToolsExt.h"
