// SPDX-License-Identifier: Apache-2.0
// Atomic operations of kernels: how they combine, and what becomes of the target's values.
#include "ir/folding.hpp"

namespace kmm_ir
{

// True if v is a value that the target had: loaded, returned by an atomic operation, or a first
// guess of such a value.
bool Folding::is_old_value(const Value *v, std::set<const Value *> &seen)
{
    auto *i = dyn_cast<Instruction>(v);
    if (!i || !seen.insert(v).second)
        return isa<Constant>(v) || i;
    if (is_result(i))
        return true;
    const bool hands_on = isa<PHINode>(i) || isa<CastInst>(i) || isa<ExtractValueInst>(i) ||
                          isa<SelectInst>(i) || isa<FreezeInst>(i);
    for (unsigned k = isa<SelectInst>(i); hands_on && k < i->getNumOperands(); k++)
        if (!is_old_value(i->getOperand(k), seen))
            return false;
    return hands_on;
}

// True for the test of a loop with compare-and-swap, whether this has stored, for flags that keep
// its result, and for what the target has no part in.
bool Folding::is_retry(const Value *v, std::set<const Value *> &seen)
{
    auto *i = dyn_cast<Instruction>(v);
    std::set<const Value *> met;
    if (!is_about_target(v, met) || !seen.insert(v).second)
        return true;
    auto *extract = dyn_cast<ExtractValueInst>(i);
    if (extract)
        return extract->getIndices()[0] == 1 && isa<AtomicCmpXchgInst>(extract->getOperand(0));
    auto *test = dyn_cast<CmpInst>(i);
    std::set<const Value *> x, y;
    if (test && !isa<Constant>(test->getOperand(1)))
        return test->isEquality() && is_old_value(test->getOperand(0), x) &&
               is_old_value(test->getOperand(1), y);
    if (!test && !isa<PHINode>(i) && !isa<CastInst>(i) && !isa<BinaryOperator>(i) &&
        !isa<SelectInst>(i) && !isa<FreezeInst>(i))
        return false;
    return all_of(i->operands(), [&](const Use &u) { return is_retry(u, seen); });
}

// True if the target's values decide otherwise than by whether the compare-and-swap has stored.
bool Folding::is_decided_otherwise(const std::vector<Condition> &when)
{
    for (const Condition &c : when) {
        std::set<const Value *> seen, met;
        if (is_about_target(c.value, seen) && !is_retry(c.value, met))
            return true;
    }
    return false;
}

// A compare-and-swap of one number combines only truth values: a chunk's copy begins as 0 of ||,
// and as 1 of &&.
ir_fold_kind_t Folding::swap_of_constant(const Constant *expected, const Value *next)
{
    auto *from = dyn_cast<ConstantInt>(expected), *to = dyn_cast<ConstantInt>(next);
    const bool is_or = op_ == IR_COMBINE_OR, is_and = op_ == IR_COMBINE_AND;
    if (!from || (!is_or && !is_and))
        return IR_FOLD_OTHER;
    out_.is_truth = (is_or && from->isZero()) || (to && !from->isZero() && !to->isZero()) ||
                    (is_and && from->isOne() && to && to->isZero());
    return out_.is_truth ? IR_FOLD_RIGHT : IR_FOLD_UNKNOWN;
}

ir_fold_t Folding::run_swap(const Value *pointer, const Value *expected, const Value *next,
                            bool *combines)
{
    const Value *by = nullptr;
    Arm chosen = {next, false, {}};
    bool wrong = false;
    std::set<const Value *> seen;
    place_ = pointer;
    target_ = a_.origin(pointer);
    in_kernel_ = true;
    *combines = false;
    out_.kind = IR_FOLD_RIGHT;
    if (expected == next) // it only loads
        return out_;
    if (auto *constant = dyn_cast<Constant>(expected)) {
        out_.kind = swap_of_constant(constant, next);
        return out_;
    }
    out_.kind = IR_FOLD_UNKNOWN;
    if (target_.first < 0)
        return out_;
    const bool is_old = is_old_value(expected, seen);
    old_ = expected;
    const Folded x = fold(next);
    conditions(store_->getParent(), nullptr, nullptr, chosen.when);
    const bool is_new = x.kind == FREE, is_extreme_chosen = is_new && is_extreme() &&
                                                            is_chosen(chosen, nullptr, &by, &wrong);
    *combines = x.kind == WITH || (is_extreme_chosen && !wrong);
    const bool decided = is_additive() && is_decided_otherwise(chosen.when);
    if (x.kind == OTHER || wrong || (is_new && is_additive()))
        out_.kind = IR_FOLD_OTHER;
    else if (is_old && !decided && (*combines || (is_new && is_absorbing(next))))
        out_.kind = IR_FOLD_RIGHT;
    out_.is_truth = is_new && op_ == IR_COMBINE_OR;
    return out_;
}

ir_fold_t Folding::run_exchange(const Value *pointer, const Value *value)
{
    place_ = pointer;
    target_ = a_.origin(pointer);
    in_kernel_ = true;
    out_.kind = target_.first < 0 ? IR_FOLD_UNKNOWN : IR_FOLD_RIGHT;
    if (target_.first >= 0)
        run_value(value, store_->getParent());
    return out_;
}

// True if a condition under which the instruction runs depends on values of the target.
bool Folding::is_decided(const Instruction *store)
{
    std::vector<Condition> when;
    std::set<const Value *> seen;
    conditions(store->getParent(), nullptr, nullptr, when);
    for (const Condition &c : when)
        if (is_about_target(c.value, seen))
            return true;
    return false;
}

// The target's values may decide about operations on the same element.
ir_fold_t Folding::run_atomic(const Value *pointer)
{
    place_ = pointer;
    target_ = a_.origin(pointer);
    in_kernel_ = true;
    out_.kind = IR_FOLD_RIGHT;
    if (target_.first < 0)
        return out_;
    look_for_reads();
    for (size_t k = 0; k < a_.access_.size(); k++) {
        const ir_access_t &a = a_.access_[k];
        const Instruction *at = a_.access_at_[k];
        if (a.kind == IR_READ)
            continue;
        const Value *place = isa<StoreInst>(at) ? at->getOperand(1) : at->getOperand(0);
        const bool is_own = a.param == target_.first && a.member == target_.second &&
                            is_same_place(place, pointer, MOST_DEPTH);
        if (is_own && isa<AtomicCmpXchgInst>(at))
            continue;
        if (is_decided(at))
            (is_own ? out_.is_tested : out_.is_read) = 1;
    }
    return out_;
}

// How an atomic operation that names no operator combines, by each of them. Returns the operator
// that makes its new value.
ir_combine_t Analysis::fold_swap(const Instruction *i, ir_fold_t *all)
{
    auto *swap = dyn_cast<AtomicCmpXchgInst>(i);
    auto *call = dyn_cast<CallBase>(i);
    auto *exchange = dyn_cast<AtomicRMWInst>(i);
    const bool has_three = call && call->arg_size() == 3;
    const Value *place = i->getOperand(0), *expected = nullptr, *next = nullptr;
    if (swap || has_three) {
        expected = swap ? swap->getCompareOperand() : call->getArgOperand(1);
        next = swap ? swap->getNewValOperand() : call->getArgOperand(2);
        while (isa<BitCastInst>(expected))
            expected = cast<BitCastInst>(expected)->getOperand(0);
    }
    ir_combine_t found = IR_COMBINE_UNKNOWN;
    for (int op = IR_COMBINE_ADD; op < IR_OPERATORS; op++) {
        ir_fold_t f = {};
        bool combines = false;
        f.kind = IR_FOLD_UNKNOWN;
        if (expected)
            f = Folding(*this, i, (ir_combine_t)op).run_swap(place, expected, next, &combines);
        else if (exchange && exchange->getOperation() == AtomicRMWInst::Xchg)
            f = Folding(*this, i, (ir_combine_t)op).run_exchange(place, exchange->getValOperand());
        if (combines && found == IR_COMBINE_UNKNOWN)
            found = (ir_combine_t)op;
        all[op].kind = f.kind;
        all[op].is_truth = f.is_truth;
        all[op].is_real = f.is_real;
        all[op].is_swap = expected != nullptr;
    }
    return found;
}

const ir_fold_t *Analysis::folds_of_atomic(const Instruction *i, ir_combine_t *combine)
{
    auto *all = (ir_fold_t *)calloc(IR_OPERATORS, sizeof(ir_fold_t));
    const ir_fold_t one = Folding(*this, i, IR_COMBINE_ADD).run_atomic(i->getOperand(0));
    std::fill(all, all + IR_OPERATORS, one);
    if (*combine == IR_COMBINE_UNKNOWN)
        *combine = fold_swap(i, all);
    return all;
}

} // namespace kmm_ir
