/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the text of --help. */
#ifndef KMMCC_DRIVER_HELP_H
#define KMMCC_DRIVER_HELP_H

void help_print(void);

#endif
