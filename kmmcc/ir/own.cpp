// SPDX-License-Identifier: Apache-2.0
// Loads of variables of which each thread has its own. Chunks run on other threads than the one
// that launches, so they find other values there. Code that C++ runs by itself is inlined. Of what
// a pointer may call, each function of the type counts whose address the file takes.
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "ir/function.hpp"

namespace kmm_ir
{

// True for a local variable of static storage, by its name.
static bool is_local_name(StringRef name)
{
    return name.starts_with("_ZZ") || (!name.starts_with("_Z") && name.contains('.'));
}

// Variables with names that C and C++ reserve are a library's. Local objects and arrays are room to
// work in.
static bool is_own(const GlobalVariable *g)
{
    StringRef name = g->getName();
    bool reserved = name.starts_with("__") || name.starts_with("_ZSt") ||
                    name.starts_with("_ZNSt") || name.starts_with("_ZN9__gnu_cxx");
    return g->isThreadLocal() && is_program_state(g) && !reserved &&
           (!is_local_name(name) || g->getValueType()->isSingleValueType());
}

static const GlobalVariable *own_of(const Value *pointer)
{
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects);
    for (const Value *v : objects) {
        auto *local = dyn_cast<IntrinsicInst>(v);
        if (local && local->getIntrinsicID() == Intrinsic::threadlocal_address)
            v = local->getArgOperand(0);
        auto *g = dyn_cast<GlobalVariable>(v);
        if (g && is_own(g))
            return g;
    }
    return nullptr;
}

// The variable of which an instruction loads a value; NULL: of none. `is_plain`: the function's
// variables are still in memory. There a use of the address other than a store to it is a load.
static const GlobalVariable *own_loaded(const Instruction &i, bool is_plain)
{
    auto *address = dyn_cast<IntrinsicInst>(&i);
    if (is_plain && address && address->getIntrinsicID() == Intrinsic::threadlocal_address) {
        bool loads = any_of(address->users(), [&](const User *u) {
            auto *store = dyn_cast<StoreInst>(u);
            return !store || store->getPointerOperand() != address;
        });
        return loads ? own_of(address) : nullptr;
    }
    if (auto *load = dyn_cast<LoadInst>(&i))
        return own_of(load->getPointerOperand());
    auto *copy = dyn_cast<MemTransferInst>(&i);
    return copy ? own_of(copy->getRawSource()) : nullptr;
}

// True if the instruction gives the variable a value, or its address to code that may.
static bool sets_own(const Instruction &i, const GlobalVariable *g)
{
    if (auto *store = dyn_cast<StoreInst>(&i))
        return own_of(store->getPointerOperand()) == g;
    if (auto *fill = dyn_cast<MemIntrinsic>(&i))
        return own_of(fill->getRawDest()) == g;
    auto *call = dyn_cast<CallBase>(&i);
    return call && !isa<IntrinsicInst>(call) && any_of(call->args(), [&](const Use &u) {
               return u->getType()->isPointerTy() && own_of(u) == g;
           });
}

// True if each call sets the variable before the instruction. Of a local variable one store is
// enough: it is the function's to work with.
static bool is_set_before(const Instruction &i, const GlobalVariable *g, const DominatorTree &tree)
{
    for (const Instruction &k : instructions(*i.getFunction()))
        if (sets_own(k, g) && (is_local_name(g->getName()) || tree.dominates(&k, &i)))
            return true;
    return false;
}

// True if a call through a pointer may be one of the function. C calls functions without a
// prototype by any arguments.
static bool may_be_called(const Function &f, const CallBase *call)
{
    const FunctionType *type = call->getFunctionType();
    bool is_alike = f.getFunctionType() == type || (type->isVarArg() && !type->getNumParams() &&
                                                    f.getReturnType() == type->getReturnType());
    return is_alike && f.hasAddressTaken();
}

static bool read_body(const Function &f)
{
    Error failed =
        f.isMaterializable() ? const_cast<Function &>(f).materialize() : Error(Error::success());
    bool is_read = !failed;
    consumeError(std::move(failed));
    return is_read && !f.isDeclaration();
}

typedef SmallSetVector<const Function *, 16> Functions;

// Adds the functions that an instruction names, or may call by a pointer.
static void add_reached(const Instruction &i, Functions &reached)
{
    for (const Use &u : i.operands())
        if (auto *f = dyn_cast<Function>(u->stripPointerCastsAndAliases()))
            reached.insert(f);
    auto *call = dyn_cast<CallBase>(&i);
    if (!call || !call->isIndirectCall())
        return;
    Module *m = const_cast<Module *>(i.getModule());
    consumeError(m->materializeAll()); /* an address may be taken anywhere */
    for (const Function &f : *m)
        if (!f.isDeclaration() && may_be_called(f, call))
            reached.insert(&f);
}

void Analysis::note_own(const Instruction &i, const GlobalVariable *g)
{
    std::string name = title_of(g);
    for (const ir_own_t &o : own_)
        if (name == o.name)
            return;
    ir_own_t o = {kept(name), 0, 0, nullptr};
    locate(i.getDebugLoc().get(), &o);
    own_.push_back(o);
}

void Analysis::find_own()
{
    if (none_of(f_.getParent()->globals(), [](const GlobalVariable &g) { return is_own(&g); }))
        return;
    Functions reached;
    for (const Instruction &i : instructions(f_)) {
        const GlobalVariable *g = own_loaded(i, false);
        if (g && !is_set_before(i, g, tree_))
            note_own(i, g);
        add_reached(i, reached);
    }
    for (size_t k = 0; k < reached.size(); k++) {
        const Function *f = reached[k];
        if (f == &f_ || !read_body(*f))
            continue;
        DominatorTree tree(const_cast<Function &>(*f));
        for (const Instruction &i : instructions(*f)) {
            const GlobalVariable *g = own_loaded(i, true);
            if (g && !is_set_before(i, g, tree))
                note_own(i, g);
            add_reached(i, reached);
        }
    }
}

} // namespace kmm_ir
