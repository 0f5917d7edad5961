// SPDX-License-Identifier: Apache-2.0
// What lies in local memory: whether an iteration of a divided loop may find there what an earlier
// one has left.
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>

#include "ir/proof.hpp"

namespace kmm_ir
{

ObjectKind Proof::kind_of(const Value *object) const
{
    auto *a = dyn_cast<Argument>(object);
    auto *g = dyn_cast<GlobalVariable>(object);
    if (isa<AllocaInst>(object) || (isa<CallBase>(object) && gives_memory(called(object))))
        return LOCAL_OBJECT;
    if (a)
        return PARAMETER;
    if (g)
        return g->isConstant() ? CONSTANT : VARIABLE;
    return isa<ConstantPointerNull>(object) || isa<UndefValue>(object) ? CONSTANT : UNKNOWN_OBJECT;
}

SmallVector<const Value *, 4> Proof::objects_of(const Value *pointer) const
{
    SmallVector<const Value *, 4> found;
    getUnderlyingObjects(pointer, found, nullptr, 0);
    return found;
}

// True if an argument of a library function is only read.
bool library_reads(StringRef name, unsigned number)
{
    static const std::set<StringRef> readers = {"memchr", "memrchr", "memcmp", "memmem", "bcmp"};
    static const std::set<StringRef> writers = {"stpcpy", "strcat", "strcpy", "strncat", "strncpy"};
    if (writers.count(name) || name == "memcpy" || name == "memmove")
        return number > 0;
    return readers.count(name) || name.starts_with("str") || name == "free" ||
           name.starts_with("_Zd") || name == "nan" || name == "nanf";
}

// True if all pointers of a function of libm are for results.
static bool only_writes(StringRef name)
{
    static const std::set<StringRef> names = {"frexp", "modf", "remquo", "sincos"};
    return names.count(name) ||
           ((name.consume_back("f") || name.consume_back("l")) && names.count(name));
}

void Proof::note_use(const Instruction *at, const Value *pointer, bool reads, bool writes)
{
    for (const Value *o : objects_of(pointer))
        if (kind_of(o) == LOCAL_OBJECT)
            uses_[o].push_back({at, pointer, reads, writes});
}

void Proof::find_uses()
{
    for (const Instruction &i : instructions(f_)) {
        if (auto *load = dyn_cast<LoadInst>(&i))
            note_use(&i, load->getPointerOperand(), true, false);
        if (auto *store = dyn_cast<StoreInst>(&i))
            note_use(&i, store->getPointerOperand(), false, true);
        if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i))
            note_use(&i, i.getOperand(0), true, true);
        auto *call = dyn_cast<CallBase>(&i);
        if (auto *m = dyn_cast<MemIntrinsic>(&i)) {
            note_use(&i, m->getRawDest(), false, true);
            if (auto *t = dyn_cast<MemTransferInst>(m))
                note_use(&i, t->getRawSource(), true, false);
        } else if (call && !isa<IntrinsicInst>(call)) {
            for (unsigned k = 0; k < call->arg_size(); k++)
                if (call->getArgOperand(k)->getType()->isPointerTy())
                    note_use(&i, call->getArgOperand(k), !only_writes(called(call)),
                             !library_reads(called(call), k));
        }
    }
}

// True if the object is made anew in each iteration of the loop.
bool Proof::begins_in(const Value *object, const Loop *l) const
{
    auto *made = cast<Instruction>(object);
    if (l->contains(made))
        return true;
    for (const User *u : made->users()) {
        auto *begin = dyn_cast<IntrinsicInst>(u);
        if (begin && begin->getIntrinsicID() == Intrinsic::lifetime_start && l->contains(begin))
            return true;
    }
    return false;
}

static std::optional<int64_t> constant_of(const SCEV *s)
{
    auto *c = dyn_cast<SCEVConstant>(s);
    return c ? std::optional<int64_t>(c->getAPInt().getSExtValue()) : std::nullopt;
}

// The bytes that an instruction reads or writes there, if they are a constant number.
static int64_t bytes_of(const Instruction *i, const DataLayout &layout)
{
    Type *t = isa<StoreInst>(i) ? i->getOperand(0)->getType() : i->getType();
    if (isa<StoreInst>(i) || isa<LoadInst>(i))
        return (int64_t)layout.getTypeStoreSize(t).getFixedValue();
    auto *m = dyn_cast<MemIntrinsic>(i);
    auto *length = m ? dyn_cast<ConstantInt>(m->getLength()) : nullptr;
    return length ? length->getSExtValue() : -1;
}

// The bytes of an object; NULL: not known.
static const SCEV *size_of(const Value *object, const DataLayout &layout, ScalarEvolution &scev)
{
    Type *t = Type::getInt64Ty(object->getContext());
    if (auto *a = dyn_cast<AllocaInst>(object)) {
        std::optional<TypeSize> size = a->getAllocationSize(layout);
        return size ? scev.getConstant(t, size->getFixedValue()) : nullptr;
    }
    auto *call = cast<CallBase>(object);
    const StringRef name = called(call);
    const bool is_second = name == "aligned_alloc";
    if (name == "calloc" || name == "realloc")
        return nullptr;
    return scev.getSCEV(call->getArgOperand(is_second ? 1 : 0));
}

// True if the write fills all of the object, by itself or as the only statement of a loop.
bool Proof::fills(const Use1 &w, const Value *object, const Instruction *r, const Value *pointer)
{
    const SCEV *at = scev_.getSCEV(const_cast<Value *>(w.pointer)),
               *size = size_of(object, layout_, scev_),
               *base = scev_.getSCEV(const_cast<Value *>(object));
    if (auto *m = dyn_cast<MemIntrinsic>(w.at))
        return at == base && (scev_.getSCEV(m->getLength()) == size) && tree_.dominates(w.at, r);
    auto *run = dyn_cast<SCEVAddRecExpr>(at);
    auto *store = dyn_cast<StoreInst>(w.at);
    const Loop *l = run ? run->getLoop() : nullptr;
    if (!store || !run || !run->isAffine() || run->getStart() != base || l->contains(r) ||
        divided_.count(l) || !l->getLoopLatch() || !l->getExitingBlock() ||
        !tree_.dominates(w.at->getParent(), l->getLoopLatch()) ||
        !tree_.dominates(l->getHeader(), r->getParent()))
        return false;
    const std::optional<int64_t> step = constant_of(run->getStepRecurrence(scev_));
    if (!step || *step != bytes_of(w.at, layout_))
        return false;
    const SCEV *count = scev_.getExitCount(l, l->getExitingBlock());
    if (isa<SCEVCouldNotCompute>(count))
        return false;
    std::optional<int64_t> times = constant_of(count),
                           bytes = size ? constant_of(size) : std::nullopt;
    if (times && bytes)
        return (*times + (l->getExitingBlock() == l->getLoopLatch())) * *step >= *bytes;
    // the same elements, by a loop with the same bound
    auto *other = dyn_cast<SCEVAddRecExpr>(scev_.getSCEV(const_cast<Value *>(pointer)));
    const BasicBlock *exit = other ? other->getLoop()->getExitingBlock() : nullptr;
    return exit && other->getStart() == base &&
           other->getStepRecurrence(scev_) == run->getStepRecurrence(scev_) &&
           (exit == other->getLoop()->getLoopLatch()) ==
               (l->getExitingBlock() == l->getLoopLatch()) &&
           scev_.getExitCount(other->getLoop(), exit) == count;
}

// True if the write gives values to all that is read.
bool Proof::covers(const Use1 &w, const Value *object, const Instruction *r, const Value *pointer)
{
    if (fills(w, object, r, pointer))
        return true;
    if (!tree_.dominates(w.at, r))
        return false;
    const int64_t wrote = bytes_of(w.at, layout_), read = bytes_of(r, layout_);
    auto *call = dyn_cast<CallBase>(w.at);
    if (w.pointer == pointer && ((call && !isa<IntrinsicInst>(call) && !w.reads) || wrote >= read))
        return read >= 0;
    const SCEV *distance = scev_.getMinusSCEV(scev_.getSCEV(const_cast<Value *>(pointer)),
                                              scev_.getSCEV(const_cast<Value *>(w.pointer)));
    std::optional<int64_t> from = constant_of(distance);
    return from && read >= 0 && *from >= 0 && *from + read <= wrote;
}

// Why what an instruction finds in a local object may be another value; NULL: it is the same.
Mark Proof::contents(const Value *object, const Instruction *r, const Value *pointer)
{
    for (const Use1 &w : uses_[object]) {
        if (!w.writes || w.at == r)
            continue;
        auto *store = dyn_cast<StoreInst>(w.at);
        Mark m = store ? mark(store->getValueOperand()) : nullptr;
        m = m ? m : mark(w.pointer);
        m = m ? m : mark_of_block(w.at->getParent());
        m = m || store ? m : mark(w.at);
        if (m)
            return m;
    }
    for (auto &[l, d] : divided_) {
        bool writes = false, fresh = begins_in(object, l);
        for (const Use1 &w : uses_[object])
            if (w.writes && l->contains(w.at)) {
                writes = true;
                fresh |= l->contains(r) && covers(w, object, r, pointer);
            }
        if (!writes || (fresh && l->contains(r)))
            continue;
        return l->contains(r)
                   ? because("may find in local memory what another iteration has left there", r)
                   : because("uses behind a loop over the range what that loop leaves in local "
                             "memory",
                             r);
    }
    return nullptr;
}

// True if both are the same element of one array in iterations of the same number.
static bool is_parallel(const SCEV *a, const SCEV *b, int64_t bytes, ScalarEvolution &scev)
{
    auto *x = dyn_cast<SCEVAddRecExpr>(a), *y = dyn_cast<SCEVAddRecExpr>(b);
    if (!x || !y || !x->isAffine() || !y->isAffine() || x->getStart() != y->getStart() ||
        x->getStepRecurrence(scev) != y->getStepRecurrence(scev))
        return false;
    const std::optional<int64_t> step = constant_of(x->getStepRecurrence(scev));
    return step && bytes >= 0 && std::abs(*step) >= bytes;
}

// The store by which an earlier loop over the range has left what the load finds, in the iteration
// of the same number: as by `t[i] = x[i]` for `y[i] = t[i]`. NULL: there is no such one.
const StoreInst *Proof::left_by(const LoadInst *load)
{
    const auto objects = objects_of(load->getPointerOperand());
    const StoreInst *found = nullptr;
    auto loop_of = [&](const Instruction *i) {
        const Loop *l = loops_.getLoopFor(i->getParent());
        return l && divided_.count(l) ? l : nullptr;
    };
    const Loop *to = loop_of(load);
    if (objects.size() != 1 || kind_of(objects[0]) != LOCAL_OBJECT || !to)
        return nullptr;
    for (const Use1 &w : uses_[objects[0]])
        if (auto *store = w.writes ? dyn_cast<StoreInst>(w.at) : nullptr; store && loop_of(store)) {
            if (found)
                return nullptr;
            found = store;
        }
    const Loop *from = found ? loop_of(found) : nullptr;
    if (!from || from == to || !found->isSimple() || !load->isSimple() ||
        !tree_.dominates(found->getParent(), from->getLoopLatch()) ||
        !tree_.dominates(from->getHeader(), load->getParent()) || to->contains(from))
        return nullptr;
    for (const Use1 &w : uses_[objects[0]])
        if (w.writes && w.at != found &&
            (from->contains(w.at) || !tree_.dominates(w.at->getParent(), from->getHeader())))
            return nullptr;
    const Divided &x = divided_.find(from)->second, &y = divided_.find(to)->second;
    const int64_t bytes = bytes_of(found, layout_);
    const bool is_alike = x.count == y.count && x.at_end == y.at_end && x.axes == y.axes &&
                          x.descends == y.descends && bytes == bytes_of(load, layout_);
    return is_alike && is_parallel(scev_.getSCEV(const_cast<Value *>(found->getPointerOperand())),
                                   scev_.getSCEV(const_cast<Value *>(load->getPointerOperand())),
                                   bytes, scev_)
               ? found
               : nullptr;
}

// ---- Arrays: parameters, and what pointers in structs and variables lead to ----

// The array that begins at the object; NULL: it is none.
const Value *Proof::array_of(const Value *object) const
{
    auto at = array_.find(object);
    return isa<Argument>(object) ? object : at == array_.end() ? nullptr : at->second;
}

SmallVector<const Value *, 4> Proof::arrays_of(const Value *pointer) const
{
    SmallVector<const Value *, 4> found;
    for (const Value *o : objects_of(pointer))
        if (const Value *array = array_of(o))
            found.push_back(array);
    return found;
}

// Finds the arrays to which the function stores. Loads of a pointer from one place give one array.
void Proof::find_stored()
{
    std::map<std::pair<const Value *, int64_t>, const Value *> first;
    ReversePostOrderTraversal<const Function *> order(&f_);
    for (const BasicBlock *b : order)
        for (const Instruction &i : *b) {
            if (!is_steady(&i))
                continue;
            const Value *from = cast<LoadInst>(i).getPointerOperand();
            APInt offset(layout_.getIndexTypeSizeInBits(from->getType()), 0);
            from = from->stripAndAccumulateConstantOffsets(layout_, offset, true);
            const Value *base = array_of(from);
            array_[&i] =
                first.insert({{base ? base : from, offset.getSExtValue()}, &i}).first->second;
        }
    for (const Instruction &i : instructions(f_)) {
        auto *store = dyn_cast<StoreInst>(&i);
        auto *m = dyn_cast<MemIntrinsic>(&i);
        const Value *to = store ? store->getPointerOperand() : m ? m->getRawDest() : nullptr;
        if (!to || target(to))
            continue;
        for (const Value *array : arrays_of(to))
            stored_.insert(array);
    }
}

} // namespace kmm_ir
