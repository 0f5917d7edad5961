// SPDX-License-Identifier: Apache-2.0
// Proofs that a function may be called for each chunk: reads its bitcode, simplifies it, and
// places what keeps a proof from succeeding in the source.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "ir/proof.hpp"

namespace kmm_ir
{

// A chunk has one index at least, so its length is greater than 0, and it begins before it ends.
static void assume_chunks(Function &f, const ir_role_t *role, int count)
{
    if ((int)f.arg_size() != count)
        return;
    IRBuilder<> at(&*f.getEntryBlock().getFirstInsertionPt());
    auto assume = [&](Value *condition) {
        at.CreateAssumption(condition)->setMetadata(own_assumption,
                                                    MDNode::get(f.getContext(), {}));
    };
    auto is_number = [&](int k, ir_role_kind_t kind) {
        return role[k].kind == kind && f.getArg((unsigned)k)->getType()->isIntegerTy();
    };
    for (int k = 0; k < count; k++) {
        Argument *a = f.getArg((unsigned)k);
        if (is_number(k, IR_LENGTH))
            assume(at.CreateICmpSGT(a, ConstantInt::get(a->getType(), 0)));
        for (int i = 0; i < count && is_number(k, IR_BEGIN); i++)
            if (is_number(i, IR_END) && role[i].axis == role[k].axis &&
                f.getArg((unsigned)i)->getType() == a->getType())
                assume(at.CreateICmpSLT(a, f.getArg((unsigned)i)));
    }
}

// Parameters that get the same pointer lead to one array.
static void join_parameters(Function &f, const ir_role_t *role, int count)
{
    if ((int)f.arg_size() != count)
        return;
    for (int k = 0; k < count; k++) {
        Argument *a = f.getArg((unsigned)k);
        Argument *first = role[k].same_as ? f.getArg((unsigned)role[k].same_as - 1) : nullptr;
        if (!first || !a->getType()->isPointerTy() || !first->getType()->isPointerTy())
            continue;
        first->removeAttr(Attribute::NoAlias);
        a->replaceAllUsesWith(first);
    }
}

// Loops keep their tests where the source has them, and no value is carried that the source does
// not carry.
static void simplify(Function &f, FunctionAnalysisManager &m)
{
    FunctionPassManager passes;
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(EarlyCSEPass(true));
    passes.addPass(InstCombinePass());
    passes.addPass(SimplifyCFGPass());
    passes.addPass(CorrelatedValuePropagationPass());
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(EarlyCSEPass(true));
    passes.addPass(InstCombinePass());
    passes.addPass(ADCEPass());
    passes.addPass(SimplifyCFGPass());
    passes.run(f, m);
}

// The parameter or variable in which the load finds a constant place that is the same in each
// chunk; NULL: in none.
static const Value *setting_of(const LoadInst *load, const ir_role_t *role, int count)
{
    const Value *base = load->getPointerOperand()->stripInBoundsConstantOffsets();
    auto *g = dyn_cast<GlobalVariable>(base);
    auto *a = dyn_cast<Argument>(base);
    const bool is_fixed = a && a->getParent()->arg_size() == (size_t)count &&
                          role[a->getArgNo()].kind == IR_FIXED && !role[a->getArgNo()].is_reduced;
    return load->isSimple() && load->getType()->isIntegerTy() &&
                   (is_fixed || (g && !g->isThreadLocal()))
               ? base
               : nullptr;
}

// True if an instruction may change memory of the object by its name.
static bool changes(const Instruction &i, const Value *object)
{
    auto *store = dyn_cast<StoreInst>(&i);
    auto *call = dyn_cast<CallBase>(&i);
    const auto leads = [&](const Value *pointer) {
        SmallVector<const Value *, 4> found;
        getUnderlyingObjects(pointer, found, nullptr, 0);
        return is_contained(found, object);
    };
    if (store)
        return leads(store->getPointerOperand()) || leads(store->getValueOperand());
    if (call)
        return any_of(call->args(),
                      [&](const Use &u) { return u->getType()->isPointerTy() && leads(u); });
    return (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i)) && leads(i.getOperand(0));
}

// Loads numbers such as a width, which the function does not change, once at its begin: places that
// are computed from them can be compared then.
static void load_settings(Function &f, const ir_role_t *role, int count)
{
    std::map<const Value *, bool> kept;
    std::map<std::tuple<const Value *, int64_t, Type *>, Instruction *> first;
    std::vector<LoadInst *> list;
    for (Instruction &i : instructions(f))
        if (auto *load = dyn_cast<LoadInst>(&i); load && setting_of(load, role, count))
            list.push_back(load);
    const DataLayout &layout = f.getParent()->getDataLayout();
    IRBuilder<> at(&*f.getEntryBlock().getFirstInsertionPt());
    for (LoadInst *load : list) {
        const Value *base = setting_of(load, role, count);
        auto [is_kept, is_new] = kept.insert({base, true});
        if (is_new)
            is_kept->second =
                none_of(instructions(f), [&](const Instruction &i) { return changes(i, base); });
        if (!is_kept->second)
            continue;
        APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
        load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
        Instruction *&once = first[{base, offset.getSExtValue(), load->getType()}];
        if (!once) {
            Value *place = at.CreatePtrAdd(const_cast<Value *>(base), at.getInt(offset));
            once = at.CreateLoad(load->getType(), place);
            once->copyMetadata(*load, {LLVMContext::MD_tbaa});
        }
        load->replaceAllUsesWith(once);
        load->eraseFromParent();
    }
}

// Computes what is the same in all iterations of a loop before it, such as the half of a width: the
// number of its iterations is known then.
static void hoist(Function &f, FunctionAnalysisManager &m)
{
    auto all = m.getResult<LoopAnalysis>(f).getLoopsInPreorder();
    for (Loop *l : reverse(all))
        for (BasicBlock *b : l->blocks())
            for (Instruction &i : make_early_inc_range(*b)) {
                bool changed = false;
                if (!isa<LoadInst>(i) && !isa<CallBase>(i))
                    l->makeLoopInvariant(&i, changed);
            }
}

static const ir_gap_t *gap_of(Mark m, const Function &f)
{
    auto *gap = new ir_gap_t{kept_text(m->reason), 0, 0, nullptr};
    const DILocation *l = m->at ? m->at->getDebugLoc().get() : nullptr;
    while (l && l->getInlinedAt() && l->getFilename().starts_with("/usr/"))
        l = l->getInlinedAt();
    if (l)
        locate(l, gap);
    else if (const DISubprogram *s = f.getSubprogram()) {
        gap->line = (int)s->getLine();
        gap->file = kept_text(s->getFilename());
    }
    return gap;
}

static const ir_gap_t *prove(Function &f, const ir_role_t *role, int count, uint64_t axes)
{
    Analyses analyses;
    FunctionAnalysisManager &of_functions = analyses.of_functions;
    assume_chunks(f, role, count);
    join_parameters(f, role, count);
    inline_all(f);
    simplify(f, of_functions);
    inline_all(f); // calls through pointers that are known now
    of_functions.invalidate(f, PreservedAnalyses::none());
    simplify(f, of_functions);
    load_settings(f, role, count);
    of_functions.invalidate(f, PreservedAnalyses::none());
    FunctionPassManager passes;
    passes.addPass(LoopSimplifyPass());
    passes.run(f, of_functions);
    hoist(f, of_functions);
    of_functions.invalidate(f, PreservedAnalyses::none());
    FunctionPassManager last;
    last.addPass(LCSSAPass());
    last.run(f, of_functions);
    const Mark m = Proof(f, of_functions, role, count, axes).run();
    return m ? gap_of(m, f) : nullptr;
}

} // namespace kmm_ir

extern "C" const ir_gap_t *kmm_ir_prove(const char *path, const char *name, const ir_role_t *role,
                                        int count, uint64_t axes)
{
    static const ir_gap_t unseen = {"has no code in this file, and a definition in a "
                                    "header would be seen",
                                    0, 0, nullptr};
    auto *context = new LLVMContext; // never freed: modules hold on to it
    auto text = MemoryBuffer::getFile(path);
    if (!text)
        return &unseen;
    auto parsed = getOwningLazyBitcodeModule(std::move(*text), *context);
    if (!parsed) {
        consumeError(parsed.takeError());
        return &unseen;
    }
    Module *module = parsed->release();
    Function *f = module->getFunction(name);
    if (!f || f->isDeclaration() || !has_body(*f))
        return &unseen;
    return prove(*f, role, count, axes);
}
