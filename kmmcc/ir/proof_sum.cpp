// SPDX-License-Identifier: Apache-2.0
// Sums that are linear in what iterations give: totals of loops that are scaled, converted or
// subtracted when the loop has ended, and arrays of sums in local memory.
#include <llvm/Analysis/ValueTracking.h>

#include "ir/proof.hpp"

namespace kmm_ir
{

// The accumulators that still run where the instruction stands, and are in the value. Behind a
// loop, its total is complete, and what it began with counts.
Combining::Partials Combining::partials(const Value *v, const Instruction *at) const
{
    Partials found;
    auto of = partials_.find(v);
    if (of == partials_.end())
        return found;
    for (const PHINode *phi : of->second) {
        const Loop *l = p_.loops_.getLoopFor(phi->getParent());
        if (l->contains(at->getParent())) {
            found.insert(phi);
            continue;
        }
        const Partials before = partials(phi->getIncomingValueForBlock(l->getLoopPreheader()), at);
        found.insert(before.begin(), before.end());
    }
    return found;
}

// True if the value is a total, and each iteration that computes it has one of its own.
bool Combining::is_complete(const Value *v, const Instruction *at) const
{
    auto *i = dyn_cast<Instruction>(v);
    if (!i || !partials(v, at).empty())
        return false;
    return none_of(p_.divided_, [&](const auto &of) {
        return of.first->contains(at->getParent()) && !of.first->contains(i->getParent());
    });
}

// True if a sum has both parts: one running total at most, and no total twice.
bool Combining::joins(const Value *a, const Value *b, const Instruction *at)
{
    const bool runs[] = {!partials(a, at).empty(), !partials(b, at).empty()};
    const Value *part[] = {a, b};
    bool good = !(runs[0] && runs[1]);
    for (int k = 0; k < 2; k++) {
        const Kind other = kind(part[1 - k], at);
        if (kind(part[k], at) == FREE_VALUE)
            continue;
        good &= runs[k] ? other != FROM_TARGET : is_complete(part[k], at);
    }
    if (!good && is_additive())
        refuse("combines a partial result with another one", at);
    return good || !is_additive();
}

// True if the chosen value has the same running totals, whichever it is.
bool Combining::chooses(const Value *yes, const Value *no, const Instruction *at)
{
    if (partials(yes, at) == partials(no, at))
        return true;
    refuse("replaces what it has combined so far", at);
    return false;
}

// True if no chunk's total is too great for the type where the whole one is not: it begins with 0,
// and nothing is less than 0.
bool Combining::only_grows(const Value *v, std::set<const Value *> &seen) const
{
    const auto rises = [&](const Value *x) { return only_grows(x, seen); };
    auto *load = dyn_cast<LoadInst>(v);
    auto *sum = dyn_cast<BinaryOperator>(v);
    if (!open_.count(v) && !load)
        return isKnownNonNegative(v, SimplifyQuery(p_.layout_));
    if (!seen.insert(v).second)
        return true;
    if (auto *phi = dyn_cast<PHINode>(v))
        return all_of(phi->incoming_values(), rises);
    if (auto *s = dyn_cast<SelectInst>(v))
        return rises(s->getTrueValue()) && rises(s->getFalseValue());
    if (sum && sum->getOpcode() == Instruction::Add && sum->hasNoSignedWrap())
        return all_of(sum->operands(), rises);
    if (!load || !open_.count(v))
        return load && p_.mark(load);
    for (const Value *o : p_.objects_of(load->getPointerOperand()))
        for (const Use1 &w : p_.uses_[o])
            if (auto *store = w.writes ? dyn_cast<StoreInst>(w.at) : nullptr)
                if (!isa<Constant>(store->getValueOperand())) {
                    auto *add = cast<Instruction>(store->getValueOperand());
                    auto *of = dyn_cast<LoadInst>(add->getOperand(0));
                    const bool first = of && p_.mark(of);
                    if (add->getOpcode() != Instruction::Add || !add->hasNoSignedWrap() ||
                        !isKnownNonNegative(add->getOperand(first), SimplifyQuery(p_.layout_)))
                        return false;
                }
    return true;
}

// ---- Arrays of sums in local memory ----

// True for `a[k] += x` in an iteration that one chunk alone runs.
bool Combining::adds_locally(const StoreInst *store)
{
    auto *sum = dyn_cast<Instruction>(store->getValueOperand());
    if (!sum || !store->isSimple() || p_.mark(store->getPointerOperand()) ||
        p_.mark_of_block(store->getParent()))
        return false;
    auto *call = dyn_cast<CallBase>(sum);
    const bool is_fused = call && called(call).starts_with("llvm.fmuladd");
    bool only_left;
    if (!is_fused && (sum->getNumOperands() != 2 || !is_operator(sum, &only_left)))
        return false;
    for (unsigned k = is_fused ? 2 : 0; k < (is_fused ? 3U : only_left ? 1U : 2U); k++) {
        auto *old = dyn_cast<LoadInst>(sum->getOperand(k));
        if (!old || !old->isSimple() || old->getParent() != store->getParent() ||
            !is_same_place(old->getPointerOperand(), store->getPointerOperand()))
            continue;
        for (const Instruction *i = old; i != store; i = i->getNextNode())
            if (i->mayWriteToMemory())
                return false;
        const Mark before = why_;
        bool good = true;
        for (unsigned other = 0; other < (is_fused ? 3 : 2); other++)
            good &= other == k || (!p_.mark(sum->getOperand(other)) &&
                                   contributes(sum->getOperand(other), store));
        why_ = before;
        return good;
    }
    return false;
}

// True if the load finds a sum in local memory: all that is done there is to store 0, as often in
// each chunk as in the whole call, and to add.
bool Combining::is_local_sum(const LoadInst *load)
{
    const auto objects = p_.objects_of(load->getPointerOperand());
    const auto is_divided = [&](const Instruction *i) {
        return any_of(p_.divided_,
                      [&](const auto &of) { return of.first->contains(i->getParent()); });
    };
    if (objects.size() != 1 || p_.kind_of(objects[0]) != LOCAL_OBJECT || is_divided(load) ||
        role_->combine != IR_COMBINE_ADD || p_.mark(load->getPointerOperand()))
        return false;
    for (const Use1 &w : p_.uses_[objects[0]]) {
        if (!w.writes)
            continue;
        auto *store = dyn_cast<StoreInst>(w.at);
        auto *set = dyn_cast<MemSetInst>(w.at);
        auto *value = dyn_cast_or_null<Constant>(store ? store->getValueOperand()
                                                 : set ? set->getValue()
                                                       : nullptr);
        const bool clears = value && value->isNullValue() && !is_divided(w.at) &&
                            !p_.mark(w.pointer) && !p_.mark_of_block(w.at->getParent()) &&
                            !(set && p_.mark(set->getLength()));
        if (!clears && !(store && adds_locally(store)))
            return false;
    }
    return true;
}

// ---- Linear functions of sums ----

// A total, which is operand `number`, times or by what is the same in each chunk.
Combining::Kind Combining::kind_of_scaled(const Instruction *i, unsigned number)
{
    const Value *sum = i->getOperand(number);
    const Kind k = kind(sum, i);
    for (unsigned other = 0; other < i->getNumOperands(); other++)
        if (other != number && other < 2 && kind(i->getOperand(other), i) != FREE_VALUE)
            return refuse("multiplies what it has combined so far", i);
    if (k == NO_SUM || (k == FROM_IDENTITY && is_complete(sum, i)))
        return k;
    return refuse("multiplies what it has combined so far", i);
}

// A conversion that makes of a sum what it makes of its parts, but for rounding.
Combining::Kind Combining::kind_of_cast(const CastInst *i)
{
    const Value *sum = i->getOperand(0);
    const Kind k = kind(sum, i);
    if (k == NO_SUM || k == FREE_VALUE || isa<FPExtInst>(i) || isa<FPTruncInst>(i))
        return k;
    const bool is_number = isa<SIToFPInst>(i) || isa<UIToFPInst>(i),
               is_signed = isa<SExtInst>(i) || isa<SIToFPInst>(i) ||
                           (isa<PossiblyNonNegInst>(i) && i->hasNonNeg());
    std::set<const Value *> seen;
    bool good = k == FROM_IDENTITY && is_complete(sum, i);
    switch (role_->combine) {
    case IR_COMBINE_ADD:
        good &= isa<TruncInst>(i) || ((is_signed || is_number) && only_grows(sum, seen));
        break;
    case IR_COMBINE_MIN:
    case IR_COMBINE_MAX: good &= role_->is_unsigned ? isa<ZExtInst>(i) : is_signed; break;
    case IR_COMBINE_MUL: good &= isa<TruncInst>(i); break;
    default: good &= isa<TruncInst>(i) || isa<SExtInst>(i) || isa<ZExtInst>(i); break;
    }
    return good ? k : refuse("converts what it has combined so far", i);
}

// FREE_VALUE: it is no linear function of a sum.
Combining::Kind Combining::kind_of_linear(const Instruction *i)
{
    auto *cast = dyn_cast<CastInst>(i);
    if (cast && !role_->is_logical && cast->getType()->isSingleValueType() &&
        !isa<BitCastInst>(cast) && !isa<PtrToIntInst>(cast) && !isa<IntToPtrInst>(cast))
        return kind_of_cast(cast);
    if (role_->combine != IR_COMBINE_ADD)
        return FREE_VALUE;
    switch (i->getOpcode()) {
    case Instruction::FNeg:
    case Instruction::FDiv:
    case Instruction::Shl: return kind_of_scaled(i, 0);
    case Instruction::Mul:
    case Instruction::FMul: return kind_of_scaled(i, p_.mark(i->getOperand(0)) ? 0 : 1);
    default: return FREE_VALUE;
    }
}

// `a * b + c`
Combining::Kind Combining::kind_of_fused(const CallBase *call)
{
    const Value *rest = call->getArgOperand(2);
    const Kind x = kind(call->getArgOperand(0), call), y = kind(call->getArgOperand(1), call),
               z = kind(rest, call);
    if (x == NO_SUM || y == NO_SUM || z == NO_SUM)
        return NO_SUM;
    if (x == FREE_VALUE && y == FREE_VALUE) {
        for (unsigned k = 0; k < 2; k++)
            if (!contributes(call->getArgOperand(k), call))
                return NO_SUM;
        return joins(rest, call->getArgOperand(0), call) ? z : NO_SUM;
    }
    const Kind product = kind_of_scaled(call, x == FREE_VALUE ? 1 : 0);
    if (product == NO_SUM)
        return NO_SUM;
    if (z == FREE_VALUE)
        return is_zero(rest) || contributes(rest, call) ? product : NO_SUM;
    return partials(rest, call).empty() && !is_complete(rest, call)
               ? refuse("combines a partial result with another one", call)
               : z;
}

} // namespace kmm_ir
