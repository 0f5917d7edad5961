// SPDX-License-Identifier: Apache-2.0
// Local arrays whose elements are accumulators, as a histogram that is added to the target at the
// end.
#include "ir/folding.hpp"

namespace kmm_ir
{

// Finds the stores to the array. False: it is used otherwise, or begins with other values.
bool Folding::find_stores(const AllocaInst *array, LocalArray &out) const
{
    std::set<const Value *> seen;
    std::vector<const Value *> list{array};
    while (!list.empty()) {
        const Value *v = list.back();
        list.pop_back();
        for (const User *u : v->users()) {
            auto *store = dyn_cast<StoreInst>(u);
            auto *set = dyn_cast<MemSetInst>(u);
            auto *intrinsic = dyn_cast<IntrinsicInst>(u);
            if (isa<GetElementPtrInst>(u) || isa<BitCastInst>(u)) {
                if (seen.insert(u).second)
                    list.push_back(u);
            } else if (store && store->isSimple() && store->getPointerOperand() == v) {
                bool begins = isa<Constant>(store->getValueOperand()) &&
                              is_identity(store->getValueOperand());
                if (begins)
                    out.begins.push_back(store);
                else
                    out.combines.push_back(store);
            } else if (set && op_ != IR_COMBINE_MUL && is_identity(set->getValue())) {
                out.begins.push_back(set);
            } else if (!isa<LoadInst>(u) && !(intrinsic && intrinsic->isAssumeLikeIntrinsic())) {
                return false;
            }
        }
    }
    return !out.begins.empty() && !out.combines.empty();
}

// True if the store combines the old value of its element with others by the operator.
bool Folding::accumulates(const StoreInst *store, const AllocaInst *array)
{
    std::vector<Condition> when;
    const Instruction *outer = at_;
    const Value *p = store->getPointerOperand();
    local_ = array;
    local_place_ = p;
    at_ = store;
    Folded x = fold(store->getValueOperand());
    at_ = outer;
    local_ = nullptr;
    if (x.kind != OWN || !x.open)
        return false;
    for (; auto *element = dyn_cast<GEPOperator>(p); p = element->getPointerOperand())
        for (const Use &u : element->indices())
            contribute(u);
    conditions(store->getParent(), nullptr, nullptr, when);
    for (const Condition &c : when)
        if (!contribute_condition(c))
            return false;
    return true;
}

// False for a loop that only gives the array its first values.
static bool is_used_in(const Loop *loop, const LoadInst *load, const LocalArray &all)
{
    return loop->contains(load) ||
           any_of(all.combines, [loop](const StoreInst *s) { return loop->contains(s); });
}

// An element of a local array. It is complete if no loop that fills the array is still running, but
// for one in which the array begins anew.
Folded Folding::fold_local(const LoadInst *load, const AllocaInst *array)
{
    const Folded untold = {UNTOLD, false, 0};
    LocalArray all;
    uint64_t acc = 0;
    if (local_) {
        bool old =
            array == local_ && is_same_place(load->getPointerOperand(), local_place_, MOST_DEPTH);
        return old ? Folded{OWN, true, 0} : untold;
    }
    if (is_extreme() || !load->isSimple() || !find_stores(array, all))
        return untold;
    for (const Instruction *begin : all.begins) {
        const Loop *loop = a_.loops_.getLoopFor(begin->getParent());
        for (; loop && !is_used_in(loop, load, all); loop = loop->getParentLoop())
            begin = loop->getHeader()->getTerminator();
        if (!a_.tree_.dominates(begin, load) || (loop && !loop->contains(load)))
            return untold;
        for (const StoreInst *s : all.combines)
            if (!a_.tree_.dominates(begin, s))
                return untold;
    }
    for (const StoreInst *s : all.combines) {
        for (const Loop *l = a_.loops_.getLoopFor(s->getParent()); l; l = l->getParentLoop()) {
            if (!l->contains(load))
                acc |= bit(l);
            else if (!all_of(all.begins, [l](const Instruction *i) { return l->contains(i); }))
                return untold;
        }
        if (!accumulates(s, array))
            return untold;
    }
    return {OWN, false, acc};
}

} // namespace kmm_ir
