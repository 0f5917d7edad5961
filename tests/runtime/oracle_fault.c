/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of the oracle with a fault. After it:
 *   - arrays that the failing work cannot have reached hold what they should;
 *   - of all other arrays in kmm's memory, what can be read is right, and what cannot be read is
 *     there again when it has been written anew;
 *   - an error has been told, which says more than that data is lost.
 * A script ends with the first error that a call returns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_program.h"

enum { PARTS = 40 };

bool oracle_strays(const op_t *op)
{
    int64_t lo[DIMS], hi[DIMS];
    for (uint32_t d = 0; d < op->dims; d++)
        if (op->stray[d] < op->lo[d] || op->stray[d] >= end_of(op, d))
            return false;
    return op->strays && section_box(op, op->source[0].section, op->stray, lo, hi);
}

/* Whether an operation may leave its target without what it should hold. */
static bool may_spoil(const script_t *s, const op_t *op)
{
    bool may = op->kind == COPY && s->slot[op->other].is_tainted;
    if (op->kind != LAUNCH && op->kind != REDUCE)
        return may;
    may |= op->strays || (s->fault == REFUSED && op->on_gpu);
    for (int k = 0; k < op->source_count; k++)
        may |= s->slot[op->source[k].slot].is_tainted;
    return may || (op->extra >= 0 && s->slot[op->extra].is_tainted);
}

void oracle_taint(script_t *s)
{
    for (int k = 0; k < SLOTS + SUMS; k++) {
        s->slot[k].is_tainted = s->fault == LOST;
        s->slot[k].is_uncertain = false;
    }
    for (int k = 0; k < s->op_count; k++)
        if (!s->op[k].dropped && may_spoil(s, &s->op[k]))
            s->slot[s->op[k].target].is_tainted = true;
}

bool oracle_fault_explains(script_t *s, int error)
{
    static const char *const names[] = {"", "stores", "a launch", "a device"};
    bool is_own = (s->fault == STRAYS && error == KMM_E_ACCESS) ||
                  (s->fault == REFUSED && error == KMM_E_DEVICE) ||
                  (s->fault == LOST &&
                   (error == KMM_E_DEVICE || error == KMM_E_KERNEL || error == KMM_E_NO_DEVICE));
    if (!error || !s->fault || !(is_own || error == KMM_E_POISONED))
        return false;
    s->has_lost |= error == KMM_E_POISONED;
    if (!is_own)
        return true;
    fprintf(stderr, "told of %s: %s\n", names[s->fault], kmm_error_text(s->rt));
    if (s->fault != LOST && !strstr(kmm_error_text(s->rt), "program:"))
        oracle_complain(s, "the error does not say which launch");
    s->told = s->told ? s->told : error;
    return true;
}

/* In parts, since some of it may be lost. */
static void check_parts(script_t *s, int slot)
{
    slot_t *t = &s->slot[slot];
    int64_t size = (int64_t)type_bytes(t->type), part = t->n / PARTS + 1;
    char *got = malloc((size_t)(part * size));
    for (int64_t begin = 0; begin < t->n && !s->error; begin += part) {
        int64_t count = begin + part < t->n ? part : t->n - begin;
        int error =
            kmm_copy_out(s->rt, got, (char *)t->base + begin * size, (size_t)(count * size));
        if (error == 0)
            oracle_compare(s, OPS, slot, got, begin, count);
        else if (!oracle_fault_explains(s, error))
            s->error = error;
    }
    free(got);
}

/* What is written anew is right, whatever has been lost. */
static void heal(script_t *s, int slot)
{
    slot_t *t = &s->slot[slot];
    size_t bytes = (size_t)t->n * type_bytes(t->type);
    memset(t->model, 1, bytes);
    s->error = kmm_fill(s->rt, t->base, 1, bytes);
    char *got = malloc(bytes);
    if (!s->error)
        s->error = kmm_copy_out(s->rt, got, t->base, bytes);
    if (!s->error)
        oracle_compare(s, OPS, slot, got, 0, t->n);
    free(got);
}

void oracle_fault_check(script_t *s)
{
    int error = kmm_wait(s->rt);
    if (!oracle_fault_explains(s, error))
        s->error = s->error ? s->error : error;
    for (int k = 0; k < s->slot_count && !s->error && !s->wrong; k++) {
        slot_t *t = &s->slot[k];
        if (t->kind != MANAGED && !t->is_tainted && !t->is_uncertain)
            s->error = oracle_settle(s, OPS, k);
        if (t->kind != MANAGED || t->is_uncertain)
            continue;
        if (t->is_tainted) {
            check_parts(s, k);
        } else {
            size_t bytes = (size_t)t->n * type_bytes(t->type);
            char *got = malloc(bytes);
            s->error = kmm_copy_out(s->rt, got, t->base, bytes);
            if (!s->error)
                oracle_compare(s, OPS, k, got, 0, t->n);
            free(got);
        }
    }
    for (int k = 0; k < s->slot_count && !s->error && !s->wrong; k++)
        if (s->slot[k].kind == MANAGED && s->slot[k].is_tainted && s->fault != LOST)
            heal(s, k);
}
