/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's header of this name. hip_runtime.h declares all that it has. */
#include "hip_runtime.h"
