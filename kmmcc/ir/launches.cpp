// SPDX-License-Identifier: Apache-2.0
// The kernel launches in the code that a file has for the host: clang makes each of them a call of
// the host function that stands for the kernel. Instances of templates have such calls of their
// own.
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>

#include <vector>

#include "ir/function.hpp"

using namespace llvm;

namespace
{

const char *kept(const std::string &text)
{
    return strdup(text.c_str());
}

// The place that the program's text has: of a macro's code, where the macro is used.
ir_launch_t launch_at(const Function &f, const Function &kernel, const CallBase &call)
{
    ir_launch_t l = {kept(f.getName().str()), kept(demangle(f.getName().str())),
                     kept(kernel.getName().str()), nullptr, 0};
    if (const DILocation *at = call.getDebugLoc().get()) {
        bool whole = at->getFilename().starts_with("/") || at->getDirectory().empty();
        l.file = kept(whole ? at->getFilename().str()
                            : (at->getDirectory() + "/" + at->getFilename()).str());
        l.line = (int)at->getLine();
    }
    return l;
}

} // namespace

extern "C" ir_launch_t *kmm_ir_launches(const char *path, int *count, const char **error)
{
    auto *context = new LLVMContext; // never freed, as in module.cpp
    auto text = MemoryBuffer::getFile(path);
    if (!text) {
        *error = strdup(text.getError().message().c_str());
        return nullptr;
    }
    auto module = parseBitcodeFile((*text)->getMemBufferRef(), *context);
    if (!module) {
        *error = strdup(toString(module.takeError()).c_str());
        return nullptr;
    }
    std::vector<ir_launch_t> found;
    for (const Function &f : **module)
        for (const Instruction &i : instructions(f)) {
            auto *call = dyn_cast<CallBase>(&i);
            const Function *kernel = call ? call->getCalledFunction() : nullptr;
            if (kernel && kernel->getName().contains("__device_stub__"))
                found.push_back(launch_at(f, *kernel, *call));
        }
    *count = (int)found.size();
    found.push_back({});
    return kmm_ir::kept_array(found);
}
