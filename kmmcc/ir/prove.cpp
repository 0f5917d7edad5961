// SPDX-License-Identifier: Apache-2.0
// Proofs that a function may be called for each chunk: reads its bitcode, simplifies it, and
// places what keeps a proof from succeeding in the source.
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
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
    auto is_number = [&](int k, ir_role_kind_t kind) {
        return role[k].kind == kind && f.getArg((unsigned)k)->getType()->isIntegerTy();
    };
    for (int k = 0; k < count; k++) {
        Argument *a = f.getArg((unsigned)k);
        if (is_number(k, IR_LENGTH))
            at.CreateAssumption(at.CreateICmpSGT(a, ConstantInt::get(a->getType(), 0)));
        for (int i = 0; i < count && is_number(k, IR_BEGIN); i++)
            if (is_number(i, IR_END) && role[i].axis == role[k].axis &&
                f.getArg((unsigned)i)->getType() == a->getType())
                at.CreateAssumption(at.CreateICmpSLT(a, f.getArg((unsigned)i)));
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
    FunctionPassManager passes;
    passes.addPass(LoopSimplifyPass());
    passes.addPass(LCSSAPass());
    passes.run(f, of_functions);
    const Mark m = Proof(f, of_functions, role, count, axes).run();
    return m ? gap_of(m, f) : nullptr;
}

} // namespace kmm_ir

extern "C" const ir_gap_t *kmm_ir_prove(const char *path, const char *name, const ir_role_t *role,
                                        int count, uint64_t axes)
{
    static const ir_gap_t unseen = {"has no code in this file", 0, 0, nullptr};
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
