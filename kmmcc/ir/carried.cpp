// SPDX-License-Identifier: Apache-2.0
// Values that a loop carries from one iteration to the next, such as a sum or the loop's own index,
// and that are stored to memory.
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/ValueTracking.h>

#include "ir/function.hpp"

namespace kmm_ir
{

namespace
{

// The number P for which the instruction gives the rest by P, or less of it; 0: it is no such
// instruction; -1: P is not known.
int64_t period_of(const Instruction *i)
{
    auto *by = i->getNumOperands() == 2 ? dyn_cast<ConstantInt>(i->getOperand(1)) : nullptr;
    bool small = by && by->getValue().isStrictlyPositive() && by->getBitWidth() <= 64 &&
                 by->getZExtValue() < (1ULL << 31);
    switch (i->getOpcode()) {
    case Instruction::URem:
    case Instruction::SRem: return small ? by->getSExtValue() : -1;
    case Instruction::And: return small ? (int64_t)NextPowerOf2(by->getZExtValue()) : -1;
    default: return 0;
    }
}

// Operators whose result depends on each of their operands.
bool computes(const Instruction *i)
{
    return isa<BinaryOperator>(i) || isa<UnaryOperator>(i) || isa<FreezeInst>(i) ||
           (isa<CastInst>(i) && !isa<PtrToIntInst>(i) && !isa<IntToPtrInst>(i)) || isa<CmpInst>(i);
}

// True if the result is the same whatever its operands are, as that of i - i.
bool folds(const Instruction *i)
{
    const SimplifyQuery query(i->getModule()->getDataLayout(), i);
    return isa<BinaryOperator>(i) &&
           isa_and_nonnull<Constant>(simplifyInstruction(const_cast<Instruction *>(i), query));
}

// True if p is the phi's value or another one, by a comparison of the phi's with what is no
// constant: as of a maximum.
bool is_extreme(const PHINode *p, const PHINode *phi, const DominatorTree &tree)
{
    const auto *above = tree.getNode(p->getParent())->getIDom();
    auto *branch = above ? dyn_cast<BranchInst>(above->getBlock()->getTerminator()) : nullptr;
    auto *test =
        branch && branch->isConditional() ? dyn_cast<CmpInst>(branch->getCondition()) : nullptr;
    if (!test || p->getNumIncomingValues() != 2 || isa<Constant>(p->getIncomingValue(0)) ||
        isa<Constant>(p->getIncomingValue(1)))
        return false;
    return (p->getIncomingValue(0) == phi || p->getIncomingValue(1) == phi) &&
           ((test->getOperand(0) == phi && !isa<Constant>(test->getOperand(1))) ||
            (test->getOperand(1) == phi && !isa<Constant>(test->getOperand(0))));
}

} // namespace

// True if v depends on the phi on each way that computes it. A way that does not resets the value.
bool Analysis::renews(const Value *v, const PHINode *phi, std::set<const Value *> &seen)
{
    if (v == phi)
        return true;
    auto *i = dyn_cast<Instruction>(v);
    if (!i || !seen.insert(v).second)
        return false;
    if (auto *s = dyn_cast<SelectInst>(i))
        return renews(s->getCondition(), phi, seen) ||
               (renews(s->getTrueValue(), phi, seen) && renews(s->getFalseValue(), phi, seen));
    if (auto *p = dyn_cast<PHINode>(i)) {
        if (is_extreme(p, phi, tree_))
            return true;
        const Loop *loop = loops_.getLoopFor(p->getParent());
        if (loop && loop->getHeader() == p->getParent())
            // A search by an integer finds the same wherever it begins.
            return loop->getLoopPreheader() && !p->getType()->isIntegerTy() &&
                   renews(p->getIncomingValueForBlock(loop->getLoopPreheader()), phi, seen);
        for (const Use &u : p->incoming_values())
            if (u != phi && !renews(u, phi, seen))
                return false;
        return true;
    }
    auto *call = dyn_cast<CallBase>(i);
    if (!computes(i) && !call)
        return false;
    for (const Use &u : call ? call->args() : make_range(i->op_begin(), i->op_end()))
        if (renews(u, phi, seen))
            return true;
    return false;
}

// True if the loop adds the same to the phi in each iteration.
static bool is_index(const Value *next, const PHINode *phi)
{
    auto *sum = dyn_cast<BinaryOperator>(next);
    bool adds =
        sum && (sum->getOpcode() == Instruction::Add || sum->getOpcode() == Instruction::Sub);
    return adds && ((sum->getOperand(0) == phi && isa<ConstantInt>(sum->getOperand(1))) ||
                    (sum->getOperand(1) == phi && isa<ConstantInt>(sum->getOperand(0)) &&
                     sum->getOpcode() == Instruction::Add));
}

// Adds what an address that becomes an integer is computed from: the indices, and a loop in which
// the pointer itself moves.
void Analysis::carried_address(const Value *p, const Instruction *store, int64_t period,
                               std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a)
{
    for (; auto *element = dyn_cast<GEPOperator>(p); p = element->getPointerOperand())
        for (const Use &u : element->indices())
            carried(u, store, period, seen, a);
    auto *phi = dyn_cast<PHINode>(p);
    const Loop *loop = phi ? loops_.getLoopFor(phi->getParent()) : nullptr;
    if (!loop || loop->getHeader() != phi->getParent() || !loop->contains(store) ||
        !loop->getLoopLatch() || loop_number_[loop] >= 64)
        return;
    auto *next = dyn_cast<GEPOperator>(phi->getIncomingValueForBlock(loop->getLoopLatch()));
    if (next && next->getPointerOperand() == phi && period >= 0) {
        (period ? a->repeated : a->carried) |= 1ULL << loop_number_[loop];
        a->period = std::max(a->period, period);
    }
}

// Adds the loop of the phi, in its header, if it carries a value that the phi's next one is
// computed from.
void Analysis::carried_by(const PHINode *phi, const Loop *loop, int64_t period, ir_access_t *a)
{
    std::set<const Value *> met;
    const Value *first = phi->getIncomingValueForBlock(loop->getLoopPreheader()),
                *next = phi->getIncomingValueForBlock(loop->getLoopLatch());
    if (next == phi || isa<LoadInst>(first) || !renews(next, phi, met) || loop_number_[loop] >= 64)
        return;
    uint64_t bit = 1ULL << loop_number_[loop];
    if (period == 0 || !is_index(next, phi)) {
        a->carried |= bit;
    } else if (period > 0) {
        a->repeated |= bit;
        a->period = std::max(a->period, period);
    }
}

// Adds the loops around the store that carry what v is computed from. A value of which only the
// rest by `period` counts (-1: by what is not known) may be the same wherever the index begins.
void Analysis::carried(const Value *v, const Instruction *store, int64_t period,
                       std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a)
{
    if (auto *argument = dyn_cast<Argument>(v)) {
        uint64_t bit = 1ULL << std::min(argument->getArgNo(), 63u);
        a->computed_from |= bit;
        a->carried_from |= period == 0 ? bit : 0;
    }
    auto *i = dyn_cast<Instruction>(v);
    if (!i || v->getType()->isPointerTy() || !seen.insert({v, period != 0}).second || folds(i))
        return;
    if (int64_t by = period_of(i))
        period = by;
    if (auto *phi = dyn_cast<PHINode>(i)) {
        const Loop *loop = loops_.getLoopFor(phi->getParent());
        bool heads = loop && loop->getHeader() == phi->getParent();
        if (heads && loop->contains(store) && loop->getLoopPreheader() && loop->getLoopLatch()) {
            carried_by(phi, loop, period, a);
            carried(phi->getIncomingValueForBlock(loop->getLoopPreheader()), store, period, seen,
                    a);
            return;
        }
        for (const Use &u : phi->incoming_values())
            carried(u, store, period, seen, a);
        return;
    }
    if (i->getOpcode() == Instruction::Sub) // an address alone is the same in chunks
        for (const Use &u : i->operands())
            if (auto *address = dyn_cast<PtrToIntInst>(u))
                carried_address(address->getPointerOperand(), store, period, seen, a);
    auto *call = dyn_cast<CallBase>(i);
    if (computes(i) || call || isa<SelectInst>(i))
        for (const Use &u : call ? call->args() : make_range(i->op_begin(), i->op_end()))
            carried(u, store, period, seen, a);
    // Tables, which no chunk has a part of.
    auto *load = dyn_cast<LoadInst>(i);
    auto *element = load ? dyn_cast<GetElementPtrInst>(load->getPointerOperand()) : nullptr;
    if (element && isa<GlobalVariable>(getUnderlyingObject(element)))
        for (const Use &u : element->indices())
            carried(u, store, period, seen, a);
}

} // namespace kmm_ir
