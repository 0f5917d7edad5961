/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hoists the collective operations of include/kmm/host/kmm_block.h: votes, shuffles and other
 * exchanges between the threads of a block or warp.
 */
#include "cpu/loops/hoist_builtin.h"

#include <string.h>

#include "base/arena.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/phase.h"
#include "cpu/program/collectives.h"
#include "cpu/tree/call.h"
#include "cpu/tree/uniformity.h"

enum { MAX_ARGUMENTS = 8 };

static bool fail_arguments(emitter_t *e, const node_t *call)
{
    return emitter_fail(e, call, "an operation has other arguments than it should");
}

static const char *argument_list(const emitter_t *e, node_t **argument, int count)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (int k = 0; k < count; k++)
        text_printf(&out, ", %s", edits_copy_node(e, argument[k]));
    return out.data;
}

/* Hoists a call through an object of the type. The threads store their operands in the object. The
 * call becomes a call of the object's function of the operation's name, with the argument
 * `result`. */
static bool exchange(emitter_t *e, node_t *call, const char *type, const char *result)
{
    node_t *argument[MAX_ARGUMENTS];
    const int count = call_arguments(call, argument, MAX_ARGUMENTS), number = e->collective_count++;
    const char *name = call->collective_name + strspn(call->collective_name, "_");
    phase_open(e);
    for (int k = 0; k < count; k++) {
        phase_note_uses(e, argument[k]);
        emitter_name_in_block(argument[k]);
    }
    text_printf(&e->out, "%s kmm__c%d;\n", type, number);
    phase_add(e, call,
              arena_printf("kmm__c%d.kmm_put(kmm__t%s);", number,
                           count ? argument_list(e, argument, count) : ", 0u, 0"));
    phase_close(e);
    text_printf(&e->out, "kmm__c%d.kmm_join(kmm__b);\n", number);
    edits_add(e, call->begin, call->end, arena_printf("kmm__c%d.%s(%s)", number, name, result));
    return true;
}

static bool hoist_block_vote(emitter_t *e, node_t *call)
{
    return call_arguments(call, NULL, 0) > MAX_ARGUMENTS
               ? fail_arguments(e, call)
               : exchange(e, call, "kmm_host_predicates", "");
}

/* Hoists an operation that takes a value from each thread, behind the mask. */
static bool hoist_exchange(emitter_t *e, node_t *call)
{
    node_t *argument[MAX_ARGUMENTS];
    const int count = call_arguments(call, argument, MAX_ARGUMENTS);
    if (count < 2 || count > MAX_ARGUMENTS)
        return fail_arguments(e, call);
    return exchange(e, call,
                    arena_printf("kmm_host_exchange<kmm_host_decay<decltype(%s)>>",
                                 edits_copy_node(e, argument[1])),
                    "kmm__t");
}

/* Hoists a vote of a warp. Each thread applies its mask when it takes its result. */
static bool hoist_ballot(emitter_t *e, node_t *call)
{
    node_t *argument[2];
    int count = call_arguments(call, argument, 2), number = e->collective_count++;
    const char *name = call->collective_name;
    bool has_predicate = strcmp(name, "__activemask") != 0;
    if (count != (has_predicate ? 2 : 0))
        return fail_arguments(e, call);
    phase_open(e);
    phase_note_uses(e, call);
    text_printf(&e->out, "kmm_host_ballots kmm__c%d;\n", number);
    phase_add(e, call,
              has_predicate ? arena_printf("kmm__c%d.kmm_put(kmm__t, (%s) != 0);", number,
                                           edits_copy_node(e, argument[1]))
                            : arena_printf("kmm__c%d.kmm_put(kmm__t, 1);", number));
    phase_close(e);
    text_printf(&e->out, "kmm__c%d.kmm_join(kmm__b);\n", number);
    edits_add(e, call->begin, call->end,
              has_predicate ? arena_printf("kmm__c%d.%s(kmm__t, %s)", number, name + 2,
                                           edits_copy_node(e, argument[0]))
                            : arena_printf("kmm__c%d.%s(kmm__t)", number, name + 2));
    return true;
}

/* True for a shuffle whose arguments are uniform, but for the value. */
static bool is_uniform_shuffle(const emitter_t *e, const node_t *call)
{
    node_t *argument[4];
    int count = call_arguments(call, argument, 4);
    if (count < 3 || count > 4)
        return false;
    for (int k = 0; k < count; k++)
        if (k != 1 && uniformity_of(&e->b, argument[k]) != UNIFORM)
            return false;
    return true;
}

static bool hoist_uniform_shuffle(emitter_t *e, node_t *call)
{
    node_t *argument[4];
    int count = call_arguments(call, argument, 4), number = e->collective_count++;
    phase_open(e);
    phase_note_uses(e, argument[1]);
    emitter_name_in_block(call);
    text_printf(&e->out, "kmm_host_shuffles<kmm_host_decay<decltype(%s)>> kmm__c%d;\n",
                edits_copy_node(e, argument[1]), number);
    phase_add(
        e, call,
        arena_printf("kmm__c%d.kmm_put(kmm__t, %s);", number, edits_copy_node(e, argument[1])));
    phase_close(e);
    text_printf(&e->out, "kmm__c%d.%s(kmm__b%s);\n", number, call->collective_name + 2,
                argument_list(e, argument + 2, count - 2));
    edits_add(e, call->begin, call->end, arena_printf("kmm__c%d.kmm_get(kmm__t)", number));
    return true;
}

/* `__match_all_sync(mask, value, &same)`: the last operand takes a part of the result. */
static bool hoist_match_all(emitter_t *e, node_t *call)
{
    node_t *argument[3];
    int number = e->collective_count++;
    if (call_arguments(call, argument, 3) != 3)
        return fail_arguments(e, call);
    phase_open(e);
    phase_note_uses(e, call);
    emitter_name_in_block(argument[1]);
    text_printf(&e->out, "kmm_host_exchange<kmm_host_decay<decltype(%s)>> kmm__c%d;\n",
                edits_copy_node(e, argument[1]), number);
    phase_add(e, call,
              arena_printf("kmm__c%d.kmm_put(kmm__t%s);", number, argument_list(e, argument, 2)));
    phase_close(e);
    text_printf(&e->out, "kmm__c%d.kmm_join(kmm__b);\n", number);
    edits_add(e, call->begin, call->end,
              arena_printf("kmm__c%d.match_all_sync(kmm__t, %s)", number,
                           edits_copy_node(e, argument[2])));
    return true;
}

bool hoist_builtin(emitter_t *e, node_t *call)
{
    switch (collectives_builtin(call->collective_name)) {
    case BUILTIN_BLOCK_VOTE: return hoist_block_vote(e, call);
    case BUILTIN_WARP_VOTE: return hoist_ballot(e, call);
    case BUILTIN_SHUFFLE:
        return is_uniform_shuffle(e, call) ? hoist_uniform_shuffle(e, call)
                                           : hoist_exchange(e, call);
    case BUILTIN_EXCHANGE: return hoist_exchange(e, call);
    case BUILTIN_MATCH_ALL: return hoist_match_all(e, call);
    case BUILTIN_NONE:
    case BUILTIN_BARRIER:
    case BUILTIN_WARP_BARRIER:
    case BUILTIN_FOR_FIBERS: break;
    }
    return emitter_fail(
        e, call, arena_printf("it calls '%s', which meets at a barrier", call->collective_name));
}
