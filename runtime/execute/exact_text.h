/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of accesses that a chunk's clauses do not name. A report is printed on standard error and
 * becomes the error of the task. Each is made once for each launch and argument. Not locked. */
#ifndef KMM__EXECUTE_EXACT_TEXT_H
#define KMM__EXECUTE_EXACT_TEXT_H

#include "execute/shadow.h"

void kmm__exact_say_wrong(kmm__check_t *c, const kmm__shadow_t *s, kmm__wrong_t wrong);
void kmm__exact_say_unstored(kmm__check_t *c, const kmm__shadow_t *s, uint32_t item,
                             const kmm__violation_t *v);
/* Reports that the chunk reads (or stores to) a byte of the array which another chunk stores (or
 * reads): the chunk `other`; -1: there are several. */
void kmm__exact_say_order(kmm__check_t *c, const kmm__shadow_t *s, int64_t at, bool reads,
                          int64_t other);
/* Reports an access to an array by an address that is not an argument of the launch. */
void kmm__exact_say_elsewhere(kmm__check_t *c);

#endif
