// SPDX-License-Identifier: Apache-2.0
// Whether a function reaches what is neither its own nor reached through its pointers: variables of
// the program, memory whose address lies in memory or in an integer, and the state of functions
// whose code is not seen.
#include <llvm/Analysis/ValueTracking.h>

#include "ir/function.hpp"

namespace kmm_ir
{

// ---- Library functions ----

// Functions of libm without their suffix, and functions that work on what their pointers point to.
// They may set errno, which each thread has of its own.
bool is_own_work(StringRef name)
{
    static const std::set<StringRef> math = {
        "acos",      "acosh",  "asin",    "asinh", "atan",      "atan2",     "atanh",      "cabs",
        "cacos",     "carg",   "casin",   "catan", "cbrt",      "ccos",      "ccosh",      "ceil",
        "cexp",      "cimag",  "clog",    "conj",  "copysign",  "cos",       "cosh",       "cpow",
        "creal",     "csin",   "csinh",   "csqrt", "ctan",      "ctanh",     "erf",        "erfc",
        "exp",       "exp10",  "exp2",    "expm1", "fabs",      "fdim",      "floor",      "fma",
        "fmax",      "fmin",   "fmod",    "frexp", "hypot",     "ilogb",     "isinf",      "isnan",
        "ldexp",     "llrint", "llround", "log",   "log10",     "log1p",     "log2",       "logb",
        "lrint",     "lround", "modf",    "nan",   "nearbyint", "nextafter", "nexttoward", "pow",
        "remainder", "remquo", "rint",    "round", "roundeven", "scalbln",   "scalbn",     "sin",
        "sincos",    "sinh",   "sqrt",    "tan",   "tanh",      "tgamma",    "trunc"};
    static const std::set<StringRef> words = {"abs",
                                              "aligned_alloc",
                                              "bcmp",
                                              "bzero",
                                              "calloc",
                                              "div",
                                              "free",
                                              "labs",
                                              "ldiv",
                                              "llabs",
                                              "lldiv",
                                              "malloc",
                                              "memchr",
                                              "memcmp",
                                              "memcpy",
                                              "memmem",
                                              "memmove",
                                              "memrchr",
                                              "memset",
                                              "posix_memalign",
                                              "realloc",
                                              "stpcpy",
                                              "strcat",
                                              "strchr",
                                              "strcmp",
                                              "strcpy",
                                              "strcspn",
                                              "strlen",
                                              "strncat",
                                              "strncmp",
                                              "strncpy",
                                              "strnlen",
                                              "strpbrk",
                                              "strrchr",
                                              "strspn",
                                              "strstr",
                                              "abort",
                                              "__assert_fail",
                                              "_Unwind_Resume",
                                              "__cxa_allocate_exception",
                                              "__cxa_free_exception",
                                              "__cxa_throw",
                                              "__cxa_rethrow",
                                              "__cxa_end_catch",
                                              "_ZSt9terminatev",
                                              "_Znwm",
                                              "_Znam",
                                              "_ZdlPv",
                                              "_ZdaPv",
                                              "_ZdlPvm",
                                              "_ZdaPvm",
                                              "__mulsc3",
                                              "__muldc3",
                                              "__mulxc3",
                                              "__divsc3",
                                              "__divdc3",
                                              "__divxc3",
                                              "rand_r",
                                              "erand48",
                                              "nrand48",
                                              "jrand48"};
    StringRef stem = name;
    return words.count(name) || math.count(name) || name.starts_with("_ZSt20__throw_") ||
           name.starts_with("_ZSt17__throw_") || name.starts_with("_ZSt19__throw_") ||
           name.starts_with("_ZSt24__throw_") || name.starts_with("_ZSt28__throw_") ||
           ((stem.consume_back("f") || stem.consume_back("l")) && math.count(stem));
}

bool gives_memory(StringRef name)
{
    return name == "malloc" || name == "calloc" || name == "aligned_alloc" || name == "_Znwm" ||
           name == "_Znam" || name == "realloc" || name == "__cxa_allocate_exception";
}

StringRef called(const Value *v)
{
    auto *call = dyn_cast<CallBase>(v);
    const Function *f = call ? call->getCalledFunction() : nullptr;
    return f ? f->getName() : "";
}

// True for a variable in the shared memory of a kernel's blocks, and for those that kmm's headers
// declare for a thread's indices.
static bool is_of_block(const GlobalVariable *g)
{
    static const std::set<StringRef> indices = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    enum { SHARED = 3 }; // the address space, of NVPTX and AMDGPU alike
    return g->getAddressSpace() == SHARED || (g->isDeclaration() && indices.count(g->getName()));
}

// True for what a kernel calls that uses nothing besides its arguments: barriers, operations of a
// warp, and an assertion, whose failure ends the program.
static bool is_of_threads(const Function *f)
{
    return f->getName().starts_with("llvm.nvvm.") || f->getName().starts_with("kmm_fiber_") ||
           f->getName() == "__assertfail";
}

// ---- Reads ----

// True if the memory is a local variable's or a constant, or is reached through a parameter, which
// may be a struct that holds the pointer. What a pointer in other memory leads to is not given, nor
// what an integer leads to.
bool Analysis::is_given(const Value *pointer, std::set<const Value *> &seen) const
{
    if (!pointer->getType()->isPointerTy())
        return false;
    if (!seen.insert(pointer).second)
        return true;
    if (isa<Argument>(pointer) || isa<AllocaInst>(pointer) || isa<ConstantPointerNull>(pointer) ||
        isa<UndefValue>(pointer))
        return true;
    if (auto *g = dyn_cast<GlobalVariable>(pointer))
        return (g->isConstant() && g->hasDefinitiveInitializer() && !g->isThreadLocal()) ||
               (!plain_ && is_of_block(g));
    if (auto *gep = dyn_cast<GEPOperator>(pointer))
        return is_given(gep->getPointerOperand(), seen);
    if (isa<AddrSpaceCastOperator>(pointer) || isa<BitCastOperator>(pointer) ||
        isa<FreezeInst>(pointer))
        return is_given(cast<User>(pointer)->getOperand(0), seen);
    if (auto *s = dyn_cast<SelectInst>(pointer))
        return is_given(s->getTrueValue(), seen) && is_given(s->getFalseValue(), seen);
    if (auto *phi = dyn_cast<PHINode>(pointer)) {
        for (const Value *v : phi->incoming_values())
            if (!is_given(v, seen))
                return false;
        return true;
    }
    if (auto *load = dyn_cast<LoadInst>(pointer)) {
        auto *a = dyn_cast<Argument>(load->getPointerOperand()->stripInBoundsConstantOffsets());
        return a && a->hasByValAttr() && !stored_.count(a);
    }
    if (auto *call = dyn_cast<CallBase>(pointer)) {
        StringRef name = called(call);
        if (gives_memory(name))
            return true;
        // What is returned lies where an argument points.
        bool passes = is_own_work(name) &&
                      (name.starts_with("str") || name.starts_with("mem") || name == "stpcpy");
        return passes && is_given(call->getArgOperand(0), seen);
    }
    return false;
}

bool Analysis::is_given(const Value *pointer) const
{
    std::set<const Value *> seen;
    return is_given(pointer, seen);
}

bool Analysis::reaches_elsewhere(const Instruction &i) const
{
    if (auto *load = dyn_cast<LoadInst>(&i))
        return !is_given(load->getPointerOperand()) ||
               (load->isVolatile() &&
                isa<GlobalVariable>(getUnderlyingObject(load->getPointerOperand())));
    if (auto *store = dyn_cast<StoreInst>(&i))
        return !is_given(store->getPointerOperand());
    if (auto *a = dyn_cast<AtomicRMWInst>(&i))
        return !is_given(a->getPointerOperand());
    if (auto *a = dyn_cast<AtomicCmpXchgInst>(&i))
        return !is_given(a->getPointerOperand());
    if (auto *call = dyn_cast<CallBase>(&i))
        return calls_elsewhere(call);
    return i.mayReadOrWriteMemory() && !isa<FenceInst>(i);
}

// A function that calls itself is not inlined. Its code is that of f_, which is looked at anyway.
bool Analysis::calls_elsewhere(const CallBase *call) const
{
    const Function *f = call->getCalledFunction();
    if (!f)
        return true;
    if (auto *intrinsic = dyn_cast<IntrinsicInst>(call)) {
        if (intrinsic->getIntrinsicID() == Intrinsic::threadlocal_address)
            return true;
        if (intrinsic->isAssumeLikeIntrinsic() || isa<ConstrainedFPIntrinsic>(intrinsic) ||
            intrinsic->getIntrinsicID() == Intrinsic::stacksave ||
            intrinsic->getIntrinsicID() == Intrinsic::stackrestore ||
            intrinsic->getIntrinsicID() == Intrinsic::trap || call->doesNotAccessMemory())
            return false;
        if (!call->onlyAccessesArgMemory() && (plain_ || !is_of_threads(f)))
            return true;
    } else if (!plain_ && is_of_threads(f)) {
        return false;
    } else if (f != &f_ && (plain_ || !is_atomic(call)) &&
               !(f->isDeclaration() && is_own_work(f->getName()))) {
        return true;
    }
    for (const Value *v : call->args())
        if (v->getType()->isPointerTy() && !is_given(v) && f->getName() != "__cxa_throw")
            return true;
    return false;
}

static bool holds_pointers(Type *t)
{
    return t->isPointerTy() || any_of(t->subtypes(), holds_pointers);
}

// True if the object is a local variable or a struct that is passed by value, and holds pointers.
static bool is_local_with_pointers(const Value *object)
{
    auto *local = dyn_cast<AllocaInst>(object);
    auto *a = dyn_cast<Argument>(object);
    return (local && holds_pointers(local->getAllocatedType())) ||
           (a && a->hasByValAttr() && holds_pointers(a->getParamByValType()));
}

static bool is_difference(const User *u)
{
    auto *b = dyn_cast<BinaryOperator>(u);
    return b && b->getOpcode() == Instruction::Sub &&
           all_of(b->operands(), [](const Use &k) { return isa<PtrToIntInst>(k); });
}

// True if an address may become data, in an array or as a number. Another process that runs the
// same kernel has other addresses.
bool Analysis::keeps_address(const Instruction &i) const
{
    auto *store = dyn_cast<StoreInst>(&i);
    if (store && store->getValueOperand()->getType()->isPointerTy())
        return !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()));
    if (auto *copy = dyn_cast<MemTransferInst>(&i))
        return !isa<AllocaInst>(getUnderlyingObject(copy->getRawDest())) &&
               is_local_with_pointers(getUnderlyingObject(copy->getRawSource()));
    return isa<PtrToIntInst>(i) && !all_of(i.users(), is_difference);
}

} // namespace kmm_ir
