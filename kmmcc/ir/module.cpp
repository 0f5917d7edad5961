// SPDX-License-Identifier: Apache-2.0
// The module of ir.h for one release of LLVM: reads bitcode that is not optimized, inlines all
// calls, moves variables to registers, and describes each access through a parameter as nodes.
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <set>
#include <utility>
#include <vector>

#include "ir/function.hpp"

using namespace llvm;
using namespace kmm_ir;

namespace kmm_ir
{

// Reads the body of a function that has one. False: it cannot be read.
bool has_body(Function &f)
{
    if (!f.isMaterializable())
        return true;
    Error failed = f.materialize();
    bool is_read = !failed;
    consumeError(std::move(failed));
    return is_read;
}

// Inlines what f calls, and what that calls, but for functions that call themselves: a function
// is not inlined into code that came from it. Nor are atomic functions, which kmm's headers write
// as loops.
void inline_all(Function &f)
{
    enum { MOST_INLINED = 4000 };
    std::vector<std::pair<CallBase *, std::set<Function *>>> calls;
    for (Instruction &i : instructions(f))
        if (auto *call = dyn_cast<CallBase>(&i))
            calls.push_back({call, {&f}});
    for (int done = 0; !calls.empty() && done < MOST_INLINED;) {
        auto [call, from] = calls.back();
        calls.pop_back();
        Function *callee = call->getCalledFunction();
        if (!callee || callee->isDeclaration() || callee->isInterposable() || from.count(callee) ||
            is_combination(call) || !has_body(*callee))
            continue;
        InlineFunctionInfo info;
        if (!InlineFunction(*call, info).isSuccess())
            continue;
        done++;
        from.insert(callee);
        for (CallBase *inner : info.InlinedCallSites)
            calls.push_back({inner, from});
    }
}

} // namespace kmm_ir

namespace
{

bool is_kernel(const Function &f)
{
    if (f.getCallingConv() == CallingConv::PTX_Kernel ||
        f.getCallingConv() == CallingConv::AMDGPU_KERNEL)
        return true;
    const NamedMDNode *marks = f.getParent()->getNamedMetadata("nvvm.annotations");
    for (unsigned k = 0; marks && k < marks->getNumOperands(); k++) {
        const MDNode *m = marks->getOperand(k);
        auto *of =
            m->getNumOperands() > 1 ? dyn_cast_or_null<ValueAsMetadata>(m->getOperand(0)) : nullptr;
        auto *word = of ? dyn_cast<MDString>(m->getOperand(1)) : nullptr;
        if (word && of->getValue() == &f && word->getString() == "kernel")
            return true;
    }
    return false;
}

// Members of a struct that is put together in registers, as complex numbers are, become the values
// themselves.
void forward_members(Function &f)
{
    for (Instruction &i : instructions(f))
        if (auto *member = dyn_cast<ExtractValueInst>(&i))
            if (Value *v = FindInsertedValue(member->getAggregateOperand(), member->getIndices()))
                member->replaceAllUsesWith(v);
}

// Removes what computes addresses that nothing uses. Loads and stores stay.
void drop_unused(Function &f)
{
    for (bool found = true; found;) {
        found = false;
        for (Instruction &i : make_early_inc_range(instructions(f))) {
            bool computes = isa<CastInst>(i) || isa<GetElementPtrInst>(i) || isa<PHINode>(i) ||
                            isa<SelectInst>(i) || isa<FreezeInst>(i) || isa<InsertValueInst>(i) ||
                            isa<ExtractValueInst>(i);
            if (!computes || !i.use_empty())
                continue;
            i.eraseFromParent();
            found = true;
        }
    }
}

} // namespace

extern "C" ir_function_t **kmm_ir_analyze(const char *path, const char *name, const char **error)
{
    auto *context = new LLVMContext; // never freed: modules hold on to it
    auto text = MemoryBuffer::getFile(path);
    if (!text) {
        *error = strdup(text.getError().message().c_str());
        return nullptr;
    }
    // Bodies are read where they are needed: of one function, most of the file is not.
    auto parsed = getOwningLazyBitcodeModule(std::move(*text), *context);
    if (!parsed) {
        *error = strdup(toString(parsed.takeError()).c_str());
        return nullptr;
    }
    Module *module = parsed->release();
    Analyses analyses;
    FunctionAnalysisManager &of_functions = analyses.of_functions;
    std::vector<ir_function_t *> found;
    for (Function &f : *module) {
        if (f.isDeclaration() || !(name ? f.getName() == name : is_kernel(f)) || !has_body(f))
            continue;
        inline_all(f);
        FunctionPassManager passes;
        passes.addPass(SROAPass(SROAOptions::ModifyCFG));
        passes.addPass(LoopSimplifyPass());
        passes.addPass(LCSSAPass());
        passes.run(f, of_functions);
        forward_members(f);
        drop_unused(f);
        found.push_back(Analysis(f, of_functions, name != nullptr).run());
    }
    found.push_back(nullptr);
    return kept_array(found);
}
