// SPDX-License-Identifier: Apache-2.0
// Whether iterations of divided loops use elements that other iterations store: by example, with
// numbers for all that addresses are computed from.
#include <llvm/IR/InstIterator.h>

#include <unordered_map>

#include "ir/proof.hpp"

namespace kmm_ir
{

enum { CROSS_TRIALS = 6, LEAST_CROSS_TRIALS = 2, CROSS_ITERATIONS = 48, CROSS_DRAWS = 6 };
enum { MOST_CROSS_BYTES = 4096 };

// One access to a parameter's array, in a divided loop.
struct Touch {
    const Instruction *at;
    const SCEV *place, *bytes;
    bool stores;
};

// The loops whose iterations are in an expression, from the outermost on.
static std::vector<const Loop *> loops_in(const SCEV *s)
{
    std::vector<const Loop *> found;
    SCEVExprContains(s, [&](const SCEV *e) {
        auto *r = dyn_cast<SCEVAddRecExpr>(e);
        if (r && !is_contained(found, r->getLoop()))
            found.push_back(r->getLoop());
        return false;
    });
    llvm::sort(found,
               [](const Loop *a, const Loop *b) { return a->getLoopDepth() < b->getLoopDepth(); });
    return found;
}

std::vector<Touch> Proof::touches(const Argument *a) const
{
    std::vector<Touch> found;
    auto add = [&](const Instruction *i, const Value *pointer, const SCEV *bytes, bool stores) {
        if (is_contained(objects_of(pointer), a) && is_within(i->getParent()))
            found.push_back({i, scev_.getSCEV(const_cast<Value *>(pointer)), bytes, stores});
    };
    for (const Instruction &i : instructions(f_)) {
        Type *t = isa<StoreInst>(i) ? i.getOperand(0)->getType() : i.getType();
        Type *size = Type::getInt64Ty(i.getContext());
        if (auto *load = dyn_cast<LoadInst>(&i))
            add(&i, load->getPointerOperand(),
                scev_.getConstant(size, layout_.getTypeStoreSize(t).getFixedValue()), false);
        if (auto *store = dyn_cast<StoreInst>(&i))
            add(&i, store->getPointerOperand(),
                scev_.getConstant(size, layout_.getTypeStoreSize(t).getFixedValue()), true);
        auto *m = dyn_cast<MemIntrinsic>(&i);
        if (m)
            add(&i, m->getRawDest(), scev_.getSCEV(m->getLength()), true);
        if (auto *copy = dyn_cast_or_null<MemTransferInst>(m))
            add(&i, copy->getRawSource(), scev_.getSCEV(m->getLength()), false);
    }
    return found;
}

// Chooses iterations of all loops of an access. Returns the iteration of the divided ones as one
// number.
uint64_t Proof::choose_iterations(const Touch &x, unsigned trial, unsigned draw,
                                  std::map<const Loop *, int64_t> &at) const
{
    uint64_t name = 0;
    bool is_outermost = true;
    for (const Loop *l : loops_in(x.place)) {
        auto d = divided_.find(l);
        if (d != divided_.end()) {
            const int64_t k = is_outermost ? draw / CROSS_DRAWS : draw % CROSS_DRAWS;
            is_outermost = false;
            name += (uint64_t)(k + 1) << 8 * Log2_64(d->second.axes);
            at[l] = k;
            continue;
        }
        const BasicBlock *e = l->getExitingBlock();
        const SCEV *count = e ? scev_.getExitCount(l, e) : scev_.getCouldNotCompute();
        const Trial t = {trial, RUN_WHOLE, false, &at};
        auto n = isa<SCEVCouldNotCompute>(count) ? std::nullopt : number(count, t);
        const int64_t times = n ? n->getSExtValue() + (e == l->getLoopLatch()) : 5;
        const unsigned k = draw % CROSS_DRAWS;
        at[l] = times <= 0 ? 0 : k == 0 ? 0 : k == 1 ? times - 1 : (int64_t)(draw * 7 + k) % times;
    }
    return name;
}

// Calls `visit` with each byte that the access touches and the iteration. False: the place cannot
// be computed.
template <class F> bool Proof::walk(const Touch &x, unsigned trial, const F &visit) const
{
    for (unsigned draw = 0; draw < CROSS_ITERATIONS * CROSS_DRAWS; draw++) {
        std::map<const Loop *, int64_t> at;
        const uint64_t name = choose_iterations(x, trial, draw, at);
        const Trial t = {trial, RUN_WHOLE, false, &at};
        auto place = number(x.place, t), bytes = number(x.bytes, t);
        if (!place || !bytes)
            return false;
        const int64_t begin = place->getSExtValue(),
                      count = std::min<int64_t>(bytes->getSExtValue(), MOST_CROSS_BYTES);
        for (int64_t k = 0; k < count; k++)
            visit(begin + k, name);
    }
    return true;
}

// Why iterations may use what others store to the parameter's array; NULL: they do not.
Mark Proof::crossing(const Argument *a) const
{
    const std::vector<Touch> all = touches(a);
    int tried = 0;
    const Instruction *shared = nullptr;
    for (unsigned trial = 1; trial <= CROSS_TRIALS; trial++) {
        std::unordered_map<int64_t, uint64_t> owner;
        const Instruction *twice = nullptr, *reads = nullptr;
        for (const Touch &x : all)
            if (x.stores && !walk(x, trial, [&](int64_t byte, uint64_t name) {
                    auto [place, is_new] = owner.insert({byte, name});
                    twice = is_new || place->second == name ? twice : x.at;
                }))
                return because("stores at a place that cannot be compared with others", x.at);
        shared = twice ? twice : shared;
        if (twice)
            continue; // the numbers may not go together, as a width that is more than the distance
        for (const Touch &x : all)
            if (!x.stores && !walk(x, trial, [&](int64_t byte, uint64_t name) {
                    auto place = owner.find(byte);
                    reads = place == owner.end() || place->second == name ? reads : x.at;
                }))
                return because("reads at a place that cannot be compared with its stores", x.at);
        if (reads)
            return because("reads what another iteration stores", reads);
        tried++;
    }
    return tried >= LEAST_CROSS_TRIALS ? nullptr
                                       : because("stores to a place in several iterations", shared);
}

Mark Proof::crossings() const
{
    for (const Argument &a : f_.args()) {
        auto at = role_.find(&a);
        if (!a.getType()->isPointerTy() || !is_stored(&a) ||
            (at != role_.end() && at->second->is_reduced))
            continue;
        if (Mark m = crossing(&a))
            return m;
    }
    return nullptr;
}

} // namespace kmm_ir
