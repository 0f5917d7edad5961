/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the numbers with which a launch is compared by example. */
#include "analyze/compare_sample.h"

#include "analyze/compare_call.h"
#include "analyze/geometry.h"
#include "analyze/sample.h"
#include "ir/replay.h"

/* Gives numbers to the launch's variables. False: the launch is one chunk with these, or its grid
 * is not known. */
static bool make_sample(comparison_t *c, int trial, bool follows, int64_t block_x, int64_t factor)
{
    bool uses[3];
    int64_t size = (12 * block_x + 5) * factor;
    for (int k = 0; k < 3; k++) {
        uses[k] = replay_uses(c->replay, IR_BLOCK_INDEX * 3 + k) ||
                  replay_uses(c->replay, IR_THREAD_INDEX * 3 + k);
        for (int i = 0; i < c->d->axis_count; i++)
            uses[k] |= c->d->axis[i].source % 3 == (kmm_source_t)k;
    }
    if (uses[1] || uses[2])
        size = 101 * factor;
    c->sample = (sample_t){.u = c->u,
                           .d = c->d,
                           .trial = trial,
                           .size = size,
                           .multiple = uses[1] || uses[2] ? 32 : block_x,
                           .follows = follows,
                           .fixed = c->fixed};
    if (!c->d->is_kernel)
        call_size(c);
    if (!geometry_of(&c->sample, uses, block_x, &c->geometry))
        return false;
    const geometry_t *g = &c->geometry;
    return g->count[0] * g->count[1] * g->count[2] > 1;
}

/* The same, with numbers for which the ranges of the axes have several chunks, if there are some:
 * one chunk cannot miss elements of its neighbours. */
bool compare_choose_sample(comparison_t *c, int trial, bool follows, int64_t block_x)
{
    enum { SIZED = 3, MOST_FACTOR = 64 }; /* later trials give small numbers to one atom each */
    for (int64_t factor = 1; c->d->is_kernel && trial < SIZED && factor <= MOST_FACTOR; factor *= 8)
        if (make_sample(c, trial, follows, block_x, factor) &&
            geometry_is_shared(&c->sample, &c->geometry))
            return true;
    return make_sample(c, trial, follows, block_x, 1);
}
