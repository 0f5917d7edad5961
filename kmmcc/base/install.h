/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files that are installed with kmmcc. */
#ifndef KMMCC_BASE_INSTALL_H
#define KMMCC_BASE_INSTALL_H

/* The path of `what` ("include/kmm/host", "lib" ...) below the folder in which kmmcc is installed,
 * which is found from the running program. */
const char *install_path(const char *what);

#endif
