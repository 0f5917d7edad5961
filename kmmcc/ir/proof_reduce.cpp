// SPDX-License-Identifier: Apache-2.0
// Reductions: stores that combine a target's value with what iterations give, by the operator.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/PatternMatch.h>

#include "ir/proof.hpp"

using namespace llvm::PatternMatch;

namespace kmm_ir
{

bool Combining::is_additive() const
{
    return role_->combine == IR_COMBINE_ADD || role_->combine == IR_COMBINE_MUL ||
           role_->combine == IR_COMBINE_XOR;
}

Combining::Kind Combining::refuse(const std::string &reason, const Instruction *at)
{
    if (!why_)
        why_ = Proof::because(reason, at);
    return NO_SUM;
}

bool Combining::is_same_place(const Value *a, const Value *b) const
{
    return a == b ||
           p_.scev_.getSCEV(const_cast<Value *>(a)) == p_.scev_.getSCEV(const_cast<Value *>(b));
}

// True unless `&` or `|` combines numbers other than 0 and 1 for && or ||, which give 0 and 1.
bool Combining::combines_truth(const Instruction *i) const
{
    return !role_->is_logical || any_of(i->operands(), [&](const Value *v) {
        return computeKnownBits(v, p_.layout_).getMaxValue().ule(1);
    });
}

// True for the operator. only_left: the first operand alone may be the accumulated one.
bool Combining::is_operator(const Instruction *i, bool *only_left) const
{
    *only_left = false;
    switch (i->getOpcode()) {
    case Instruction::Sub:
    case Instruction::FSub: *only_left = true; [[fallthrough]];
    case Instruction::Add:
    case Instruction::FAdd: return role_->combine == IR_COMBINE_ADD;
    case Instruction::Mul:
    case Instruction::FMul: return role_->combine == IR_COMBINE_MUL && !role_->is_logical;
    case Instruction::And: return role_->combine == IR_COMBINE_AND && combines_truth(i);
    case Instruction::Or: return role_->combine == IR_COMBINE_OR && combines_truth(i);
    case Instruction::Xor: return role_->combine == IR_COMBINE_XOR;
    default: break;
    }
    auto *call = dyn_cast<CallBase>(i);
    const StringRef name = call ? called(call) : "";
    const bool least = role_->combine == IR_COMBINE_MIN, most = role_->combine == IR_COMBINE_MAX;
    if (name.starts_with(role_->is_unsigned ? "llvm.sm" : "llvm.um"))
        return false;
    for (const char *word : {"llvm.smin", "llvm.umin", "llvm.minnum", "llvm.minimum"})
        if (name.starts_with(word))
            return least;
    for (const char *word : {"llvm.smax", "llvm.umax", "llvm.maxnum", "llvm.maximum"})
        if (name.starts_with(word))
            return most;
    return (least && (name == "fmin" || name == "fminf" || name == "fminl")) ||
           (most && (name == "fmax" || name == "fmaxf" || name == "fmaxl"));
}

static bool is_one(const Value *v)
{
    auto *real = dyn_cast<ConstantFP>(v);
    auto *c = dyn_cast<Constant>(v);
    return real ? real->isExactlyValue(1) : c && c->isOneValue();
}

// With an operator such as min, a value that is combined once more makes no difference.
bool Combining::is_identity(const Value *v) const
{
    auto *c = dyn_cast<Constant>(v);
    if (is_idempotent())
        return p_.mark(v) == nullptr && (c || isa<Instruction>(v) || isa<Argument>(v));
    return role_->combine == IR_COMBINE_MUL ? is_one(v) : c && c->isZeroValue();
}

// True for a constant that changes nothing, wherever it is combined.
bool Combining::is_zero(const Value *v) const
{
    return isa<Constant>(v) && is_additive() && is_identity(v);
}

// True if no condition of the loop but a comparison with what is combined, and the loop's end,
// decides whether an iteration's value is combined.
bool Combining::combines_always(const Loop *l) const
{
    auto compares = [&](const Value *condition) {
        auto *c = dyn_cast<CmpInst>(condition);
        return c && any_of(c->operands(), [&](const Value *v) {
                   auto *phi = dyn_cast<PHINode>(v);
                   return phi && phi->getParent() == l->getHeader() && open_.count(phi);
               });
    };
    for (const BasicBlock *b : l->blocks()) {
        auto *branch = dyn_cast<BranchInst>(b->getTerminator());
        if (!branch ||
            (branch->isConditional() && !l->isLoopExiting(b) && !compares(branch->getCondition())))
            return false;
        for (const Instruction &i : *b)
            if (auto *s = dyn_cast<SelectInst>(&i); s && !compares(s->getCondition()))
                return false;
    }
    return true;
}

// True for the first element of a range all of whose elements are combined, as in `m = x[0]`. Of
// floating-point numbers it may be a NaN, with which nothing compares.
bool Combining::is_first(const Value *v, const Loop *l) const
{
    auto *load = dyn_cast<LoadInst>(v);
    if (!load || !is_idempotent() || !load->getType()->isIntegerTy())
        return false;
    const SCEV *at = p_.scev_.getSCEV(const_cast<Value *>(load->getPointerOperand()));
    return combines_always(l) && any_of(counted_, [&](const Value *c) {
               auto *one = dyn_cast<LoadInst>(c);
               auto *place = one ? dyn_cast<SCEVAddRecExpr>(p_.scev_.getSCEV(
                                       const_cast<Value *>(one->getPointerOperand())))
                                 : nullptr;
               return place && place->getLoop() == l && place->getStart() == at;
           });
}

// The value is of the iteration alone, and only one chunk runs that iteration.
bool Combining::contributes(const Value *v, const Instruction *at)
{
    if (Mark m = p_.mark(v)) {
        why_ = why_ ? why_ : p_.located(m, at);
        return false;
    }
    if (!is_idempotent() && !p_.is_within(at->getParent())) {
        refuse("combines a value outside of a loop over the range, so once in each chunk", at);
        return false;
    }
    counted_.insert(v);
    return true;
}

Combining::Kind Combining::combine(const Value *a, const Value *b, const Instruction *at)
{
    const Kind x = kind(a, at), y = kind(b, at);
    if (x == NO_SUM || y == NO_SUM)
        return NO_SUM;
    if (x == FREE_VALUE && y == FREE_VALUE)
        return FREE_VALUE;
    if (x == FREE_VALUE || y == FREE_VALUE) {
        const Value *free = x == FREE_VALUE ? a : b;
        if ((!is_zero(free) && !contributes(free, at)) || !joins(a, b, at))
            return NO_SUM;
        return x == FREE_VALUE ? y : x;
    }
    if (is_additive() && (a == b || (x == FROM_TARGET && y == FROM_TARGET)))
        return refuse("combines a partial result with itself", at);
    if (!joins(a, b, at))
        return NO_SUM;
    return x == FROM_TARGET || y == FROM_TARGET ? FROM_TARGET : FROM_IDENTITY;
}

// True for `chosen < other ? chosen : other` of min, and the like.
bool Combining::is_least(const Value *condition, const Value *chosen, const Value *other) const
{
    auto *c = dyn_cast<CmpInst>(condition);
    return c && is_least(c->getPredicate(), c->getOperand(0), c->getOperand(1), chosen, other);
}

bool Combining::is_least(CmpInst::Predicate is, const Value *a, const Value *b, const Value *chosen,
                         const Value *other) const
{
    if (role_->combine != IR_COMBINE_MIN && role_->combine != IR_COMBINE_MAX)
        return false;
    if (a == other && b == chosen)
        is = CmpInst::getSwappedPredicate(is);
    else if (a != chosen || b != other)
        return false;
    if (role_->is_unsigned ? CmpInst::isSigned(is) : CmpInst::isUnsigned(is))
        return false;
    const bool or_equal = !role_->is_pair; // of equal values with an index, the first stays
    const bool less = is == CmpInst::FCMP_OLT || is == CmpInst::ICMP_SLT ||
                      is == CmpInst::ICMP_ULT ||
                      (or_equal && (is == CmpInst::FCMP_OLE || is == CmpInst::ICMP_SLE ||
                                    is == CmpInst::ICMP_ULE)),
               more = is == CmpInst::FCMP_OGT || is == CmpInst::ICMP_SGT ||
                      is == CmpInst::ICMP_UGT ||
                      (or_equal && (is == CmpInst::FCMP_OGE || is == CmpInst::ICMP_SGE ||
                                    is == CmpInst::ICMP_UGE));
    return role_->combine == IR_COMBINE_MIN ? less : more;
}

// `p && q` and `p || q`, where p is accumulated, and perhaps q. FREE_VALUE: it is no such choice.
Combining::Kind Combining::kind_of_truth(const Value *condition, const Value *yes, const Value *no,
                                         const Instruction *at)
{
    auto *zero = dyn_cast<Constant>(no);
    const bool is_and = role_->combine == IR_COMBINE_AND && zero && zero->isZeroValue(),
               is_or = role_->combine == IR_COMBINE_OR && is_one(yes);
    if (!role_->is_logical || (!is_and && !is_or) || !p_.mark(condition))
        return FREE_VALUE;
    const Mark before = why_;
    const Kind k = combine(condition, is_and ? yes : no, at);
    if (k == NO_SUM)
        why_ = before;
    const Partials running = partials(condition, at);
    partials_[at].insert(running.begin(), running.end());
    return k == NO_SUM ? FREE_VALUE : k;
}

// The part of `good && x < m`, and of `bad || m < x`, that is about what is combined: where the
// other part alone decides, what is combined stays. Otherwise the condition.
const Value *Combining::comparing_part(const Value *condition, bool stays_if_no) const
{
    const Value *a = nullptr, *b = nullptr;
    if (stays_if_no ? !match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
                    : !match(condition, m_LogicalOr(m_Value(a), m_Value(b))))
        return condition;
    return p_.mark(a) == nullptr ? b : p_.mark(b) == nullptr ? a : condition;
}

Combining::Kind Combining::kind_of_choice(const Value *condition, const Value *yes, const Value *no,
                                          const Instruction *at)
{
    const Kind x = kind(yes, at), y = kind(no, at);
    if (x == NO_SUM || y == NO_SUM)
        return NO_SUM;
    if (is_idempotent() && !role_->is_logical && (x == FREE_VALUE) != (y == FREE_VALUE))
        condition = comparing_part(condition, x == FREE_VALUE);
    const Kind truth = kind_of_truth(condition, yes, no, at);
    if (truth != FREE_VALUE || (x == FREE_VALUE && y == FREE_VALUE))
        return truth;
    const bool is_sum = x != FREE_VALUE && y != FREE_VALUE;
    auto *c = dyn_cast<CmpInst>(condition);
    const bool whole = c && c->getOperand(0)->getType()->isIntegerTy();
    bool least = x == FREE_VALUE && is_least(condition, yes, no);
    // `m < x ? m : x`; of floating-point numbers, this forgets m where x is a NaN
    if (y == FREE_VALUE && whole && !role_->is_pair)
        least = is_least(condition, yes, no);
    if (least)
        return contributes(x == FREE_VALUE ? yes : no, at) ? (x == FREE_VALUE ? y : x) : NO_SUM;
    if (is_least(condition, yes, no) && !role_->is_pair) {
        if (is_sum && (x == FROM_IDENTITY || y == FROM_IDENTITY)) // these are numbers
            return x == y ? x : FROM_TARGET;
        if (y == FREE_VALUE)
            return refuse("forgets what it has combined where the next value is a NaN", at);
    }
    if (Mark m = p_.mark(condition)) {
        why_ = why_ ? why_ : p_.located(m, at);
        return NO_SUM;
    }
    if (is_sum)
        return x == y && chooses(yes, no, at) ? x : NO_SUM;
    if (is_zero(x == FREE_VALUE ? yes : no) && is_complete(x == FREE_VALUE ? no : yes, at))
        return (x == FREE_VALUE ? y : x) == FROM_IDENTITY
                   ? FROM_IDENTITY
                   : refuse("replaces what it has combined so far", at);
    // && and ||: a constant that decides the result
    auto *decides = dyn_cast<Constant>(x == FREE_VALUE ? yes : no);
    if (decides && ((role_->combine == IR_COMBINE_AND && decides->isZeroValue()) ||
                    (role_->combine == IR_COMBINE_OR && role_->is_logical && is_one(decides))))
        return x == FREE_VALUE ? y : x;
    return refuse("replaces what it has combined so far", at);
}

Combining::Kind Combining::kind_of_header(const PHINode *phi, const Loop *l)
{
    if (!l->getLoopPreheader() || !l->getLoopLatch())
        return refuse("combines values in a loop with several entries", phi);
    const Value *first = phi->getIncomingValueForBlock(l->getLoopPreheader()),
                *next = phi->getIncomingValueForBlock(l->getLoopLatch());
    if (!p_.mark(phi))
        return FREE_VALUE;
    Kind begin = kind(first, phi);
    const Mark before = why_;
    const bool is_other = begin == NO_SUM || (begin == FREE_VALUE && !is_identity(first));
    why_ = begin == NO_SUM && isa<LoadInst>(first) ? before : why_;
    if (begin == NO_SUM && !isa<LoadInst>(first))
        return NO_SUM;
    begin = begin == FROM_TARGET ? begin : FROM_IDENTITY;
    open_[phi] = begin;
    partials_[phi] = {phi};
    Kind then = kind(next, phi);
    if (then == begin && !partials(next, phi).count(phi))
        then = refuse("carries a value that it does not only combine by the operator", phi);
    if (then == begin && is_other && isa<LoadInst>(first) && is_idempotent() &&
        first->getType()->isFloatingPointTy()) {
        why_ = Proof::because("begins with an element that may be a NaN, as which it stays", phi);
        return NO_SUM;
    }
    if (then == begin && is_other && !is_first(first, l))
        return refuse("begins what it combines with another value than the operator's identity "
                      "or the target's value",
                      phi);
    if (then != begin) {
        open_.erase(phi);
        return refuse("carries a value that it does not only combine by the operator", phi);
    }
    return begin;
}

// Why a loop that ends in the block may have another number of iterations in a chunk.
Mark Combining::mark_of_exit(const BasicBlock *from, const PHINode *phi) const
{
    const Loop *l = p_.loops_.getLoopFor(from);
    if (!l || l->contains(phi))
        return nullptr;
    auto at = p_.divided_.find(l);
    const Instruction *t = from->getTerminator();
    if (Mark m = p_.mark_of_block(from))
        return m;
    return (at != p_.divided_.end() && at->second.exiting == from) || t->getNumSuccessors() < 2
               ? nullptr
               : p_.mark(t->getOperand(0));
}

// True if the phi has its k-th value only where the branch goes this way.
bool Combining::comes_by(const BranchInst *branch, unsigned way, const PHINode *phi,
                         unsigned k) const
{
    const BasicBlock *above = branch->getParent(), *from = phi->getIncomingBlock(k),
                     *to = branch->getSuccessor(way);
    return from == above ? to == phi->getParent() && branch->getSuccessor(1 - way) != to
                         : p_.tree_.dominates(BasicBlockEdge(above, to), from);
}

Combining::Kind Combining::kind_of_phi(const PHINode *phi)
{
    const Loop *l = p_.loops_.getLoopFor(phi->getParent());
    if (l && l->getHeader() == phi->getParent())
        return kind_of_header(phi, l);
    for (const BasicBlock *from : phi->blocks())
        if (Mark m = mark_of_exit(from, phi))
            return refuse(m->reason, m->at ? m->at : phi);
    if (phi->getNumIncomingValues() == 1)
        return kind(phi->getIncomingValue(0), phi);
    if (phi->getNumIncomingValues() == 2) {
        const auto *above = p_.tree_.getNode(phi->getParent())->getIDom();
        auto *branch = above ? dyn_cast<BranchInst>(above->getBlock()->getTerminator()) : nullptr;
        for (unsigned k = 0; branch && branch->isConditional() && k < 2; k++)
            if (comes_by(branch, 0, phi, k) && comes_by(branch, 1, phi, 1 - k))
                return kind_of_choice(branch->getCondition(), phi->getIncomingValue(k),
                                      phi->getIncomingValue(1 - k), phi);
    }
    Kind all = FREE_VALUE;
    for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
        const BasicBlock *from = phi->getIncomingBlock(k);
        const Kind x = kind(phi->getIncomingValue(k), phi);
        Mark m = p_.mark_of_block(from);
        if (from->getTerminator()->getNumSuccessors() > 1)
            m = m ? m : p_.mark(from->getTerminator()->getOperand(0));
        const bool is_other =
            k && (x != all || !chooses(phi->getIncomingValue(0), phi->getIncomingValue(k), phi));
        if (x == NO_SUM || is_other || (m && x != FREE_VALUE)) {
            why_ = why_ ? why_ : m ? p_.located(m, phi) : nullptr;
            return refuse("replaces what it has combined so far", phi);
        }
        all = x;
    }
    return all;
}

Combining::Kind Combining::kind_of_new(const Instruction *i)
{
    bool only_left = false;
    if (auto *phi = dyn_cast<PHINode>(i))
        return kind_of_phi(phi);
    if (auto *s = dyn_cast<SelectInst>(i))
        return kind_of_choice(s->getCondition(), s->getTrueValue(), s->getFalseValue(), s);
    if (is_operator(i, &only_left)) {
        const Value *right = i->getOperand(1);
        if (only_left && kind(right, i) != FREE_VALUE &&
            (kind(right, i) != FROM_IDENTITY || !is_complete(right, i)))
            return refuse("subtracts what it has combined so far", i);
        return combine(i->getOperand(0), right, i);
    }
    if (role_->is_logical && p_.mark(i) &&
        (i->getOpcode() == Instruction::And || i->getOpcode() == Instruction::Or))
        return refuse("combines bits of numbers, where && and || combine 0 and 1", i);
    auto *call = dyn_cast<CallBase>(i);
    if (call && called(call).starts_with("llvm.fmuladd") && role_->combine == IR_COMBINE_ADD)
        return kind_of_fused(call);
    if (Kind linear = kind_of_linear(i))
        return linear;
    if (isa<FreezeInst>(i) || (isa<CastInst>(i) && role_->is_logical))
        return kind(i->getOperand(0), i);
    // The truth of a number, which is combined by && or ||.
    auto *truth = dyn_cast<CmpInst>(i);
    if (truth && role_->is_logical &&
        (truth->getPredicate() == CmpInst::ICMP_NE || truth->getPredicate() == CmpInst::FCMP_UNE) &&
        isa<Constant>(truth->getOperand(1)) && cast<Constant>(truth->getOperand(1))->isZeroValue())
        return kind(truth->getOperand(0), i);
    Mark m = p_.mark(i);
    if (m && !why_)
        why_ = p_.located(m, i);
    return m ? NO_SUM : FREE_VALUE;
}

Combining::Kind Combining::kind(const Value *v, const Instruction *user)
{
    auto at = open_.find(v);
    if (at != open_.end())
        return at->second;
    auto *i = dyn_cast<Instruction>(v);
    auto *load = dyn_cast<LoadInst>(v);
    if (load && p_.target(load->getPointerOperand()) == role_) {
        // What an iteration begins with is what the one before has stored, if it loads it itself.
        const Loop *l = p_.loops_.getLoopFor(user->getParent());
        if (l && !l->contains(load) && !(isa<PHINode>(user) && l->getHeader() == user->getParent()))
            return refuse("combines with the target's value of before a loop", load);
        const bool same = load->isSimple() && is_same_place(load->getPointerOperand(), place_);
        return same ? FROM_TARGET : refuse("reads what it reduces", load);
    }
    if (!i || !p_.mark(i)) {
        if (Mark m = p_.mark(v))
            return refuse(m->reason, m->at ? m->at : user);
        return FREE_VALUE;
    }
    Kind k = load && is_local_sum(load) ? FROM_IDENTITY : kind_of_new(i);
    for (const Value *part : i->operands())
        if (Partials running = partials(part, i); !running.empty() && !open_.count(v))
            partials_[v].insert(running.begin(), running.end());
    if (k == FREE_VALUE) // what is accumulated has no part in it, and yet it may be another value
        k = refuse(p_.mark(i)->reason, p_.mark(i)->at ? p_.mark(i)->at : user);
    return open_[v] = k;
}

// True for `if (any) *t = 1` of ||, and `if (!all) *t = 0` of &&, where `any` and `all` are
// accumulated by the operator.
bool Combining::is_truth_of_sum(const Value *condition, bool when, const StoreInst *store)
{
    auto *test = dyn_cast<ICmpInst>(condition);
    const bool is_number = test && isa<Constant>(test->getOperand(1)) &&
                           cast<Constant>(test->getOperand(1))->isNullValue() && test->isEquality();
    if (is_number && test->getPredicate() == CmpInst::ICMP_EQ)
        when = !when;
    const Mark before = why_;
    const Kind k = kind(is_number ? test->getOperand(0) : condition, store);
    why_ = before;
    return when == (role_->combine == IR_COMBINE_OR) && k == FROM_IDENTITY;
}

// `if (x < *m) *m = x`, `if (!good) *all = 0`.
Mark Combining::run_guarded(const StoreInst *store, Kind kind)
{
    const Value *v = store->getValueOperand();
    const BasicBlock *b = store->getParent();
    auto *c = dyn_cast<Constant>(v);
    const bool decides = c && ((role_->combine == IR_COMBINE_AND && c->isZeroValue()) ||
                               (role_->combine == IR_COMBINE_OR && role_->is_logical && is_one(c)));
    auto at = p_.decided_by_.find(b);
    bool compares = false, all_are_sums = true;
    for (const BasicBlock *by :
         at == p_.decided_by_.end() ? std::vector<const BasicBlock *>() : at->second) {
        auto *branch = dyn_cast<BranchInst>(by->getTerminator());
        all_are_sums &= branch && !p_.mark_of_block(by);
        if (!branch || !branch->isConditional() || p_.is_bound(by) ||
            !p_.mark(branch->getCondition()))
            continue;
        auto *test = dyn_cast<CmpInst>(branch->getCondition());
        const bool when = p_.tree_.dominates(BasicBlockEdge(by, branch->getSuccessor(0)), b);
        all_are_sums &= is_truth_of_sum(branch->getCondition(), when, store);
        for (unsigned k = 0; test && k < 2; k++) {
            auto *old = dyn_cast<LoadInst>(test->getOperand(k));
            compares |= when && old && is_same_place(old->getPointerOperand(), place_) &&
                        test->getOperand(1 - k) == v && is_least(test, v, old) &&
                        !p_.mark_of_block(by);
        }
    }
    if (decides && (!p_.mark_of_block(b) || all_are_sums))
        return nullptr;
    if (compares && (kind == FROM_IDENTITY || contributes(v, store)))
        return nullptr;
    if (Mark m = p_.mark(v))
        return why_ ? why_ : m;
    return why_ ? why_
                : Proof::because("stores to a reduction's target what is not combined by the "
                                 "operator",
                                 store);
}

Mark Combining::run(const StoreInst *store)
{
    place_ = store->getPointerOperand();
    if (Mark m = p_.mark(place_))
        return m;
    if (role_->is_pair)
        return run_pair(store);
    const Type *t = store->getValueOperand()->getType();
    if (role_->element_bytes &&
        (t->isFloatingPointTy() != (role_->is_real != 0) ||
         p_.layout_.getTypeStoreSize(const_cast<Type *>(t)) != (uint64_t)role_->element_bytes))
        return Proof::because("stores to a reduction's target as another type than the clause's",
                              store);
    const Kind k = kind(store->getValueOperand(), store);
    if (k != FROM_TARGET)
        return run_guarded(store, k);
    return p_.mark_of_block(store->getParent());
}

Mark Combining::run_atomic(const AtomicRMWInst *a)
{
    place_ = a->getPointerOperand();
    Mark m = p_.mark(place_);
    m = m ? m : p_.mark_of_block(a->getParent());
    if (combine_of(a) != role_->combine || !a->use_empty() || role_->is_pair || role_->is_logical)
        return Proof::because("changes a reduction's target otherwise than by the operator", a);
    return m ? m : contributes(a->getValOperand(), a) ? nullptr : why_;
}

} // namespace kmm_ir
