/* SPDX-License-Identifier: Apache-2.0 */
/* The values of C++ objects of the standard library, as text. */
#ifndef KMM__LAUNCH_THROWN_TEXT_H
#define KMM__LAUNCH_THROWN_TEXT_H

/* The value of an object in the layout of libstdc++: strings, and vectors, arrays, pairs and tuples
 * of numbers, texts and such objects. `type`: its name as c++filt writes it. The caller frees the
 * text. NULL: objects of the type are not known. */
char *kmm__thrown_text(const char *type, const void *object);

#endif
