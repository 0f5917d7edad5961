/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setjmp in rewritten source that has blocks of `data`. libkmm notes when each buffer was filled.
 * When a jump arrives there, it ends the maps of the blocks that were entered since.
 */
#ifndef KMM_JUMP_H
#define KMM_JUMP_H

#include <setjmp.h>

#include "launch.h"

#if defined(__GLIBC__) && !defined(KMM_HOST_PARSE)
#define KMM_JUMP_TO(buffer, set)                                                                   \
    __extension__({                                                                                \
        __typeof__(&(buffer)[0]) const kmm__buffer = (buffer);                                     \
        kmm_jump_mark(kmm__buffer);                                                                \
        kmm_jump_arrived(set, kmm__buffer);                                                        \
    })
#undef setjmp
#define setjmp(buffer) KMM_JUMP_TO(buffer, _setjmp(kmm__buffer))
#undef sigsetjmp
#define sigsetjmp(buffer, save) KMM_JUMP_TO(buffer, __sigsetjmp(kmm__buffer, save))
#endif
#endif
