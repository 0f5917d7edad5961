/* SPDX-License-Identifier: Apache-2.0 */
/* An object in each program that kmmcc links. Its constructor runs behind those of the program's
 * own objects, which register kernels, because kmmcc names its archive behind them. */
#include <kmm.h>

extern const char kmm__start;
const char kmm__start = 1; /* kmmcc makes the linker look for it */

__attribute__((constructor)) static void start(void)
{
    kmm_nodes_start(&kmm__start);
}
