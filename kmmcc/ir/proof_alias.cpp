// SPDX-License-Identifier: Apache-2.0
// Pointers that may lead into one array: those in variables and in memory, and the names of arrays.
// Of parameters, libkmm compares the clauses when the program runs.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>

#include "ir/proof.hpp"

namespace kmm_ir
{

// True if clauses name what the pointer leads to: for a parameter, and a member of a struct that is
// passed by value.
bool Proof::is_named(const Value *object) const
{
    auto *load = dyn_cast<LoadInst>(object);
    auto *a = load ? dyn_cast<Argument>(load->getPointerOperand()->stripInBoundsConstantOffsets())
                   : nullptr;
    return isa<Argument>(object) || (a && a->hasByValAttr());
}

// True if there is an array in the type.
static bool has_array(const Type *t)
{
    if (auto *s = dyn_cast<StructType>(t))
        return any_of(s->elements(), [](const Type *part) { return has_array(part); });
    return isa<ArrayType>(t) || isa<VectorType>(t);
}

// True if there is an array at this byte of the type.
static bool is_in_array(Type *t, uint64_t byte, const DataLayout &layout)
{
    auto *s = dyn_cast<StructType>(t);
    if (!s)
        return has_array(t);
    const StructLayout *parts = layout.getStructLayout(s);
    if (byte >= parts->getSizeInBytes())
        return true;
    const unsigned part = parts->getElementContainingOffset(byte);
    return is_in_array(s->getElementType(part), byte - parts->getElementOffset(part), layout);
}

// True if the file puts the pointer into memory, or passes it to `end`. What functions of other
// files may do with it does not count, unless they return a pointer.
static bool is_taken(const Value *pointer, const Function *end, std::set<const Value *> &seen)
{
    if (!seen.insert(pointer).second)
        return false;
    for (const Use &u : pointer->uses()) {
        auto *user = u.getUser();
        auto *store = dyn_cast<StoreInst>(user);
        auto *call = dyn_cast<CallBase>(user);
        auto *local = store ? dyn_cast<AllocaInst>(store->getPointerOperand()) : nullptr;
        if (isa<LoadInst>(user) || isa<MemIntrinsic>(user) || isa<LifetimeIntrinsic>(user) ||
            isa<ICmpInst>(user) || isa<DbgInfoIntrinsic>(user))
            continue;
        if (store && store->getPointerOperand() == pointer && store->getValueOperand() != pointer)
            continue;
        if (isa<GEPOperator>(user) || isa<PHINode>(user) || isa<SelectInst>(user)) {
            if (is_taken(user, end, seen))
                return true;
            continue;
        }
        if (local) { // a local variable that has the pointer
            for (const User *v : local->users())
                if (isa<LoadInst>(v) ? is_taken(v, end, seen)
                                     : !isa<LifetimeIntrinsic>(v) && !isa<DbgInfoIntrinsic>(v) &&
                                           (!isa<StoreInst>(v) || v->getOperand(0) == local))
                    return true;
            continue;
        }
        const Function *f = call && call->isArgOperand(&u) ? call->getCalledFunction() : nullptr;
        if (f && f->isDeclaration() && !f->getReturnType()->isPointerTy())
            continue;
        if (!f || f == end || f->isDeclaration() || call->getArgOperandNo(&u) >= f->arg_size() ||
            is_taken(f->getArg(call->getArgOperandNo(&u)), end, seen))
            return true;
    }
    return false;
}

// True for a member of a struct whose members are of several types, so that it is no element of an
// array of numbers.
static bool is_member(const Instruction *i)
{
    const MDNode *tag = i->getMetadata(LLVMContext::MD_tbaa);
    auto *whole = tag && tag->getNumOperands() > 2 ? dyn_cast<MDNode>(tag->getOperand(0)) : nullptr;
    if (!whole || whole == tag->getOperand(1))
        return false;
    for (unsigned k = 3; k + 1 < whole->getNumOperands(); k += 2)
        if (whole->getOperand(k) != whole->getOperand(1))
            return true;
    return false;
}

// True if all that the function stores through pointers to the array are numbers, as elements of
// arrays.
bool Proof::has_plain_elements(const Value *array) const
{
    for (const Instruction &i : instructions(f_)) {
        auto *store = dyn_cast<StoreInst>(&i);
        auto *copy = dyn_cast<MemTransferInst>(&i);
        const Value *to = store ? store->getPointerOperand() : copy ? copy->getRawDest() : nullptr;
        if (to && is_contained(arrays_of(to), array) &&
            (copy || is_member(store) || store->getValueOperand()->getType()->isPointerTy()))
            return false;
    }
    return true;
}

// The type by which the instruction accesses memory, where types are told apart; NULL: not known.
static const Metadata *accessed_as(const Instruction *i)
{
    const MDNode *tag = i->getMetadata(LLVMContext::MD_tbaa);
    return tag && tag->getNumOperands() > 2 ? tag->getOperand(1).get() : nullptr;
}

// True if the member may be one of the elements that the function stores in the array: it has their
// type, and there is room for other members between them.
bool Proof::may_be_element(const Instruction *member, const Value *array) const
{
    for (const Instruction &i : instructions(f_)) {
        auto *store = dyn_cast<StoreInst>(&i);
        if (!store || !is_contained(arrays_of(store->getPointerOperand()), array) ||
            (accessed_as(store) && accessed_as(store) != accessed_as(member)))
            continue;
        const Type *t = store->getValueOperand()->getType();
        const uint64_t bytes = layout_.getTypeStoreSize(const_cast<Type *>(t)).getFixedValue();
        const SCEV *s = scev_.getSCEV(const_cast<Value *>(store->getPointerOperand()));
        const bool is_dense = SCEVExprContains(s, [&](const SCEV *e) {
            auto *r = dyn_cast<SCEVAddRecExpr>(e);
            auto *step =
                r && r->isAffine() ? dyn_cast<SCEVConstant>(r->getStepRecurrence(scev_)) : nullptr;
            return step && step->getAPInt().abs() == bytes;
        });
        if (!is_dense)
            return true;
    }
    return false;
}

// True if the place in the variable may lie in an array to which a pointer leads. All code of the
// file is looked at.
bool Proof::may_be_array(const GlobalVariable *g, const Value *pointer) const
{
    APInt offset(layout_.getIndexTypeSizeInBits(pointer->getType()), 0);
    const Value *base = pointer->stripAndAccumulateConstantOffsets(layout_, offset, true);
    if (base == g ? !is_in_array(g->getValueType(), offset.getZExtValue(), layout_)
                  : !has_array(g->getValueType()))
        return false;
    if (g->isDeclaration())
        return true;
    consumeError(f_.getParent()->materializeAll());
    std::set<const Value *> seen;
    return is_taken(g, &f_, seen);
}

// True if what the instruction accesses in the object may lie in the array.
bool Proof::may_meet(const Value *array, const Value *object, const Instruction *at) const
{
    const auto is_alone = [](const Value *v) {
        auto *a = dyn_cast<Argument>(v);
        return a && a->hasNoAliasAttr();
    };
    const ObjectKind kind = kind_of(object);
    if (kind == LOCAL_OBJECT || kind == CONSTANT || is_alone(array) || is_alone(object) ||
        (is_named(array) && is_named(object)))
        return false;
    auto *g = dyn_cast<GlobalVariable>(object);
    auto *load = dyn_cast<LoadInst>(at);
    const bool is_other = load && (load->getType()->isPointerTy() ||
                                   (is_member(load) && !may_be_element(load, array)));
    if (is_other && has_plain_elements(array))
        return false;
    return !g || !load || may_be_array(g, load->getPointerOperand());
}

// Why what lies in the object may be in an array to which another iteration stores.
Mark Proof::judge_aliases(const Instruction *i, const Value *object, const Value *pointer) const
{
    for (const Value *array : stored_) {
        if (array_of(object) == array || !may_meet(array, object, i))
            continue;
        if (!array_of(object) && !isa<GlobalVariable>(object))
            return because("reads through a pointer that lies in memory, which may lead to what it "
                           "stores",
                           i);
        if (!is_affine(scev_.getSCEV(const_cast<Value *>(pointer))) || !is_within(i->getParent()))
            return because(isa<GlobalVariable>(object)
                               ? "reads a variable that may be what it stores"
                               : "reads through another pointer, which may lead to what it stores",
                           i);
    }
    return nullptr;
}

} // namespace kmm_ir
