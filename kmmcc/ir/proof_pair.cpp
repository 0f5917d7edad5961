// SPDX-License-Identifier: Apache-2.0
// Reductions to the least or greatest value with its index. Of equal values the first has to stay,
// since the smaller index wins where chunks are combined.
#include <llvm/IR/Operator.h>

#include "ir/proof.hpp"

namespace kmm_ir
{

// The bytes from the target to the place, if they are a constant number; -1: they are not.
static int64_t offset_in_pair(const Value *pointer, const DataLayout &layout)
{
    APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    const Value *base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
    return isa<Argument>(base) ? offset.getSExtValue() : -1;
}

// True if the number is not negative in any call: 0, or where a chunk begins.
bool Combining::is_from_zero(const SCEV *s) const
{
    while (auto *c = dyn_cast<SCEVCastExpr>(s))
        s = c->getOperand();
    auto *u = dyn_cast<SCEVUnknown>(s);
    auto *a = u ? dyn_cast<Argument>(u->getValue()) : nullptr;
    auto at = a ? p_.role_.find(a) : p_.role_.end();
    if (at != p_.role_.end() && at->second->kind == IR_BEGIN)
        return at->second->from_zero;
    auto *c = dyn_cast<SCEVConstant>(s);
    return c && c->getAPInt().isNonNegative();
}

// True if the index does not become less, as numbers of its type, where its bits overflow.
bool Combining::keeps_order(const SCEVAddRecExpr *r) const
{
    auto *step = dyn_cast<SCEVConstant>(r->getStepRecurrence(p_.scev_));
    const bool from_zero = is_from_zero(r->getStart());
    return r->hasNoUnsignedWrap() || (step && step->isOne() && from_zero) ||
           (r->hasNoSignedWrap() && (from_zero || !role_->has_unsigned_index));
}

// The recurrence of the loop over rows, of `r * w + k` where k is less than w; else the recurrence.
const SCEVAddRecExpr *Combining::of_rows(const SCEVAddRecExpr *r) const
{
    auto *outer = dyn_cast<SCEVAddRecExpr>(r->getStart());
    const SCEV *count = p_.scev_.getBackedgeTakenCount(r->getLoop());
    auto *least = dyn_cast<SCEVSMaxExpr>(count); // (0 smax w) tests before the first iteration
    if (least && least->getNumOperands() == 2 && least->getOperand(0)->isZero())
        count = least->getOperand(1);
    if (p_.divided_.count(r->getLoop()) || !outer || !r->isAffine() || !outer->isAffine() ||
        isa<SCEVCouldNotCompute>(count) || !r->getStepRecurrence(p_.scev_)->isOne() ||
        r->getLoop()->getParentLoop() != outer->getLoop())
        return r;
    const SCEV *width = outer->getStepRecurrence(p_.scev_);
    auto &scev = p_.scev_;
    const bool is_late = r->getLoop()->getExitingBlock() == r->getLoop()->getLoopLatch();
    const SCEV *last = is_late ? scev.getMinusSCEV(width, scev.getOne(width->getType())) : width;
    Type *wide = scev.getWiderType(count->getType(), width->getType());
    last = scev.getNoopOrSignExtend(last, wide);
    return last == scev.getNoopOrZeroExtend(count, wide) ||
                   last == scev.getNoopOrSignExtend(count, wide)
               ? outer
               : r;
}

// True if the number is computed without overflow of signed numbers, or the program is undefined.
static bool is_exact(const Value *v)
{
    auto *i = dyn_cast<Instruction>(v);
    auto *o = dyn_cast<OverflowingBinaryOperator>(v);
    if (isa<PHINode>(v)) // of a loop
        return true;
    return !i ||
           (o && o->hasNoSignedWrap() && is_exact(i->getOperand(0)) && is_exact(i->getOperand(1)));
}

// True if the index becomes greater with each iteration of a divided loop: its own, or that of
// rows. Of loops around it, it is not known whether each of their iterations has greater ones.
bool Combining::is_ascending(const Value *index) const
{
    enum { LEAST_BITS = 32 };
    if (p_.mark(index) || !p_.scev_.isSCEVable(index->getType()))
        return false;
    const SCEV *s = p_.scev_.getSCEV(const_cast<Value *>(index));
    for (bool goes_on = true; goes_on;) {
        auto *c = dyn_cast<SCEVCastExpr>(s);
        if (!s->getType()->isIntegerTy() || s->getType()->getIntegerBitWidth() < LEAST_BITS)
            return false; // such as i & 1023
        goes_on = c != nullptr;
        s = c ? c->getOperand() : s;
    }
    auto *r = dyn_cast<SCEVAddRecExpr>(s);
    const bool is_signed = is_exact(index) && !role_->has_unsigned_index;
    if (!r || !r->isAffine() || (!is_signed && !keeps_order(r)))
        return false;
    auto *step = dyn_cast<SCEVConstant>(r->getStepRecurrence(p_.scev_));
    r = of_rows(r);
    return step && p_.divided_.count(r->getLoop()) && step->getAPInt().isStrictlyPositive() &&
           (is_signed || keeps_order(r)) && !r->getLoop()->getParentLoop();
}

// `chosen` is the value where the index is `index`.
bool Combining::goes_with(const Value *index, const Value *chosen)
{
    auto *load = dyn_cast<LoadInst>(chosen);
    auto *phi = dyn_cast<PHINode>(chosen), *other = dyn_cast<PHINode>(index);
    if (paired_.count({index, chosen}))
        return true;
    if (load && is_same_place(load->getPointerOperand(), place_)) {
        auto *of = dyn_cast<LoadInst>(index);
        return of && is_same_place(of->getPointerOperand(), index_place_);
    }
    if (phi && other && phi->getParent() == other->getParent()) {
        paired_.insert({index, chosen});
        const Loop *l = p_.loops_.getLoopFor(phi->getParent());
        for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
            const BasicBlock *from = phi->getIncomingBlock(k);
            const Value *x = phi->getIncomingValue(k), *i = other->getIncomingValueForBlock(from);
            const bool begins = l && l->getHeader() == phi->getParent() && !l->contains(from) &&
                                isa<Constant>(x) && isa<Constant>(i);
            if (!begins && !goes_with(i, x))
                return false;
        }
        return true;
    }
    if (!isa<Instruction>(chosen) || !p_.mark(chosen))
        return is_ascending(index);
    // A choice by the same condition.
    auto *s = dyn_cast<SelectInst>(index);
    auto *by = dyn_cast<SelectInst>(chosen);
    if (s && by)
        return s->getCondition() == by->getCondition() &&
               goes_with(s->getTrueValue(), by->getTrueValue()) &&
               goes_with(s->getFalseValue(), by->getFalseValue());
    auto *call = dyn_cast<CallBase>(chosen); // such as llvm.smin
    for (unsigned k = 0; s && call && call->arg_size() == 2 && k < 2; k++) {
        const Value *x = call->getArgOperand(k), *old = call->getArgOperand(1 - k);
        if (is_least(s->getCondition(), x, old))
            return goes_with(s->getTrueValue(), x) && goes_with(s->getFalseValue(), old);
    }
    return false;
}

// ---- `x < m || (x == m && i < k)` ----

// What a condition compares: a new value that is less than the old one, or equal, and an index that
// is less.
enum { IS_LESS = 1, IS_EQUAL = 2, IS_EARLIER = 4 };

std::optional<bool> Combining::holds(const CmpInst *test, CmpInst::Predicate is,
                                     unsigned atoms) const
{
    for (unsigned k = 0; k < 2; k++) {
        const Value *x = test->getOperand(k), *y = test->getOperand(1 - k);
        auto *old = dyn_cast<LoadInst>(y);
        if (!old)
            continue;
        if (k)
            is = CmpInst::getSwappedPredicate(is);
        if (is_same_place(old->getPointerOperand(), place_) && x == first_) {
            if (is_least(is, x, y, x, y))
                return (atoms & IS_LESS) != 0;
            if (is == CmpInst::FCMP_OEQ || is == CmpInst::ICMP_EQ)
                return (atoms & IS_EQUAL) != 0;
        }
        if (is_same_place(old->getPointerOperand(), index_place_) && !p_.mark(x) &&
            (is == CmpInst::ICMP_SLT || is == CmpInst::ICMP_ULT))
            return (atoms & IS_EARLIER) != 0;
        if (k)
            is = CmpInst::getSwappedPredicate(is);
    }
    return std::nullopt;
}

std::optional<bool> Combining::holds(const Value *condition, unsigned atoms) const
{
    if (auto *c = dyn_cast<ConstantInt>(condition))
        return !c->isZero();
    if (auto *test = dyn_cast<CmpInst>(condition)) {
        if (auto x = holds(test, test->getPredicate(), atoms))
            return x;
        auto x = holds(test, test->getInversePredicate(), atoms);
        return x ? std::optional<bool>(!*x) : x;
    }
    auto *i = dyn_cast<Instruction>(condition);
    if (auto *s = dyn_cast<SelectInst>(condition)) {
        auto x = holds(s->getCondition(), atoms);
        return x ? holds(*x ? s->getTrueValue() : s->getFalseValue(), atoms) : x;
    }
    if (!isa<BinaryOperator>(condition) || !i->getType()->isIntegerTy(1))
        return std::nullopt;
    auto x = holds(i->getOperand(0), atoms), y = holds(i->getOperand(1), atoms);
    if (!x || !y)
        return std::nullopt;
    switch (i->getOpcode()) {
    case Instruction::And: return *x && *y;
    case Instruction::Or: return *x || *y;
    case Instruction::Xor: return *x != *y;
    default: return std::nullopt;
    }
}

// Whether control comes from one block to the other.
std::optional<bool> Combining::reaches(const BasicBlock *from, const BasicBlock *to,
                                       unsigned atoms) const
{
    enum { MOST_STEPS = 8 };
    auto *node = p_.post_.getNode(const_cast<BasicBlock *>(from));
    const BasicBlock *end = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    for (int k = 0; k < MOST_STEPS && from; k++) {
        auto *branch = dyn_cast<BranchInst>(from->getTerminator());
        if (from == to || (from == end && k))
            return from == to;
        if (!branch)
            return std::nullopt;
        auto x = branch->isConditional() ? holds(branch->getCondition(), atoms)
                                         : std::optional<bool>(true);
        if (!x)
            return std::nullopt;
        from = branch->getSuccessor(*x ? 0 : branch->isConditional());
    }
    return std::nullopt;
}

// True if the block runs where the new value is less, or equal with an index that is less.
bool Combining::is_before(const BasicBlock *b) const
{
    auto *node = p_.tree_.getNode(b);
    const BasicBlock *from = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    if (!from || p_.mark_of_block(from))
        return false;
    for (unsigned atoms = 0; atoms < 8; atoms++) {
        const bool less = atoms & IS_LESS, equal = atoms & IS_EQUAL;
        if (less && equal)
            continue;
        auto x = reaches(from, b, atoms);
        if (!x || *x != (less || (equal && atoms & IS_EARLIER)))
            return false;
    }
    return true;
}

// ---- Both stores ----

Mark Combining::run_pair(const StoreInst *value, const StoreInst *index)
{
    place_ = value->getPointerOperand();
    index_place_ = index->getPointerOperand();
    first_ = value->getValueOperand();
    if (is_before(value->getParent()))
        return Proof::because("keeps the smaller index of equal values, also where the target "
                              "already has that value; there libkmm keeps the target's index",
                              value);
    const Mark untold = Proof::because("stores to a reduction's target what is not known to be "
                                       "the first of the least or greatest values",
                                       value);
    const Kind k = kind(first_, value);
    const Mark why = why_;
    if (k != FROM_TARGET) {
        if (Mark m = run_guarded(value, k))
            return why ? why : m;
    } else if (Mark m = p_.mark_of_block(value->getParent())) {
        return m;
    }
    return goes_with(index->getValueOperand(), first_) ? nullptr : untold;
}

// A value and its index are stored together.
Mark Combining::run_pair(const StoreInst *store)
{
    std::vector<const StoreInst *> both;
    for (const Instruction &i : *store->getParent()) {
        auto *s = dyn_cast<StoreInst>(&i);
        if (s && p_.target(s->getPointerOperand()) == role_ &&
            offset_in_pair(s->getPointerOperand(), p_.layout_) >= 0)
            both.push_back(s);
    }
    if (both.size() != 2)
        return Proof::because("does not store a value and its index together", store);
    const bool is_first =
        offset_in_pair(both[0]->getPointerOperand(), p_.layout_) == role_->value_at;
    return run_pair(both[is_first ? 0 : 1], both[is_first ? 1 : 0]);
}

} // namespace kmm_ir
