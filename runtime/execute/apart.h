/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks that work apart: KMM_CHECK=result compares what they leave. Each works on copies of its
 * arrays, as under KMM_CHECK=access, so that it finds only what its clauses name, and what it
 * stores elsewhere is lost. Nothing is reported. Only the blocks of a copy that clauses name, and
 * those beside them, are filled, so that many chunks of a large array cost little; an access to
 * another one faults, as on a device that has not got it.
 */
#ifndef KMM__EXECUTE_APART_H
#define KMM__EXECUTE_APART_H

#include "execute/shadow.h"

/* Finds the blocks of each copy that are filled. Makes the others inaccessible, unless they make up
 * many parts. */
void kmm__apart_open(kmm__check_t *c);

#endif
