/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files that are installed with kmmcc. */
#ifndef KMMCC_BASE_INSTALL_H
#define KMMCC_BASE_INSTALL_H

/* Returns the path of `what` ("include/kmm/host", "lib" ...) in the folder in which kmmcc is
 * installed. The folder is found from the running program. */
const char *install_path(const char *what);

/* Returns kmmcc's version, such as "0.1.0". */
const char *install_version(void);

#endif
