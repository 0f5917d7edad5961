/* SPDX-License-Identifier: Apache-2.0 */
/* Trace points for the accesses of tasks. */
#include "task/traced.h"

#include "base/alloc.h"
#include "base/trace.h"

void kmm__trace_task_accesses(const kmm__task_t *t)
{
    const kmm__work_t *w = t->work;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (kmm__object_of(a->array)->is_abstract)
            continue;
        kmm__traced_access_t *copy = kmm__alloc(sizeof(*copy));
        *copy = (kmm__traced_access_t){.array = a->array,
                                       .item = a->item < w->item_count ? w->item_text[a->item] : NULL,
                                       .mode = a->mode,
                                       .element = a->element,
                                       .layout = *a->layout,
                                       .box = a->box};
        kmm__trace_push(&(kmm__event_t){.kind = KMM__EVENT_ACCESS,
                                        .task = kmm__task_number(t),
                                        .text = (const char *)copy});
    }
}
