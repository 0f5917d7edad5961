// SPDX-License-Identifier: Apache-2.0
// What a function does to memory and to the world: whether an iteration does the same in the call
// of a chunk as in the whole call, and each iteration in one chunk only.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>

#include "ir/proof.hpp"

namespace kmm_ir
{

// True if divided loops along all axes are around the block, so that one chunk alone runs it.
bool Proof::is_within(const BasicBlock *b) const
{
    uint64_t found = 0;
    for (const Loop *l = loops_.getLoopFor(b); l; l = l->getParentLoop()) {
        auto at = divided_.find(l);
        if (at != divided_.end() && (at->second.at_end || b != at->second.exiting))
            found |= at->second.axes;
    }
    return (found & axes_) == axes_;
}

// The role of a reduction's target to which the pointer leads; NULL: to none.
const ir_role_t *Proof::target(const Value *pointer) const
{
    for (const Value *o : objects_of(pointer)) {
        auto *a = dyn_cast<Argument>(o);
        auto at = a ? role_.find(a) : role_.end();
        if (at != role_.end() && at->second->is_reduced)
            return at->second;
    }
    return nullptr;
}

// A store of the value, which is NULL for copies, through the pointer.
Mark Proof::effect_on(const Instruction *i, const Value *pointer, const Value *value)
{
    for (const Value *o : objects_of(pointer)) {
        const ObjectKind kind = kind_of(o);
        auto *a = dyn_cast<Argument>(o);
        if (kind == LOCAL_OBJECT)
            continue;
        if (kind == VARIABLE)
            return because("changes a variable of static storage", i);
        if (a && role_.count(a) && role_.at(a)->is_reduced)
            return because("changes a reduction's target otherwise than by the operator", i);
        if (Mark m = mark_of_block(i->getParent()))
            return m;
        if (!is_affine(scev_.getSCEV(const_cast<Value *>(pointer))))
            return because("stores at an index or through a pointer that is data", i);
        if (mark(pointer))
            return because("stores at a place that is not known to be the same in a chunk", i);
        if (Mark m = value ? mark(value) : nullptr)
            return m;
        if (!is_within(i->getParent()))
            return because("stores outside of a loop over the range, so once in each chunk", i);
    }
    return nullptr;
}

// memset and memcpy of all of the range.
Mark Proof::effect_of_range(const MemIntrinsic *m)
{
    const SCEV *length = scev_.getSCEV(m->getLength());
    auto *copy = dyn_cast<MemTransferInst>(m);
    auto *set = dyn_cast<MemSetInst>(m);
    const bool is_alone = !mark_of_leaves(length) && isPowerOf2_64(axes_);
    bool moves = is_alone && spans(scev_.getSCEV(m->getRawDest()), length);
    if (copy) {
        for (const Value *o : objects_of(copy->getRawSource()))
            moves &= isa<Argument>(o) && !is_stored(cast<Argument>(o));
        moves = moves && spans(scev_.getSCEV(copy->getRawSource()), length);
    }
    if (!moves || target(m->getRawDest()) || mark_of_block(m->getParent()) || m->isVolatile())
        return because("stores outside of a loop over the range, so once in each chunk", m);
    return set ? mark(set->getValue()) : nullptr;
}

static std::string name_of(const CallBase *call)
{
    const Function *f = call->getCalledFunction();
    if (call->isInlineAsm())
        return "runs inline assembly";
    if (!f)
        return "calls a function through a pointer or a virtual function";
    std::string name = demangle(f->getName().str());
    if (f == call->getFunction() || !f->isDeclaration())
        return "calls '" + name + "', which calls itself or is not inlined";
    return "calls '" + name + "', whose code is not seen";
}

static bool frees(StringRef name)
{
    return name == "free" || name.starts_with("_Zdl") || name.starts_with("_Zda");
}

Mark Proof::effect_of_call(const CallBase *call)
{
    auto *intrinsic = dyn_cast<IntrinsicInst>(call);
    const StringRef name = called(call);
    if (auto *m = dyn_cast<MemIntrinsic>(call)) {
        const bool local = all_of(objects_of(m->getRawDest()),
                                  [&](const Value *o) { return kind_of(o) == LOCAL_OBJECT; });
        if (!local && !is_within(m->getParent()))
            return effect_of_range(m);
        auto *set = dyn_cast<MemSetInst>(m);
        Mark x = local ? nullptr : mark(m->getLength());
        x = x || local || set ? x : mark(m);
        x = m->isVolatile() ? because("writes volatile memory", m) : x;
        return x ? x : effect_on(call, m->getRawDest(), set ? set->getValue() : nullptr);
    }
    if (intrinsic)
        return intrinsic->isAssumeLikeIntrinsic() || isa<ConstrainedFPIntrinsic>(intrinsic) ||
                       !intrinsic->mayWriteToMemory() ||
                       intrinsic->getIntrinsicID() == Intrinsic::stacksave ||
                       intrinsic->getIntrinsicID() == Intrinsic::stackrestore
                   ? nullptr
                   : because(name_of(call), call);
    const Function *f = call->getCalledFunction();
    if (!f || f == &f_ || !f->isDeclaration() || !is_own_work(name) || name == "realloc" ||
        name.starts_with("__cxa"))
        return because(name_of(call), call);
    for (const Use &u : call->args()) {
        if (!u->getType()->isPointerTy())
            continue;
        for (const Value *o : objects_of(u)) {
            if (frees(name) && kind_of(o) != LOCAL_OBJECT && kind_of(o) != CONSTANT)
                return because("frees memory that it has not allocated", call);
            if (kind_of(o) != LOCAL_OBJECT && kind_of(o) != CONSTANT && !frees(name) &&
                !call->onlyReadsMemory() && !library_reads(name, u.getOperandNo()))
                return because("hands memory of its parameters to '" + name.str() + "'", call);
        }
    }
    return nullptr;
}

// Why the instruction may do another thing in a chunk; NULL: it does the same.
Mark Proof::effect(const Instruction *i)
{
    if (auto *store = dyn_cast<StoreInst>(i)) {
        if (!store->isSimple())
            return because("stores to memory that is volatile or atomic", i);
        const Value *pointer = store->getPointerOperand();
        if (const ir_role_t *role = target(pointer))
            return Combining(*this, role).run(store);
        return effect_on(i, pointer, store->getValueOperand());
    }
    if (auto *a = dyn_cast<AtomicRMWInst>(i)) {
        const ir_role_t *role = target(a->getPointerOperand());
        return role ? Combining(*this, role).run_atomic(a)
                    : because("changes memory atomically, in the order of the chunks", i);
    }
    if (auto *call = dyn_cast<CallBase>(i))
        return effect_of_call(call);
    if (isa<AtomicCmpXchgInst>(i))
        return because("changes memory atomically, in the order of the chunks", i);
    auto *load = dyn_cast<LoadInst>(i);
    if (load && load->isVolatile())
        return because("reads memory that is volatile or atomic", i);
    return nullptr;
}

} // namespace kmm_ir
