/* SPDX-License-Identifier: Apache-2.0 */
/* Which versions of kmm.h this libkmm serves. */
#ifndef KMM__API_VERSION_H
#define KMM__API_VERSION_H

/* Returns KMM_E_UNSUPPORTED, with its text, if a program that was compiled with this version of
 * kmm.h cannot use this libkmm. */
int kmm__version_check(int version);

#endif
