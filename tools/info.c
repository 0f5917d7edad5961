/* SPDX-License-Identifier: Apache-2.0 */
/* kmm-info: the devices that libkmm uses here, as KMM_DEVICES says, and what is special about them.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <kmm.h>

static const char *name_of(kmm_kind_t kind)
{
    return kind == KMM_KIND_CUDA ? "cuda" : kind == KMM_KIND_HIP ? "hip" : "host";
}

static void print_device(const kmm_device_info_t *d, int node)
{
    printf("%s:%d  %s", name_of(d->kind), d->ordinal, d->name);
    if (d->memory_bytes)
        printf(", %" PRIu64 " MiB at most", d->memory_bytes >> 20);
    else
        printf(", uses the host's memory");
    if (d->kind != KMM_KIND_HOST)
        printf(d->whole_arrays ? "; cannot map memory in parts: windows are whole allocations, so "
                                 "an array is there whole or not at all"
                               : "; maps memory in parts");
    if (node >= 0)
        printf("; near node %d of the host's memory", node);
    printf("\n");
}

int main(int argc, char **argv)
{
    kmm_device_info_t d;
    bool asks = argc == 2 && strcmp(argv[1], "--help") == 0;
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("kmm-info %s\n", kmm_version_string());
        return 0;
    }
    if (argc > 1) {
        fprintf(asks ? stdout : stderr,
                "Usage: kmm-info\n\nPrints the devices that libkmm uses, one in a line, and what "
                "is special about them. The\nenvironment variable KMM_DEVICES chooses them.\n\n"
                "Options:\n  --help     this text\n  --version  the version of libkmm\n");
        return asks ? 0 : 2;
    }
    kmm_runtime_t *rt = kmm_default();
    if (!rt) {
        fprintf(stderr, "kmm-info: %s\n", kmm_error_text(NULL));
        return 1;
    }
    for (int k = 0; k < kmm_device_count(rt); k++)
        if (kmm_device_get(rt, k, &d) == 0)
            print_device(&d, kmm_device_node(rt, k));
    return 0;
}
