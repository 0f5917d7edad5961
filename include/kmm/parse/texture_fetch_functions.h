/* SPDX-License-Identifier: Apache-2.0 */
/* Found by kmmcc's parser before CUDA's header of this name, whose templates take a tenth of a
 * parse: it is read only when a file turns out to need it. Not every CUDA has it. */
#if defined(KMM_PARSE_TEXTURES) && __has_include_next(<texture_fetch_functions.h>)
#include_next <texture_fetch_functions.h>
#endif
