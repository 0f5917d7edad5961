// SPDX-License-Identifier: Apache-2.0
// Which values are the same, under which conditions they are chosen, and what they are computed
// from.
#include "ir/folding.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>

namespace kmm_ir
{

// ---- Places and values ----

uint64_t Folding::bit(const Loop *loop) const
{
    int number = a_.loop_number_[loop];
    return number < 64 ? 1ULL << number : 0;
}

uint64_t Folding::around(const BasicBlock *b) const
{
    uint64_t all = 0;
    for (const Loop *l = a_.loops_.getLoopFor(b); l; l = l->getParentLoop())
        all |= bit(l);
    return all;
}

bool Folding::is_target(const Value *pointer)
{
    return a_.origin(pointer) == target_;
}

// True if the instruction gives a value of the target.
bool Folding::is_result(const Instruction *i)
{
    auto *call = dyn_cast<CallBase>(i);
    bool reads = isa<LoadInst>(i) || isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i) ||
                 (call && is_atomic(call));
    return reads && is_target(i->getOperand(0)) && !(in_kernel_ && is_apart(i->getOperand(0)));
}

// True if the pointer and the place lead to different elements, at constant distances.
bool Folding::is_apart(const Value *pointer)
{
    Candidates x = a_.pointers(pointer), y = a_.pointers(place_);
    if (x.size() != 1 || y.size() != 1)
        return false;
    const ir_node_t &a = a_.nodes_.all[x[0].offset], &b = a_.nodes_.all[y[0].offset];
    return a.op == IR_CONST && b.op == IR_CONST && a.value != b.value;
}

bool Folding::is_same_place(const Value *a, const Value *b, int depth)
{
    if (is_same(a, b, depth))
        return true;
    Candidates x = a_.pointers(a), y = a_.pointers(b);
    return x.size() == 1 && y.size() == 1 && x[0].param >= 0 && x[0].param == y[0].param &&
           x[0].member == y[0].member && x[0].offset == y[0].offset;
}

// True if both are computed alike, of the same values. Stores between loads are not looked at.
bool Folding::is_same(const Value *a, const Value *b, int depth)
{
    while (isa<FPExtInst>(a) || isa<SExtInst>(a) || isa<ZExtInst>(a) || isa<BitCastInst>(a))
        a = cast<CastInst>(a)->getOperand(0);
    while (isa<FPExtInst>(b) || isa<SExtInst>(b) || isa<ZExtInst>(b) || isa<BitCastInst>(b))
        b = cast<CastInst>(b)->getOperand(0);
    if (a == b)
        return true;
    auto *x = dyn_cast<Instruction>(a), *y = dyn_cast<Instruction>(b);
    if (!x || !y || depth == 0 || x->getOpcode() != y->getOpcode() || isa<PHINode>(x) ||
        x->getNumOperands() != y->getNumOperands() || x->getType() != y->getType())
        return false;
    if (isa<LoadInst>(x))
        return is_same_place(x->getOperand(0), y->getOperand(0), depth - 1);
    for (unsigned k = 0; k < x->getNumOperands(); k++)
        if (!is_same(x->getOperand(k), y->getOperand(k), depth - 1))
            return false;
    return true;
}

// True if v is what the arm chooses.
bool Folding::is_value_of(const Value *v, const Arm &arm)
{
    if (!arm.is_place)
        return is_same(v, arm.value, MOST_DEPTH);
    while (isa<FPExtInst>(v) || isa<SExtInst>(v) || isa<ZExtInst>(v))
        v = cast<CastInst>(v)->getOperand(0);
    auto *load = dyn_cast<LoadInst>(v);
    return load && is_same_place(load->getPointerOperand(), arm.value, MOST_DEPTH);
}

bool Folding::is_identity(const Value *v) const
{
    auto *i = dyn_cast<ConstantInt>(v);
    auto *f = dyn_cast<ConstantFP>(v);
    auto *c = dyn_cast<Constant>(v);
    if (isa<UndefValue>(v))
        return true;
    switch (op_) {
    case IR_COMBINE_ADD:
    case IR_COMBINE_OR:
    case IR_COMBINE_XOR: return (c && c->isNullValue()) || (f && f->isZero());
    case IR_COMBINE_MUL: return (i && i->isOne()) || (f && f->isExactlyValue(1.0));
    case IR_COMBINE_AND: return (i && i->isMinusOne()) || (i && i->isOne());
    default: return c != nullptr; // combining a constant again changes no extreme
    }
}

// `if (!x) r = 0` is an and, `if (x) r = 1` is an or.
bool Folding::is_absorbing(const Value *v) const
{
    auto *i = dyn_cast<ConstantInt>(v);
    return i && ((op_ == IR_COMBINE_AND && i->isZero()) || (op_ == IR_COMBINE_OR && !i->isZero()));
}

// True if v depends on the old value, or on an accumulator whose loop runs.
bool Folding::is_about_target(const Value *v, std::set<const Value *> &seen)
{
    auto *i = dyn_cast<Instruction>(v);
    auto *phi = dyn_cast<PHINode>(v);
    if (v == old_)
        return true;
    if (!i || !seen.insert(v).second)
        return false;
    if (isa<LoadInst>(i) || is_result(i))
        return is_result(i) || is_shared_result(i);
    if (phi && open_.count(phi))
        return true;
    for (const Use &u : i->operands())
        if (is_about_target(u, seen))
            return true;
    return false;
}

// ---- Conditions ----

// Adds the conditions under which control goes from block `from` to `to` (NULL: to `from`), down
// from `until`. Tests that end loops are left out.
void Folding::conditions(const BasicBlock *from, const BasicBlock *to, const BasicBlock *until,
                         std::vector<Condition> &out)
{
    const auto *first = to ? nullptr : a_.tree_.getNode(from)->getIDom();
    for (const BasicBlock *at = to      ? from
                                : first ? first->getBlock()
                                        : nullptr,
                          *next = to ? to : from;
         at;) {
        auto *branch = dyn_cast<BranchInst>(at->getTerminator());
        const Loop *loop = a_.loops_.getLoopFor(at);
        bool tests_loop = false;
        for (const BasicBlock *s : successors(at))
            tests_loop |= loop && !loop->contains(s) && !(old_ && loop->contains(next));
        bool always = next != to && a_.post_.dominates(next, at);
        if (branch && branch->isConditional() && !tests_loop && !always) {
            const BasicBlock *s[2] = {branch->getSuccessor(0), branch->getSuccessor(1)};
            bool leads[2];
            for (int k = 0; k < 2; k++)
                leads[k] =
                    next == to ? s[k] == next : a_.tree_.dominates(BasicBlockEdge(at, s[k]), next);
            out.push_back({branch->getCondition(), leads[0], leads[0] != leads[1]});
        }
        auto *above = at == until ? nullptr : a_.tree_.getNode(at);
        next = at;
        at = above && above->getIDom() ? above->getIDom()->getBlock() : nullptr;
    }
}

// The operator of the extreme that the condition chooses: `chosen` where it is less, or greater,
// than `other`. other NULL: the old value.
ir_combine_t Folding::extreme_of(const Condition &c, const Arm &chosen, const Arm *other)
{
    auto *test = dyn_cast<CmpInst>(c.value);
    if (!test || !c.is_certain)
        return IR_COMBINE_UNKNOWN;
    const Arm old = {old_ ? old_ : place_, !old_, {}};
    const Arm &second = other ? *other : old;
    CmpInst::Predicate p = c.is_true ? test->getPredicate() : test->getInversePredicate();
    const Value *x = test->getOperand(0), *y = test->getOperand(1);
    if (is_value_of(y, chosen) && is_value_of(x, second))
        p = CmpInst::getSwappedPredicate(p);
    else if (!is_value_of(x, chosen) || !is_value_of(y, second))
        return IR_COMBINE_UNKNOWN;
    out_.is_real |= isa<FCmpInst>(test);
    switch (p) {
    case CmpInst::FCMP_OLT:
    case CmpInst::FCMP_OLE:
    case CmpInst::FCMP_ULT:
    case CmpInst::FCMP_ULE:
    case CmpInst::ICMP_SLT:
    case CmpInst::ICMP_SLE:
    case CmpInst::ICMP_ULT:
    case CmpInst::ICMP_ULE: return IR_COMBINE_MIN;
    case CmpInst::FCMP_OGT:
    case CmpInst::FCMP_OGE:
    case CmpInst::FCMP_UGT:
    case CmpInst::FCMP_UGE:
    case CmpInst::ICMP_SGT:
    case CmpInst::ICMP_SGE:
    case CmpInst::ICMP_UGT:
    case CmpInst::ICMP_UGE: return IR_COMBINE_MAX;
    default: return IR_COMBINE_UNKNOWN;
    }
}

// True if a condition chooses the more extreme of the arm's value and the other. *by receives it.
bool Folding::is_chosen(const Arm &chosen, const Arm *other, const Value **by, bool *wrong)
{
    for (const Condition &c : chosen.when) {
        ir_combine_t found = extreme_of(c, chosen, other);
        if (found == IR_COMBINE_UNKNOWN)
            continue;
        *wrong |= found != op_;
        *by = c.value;
        return true;
    }
    return false;
}

// ---- What is combined ----

// True if the value is 0 or 1.
static bool is_truth(const Value *v)
{
    while (isa<ZExtInst>(v))
        v = cast<CastInst>(v)->getOperand(0);
    return v->getType()->isIntegerTy(1);
}

// `x != y` of numbers that are 0 or 1 is x ^ y, and `x == y` is x ^ y ^ 1. A test against 0 makes
// the old value such a number, which the operator does not.
Folded Folding::fold_difference(const CmpInst *compare)
{
    const Value *x = compare->getOperand(0), *y = compare->getOperand(1);
    auto *zero = dyn_cast<Constant>(y);
    bool tests = zero && zero->isNullValue();
    if (!tests && !(is_truth(x) && is_truth(y)))
        return foreign(compare);
    Folded all = tests ? fold(x) : combine(x, y, compare);
    if (compare->getPredicate() == CmpInst::ICMP_EQ && (all.kind == WITH || all.kind == OWN))
        contribute_new(ConstantInt::get(compare->getType(), 1), compare->getParent());
    return tests && all.kind == WITH && !is_truth(x) ? Folded{UNTOLD, false, 0} : all;
}

bool Folding::reaches_open(const Value *v, std::set<const Value *> &seen)
{
    auto *i = dyn_cast<Instruction>(v);
    if (!i || !seen.insert(v).second || isa<LoadInst>(i))
        return false;
    auto *phi = dyn_cast<PHINode>(v);
    if (phi && open_.count(phi))
        return true;
    for (const Use &u : i->operands())
        if (reaches_open(u, seen))
            return true;
    return false;
}

bool is_of_parameters(const Value *v, int depth)
{
    auto *i = dyn_cast<Instruction>(v);
    if (!i)
        return true;
    if (depth == 0 || isa<PHINode>(i) || isa<LoadInst>(i) || isa<CallBase>(i))
        return false;
    for (const Use &u : i->operands())
        if (!is_of_parameters(u, depth - 1))
            return false;
    return true;
}

static bool needs(const Value *v, const Value *of, std::set<const Value *> &seen)
{
    auto *i = dyn_cast<Instruction>(v);
    if (v == of)
        return true;
    if (!i || isa<LoadInst>(i) || !seen.insert(v).second)
        return false;
    for (const Use &u : i->operands())
        if (needs(u, of, seen))
            return true;
    return false;
}

// `c = (t - sum) - y`, from 0 on, as in Kahan's sums.
static bool is_compensation(const Value *first, const Value *next)
{
    auto *zero = dyn_cast<ConstantFP>(first);
    auto *whole = dyn_cast<BinaryOperator>(next);
    auto *part = whole ? dyn_cast<BinaryOperator>(whole->getOperand(0)) : nullptr;
    return zero && zero->isZero() && part && whole->getOpcode() == Instruction::FSub &&
           part->getOpcode() == Instruction::FSub;
}

// Adds what a loop carries into a value that is combined.
void Folding::contribute_phi(const PHINode *phi, int64_t period)
{
    const Loop *loop = a_.loops_.getLoopFor(phi->getParent());
    std::set<const Value *> seen, met;
    if (!loop || loop->getHeader() != phi->getParent() || !loop->getLoopPreheader() ||
        !loop->getLoopLatch()) {
        std::vector<Condition> when;
        const auto *above = a_.tree_.getNode(phi->getParent())->getIDom();
        for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
            contribute(phi->getIncomingValue(k), period);
            if (above && phi->getNumIncomingValues() > 1)
                conditions(phi->getIncomingBlock(k), phi->getParent(), above->getBlock(), when);
        }
        for (const Condition &c : when)
            if (!is_of_parameters(c.value, MOST_DEPTH))
                contribute(c.value, period);
        return;
    }
    const Value *first = phi->getIncomingValueForBlock(loop->getLoopPreheader()),
                *next = phi->getIncomingValueForBlock(loop->getLoopLatch());
    if (next == phi || isa<Constant>(next)) { // a flag, such as of the first iteration
        if (next != phi)
            out_.kind = std::max(out_.kind, IR_FOLD_UNKNOWN);
    } else if (reaches_open(next, seen)) {
        if (!is_compensation(first, next))
            out_.kind = std::max(out_.kind, IR_FOLD_UNKNOWN);
        return;
    } else if (is_index(next, phi)) {
        if (period > 0) {
            out_.repeated |= bit(loop);
            out_.period = std::max(out_.period, period);
        } else if (period == 0) {
            out_.indexed |= bit(loop);
        }
    } else if (untold_.count(phi)) {
        out_.untold |= bit(loop);
    } else if (isa<LoadInst>(first) && !needs(next, phi, met)) {
        out_.kind = std::max(out_.kind, IR_FOLD_UNKNOWN); // perhaps the element before the chunk
    } else {
        out_.carried |= bit(loop);
        contribute(next, period);
    }
    contribute(first, period);
}

// Adds what a value is computed from that the operator has no part in.
void Folding::contribute(const Value *v, int64_t period)
{
    if (auto *argument = dyn_cast<Argument>(v))
        out_.from |= 1ULL << std::min(argument->getArgNo(), 63u);
    auto *i = dyn_cast<Instruction>(v);
    if (!i || v->getType()->isPointerTy() || !contributed_.insert({v, period != 0}).second)
        return;
    if (int64_t by = period_of(i))
        period = by;
    if (auto *phi = dyn_cast<PHINode>(i))
        return contribute_phi(phi, period);
    if (auto *load = dyn_cast<LoadInst>(i)) { // tables, which no chunk has a part of
        auto *element = dyn_cast<GetElementPtrInst>(load->getPointerOperand());
        if (element && isa<GlobalVariable>(getUnderlyingObject(element)))
            for (const Use &u : element->indices())
                contribute(u, period);
        else if (isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand())))
            out_.kind = std::max(out_.kind, IR_FOLD_UNKNOWN);
        return;
    }
    auto *call = dyn_cast<CallBase>(i);
    const uint64_t from = out_.from;
    for (const Use &u : call ? call->args() : make_range(i->op_begin(), i->op_end()))
        contribute(u, period);
    // A length goes with an array, as in a sum by halves that calls itself.
    if (call && any_of(call->args(), [](const Use &u) { return u->getType()->isPointerTy(); })) {
        out_.from = from;
        out_.kind = std::max(out_.kind, IR_FOLD_UNKNOWN);
    }
}

// True for a product with a constant, which is a sum's if the other factor is.
static bool is_scaled(const Value *v)
{
    auto *b = dyn_cast<BinaryOperator>(v);
    return b && isa<Constant>(b->getOperand(1)) &&
           (b->getOpcode() == Instruction::Mul || b->getOpcode() == Instruction::Shl ||
            b->getOpcode() == Instruction::FMul);
}

// True if an element at a constant index of the program's memory goes into the value.
static bool has_fixed_element(const Value *v, int depth)
{
    auto *i = dyn_cast<Instruction>(v);
    if (auto *load = dyn_cast<LoadInst>(v)) {
        const Value *of = load->getPointerOperand()->stripInBoundsConstantOffsets();
        return isa<Argument>(of) || isa<GlobalVariable>(of);
    }
    if (!i || depth == 0 || isa<PHINode>(i) || v->getType()->isPointerTy())
        return false;
    return any_of(i->operands(), [depth](const Use &u) { return has_fixed_element(u, depth - 1); });
}

// Looks for an element that may be combined once in each call, such as a chunk's first one.
void Folding::look_for_once(const Value *v, const BasicBlock *at)
{
    if (is_additive() && !around(at) && has_fixed_element(v, MOST_DEPTH))
        out_.kind = std::max(out_.kind, IR_FOLD_UNKNOWN);
}

// Adds a value that is combined in the block. begins: an accumulator begins with it, and its loop
// may go on behind that element.
void Folding::contribute_new(const Value *v, const BasicBlock *at, bool begins)
{
    uint64_t loops = around(at);
    if (is_identity(v))
        return;
    if (isa<Constant>(v) && is_additive()) {
        if (out_.once_count < IR_ONCE)
            out_.once[out_.once_count++] = loops;
        return;
    }
    const Value *plain = v;
    while (isa<CastInst>(plain) || is_scaled(plain))
        plain = cast<User>(plain)->getOperand(0);
    auto *argument = dyn_cast<Argument>(plain);
    if (!begins)
        look_for_once(v, at);
    if (argument && op_ == IR_COMBINE_ADD && !loops)
        out_.counted |= 1ULL << std::min(argument->getArgNo(), 63u);
    else
        contribute(v);
}

// True for a test of whether a loop that has ended has left a rest, as `i < n` behind a loop by
// pairs.
bool Folding::tests_rest(const Value *condition) const
{
    auto *test = dyn_cast<ICmpInst>(condition);
    for (unsigned k = 0; test && k < 2; k++) {
        auto *index = dyn_cast<PHINode>(test->getOperand(k));
        while (index && index->getNumIncomingValues() == 1)
            index = dyn_cast<PHINode>(index->getIncomingValue(0));
        const Loop *l = index ? a_.loops_.getLoopFor(index->getParent()) : nullptr;
        if (l && l->getHeader() == index->getParent() && !l->contains(test) && l->getLoopLatch() &&
            is_index(index->getIncomingValueForBlock(l->getLoopLatch()), index))
            return true;
    }
    return false;
}

// False: the condition depends on the old value.
bool Folding::contribute_condition(const Condition &c)
{
    std::set<const Value *> seen;
    if (auto *test = dyn_cast<CmpInst>(c.value)) { // `if (sum != 0)` changes no sum
        bool zero = isa<Constant>(test->getOperand(1)) && is_identity(test->getOperand(1));
        auto *load = dyn_cast<LoadInst>(test->getOperand(0));
        bool local = load && isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand()));
        FoldKind kind = zero && test->isEquality() && (local || isa<PHINode>(test->getOperand(0)))
                            ? fold(test->getOperand(0)).kind
                            : FREE;
        if (kind == OWN || kind == WITH)
            return true;
    }
    if (is_about_target(c.value, seen))
        return false;
    if (tests_rest(c.value)) {
        out_.kind = std::max(out_.kind, IR_FOLD_UNKNOWN);
        return true;
    }
    if (!is_of_parameters(c.value, MOST_DEPTH))
        contribute(c.value);
    return true;
}

} // namespace kmm_ir
