// The kernels of checked.hip as clones that are checked (tests/hip/checked.h).
#include <kmm/launch.h>

typedef const kmm_checked_blocks_t *blocks;
struct point;
extern "C" void _Z8kmm_blur18kmm_checked_blocksPfPKfii(blocks, float *, const float *, int, int);
extern "C" void _Z8kmm_copy18kmm_checked_blocksP5pointPKS0_Piii(blocks, point *, const point *, int *, int, int);

#include "checked.h"

static const fake::kernel kernels[] = {FAKE_CHECKED(_Z8kmm_blur18kmm_checked_blocksPfPKfii),
                                       FAKE_CHECKED(_Z8kmm_copy18kmm_checked_blocksP5pointPKS0_Piii)};
FAKE_KERNELS(kernels)
