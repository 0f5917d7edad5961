// SPDX-License-Identifier: Apache-2.0
// Values that a loop carries from one iteration to the next, such as a sum or the loop's own index,
// and that are stored to memory.
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>

#include "ir/folding.hpp"

namespace kmm_ir
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

namespace
{

enum { MOST_OPERANDS = 200 };

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

// True if the loop adds the same to the phi in each iteration.
bool is_index(const Value *next, const PHINode *phi)
{
    auto *sum = dyn_cast<BinaryOperator>(next);
    bool adds =
        sum && (sum->getOpcode() == Instruction::Add || sum->getOpcode() == Instruction::Sub);
    return adds && ((sum->getOperand(0) == phi && isa<ConstantInt>(sum->getOperand(1))) ||
                    (sum->getOperand(1) == phi && isa<ConstantInt>(sum->getOperand(0)) &&
                     sum->getOpcode() == Instruction::Add));
}

// True if the loop counts in the phi, and does not end by it.
static bool counts(const PHINode *phi, const Loop *loop)
{
    if (!loop->getLoopLatch() ||
        !is_index(phi->getIncomingValueForBlock(loop->getLoopLatch()), phi))
        return false;
    SmallVector<BasicBlock *, 4> ends;
    loop->getExitingBlocks(ends);
    std::set<const Value *> seen;
    std::vector<const Value *> list;
    for (const BasicBlock *b : ends)
        list.push_back(b->getTerminator());
    while (!list.empty()) {
        auto *i = dyn_cast<Instruction>(list.back());
        list.pop_back();
        if (i == phi)
            return false;
        if (i && loop->contains(i) && seen.insert(i).second)
            for (const Use &u : i->operands())
                list.push_back(u);
    }
    return true;
}

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
            return loop->getLoopPreheader() && (!p->getType()->isIntegerTy() || counts(p, loop)) &&
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

// True for the distance of two addresses that the same loops move, as of the ends of a row.
bool Analysis::is_length(const Instruction *difference, const Instruction *store, int64_t period)
{
    ir_access_t by[2] = {};
    for (unsigned k = 0; k < 2; k++) {
        std::set<std::pair<const Value *, bool>> seen;
        auto *address = dyn_cast<PtrToIntInst>(difference->getOperand(k));
        if (!address)
            return false;
        carried_address(address->getPointerOperand(), store, period, seen, &by[k]);
    }
    return (by[0].carried || by[0].repeated) && by[0].carried == by[1].carried &&
           by[0].repeated == by[1].repeated;
}

// True for a constant, also one that initializes a variable.
static bool is_fixed(const Value *v)
{
    auto *load = dyn_cast<LoadInst>(v);
    auto *from =
        load ? dyn_cast<GlobalVariable>(getUnderlyingObject(load->getPointerOperand())) : nullptr;
    return (isa<Constant>(v) && !isa<UndefValue>(v)) || (from && from->isConstant());
}

// True if the next value is computed in the loop, and on no way from the phi's.
bool Analysis::is_previous(const Value *next, const PHINode *phi, const Loop *loop)
{
    std::set<const Value *> seen;
    std::vector<const Value *> list{next};
    auto *made = dyn_cast<Instruction>(next);
    if (!made || !loop->contains(made))
        return false;
    while (!list.empty()) {
        auto *i = dyn_cast<Instruction>(list.back());
        list.pop_back();
        if (!i || !loop->contains(i) || !seen.insert(i).second)
            continue;
        if (i == phi)
            return false;
        for (const Use &u : i->operands())
            list.push_back(u);
        // What is stored in the loop may be the phi's.
        auto *load = dyn_cast<LoadInst>(i);
        if (load && isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand())))
            return false;
    }
    return true;
}

// Adds the loop of the phi, in its header, if it carries a value that the phi's next one is
// computed from.
void Analysis::carried_by(const PHINode *phi, const Loop *loop, const Value *stored, int64_t period,
                          ir_access_t *a)
{
    std::set<const Value *> met;
    const Value *first = phi->getIncomingValueForBlock(loop->getLoopPreheader()),
                *next = phi->getIncomingValueForBlock(loop->getLoopLatch());
    if (next == phi || (isa<LoadInst>(first) && !is_fixed(first)) || loop_number_[loop] >= 64)
        return;
    uint64_t bit = 1ULL << loop_number_[loop];
    if (is_previous(next, phi, loop)) {
        a->carried |= period == 0 && is_fixed(first) && renews(stored, phi, met) ? bit : 0;
        return;
    }
    if (!renews(next, phi, met))
        return;
    if (period == 0 || !is_index(next, phi)) {
        a->carried |= bit;
    } else if (period > 0) {
        a->repeated |= bit;
        a->period = std::max(a->period, period);
    }
}

// Functions of the C library that draw from a state that is their first argument.
static bool is_generator(const CallBase *call)
{
    const Function *f = call->getCalledFunction();
    StringRef name = f ? f->getName() : "";
    return name == "rand_r" || name == "erand48" || name == "nrand48" || name == "jrand48";
}

// A variable of static storage, or what a pointer in one leads to; but no room in it that a call
// has to itself.
static bool is_table(const GetElementPtrInst *element)
{
    if (is_given_out(element))
        return false;
    const Value *base = getUnderlyingObject(element);
    auto *load = dyn_cast<LoadInst>(base);
    return isa<GlobalVariable>(base) ||
           (load && isa<GlobalVariable>(load->getPointerOperand()->stripInBoundsConstantOffsets()));
}

static bool is_generator(const Type *type)
{
    auto *record = dyn_cast<StructType>(type);
    StringRef name = record && record->hasName() ? record->getName() : "";
    return name.contains("std::mersenne_twister_engine") ||
           name.contains("std::linear_congruential_engine") ||
           name.contains("std::subtract_with_carry_engine");
}

// True if the instruction is of the code of a function of this name.
static bool is_of(const Instruction &i, StringRef name)
{
    for (const DILocation *l = i.getDebugLoc().get(); l; l = l->getInlinedAt())
        if (l->getScope()->getSubprogram()->getName() == name)
            return true;
    return false;
}

// True if the state begins in the loop: it is a variable of it, or gets a value there.
static bool begins_in(const AllocaInst *state, const Loop *loop)
{
    bool engine = is_generator(state->getAllocatedType());
    for (const BasicBlock *b : loop->blocks())
        for (const Instruction &i : *b) {
            auto *store = dyn_cast<StoreInst>(&i);
            auto *begin = dyn_cast<IntrinsicInst>(&i);
            bool ours = store && getUnderlyingObject(store->getPointerOperand()) == state;
            if ((ours && (!engine || is_of(i, "seed"))) ||
                (begin && begin->getIntrinsicID() == Intrinsic::lifetime_start &&
                 is_contained(begin->args(), state)))
                return true;
        }
    return false;
}

// True if the value that is stored is computed from what is loaded from the array.
static bool is_made_of(const StoreInst *store, const Value *array)
{
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Value *, 16> list{store->getValueOperand()};
    while (!list.empty()) {
        auto *i = dyn_cast<Instruction>(list.pop_back_val());
        if (!i || i->getType()->isPointerTy() || !seen.insert(i).second)
            continue;
        auto *load = dyn_cast<LoadInst>(i);
        if (load && getUnderlyingObject(load->getPointerOperand()) == array)
            return true;
        if (!load)
            list.append(i->op_begin(), i->op_end());
    }
    return false;
}

// True if the array gets values in the loop that are not made of its own.
static bool is_begun_in(const Value *array, const Loop *loop)
{
    for (const BasicBlock *b : loop->blocks())
        for (const Instruction &i : *b) {
            auto *store = dyn_cast<StoreInst>(&i);
            auto *call = dyn_cast<CallBase>(&i);
            if (store && getUnderlyingObject(store->getPointerOperand()) == array &&
                !is_made_of(store, array))
                return true;
            for (unsigned k = 0; call && k < call->arg_size(); k++)
                if (call->getArgOperand(k)->getType()->isPointerTy() &&
                    getUnderlyingObject(call->getArgOperand(k)) == array)
                    return true;
        }
    return false;
}

// Adds the loops in which a number is drawn from a state that lives longer, and stored.
void Analysis::drawn(const AllocaInst *state, const Instruction *draw, const Instruction *store,
                     ir_access_t *a)
{
    for (const Instruction &i : instructions(f_))
        if (is_of(i, "discard"))
            return;
    for (const Loop *l = loops_.getLoopFor(draw->getParent()); l; l = l->getParentLoop()) {
        if (begins_in(state, l))
            return;
        if (l->contains(store) && loop_number_[l] < 64)
            a->carried |= 1ULL << loop_number_[l];
    }
}

// Adds what decides by a comparison of an index with a constant, or of a pointer with the parameter
// at which it begins. Comparisons with other values, such as the chunk's length, are left out.
void Analysis::carried_test(const Value *v, const Instruction *store,
                            std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a)
{
    auto *test = dyn_cast<ICmpInst>(v);
    const uint64_t from = a->computed_from;
    for (unsigned k = 0; test && k < 2; k++) {
        const Value *x = test->getOperand(k), *y = test->getOperand(1 - k);
        SmallVector<const Value *, 4> objects;
        if (isa<Argument>(y) && y->getType()->isPointerTy())
            getUnderlyingObjects(x, objects);
        if (objects.size() == 1 && objects[0] == y)
            carried_address(x, store, 0, seen, a);
        else if (isa<ConstantInt>(y))
            carried(x, store, 0, seen, a);
    }
    a->computed_from = from; // functions ask whether their length is large enough
}

void Analysis::carried_conditions(const Instruction *store,
                                  std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a)
{
    for (const Condition &c : Folding(*this, store, IR_COMBINE_ADD).conditions())
        carried_test(c.value, store, seen, a);
}

// What is stored to a local array, and loaded from it for the store. An element that is made of
// others of the array carries their values, in the loops in which it begins with no others.
void Analysis::carried_local(const LoadInst *load, const Instruction *store, int64_t period,
                             std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a)
{
    const Value *array = getUnderlyingObject(load->getPointerOperand());
    auto *local = dyn_cast<AllocaInst>(array);
    if (!gives_memory(called(array)) && !(local && !is_generator(local->getAllocatedType())))
        return;
    for (const Instruction &i : instructions(f_)) {
        auto *s = dyn_cast<StoreInst>(&i);
        if (!s || s == store || getUnderlyingObject(s->getPointerOperand()) != array)
            continue;
        carried(s->getValueOperand(), s, period, seen, a);
        for (const Loop *l = loops_.getLoopFor(s->getParent()); l && is_made_of(s, array);
             l = l->getParentLoop()) {
            if (is_begun_in(array, l))
                break;
            if (loop_number_[l] < 64 && period == 0)
                a->carried |= 1ULL << loop_number_[l];
        }
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
        (period == 0 ? a->carried_from : a->repeated_from) |= bit;
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
            carried_by(phi, loop, store->getOperand(0), period, a);
            carried(phi->getIncomingValueForBlock(loop->getLoopPreheader()), store, period, seen,
                    a);
            return;
        }
        for (const Use &u : phi->incoming_values())
            carried(u, store, period, seen, a);
        if (plain_)
            for (const Condition &c : Folding(*this, store, IR_COMBINE_ADD).conditions_of(phi))
                carried_test(c.value, store, seen, a);
        return;
    }
    auto *test = dyn_cast<ICmpInst>(i);
    if (test && test->getOperand(0)->getType()->isPointerTy())
        return carried_test(test, store, seen, a);
    // An address alone is the same in chunks.
    if (i->getOpcode() == Instruction::Sub && !is_length(i, store, period))
        for (const Use &u : i->operands())
            if (auto *address = dyn_cast<PtrToIntInst>(u))
                carried_address(address->getPointerOperand(), store, period, seen, a);
    auto *call = dyn_cast<CallBase>(i);
    if (computes(i) || call || isa<SelectInst>(i))
        for (const Use &u : call ? call->args() : make_range(i->op_begin(), i->op_end()))
            carried(u, store, period, seen, a);
    auto *load = dyn_cast<LoadInst>(i);
    if (load && plain_)
        carried_local(load, store, period, seen, a);
    auto *state = load || (call && is_generator(call))
                      ? dyn_cast<AllocaInst>(getUnderlyingObject(i->getOperand(0)))
                      : nullptr;
    if (state && (call || is_generator(state->getAllocatedType())))
        drawn(state, i, store, a);
    // Tables, which no chunk has a part of.
    auto *element = load ? dyn_cast<GetElementPtrInst>(load->getPointerOperand()) : nullptr;
    if (element && is_table(element))
        for (const Use &u : element->indices())
            carried(u, store, period, seen, a);
}

// True if the node depends on what is not known.
bool Analysis::has_data(int node) const
{
    std::set<int> seen;
    std::vector<int> list{node};
    while (!list.empty()) {
        int k = list.back();
        list.pop_back();
        if (k < 0 || !seen.insert(k).second)
            continue;
        const ir_node_t &n = nodes_.all[k];
        if (n.op == IR_DATA || n.op == IR_SYMBOL)
            return true;
        if (n.op > IR_DATA)
            list.insert(list.end(), {n.a, n.b, n.c});
    }
    return false;
}

// Stores in a->integer the largest integers in what v is computed from that depend on no data. None
// if there are more than two.
void Analysis::integers(const Value *v, ir_access_t *a)
{
    int count = 0;
    std::set<const Value *> seen;
    std::vector<const Value *> list{v};
    for (int steps = 0; !list.empty() && steps < MOST_OPERANDS; steps++) {
        v = list.back();
        list.pop_back();
        auto *i = dyn_cast<Instruction>(v);
        if ((!i && !isa<Argument>(v)) || !seen.insert(v).second)
            continue;
        int node = v->getType()->isIntegerTy() && bits_of(v) <= 64 ? value(v) : -1;
        if (node >= 0 && !has_data(node)) {
            if (node == a->integer[0] || node == a->integer[1])
                continue;
            if (count == 2) {
                a->integer[0] = a->integer[1] = -1;
                return;
            }
            a->integer[count++] = node;
            continue;
        }
        auto *call = i ? dyn_cast<CallBase>(i) : nullptr;
        if (i && (computes(i) || isa<SelectInst>(i) || call))
            for (const Use &u : call ? call->args() : make_range(i->op_begin(), i->op_end()))
                list.push_back(u);
    }
}

// The loops that have ended before the store, and carry a value that v is computed from.
uint64_t Analysis::wholes_of(const Value *v, const Instruction *store,
                             std::set<const Value *> &seen)
{
    auto *i = dyn_cast<Instruction>(v);
    if (!i || v->getType()->isPointerTy() || isa<LoadInst>(i) || !seen.insert(v).second)
        return 0;
    uint64_t found = 0;
    auto *phi = dyn_cast<PHINode>(i);
    const Loop *loop = phi ? loops_.getLoopFor(phi->getParent()) : nullptr;
    if (loop && loop->getHeader() == phi->getParent() && loop->getLoopPreheader() &&
        loop->getLoopLatch() && !loop->contains(store) && loop_number_[loop] < 64) {
        std::set<const Value *> met;
        const Value *next = phi->getIncomingValueForBlock(loop->getLoopLatch());
        if (next != phi && !is_index(next, phi) && renews(next, phi, met))
            found |= 1ULL << loop_number_[loop];
    }
    auto *call = dyn_cast<CallBase>(i);
    for (const Use &u : call ? call->args() : make_range(i->op_begin(), i->op_end()))
        found |= wholes_of(u, store, seen);
    return found;
}

} // namespace kmm_ir
