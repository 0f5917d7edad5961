/* SPDX-License-Identifier: Apache-2.0 */
/* The attribute of libkmm's public functions. */
#ifndef KMM__API_H
#define KMM__API_H

/* Marks the definition of a public function: the library hides everything else. */
#define KMM__API __attribute__((visibility("default")))

#endif
