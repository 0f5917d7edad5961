// SPDX-License-Identifier: Apache-2.0
// Makes of a GPU's bitcode, as clang writes it before any pass, a module for the CPU whose loads
// and stores are told to sound.c.
//
//     instrument IN.bc OUT.bc
//
// A kernel NAME can be called as `void kmm_run_NAME(void **arguments)`. Intrinsics of the GPU and
// functions without a body become calls of sound.c, or give their first argument of the type that
// they return: what a value is does not matter here, only where accesses go.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <string>
#include <vector>

using namespace llvm;

namespace
{

enum { READ, WRITE, ATOMIC };

class Instrument
{
  public:
    explicit Instrument(Module &m)
        : m_(m), pointer_(PointerType::get(m.getContext(), 0)),
          word_(Type::getInt64Ty(m.getContext())), int_(Type::getInt32Ty(m.getContext())),
          void_(Type::getVoidTy(m.getContext()))
    {
        seen_ = m.getOrInsertFunction("kmm_sound_seen", pointer_, pointer_, word_, int_, int_);
        tick_ = m.getOrInsertFunction("kmm_sound_tick", void_);
        random_ = m.getOrInsertFunction("kmm_sound_random", word_);
        index_ = m.getOrInsertFunction("kmm_sound_index", int_, int_);
        barrier_ = m.getOrInsertFunction("kmm_sound_barrier", void_);
        end_ = m.getOrInsertFunction("kmm_sound_end", void_);
    }
    void run();

  private:
    Module &m_;
    PointerType *pointer_;
    Type *word_, *int_, *void_;
    FunctionCallee seen_, tick_, random_, index_, barrier_, end_;

    void seen(Instruction *i, unsigned operand, Value *bytes, int kind);
    void globals();
    void function(Function &f);
    void memory(Instruction *i);
    void call(CallBase *c);
    void wrap(Function &kernel);
};

// Before LLVM 21 a kernel has the usual calling convention, and a mark in the module's metadata.
bool is_kernel(const Function &f)
{
    if (f.getCallingConv() == CallingConv::PTX_Kernel)
        return true;
    const NamedMDNode *marks = f.getParent()->getNamedMetadata("nvvm.annotations");
    for (unsigned k = 0; marks && k < marks->getNumOperands(); k++) {
        const MDNode *m = marks->getOperand(k);
        auto *of = dyn_cast_or_null<ValueAsMetadata>(m->getOperand(0).get());
        auto *word = m->getNumOperands() > 1 ? dyn_cast<MDString>(m->getOperand(1)) : nullptr;
        if (of && of->getValue() == &f && word && word->getString() == "kernel")
            return true;
    }
    return false;
}

// Tells of the access, and goes to the address that the answer names.
void Instrument::seen(Instruction *i, unsigned operand, Value *bytes, int kind)
{
    Value *p = i->getOperand(operand);
    const Value *base = getUnderlyingObject(p);
    auto *gep = dyn_cast<GEPOperator>(p);
    bool fixed = !gep || gep->hasAllConstantIndices();
    if ((isa<AllocaInst>(base) || isa<GlobalVariable>(base)) && fixed)
        return;
    IRBuilder<> b(i);
    const DebugLoc &at = i->getDebugLoc();
    // The analysis names the place of the call for what kmm's own headers do.
    bool own = at && cast<DIScope>(at.getScope())->getFilename().contains("/kmm/host/");
    unsigned line = at && !own ? at.getLine() : 0;
    Value *generic = b.CreatePointerBitCastOrAddrSpaceCast(p, pointer_);
    Value *safe = b.CreateCall(seen_, {generic, b.CreateZExtOrTrunc(bytes, word_),
                                       b.getInt32((unsigned)kind), b.getInt32(line)});
    i->setOperand(operand, b.CreatePointerBitCastOrAddrSpaceCast(safe, p->getType()));
}

void Instrument::memory(Instruction *i)
{
    auto bytes = [&](Type *t) {
        return ConstantInt::get(word_, m_.getDataLayout().getTypeStoreSize(t).getFixedValue());
    };
    if (auto *load = dyn_cast<LoadInst>(i)) {
        seen(i, load->getPointerOperandIndex(), bytes(load->getType()), READ);
    } else if (auto *store = dyn_cast<StoreInst>(i)) {
        seen(i, store->getPointerOperandIndex(), bytes(store->getValueOperand()->getType()), WRITE);
    } else if (auto *a = dyn_cast<AtomicRMWInst>(i)) {
        a->setSyncScopeID(SyncScope::System);
        seen(i, a->getPointerOperandIndex(), bytes(a->getType()), ATOMIC);
    } else if (auto *x = dyn_cast<AtomicCmpXchgInst>(i)) {
        x->setSyncScopeID(SyncScope::System);
        seen(i, x->getPointerOperandIndex(), bytes(x->getNewValOperand()->getType()), ATOMIC);
    } else if (auto *t = dyn_cast<MemTransferInst>(i)) {
        seen(i, 1, t->getLength(), READ);
        seen(i, 0, t->getLength(), WRITE);
    } else if (auto *s = dyn_cast<MemSetInst>(i)) {
        seen(i, 0, s->getLength(), WRITE);
    }
}

bool is_of_target(StringRef name)
{
    return name.starts_with("llvm.nvvm.") || name.starts_with("llvm.nvgpu");
}

// Calls that the CPU does not have.
void Instrument::call(CallBase *c)
{
    Function *callee = c->getCalledFunction();
    bool assembly = c->isInlineAsm();
    if (!assembly && (!callee || !callee->isDeclaration()))
        return;
    std::string name = callee ? callee->getName().str() : "";
    if (StringRef(name).starts_with("kmm_sound_") ||
        (callee && callee->isIntrinsic() && !is_of_target(name)))
        return;
    IRBuilder<> b(c);
    Type *t = c->getType();
    Value *result = nullptr;
    static const char *const axes[] = {"tid", "ctaid", "ntid", "nctaid"};
    for (int k = 0; k < 4; k++)
        for (int d = 0; d < 3; d++)
            if (name == std::string("llvm.nvvm.read.ptx.sreg.") + axes[k] + "." + "xyz"[d])
                result = b.CreateCall(index_, {b.getInt32((unsigned)(k * 3 + d))});
    if (name == "llvm.nvvm.read.ptx.sreg.warpsize")
        result = b.getInt32(32);
    if (name == "llvm.nvvm.read.ptx.sreg.laneid")
        result = b.CreateCall(index_, {b.getInt32(12)});
    if (StringRef(name).starts_with("llvm.nvvm.barrier"))
        b.CreateCall(barrier_);
    if (name == "__assertfail" || name == "__trap" || name == "llvm.nvvm.exit")
        b.CreateCall(end_);
    for (const Use &k : c->args())
        if (!result && k->getType() == t)
            result = k;
    if (!result && t->isIntegerTy())
        result = b.CreateZExtOrTrunc(b.CreateAnd(b.CreateCall(random_), b.getInt64(63)), t);
    if (!t->isVoidTy())
        c->replaceAllUsesWith(result ? result : Constant::getNullValue(t));
    if (auto *invoke = dyn_cast<InvokeInst>(c))
        b.CreateBr(invoke->getNormalDest());
    c->eraseFromParent();
}

void Instrument::function(Function &f)
{
    f.setCallingConv(CallingConv::C);
    f.setComdat(nullptr);
    f.setLinkage(GlobalValue::InternalLinkage);
    f.setVisibility(GlobalValue::DefaultVisibility);
    f.setAttributes(f.getAttributes().removeFnAttributes(m_.getContext()));
    std::vector<Instruction *> list;
    for (Instruction &i : instructions(f))
        list.push_back(&i);
    for (Instruction *i : list) {
        memory(i);
        if (auto *c = dyn_cast<CallBase>(i)) {
            c->setCallingConv(CallingConv::C);
            c->setAttributes(c->getAttributes().removeFnAttributes(m_.getContext()));
            call(c);
        }
    }
    for (BasicBlock &b : f)
        if (&b != &f.getEntryBlock() && !b.hasNPredecessors(1))
            IRBuilder<>(&b, b.getFirstInsertionPt()).CreateCall(tick_);
}

// Variables get a definition. An array in shared memory without a size gets one of 64 KiB.
void Instrument::globals()
{
    std::vector<GlobalVariable *> list;
    for (GlobalVariable &g : m_.globals())
        list.push_back(&g);
    for (GlobalVariable *g : list) {
        if (g->getName().starts_with("llvm.")) {
            g->eraseFromParent();
            continue;
        }
        StringRef name = g->getName();
        if (name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim") {
            g->setName("kmm_sound_" + name); // sound.c has it
            g->setInitializer(nullptr);
            g->setLinkage(GlobalValue::ExternalLinkage);
            g->setConstant(false);
            g->setDSOLocal(false);
            continue;
        }
        g->setComdat(nullptr);
        g->setExternallyInitialized(false);
        g->setVisibility(GlobalValue::DefaultVisibility);
        Type *t = g->getValueType();
        if (g->isDeclaration() && t->isSized() && m_.getDataLayout().getTypeAllocSize(t) == 0) {
            Type *large = ArrayType::get(Type::getInt8Ty(m_.getContext()), 65536);
            auto *array = new GlobalVariable(m_, large, false, GlobalValue::InternalLinkage,
                                             Constant::getNullValue(large), "", nullptr,
                                             GlobalValue::NotThreadLocal, g->getAddressSpace());
            array->setAlignment(Align(16));
            g->replaceAllUsesWith(array);
            g->eraseFromParent();
            continue;
        }
        if (g->isDeclaration() || isa<UndefValue>(g->getInitializer()))
            g->setInitializer(Constant::getNullValue(t));
        g->setLinkage(GlobalValue::InternalLinkage);
    }
}

void Instrument::wrap(Function &kernel)
{
    auto *type = FunctionType::get(void_, {pointer_}, false);
    auto *f = Function::Create(type, GlobalValue::ExternalLinkage,
                               "kmm_run_" + kernel.getName().str(), m_);
    IRBuilder<> b(BasicBlock::Create(m_.getContext(), "", f));
    std::vector<Value *> arguments;
    for (Argument &a : kernel.args()) {
        Value *at = b.CreateLoad(
            pointer_, b.CreateConstGEP1_64(pointer_, f->getArg(0), (uint64_t)a.getArgNo()));
        arguments.push_back(a.hasByValAttr() ? at : b.CreateLoad(a.getType(), at));
    }
    CallInst *c = b.CreateCall(&kernel, arguments);
    c->setAttributes(kernel.getAttributes());
    b.CreateRetVoid();
}

void Instrument::run()
{
    std::vector<Function *> kernels, all;
    for (Function &f : m_)
        if (!f.isDeclaration() && !f.getName().starts_with("kmm_sound_")) {
            all.push_back(&f);
            if (is_kernel(f))
                kernels.push_back(&f);
        }
    if (NamedMDNode *marks = m_.getNamedMetadata("nvvm.annotations"))
        marks->eraseFromParent();
    for (GlobalAlias &a : make_early_inc_range(m_.aliases())) {
        a.replaceAllUsesWith(a.getAliasee());
        a.eraseFromParent();
    }
    globals();
    for (Function *f : all)
        function(*f);
    for (Function *f : kernels)
        wrap(*f);
    StripDebugInfo(m_);
    if (NamedMDNode *flags = m_.getModuleFlagsMetadata())
        flags->eraseFromParent();
    using triple = std::decay_t<decltype(m_.getTargetTriple())>; // std::string before LLVM 21
    m_.setTargetTriple(triple("x86_64-pc-linux-gnu"));
    m_.setDataLayout("e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-"
                     "S128");
}

} // namespace

int main(int argc, char **argv)
{
    LLVMContext context;
    if (argc != 3)
        return 2;
    auto text = MemoryBuffer::getFile(argv[1]);
    if (!text)
        return 2;
    auto module = parseBitcodeFile((*text)->getMemBufferRef(), context);
    if (!module) {
        errs() << toString(module.takeError()) << "\n";
        return 2;
    }
    Instrument(**module).run();
    if (verifyModule(**module, &errs()))
        return 3;
    std::error_code error;
    raw_fd_ostream out(argv[2], error);
    if (error)
        return 2;
    WriteBitcodeToFile(**module, out);
    return 0;
}
