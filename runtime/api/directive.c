/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that rewritten source makes for stand-alone directives and data regions. */
#include <stdio.h>

#include "api/block.h"
#include "api/runtime.h"
#include "base/error.h"
#include "execute/exact_host.h"
#include "execute/raise.h"

/* What objects of kmmcc refer to (kmm/linked.h). */
extern const char kmm_program_must_be_linked_by_kmmcc;
KMM__API const char kmm_program_must_be_linked_by_kmmcc = 0;

/* Reports an error, if there is one. Its text begins with the directive and the item. */
static void check_item(int error, const char *directive, const char *text, const char *file,
                       int line)
{
    if (error) {
        char why[400];
        snprintf(why, sizeof(why), "%s", kmm__error_get());
        kmm__error_set(error, "%s %s: %s", directive, text, why);
    }
    kmm_directive_check(error, file, line);
}

KMM__API void kmm_data_enter(kmm_map_t map, const char *text, void *base, size_t bytes,
                             const char *file, int line)
{
    kmm__blocks_check(__builtin_frame_address(0));
    check_item(bytes ? kmm_map(kmm__current(), map, base, bytes) : 0, "data map of", text, file,
               line);
    kmm__exact_host_enter(base, bytes, map);
}

KMM__API void kmm_data_exit(void *base, size_t bytes, const char *file, int line)
{
    if (bytes == 0)
        return;
    int touched = kmm__exact_host_leave(base);
    if (touched)
        kmm_directive_check(touched, file, line);
    kmm_directive_check(kmm_unmap(kmm__current(), base), file, line);
}

KMM__API void kmm_data_open(kmm_map_t map, const char *text, void *base, size_t bytes,
                            const char *file, int line)
{
    const void *frame = __builtin_frame_address(0);
    kmm_runtime_t *rt = kmm__current();
    kmm__blocks_check(frame);
    int error = bytes ? kmm_map(rt, map, base, bytes) : 0;
    if (bytes && !error) {
        kmm__block_enter(rt, base, frame, file, line);
        kmm__exact_host_enter(base, bytes, map);
    }
    check_item(error, "data map of", text, file, line);
}

KMM__API void kmm_data_close(void *base, size_t bytes, const char *file, int line)
{
    kmm__blocks_check(__builtin_frame_address(0));
    if (bytes && kmm__block_leave(base))
        kmm_data_exit(base, bytes, file, line);
}

KMM__API void kmm_data_update(kmm_direction_t direction, const char *text, const void *base,
                              size_t bytes, const char *file, int line)
{
    kmm_runtime_t *rt = kmm__current();
    kmm__blocks_check(__builtin_frame_address(0));
    if (bytes == 0)
        return;
    if (direction == KMM_TO) {
        check_item(kmm__exact_host_before_to(base, bytes), "update to", text, file, line);
        check_item(kmm_update_to(rt, base, bytes), "update to", text, file, line);
    } else {
        check_item(kmm_update_from(rt, base, bytes), "update from", text, file, line);
    }
    kmm__exact_host_update(base, bytes, direction == KMM_TO);
}

KMM__API void kmm_directive_wait_on(const void *base, const char *file, int line)
{
    kmm__blocks_check(__builtin_frame_address(0));
    kmm_directive_check(kmm_wait_array(kmm__current(), base), file, line);
}

KMM__API void kmm_directive_wait(const char *file, int line)
{
    kmm__blocks_check(__builtin_frame_address(0));
    kmm_directive_check(kmm_wait(kmm__current()), file, line);
    kmm__raise_settle();
}
