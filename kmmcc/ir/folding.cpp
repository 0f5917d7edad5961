// SPDX-License-Identifier: Apache-2.0
// Whether a store combines the old value of its place with others by one operator: directly, by
// conditions such as `if (x > *m) *m = x`, or through local accumulators.
#include "ir/folding.hpp"

namespace kmm_ir
{

// ---- The operator ----

Folded Folding::fold_place(const Value *pointer)
{
    if (is_target(pointer)) {
        if (is_same_place(pointer, place_, MOST_DEPTH))
            return {WITH, false, 0};
        out_.is_read = 1;
        return {UNTOLD, false, 0};
    }
    for (const Candidate &c : a_.pointers(pointer))
        if (c.param == target_.first && c.member == target_.second)
            return {UNTOLD, false, 0};
    bool local = isa<AllocaInst>(getUnderlyingObject(pointer));
    return {local ? UNTOLD : FREE, false, 0};
}

// Two values that the operator combines.
Folded Folding::combine(const Value *a, const Value *b, const Instruction *at)
{
    Folded x = fold(a), y = fold(b);
    if (x.kind == OTHER || y.kind == OTHER)
        return {OTHER, false, 0};
    if (x.kind == UNTOLD || y.kind == UNTOLD)
        return {UNTOLD, false, 0};
    if (x.kind == FREE && y.kind == FREE)
        return {FREE, false, 0};
    bool twice = (x.kind == WITH && y.kind == WITH) || (x.open && y.open);
    if (twice && is_additive())
        return {OTHER, false, 0};
    if (x.kind == FREE)
        contribute_new(a, at->getParent());
    if (y.kind == FREE)
        contribute_new(b, at->getParent());
    out_.is_real |= at->getType()->isFloatingPointTy();
    return {x.kind == WITH || y.kind == WITH ? WITH : OWN, x.open || y.open, x.acc | y.acc};
}

// A sum times a number is the sum of such products, once it is complete.
Folded Folding::scale(const Value *v, const Value *by, const Instruction *at)
{
    Folded x = fold(v), y = fold(by);
    if (x.kind != OWN || x.open || y.kind != FREE)
        return foreign(at);
    contribute(by);
    return x;
}

// Functions that the compiler knows as well as an operator.
static bool is_arithmetic(const CallBase *call)
{
    static const char *const words[] = {"sqrt", "cbrt", "exp",   "log",  "fabs",  "pow",  "sin",
                                        "cos",  "tanh", "hypot", "fmod", "floor", "fmin", "fmax"};
    const Function *callee = call->getCalledFunction();
    StringRef name = callee ? callee->getName() : "";
    for (const char *word : words)
        if (name == word || name == std::string(word) + "f")
            return true;
    return isa<IntrinsicInst>(call);
}

// The operator has no part in the instruction.
Folded Folding::foreign(const Instruction *i)
{
    auto *call = dyn_cast<CallBase>(i);
    FoldKind kind = FREE;
    bool seen_code = !call || is_arithmetic(call);
    for (const Use &u : call ? call->args() : make_range(i->op_begin(), i->op_end())) {
        Folded x = fold(u);
        if (x.kind == WITH || x.open)
            x.kind = (is_additive() || x.kind == OWN) && seen_code ? OTHER : UNTOLD;
        else if (x.kind == OWN)
            out_.carried |= x.acc;
        kind = x.kind == OTHER || x.kind == UNTOLD ? std::max(kind, x.kind) : kind;
    }
    return {kind, false, 0};
}

static bool is_factor_one(const Value *v)
{
    auto *i = dyn_cast<ConstantInt>(v);
    auto *f = dyn_cast<ConstantFP>(v);
    return (i && i->isOne()) || (f && f->isExactlyValue(1.0));
}

Folded Folding::fold_binary(const BinaryOperator *b)
{
    const Value *x = b->getOperand(0), *y = b->getOperand(1);
    const bool adds = op_ == IR_COMBINE_ADD;
    switch (b->getOpcode()) {
    case Instruction::Add:
    case Instruction::FAdd: return adds ? combine(x, y, b) : foreign(b);
    case Instruction::Sub:
    case Instruction::FSub:
        if (!adds)
            return foreign(b);
        return fold(y).kind == WITH || fold(y).open ? foreign(b) : combine(x, y, b);
    case Instruction::Mul:
    case Instruction::FMul:
        if (op_ == IR_COMBINE_MUL)
            return combine(x, y, b);
        if (is_factor_one(y))
            return fold(x);
        return !adds ? foreign(b) : fold(x).kind == FREE ? scale(y, x, b) : scale(x, y, b);
    case Instruction::FDiv:
        if (op_ == IR_COMBINE_MUL)
            return fold(y).kind == FREE ? combine(x, y, b) : foreign(b);
        return adds ? scale(x, y, b) : foreign(b);
    case Instruction::And: return op_ == IR_COMBINE_AND ? combine(x, y, b) : foreign(b);
    case Instruction::Or: return op_ == IR_COMBINE_OR ? combine(x, y, b) : foreign(b);
    case Instruction::Xor: return op_ == IR_COMBINE_XOR ? combine(x, y, b) : foreign(b);
    default: return foreign(b);
    }
}

// a * b + c.
Folded Folding::fold_product_and_sum(const CallBase *call)
{
    Folded x = fold(call->getArgOperand(2));
    uint64_t acc[2];
    for (unsigned k = 0; k < 2; k++) {
        Folded factor = fold(call->getArgOperand(k));
        if (op_ != IR_COMBINE_ADD || factor.kind >= WITH || factor.open)
            return foreign(call);
        acc[k] = factor.acc;
    }
    if (x.kind == FREE && !acc[0] && !acc[1])
        return x;
    if (acc[0] && acc[1])
        out_.carried |= acc[0] | acc[1]; // a product of two sums
    for (unsigned k = 0; k < 2 && !acc[0] && !acc[1]; k++)
        look_for_once(call->getArgOperand(k), call->getParent());
    for (const Use &u : call->args())
        if (fold(u).kind == FREE)
            contribute(u);
    return {x.kind == FREE ? OWN : x.kind, x.open, x.acc | acc[0] | acc[1]};
}

Folded Folding::fold_call(const CallBase *call)
{
    const Function *callee = call->getCalledFunction();
    StringRef name = callee ? callee->getName() : "";
    bool least = name.starts_with("llvm.smin") || name.starts_with("llvm.umin") ||
                 name.starts_with("llvm.min") || name == "fmin" || name == "fminf" ||
                 name == "fminl",
         most = name.starts_with("llvm.smax") || name.starts_with("llvm.umax") ||
                name.starts_with("llvm.max") || name == "fmax" || name == "fmaxf" ||
                name == "fmaxl";
    if (name.starts_with("llvm.fmuladd") || name.starts_with("llvm.fma."))
        return fold_product_and_sum(call);
    if ((!least && !most) || !is_extreme())
        return foreign(call);
    Folded x = combine(call->getArgOperand(0), call->getArgOperand(1), call);
    if (x.kind == WITH || x.kind == OWN) {
        if (least != (op_ == IR_COMBINE_MIN))
            return {OTHER, false, 0};
        out_.takes_number |= !call->getType()->isIntOrIntVectorTy() && !name.contains("imum.");
    }
    return x;
}

Folded Folding::fold_cast(const CastInst *cast)
{
    Folded x = fold(cast->getOperand(0));
    bool rounds = isa<FPToSIInst>(cast) || isa<FPToUIInst>(cast);
    bool other_bits = isa<BitCastInst>(cast) && !cast->getType()->isVectorTy() && !old_;
    if (x.kind == FREE || x.kind == OTHER || (!other_bits && (!rounds || is_extreme())))
        return x;
    return {UNTOLD, false, 0};
}

// `r != 0` of a number that is 0 or 1 is the number.
Folded Folding::fold_compare(const CmpInst *compare)
{
    if (op_ == IR_COMBINE_XOR && compare->isEquality() && isa<ICmpInst>(compare))
        return fold_difference(compare);
    auto *zero = dyn_cast<Constant>(compare->getOperand(1));
    bool truth = !is_additive() && compare->getPredicate() == CmpInst::ICMP_NE && zero &&
                 zero->isNullValue();
    return truth ? fold(compare->getOperand(0)) : foreign(compare);
}

// What is loaded; of a pointer that is one of several, one of several values.
Folded Folding::fold_load(const LoadInst *load)
{
    const Value *p = load->getPointerOperand();
    std::vector<Arm> arms;
    if (auto *s = dyn_cast<SelectInst>(p))
        arms = {{s->getTrueValue(), true, {{s->getCondition(), true, true}}},
                {s->getFalseValue(), true, {{s->getCondition(), false, true}}}};
    auto *phi = dyn_cast<PHINode>(p);
    const Loop *loop = phi ? a_.loops_.getLoopFor(phi->getParent()) : nullptr;
    const auto *above = phi ? a_.tree_.getNode(phi->getParent())->getIDom() : nullptr;
    if (above && !(loop && loop->getHeader() == phi->getParent()))
        for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
            arms.push_back({phi->getIncomingValue(k), true, {}});
            conditions(phi->getIncomingBlock(k), phi->getParent(), above->getBlock(),
                       arms.back().when);
        }
    auto *local = dyn_cast<AllocaInst>(getUnderlyingObject(p));
    return arms.size() > 1 ? merge(arms) : local ? fold_local(load, local) : fold_place(p);
}

Folded Folding::fold(const Value *v)
{
    auto *i = dyn_cast<Instruction>(v);
    if (++steps_ > MOST_STEPS)
        return {UNTOLD, false, 0};
    if (v == old_)
        return {WITH, false, 0};
    if (!i || v->getType()->isPointerTy())
        return {FREE, false, 0};
    const Instruction *outer = at_;
    auto *phi = dyn_cast<PHINode>(i);
    const Loop *loop = phi ? a_.loops_.getLoopFor(phi->getParent()) : nullptr;
    if (loop && loop->getHeader() == phi->getParent() && loop->contains(at_) && !open_.count(phi))
        return {FREE, false, 0}; // the loop still runs
    at_ = i;
    Folded x = fold_new(i);
    at_ = outer;
    return x;
}

Folded Folding::fold_new(const Instruction *i)
{
    if (auto *phi = dyn_cast<PHINode>(i))
        return fold_phi(phi);
    if (auto *s = dyn_cast<SelectInst>(i))
        return merge({{s->getTrueValue(), false, {{s->getCondition(), true, true}}},
                      {s->getFalseValue(), false, {{s->getCondition(), false, true}}}});
    if (auto *load = dyn_cast<LoadInst>(i))
        return fold_load(load);
    if (auto *b = dyn_cast<BinaryOperator>(i))
        return fold_binary(b);
    if (auto *cast = dyn_cast<CastInst>(i))
        return fold_cast(cast);
    if (auto *compare = dyn_cast<CmpInst>(i))
        return fold_compare(compare);
    if (isa<FreezeInst>(i) || isa<ExtractElementInst>(i) ||
        (i->getOpcode() == Instruction::FNeg && op_ == IR_COMBINE_ADD &&
         !fold(i->getOperand(0)).open && fold(i->getOperand(0)).kind != WITH))
        return fold(i->getOperand(0));
    if (auto *call = dyn_cast<CallBase>(i))
        return fold_call(call);
    return foreign(i);
}

// One of several values.
Folded Folding::merge(const std::vector<Arm> &arms)
{
    std::vector<Folded> folded;
    bool same = true, open = false;
    uint64_t acc = 0;
    for (const Arm &a : arms) {
        folded.push_back(a.is_place ? fold_place(a.value) : fold(a.value));
        if (folded.back().kind >= OTHER)
            return {folded.back().kind, false, 0};
        same &= folded.back().kind == folded[0].kind;
        open |= folded.back().open;
        acc |= folded.back().acc;
    }
    if (same && folded[0].kind == FREE)
        return folded[0];
    if (!same || is_extreme())
        return merge_mixed(arms, folded);
    for (const Arm &a : arms)
        for (const Condition &c : a.when)
            if (!contribute_condition(c))
                return {UNTOLD, false, 0};
    return {folded[0].kind, open, acc};
}

// Some of the values have the old value or the accumulator in them, and the others are new.
Folded Folding::merge_mixed(const std::vector<Arm> &arms, const std::vector<Folded> &folded)
{
    Folded all = {OWN, false, 0};
    size_t old = 0;
    for (size_t k = 0; k < arms.size(); k++) {
        all.open |= folded[k].open;
        all.acc |= folded[k].acc;
        if (folded[k].kind == WITH || (folded[k].open && all.kind != WITH) ||
            (folded[old].kind == FREE && folded[k].kind == OWN)) {
            all.kind = folded[k].kind == WITH ? WITH : all.kind;
            old = k;
        }
    }
    std::set<const Value *> used;
    for (size_t k = 0; k < arms.size(); k++) {
        const Value *by = nullptr;
        bool wrong = false, alike = folded[k].kind == all.kind && folded[k].open == all.open;
        if (is_extreme() && k != old && is_chosen(arms[k], &arms[old], &by, &wrong)) {
            if (wrong)
                return {OTHER, false, 0};
            used.insert(by);
        } else if (!alike && is_additive() && (all.kind == WITH || all.open)) {
            return {folded[k].kind == FREE ? OTHER : UNTOLD, false, 0};
        } else if (!alike && (all.kind == WITH || all.open) && !is_absorbing(arms[k].value)) {
            return {UNTOLD, false, 0};
        }
        if (folded[k].kind == FREE && !arms[k].is_place && !is_identity(arms[k].value))
            contribute(arms[k].value);
    }
    for (const Arm &a : arms)
        for (const Condition &c : a.when)
            if (!used.count(c.value) && !contribute_condition(c))
                return {UNTOLD, false, 0};
    return all;
}

Folded Folding::fold_header(const PHINode *phi, const Loop *loop)
{
    auto at = open_.find(phi);
    if (at != open_.end())
        return at->second;
    if (!loop->getLoopPreheader() || !loop->getLoopLatch())
        return {UNTOLD, false, 0};
    const Value *first = phi->getIncomingValueForBlock(loop->getLoopPreheader()),
                *next = phi->getIncomingValueForBlock(loop->getLoopLatch());
    const ir_fold_t before = out_;
    const auto contributed = contributed_;
    Folded begin = fold(first);
    if (begin.kind >= OTHER)
        return begin;
    if (begin.kind == FREE)
        contribute_new(first, loop->getLoopPreheader(), true);
    Folded now = {begin.kind == WITH ? WITH : OWN, true, begin.acc};
    open_[phi] = now;
    Folded then = fold(next);
    open_.erase(phi);
    if (then.kind == now.kind && then.open)
        return {now.kind, begin.open, then.acc | bit(loop)};
    out_ = before; // it is no accumulator of the operator
    contributed_ = contributed;
    if (begin.kind == WITH || then.kind == WITH)
        return {then.kind == OTHER ? OTHER : UNTOLD, false, 0};
    if (then.kind == UNTOLD)
        untold_.insert(phi);
    return {FREE, false, 0};
}

Folded Folding::fold_phi(const PHINode *phi)
{
    const Loop *loop = a_.loops_.getLoopFor(phi->getParent());
    if (loop && loop->getHeader() == phi->getParent())
        return fold_header(phi, loop);
    if (phi->getNumIncomingValues() == 1)
        return fold(phi->getIncomingValue(0));
    const auto *above = a_.tree_.getNode(phi->getParent())->getIDom();
    std::vector<Arm> arms;
    for (unsigned k = 0; k < phi->getNumIncomingValues() && above; k++) {
        arms.push_back({phi->getIncomingValue(k), false, {}});
        conditions(phi->getIncomingBlock(k), phi->getParent(), above->getBlock(), arms.back().when);
    }
    return arms.empty() ? Folded{UNTOLD, false, 0} : merge(arms);
}

// ---- A store ----

// The variable of a block's shared memory to which the pointer leads; NULL: it is no such pointer.
static const Value *shared_variable(const Value *pointer)
{
    auto *variable = dyn_cast<GlobalVariable>(getUnderlyingObject(pointer));
    enum { SHARED = 3 };
    return variable && variable->getAddressSpace() == SHARED ? variable : nullptr;
}

bool Folding::is_shared_result(const Instruction *i)
{
    auto *call = dyn_cast<CallBase>(i);
    bool reads = isa<LoadInst>(i) || isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i) ||
                 (call && is_atomic(call));
    const Value *variable = reads ? shared_variable(i->getOperand(0)) : nullptr;
    return variable && shared_.count(variable);
}

// Adds the loads of a variable of shared memory that gets a value of the target.
void Folding::share_result(const Value *pointer, std::vector<const Instruction *> &left)
{
    const Value *variable = shared_variable(pointer);
    if (!variable || !shared_.insert(variable).second)
        return;
    for (const BasicBlock &b : a_.f_)
        for (const Instruction &i : b)
            if (is_shared_result(&i))
                left.push_back(&i);
}

// True if the atomic operation on the target combines the value with it.
bool Folding::is_operand(const User *u, const Instruction *value)
{
    auto *call = dyn_cast<CallBase>(u);
    bool combines = isa<AtomicRMWInst>(u) || (call && is_atomic(call) && call->arg_size() == 2);
    return combines && u->getOperand(1) == value && is_target(u->getOperand(0));
}

// True if the instruction stores to the pointer.
static bool is_place(const User *u, const Value *pointer)
{
    auto *store = dyn_cast<StoreInst>(u);
    auto *call = dyn_cast<CallBase>(u);
    return store ? store->getPointerOperand() == pointer
                 : (isa<AtomicRMWInst>(u) || isa<AtomicCmpXchgInst>(u) ||
                    (call && is_atomic(call))) &&
                       u->getOperand(0) == pointer;
}

// What uses a value of the target. Adds what is computed of it to `left`.
void Folding::look_at_use(const User *u, const Instruction *value,
                          std::vector<const Instruction *> &left)
{
    auto *store = dyn_cast<StoreInst>(u);
    if (is_operand(u, value)) {
        out_.is_tested = 1;
        out_.is_read |= in_kernel_ && !is_same_place(u->getOperand(0), place_, MOST_DEPTH);
    }
    if (store && store->getValueOperand() == value) {
        for (const Candidate &c : a_.pointers(store->getPointerOperand()))
            out_.is_read |=
                c.param >= 0 && (c.param != target_.first || c.member != target_.second);
        share_result(store->getPointerOperand(), left);
    } else if (in_kernel_ && is_place(u, value)) {
        for (const Candidate &c : a_.pointers(value))
            out_.is_read |= c.param >= 0;
    } else if (in_kernel_ && (isa<GetElementPtrInst>(u) || isa<LoadInst>(u))) {
        left.push_back(cast<Instruction>(u));
    } else if (!isa<LoadInst>(u) && !isa<StoreInst>(u) && !isa<GetElementPtrInst>(u) &&
               !isa<AtomicCmpXchgInst>(u) && !isa<AtomicRMWInst>(u)) {
        left.push_back(cast<Instruction>(u));
    }
}

// Finds out whether the old value, or one that the operator has combined with it, is stored to
// other memory of the program, or combined with the target again; also by way of shared memory.
void Folding::look_for_reads()
{
    std::vector<const Instruction *> left;
    std::set<const Instruction *> seen;
    for (const BasicBlock &b : a_.f_)
        for (const Instruction &i : b)
            if (is_result(&i))
                left.push_back(&i);
    while (!left.empty()) {
        const Instruction *i = left.back();
        left.pop_back();
        if (!seen.insert(i).second)
            continue;
        for (const User *u : i->users())
            look_at_use(u, i, left);
    }
}

// Adds the loops whose index is in the place. Returns what the place is computed from.
ir_fold_t Folding::look_at_place()
{
    const ir_fold_t before = out_;
    for (const Value *p = place_; auto *element = dyn_cast<GEPOperator>(p);
         p = element->getPointerOperand())
        for (const Use &u : element->indices())
            contribute(u);
    const ir_fold_t place = out_;
    out_ = before;
    out_.placed = place.indexed | place.repeated | place.carried;
    contributed_.clear();
    return place;
}

// A value that the block stores to the place.
void Folding::run_value(const Value *v, const BasicBlock *at)
{
    const Value *by = nullptr;
    Arm chosen = {v, false, {}};
    bool wrong = false;
    conditions(at, nullptr, nullptr, chosen.when);
    Folded x = fold(v);
    out_.over = around(at) | x.acc;
    if (x.kind == OTHER || x.kind == UNTOLD) {
        out_.kind = x.kind == OTHER ? IR_FOLD_OTHER : IR_FOLD_UNKNOWN;
        return;
    }
    if (x.kind == FREE)
        contribute(v);
    if (x.kind != WITH && is_extreme() && is_chosen(chosen, nullptr, &by, &wrong)) {
        out_.kind = wrong ? IR_FOLD_OTHER : out_.kind;
    } else if (x.kind != WITH && !is_absorbing(v)) {
        out_.kind = chosen.when.empty() || is_additive() ? IR_FOLD_OTHER : IR_FOLD_UNKNOWN;
    }
    out_.is_truth = x.kind != WITH && op_ == IR_COMBINE_OR && is_absorbing(v);
    for (const Condition &c : chosen.when)
        if (c.value != by && !contribute_condition(c))
            out_.kind = std::max(out_.kind, IR_FOLD_UNKNOWN);
}

ir_fold_t Folding::run()
{
    auto *store = dyn_cast<StoreInst>(store_);
    if (!store) {
        out_.kind = isa<MemSetInst>(store_) ? IR_FOLD_OTHER : IR_FOLD_UNKNOWN;
        return out_;
    }
    place_ = store->getPointerOperand();
    target_ = a_.origin(place_);
    out_.kind = target_.first < 0 ? IR_FOLD_UNKNOWN : IR_FOLD_RIGHT;
    if (target_.first >= 0) {
        if (a_.plain_)
            look_for_reads();
        look_at_place();
        run_value(store->getValueOperand(), store->getParent());
    }
    return out_;
}

std::vector<Condition> Folding::conditions()
{
    std::vector<Condition> when;
    conditions(store_->getParent(), nullptr, nullptr, when);
    return when;
}

std::vector<Condition> Folding::conditions_of(const PHINode *phi)
{
    std::vector<Condition> when;
    const auto *above = a_.tree_.getNode(phi->getParent())->getIDom();
    for (unsigned k = 0;
         above && phi->getNumIncomingValues() > 1 && k < phi->getNumIncomingValues(); k++)
        conditions(phi->getIncomingBlock(k), phi->getParent(), above->getBlock(), when);
    return when;
}

uint64_t Analysis::wholes(const StoreInst *store)
{
    std::set<const Value *> seen;
    uint64_t found = wholes_of(store->getValueOperand(), store, seen);
    for (const Condition &c : Folding(*this, store, IR_COMBINE_ADD).conditions())
        found |= wholes_of(c.value, store, seen);
    return found;
}

const ir_fold_t *Analysis::what_combines(const Instruction *store)
{
    auto *all = (ir_fold_t *)calloc(IR_OPERATORS, sizeof(ir_fold_t));
    for (int op = IR_COMBINE_ADD; op < IR_OPERATORS; op++)
        all[op] = Folding(*this, store, (ir_combine_t)op).run();
    return all;
}

} // namespace kmm_ir
