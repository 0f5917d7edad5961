// SPDX-License-Identifier: Apache-2.0
// Where pointers may point.
#include "ir/function.hpp"

namespace kmm_ir
{

// The map that collectOffset fills: its type differs between releases of LLVM.
template <typename Map>
static Map map_of(bool (GEPOperator::*)(const DataLayout &, unsigned, Map &, APInt &) const);
using Offsets = decltype(map_of(&GEPOperator::collectOffset));

int Analysis::offset_of(const GEPOperator *gep)
{
    Offsets variable;
    APInt constant(64, 0);
    if (!gep->collectOffset(layout_, 64, variable, constant))
        return nodes_.data(64);
    int sum = nodes_.constant(constant.getSExtValue(), 64);
    for (auto &[v, scale] : variable)
        sum = nodes_.binary(IR_ADD, 64, sum,
                            nodes_.binary(IR_MUL, 64, nodes_.wide(value(v)),
                                          nodes_.constant(scale.getSExtValue(), 64)));
    return sum;
}

void Analysis::append(Candidates &to, const Candidates &from, int condition)
{
    for (Candidate c : from) {
        c.guard = nodes_.both(c.guard, condition);
        if (to.size() < MOST_CANDIDATES)
            to.push_back(c);
        else
            to.back() = {BASE_UNKNOWN, -1, NEVER, ALWAYS};
    }
}

Candidates Analysis::pointers(const Value *v)
{
    auto at = pointer_.find(v);
    if (at != pointer_.end())
        return at->second;
    if (!in_progress_.insert(v).second) {
        cut_ = true;
        return {};
    }
    Candidates c = pointers_of_new(v);
    in_progress_.erase(v);
    if (in_progress_.empty())
        cut_ = false;
    if (!cut_)
        pointer_[v] = c;
    return c;
}

Candidates Analysis::pointers_of_new(const Value *v)
{
    int zero = nodes_.constant(0, 64);
    if (auto *a = dyn_cast<Argument>(v)) {
        if (a->hasByValAttr())
            return {{BASE_LOCAL, -1, zero, ALWAYS}};
        return {{(int)a->getArgNo(), -1, zero, ALWAYS}};
    }
    if (isa<AllocaInst>(v) || isa<GlobalValue>(v) || isa<ConstantPointerNull>(v) ||
        isa<UndefValue>(v))
        return {{BASE_LOCAL, -1, zero, ALWAYS}};
    if (auto *gep = dyn_cast<GEPOperator>(v)) {
        Candidates c = pointers(gep->getPointerOperand());
        int offset = offset_of(gep);
        for (Candidate &k : c)
            k.offset = nodes_.binary(IR_ADD, 64, k.offset, offset);
        return c;
    }
    if (isa<AddrSpaceCastOperator>(v) || isa<BitCastOperator>(v) || isa<FreezeInst>(v))
        return pointers(cast<User>(v)->getOperand(0));
    auto *back = dyn_cast<IntToPtrInst>(v);
    if (auto *number = back ? dyn_cast<PtrToIntInst>(back->getOperand(0)) : nullptr)
        return pointers(number->getPointerOperand());
    if (auto *s = dyn_cast<SelectInst>(v)) {
        int condition = value(s->getCondition());
        Candidates c;
        append(c, pointers(s->getTrueValue()), condition);
        append(c, pointers(s->getFalseValue()), nodes_.negation(condition));
        return c;
    }
    if (auto *phi = dyn_cast<PHINode>(v))
        return pointers_of_phi(phi);
    if (auto *load = dyn_cast<LoadInst>(v)) {
        APInt offset(64, 0);
        const Value *base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
            layout_, offset, true, true);
        auto *a = dyn_cast<Argument>(base);
        if (a && a->hasByValAttr() && !stored_.count(a))
            return {{(int)a->getArgNo(), (int)offset.getSExtValue(), zero, ALWAYS}};
    }
    return {{BASE_UNKNOWN, -1, zero, ALWAYS}};
}

Candidates Analysis::pointers_of_phi(const PHINode *phi)
{
    const BasicBlock *b = phi->getParent();
    const Loop *loop = loops_.getLoopFor(b);
    int step;
    Candidates c;
    if (loop && loop->getHeader() == b) {
        bool steady = step_of(phi, loop, &step);
        int counter = nodes_.leaf(IR_COUNTER, loop_number_[loop], 64);
        for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
            if (steady && loop->contains(phi->getIncomingBlock(k)))
                continue;
            for (Candidate p : pointers(phi->getIncomingValue(k))) {
                p.offset = steady ? nodes_.binary(IR_ADD, 64, p.offset,
                                                  nodes_.binary(IR_MUL, 64, counter, step))
                                  : nodes_.data(64);
                append(c, {p}, steady ? (int)ALWAYS : nodes_.data(1));
            }
        }
        return c;
    }
    for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
        const BasicBlock *p = phi->getIncomingBlock(k);
        const Loop *from = loops_.getLoopFor(p);
        bool leaves = from && !from->contains(b);
        Candidates in = pointers(phi->getIncomingValue(k));
        auto *i = dyn_cast<Instruction>(phi->getIncomingValue(k));
        if (leaves && i && from->contains(i))
            for (Candidate &k : in) {
                k.offset = nodes_.data(64);
                k.guard = nodes_.data(1);
            }
        bool alone = phi->getNumIncomingValues() == 1;
        append(c, in,
               alone    ? (int)ALWAYS
               : leaves ? nodes_.data(1)
                        : nodes_.both(guard(p), edge(p, b)));
    }
    return c;
}

} // namespace kmm_ir
