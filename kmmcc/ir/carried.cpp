// SPDX-License-Identifier: Apache-2.0
// Values that a loop carries from one iteration to the next, such as a sum or the loop's own index,
// and that are stored to memory.
#include "ir/function.hpp"

namespace kmm_ir
{

namespace
{

bool is_periodic(const Instruction *i)
{
    switch (i->getOpcode()) {
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
    case Instruction::And:
    case Instruction::LShr:
    case Instruction::AShr: return true;
    default: return false;
    }
}

// Operators whose result depends on each of their operands.
bool computes(const Instruction *i)
{
    return isa<BinaryOperator>(i) || isa<UnaryOperator>(i) || isa<FreezeInst>(i) ||
           (isa<CastInst>(i) && !isa<PtrToIntInst>(i) && !isa<IntToPtrInst>(i)) || isa<CmpInst>(i);
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

// Adds the loops around the store that carry what v is computed from.
void Analysis::carried(const Value *v, const Instruction *store, std::set<const Value *> &seen,
                       ir_access_t *a)
{
    if (auto *argument = dyn_cast<Argument>(v))
        a->carried_from |= 1ULL << std::min(argument->getArgNo(), 63u);
    auto *i = dyn_cast<Instruction>(v);
    if (!i || v->getType()->isPointerTy() || !seen.insert(v).second || is_periodic(i))
        return;
    if (auto *phi = dyn_cast<PHINode>(i)) {
        const Loop *loop = loops_.getLoopFor(phi->getParent());
        bool heads = loop && loop->getHeader() == phi->getParent();
        if (heads && loop->contains(store) && loop->getLoopPreheader() && loop->getLoopLatch()) {
            std::set<const Value *> met;
            const Value *first = phi->getIncomingValueForBlock(loop->getLoopPreheader()),
                        *next = phi->getIncomingValueForBlock(loop->getLoopLatch());
            if (next != phi && !isa<LoadInst>(first) && renews(next, phi, met) &&
                loop_number_[loop] < 64)
                a->carried |= 1ULL << loop_number_[loop];
            carried(first, store, seen, a);
            return;
        }
        for (const Use &u : phi->incoming_values())
            carried(u, store, seen, a);
        return;
    }
    if (auto *s = dyn_cast<SelectInst>(i)) {
        carried(s->getTrueValue(), store, seen, a);
        carried(s->getFalseValue(), store, seen, a);
        return;
    }
    auto *call = dyn_cast<CallBase>(i);
    if (computes(i) || call)
        for (const Use &u : call ? call->args() : make_range(i->op_begin(), i->op_end()))
            carried(u, store, seen, a);
}

} // namespace kmm_ir
