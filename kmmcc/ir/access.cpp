// SPDX-License-Identifier: Apache-2.0
// The accesses of a function, and the pointers that cannot be followed.
#include "ir/function.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>

namespace kmm_ir
{

template <class T> void locate(const DILocation *l, T *t)
{
    t->line = t->column = 0;
    t->file = nullptr;
    // Of code inlined from kmm's own headers, the place of the call counts.
    for (; l; l = l->getInlinedAt()) {
        if (l->getFilename().contains("/kmm/host/") && l->getInlinedAt())
            continue;
        t->line = (int)l->getLine();
        t->column = (int)l->getColumn();
        bool whole = l->getFilename().starts_with("/") || l->getDirectory().empty();
        t->file = kept_text(whole ? l->getFilename().str()
                                  : (l->getDirectory() + "/" + l->getFilename()).str());
        return;
    }
}

void Analysis::unknown(int param, int member, const std::string &reason, const Instruction *i,
                       bool is_loaded)
{
    for (ir_unknown_t &u : unknown_)
        if (u.param == param && u.member == member) {
            u.is_loaded &= is_loaded;
            return;
        }
    ir_unknown_t u = {param, member, is_loaded, kept(reason), 0, 0, nullptr};
    locate(i->getDebugLoc().get(), &u);
    unknown_.push_back(u);
}

// The pointer goes where it is not followed.
void Analysis::escapes(const Value *pointer, const std::string &reason, const Instruction *i)
{
    if (!pointer->getType()->isPointerTy())
        return;
    for (const Candidate &c : pointers(pointer)) {
        if (c.param >= 0)
            unknown(c.param, c.member, reason, i);
        else if (c.param == BASE_UNKNOWN)
            unknown(-1, -1, reason, i);
    }
}

static ir_combine_t combine_of(StringRef name)
{
    static const std::pair<const char *, ir_combine_t> words[] = {
        {"atomicAdd", IR_COMBINE_ADD}, {"atomicSub", IR_COMBINE_ADD}, {"atomicMin", IR_COMBINE_MIN},
        {"atomicMax", IR_COMBINE_MAX}, {"atomicAnd", IR_COMBINE_AND}, {"atomicOr", IR_COMBINE_OR},
        {"atomicXor", IR_COMBINE_XOR}};
    for (auto &[word, combine] : words)
        if (name.contains(word))
            return combine;
    return IR_COMBINE_UNKNOWN;
}

ir_combine_t combine_of(const Instruction *i)
{
    if (auto *a = dyn_cast<AtomicRMWInst>(i))
        switch (a->getOperation()) {
        case AtomicRMWInst::Add:
        case AtomicRMWInst::Sub:
        case AtomicRMWInst::FAdd:
        case AtomicRMWInst::FSub: return IR_COMBINE_ADD;
        case AtomicRMWInst::Min:
        case AtomicRMWInst::UMin:
        case AtomicRMWInst::FMin: return IR_COMBINE_MIN;
        case AtomicRMWInst::Max:
        case AtomicRMWInst::UMax:
        case AtomicRMWInst::FMax: return IR_COMBINE_MAX;
        case AtomicRMWInst::And: return IR_COMBINE_AND;
        case AtomicRMWInst::Or: return IR_COMBINE_OR;
        case AtomicRMWInst::Xor: return IR_COMBINE_XOR;
        default: return IR_COMBINE_UNKNOWN;
        }
    if (auto *call = dyn_cast<CallBase>(i))
        return combine_of(call->getCalledFunction() ? call->getCalledFunction()->getName() : "");
    if (isa<AtomicCmpXchgInst>(i)) // CUDA's functions that kmm's headers write as a loop
        for (const DILocation *l = i->getDebugLoc().get();
             l && l->getFilename().contains("/kmm/host/"); l = l->getInlinedAt()) {
            ir_combine_t c = combine_of(l->getScope()->getSubprogram()->getName());
            if (c != IR_COMBINE_UNKNOWN)
                return c;
        }
    auto *store = dyn_cast<StoreInst>(i);
    auto *b = store ? dyn_cast<BinaryOperator>(store->getValueOperand()) : nullptr;
    bool same = false;
    for (unsigned k = 0; b && k < 2; k++) {
        auto *load = dyn_cast<LoadInst>(b->getOperand(k));
        same |= load && load->getPointerOperand() == store->getPointerOperand() &&
                (k == 0 || b->isCommutative());
    }
    if (!same)
        return IR_COMBINE_UNKNOWN;
    switch (b->getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::FAdd:
    case Instruction::FSub: return IR_COMBINE_ADD;
    case Instruction::Mul:
    case Instruction::FMul: return IR_COMBINE_MUL;
    case Instruction::And: return IR_COMBINE_AND;
    case Instruction::Or: return IR_COMBINE_OR;
    case Instruction::Xor: return IR_COMBINE_XOR;
    default: return IR_COMBINE_UNKNOWN;
    }
}

// What follows the name of CUDA's atomic function: `Pff` where headers declare it, and `IfE...` in
// kmm's headers. Its word is stored to *word, without its scope. Empty: it is none.
static StringRef atomic_types(StringRef name, StringRef *word)
{
    unsigned length = 0;
    if (!name.consume_front("_Z"))
        return "";
    name.consume_front("L");
    if (name.consumeInteger(10, length) || !name.starts_with("atomic") || name.size() < length)
        return "";
    *word = name.take_front(length).drop_front(6);
    word->consume_back("_block") || word->consume_back("_system");
    return name.drop_front(length);
}

// A program may have functions of its own with these names.
static char element_of(const Instruction *i)
{
    auto *call = dyn_cast<CallBase>(i);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    StringRef word, types = atomic_types(callee ? callee->getName() : "", &word);
    bool declared = types.starts_with("P") && callee->isDeclaration();
    bool own = types.starts_with("I") && types.contains("kmm_host_same");
    return types.size() > 2 && (declared || (own && types[2] == 'E')) ? types[1] : 0;
}

bool is_combination(const CallBase *call)
{
    static const char *const words[] = {"Add", "Sub", "Min", "Max", "And", "Or", "Xor"};
    StringRef word;
    const Function *callee = call->getCalledFunction();
    if (!callee || call->arg_size() != 2 || !element_of(call) ||
        !call->getArgOperand(0)->getType()->isPointerTy())
        return false;
    Type *of = call->getArgOperand(1)->getType();
    atomic_types(callee->getName(), &word);
    return (of->isIntegerTy() || of->isFloatTy() || of->isDoubleTy()) &&
           any_of(words, [&](const char *k) { return word == k; });
}

// True if the pointer lies in memory.
static bool is_loaded(const Value *pointer)
{
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects);
    return all_of(objects, [](const Value *o) { return isa<LoadInst>(o); });
}

void Analysis::access(const Instruction *i, ir_access_kind_t kind, const Value *pointer, int bytes)
{
    int g = guard(i->getParent());
    const Loop *loop = loops_.getLoopFor(i->getParent());
    Candidates c = pointers(pointer);
    if (c.empty())
        c.push_back({BASE_UNKNOWN, -1, NEVER, ALWAYS});
    for (const Candidate &k : c) {
        if (k.param == BASE_UNKNOWN)
            unknown(-1, -1, "a pointer that the kernel reads from memory or computes", i,
                    is_loaded(pointer));
        int condition = nodes_.both(g, k.guard);
        if (k.param < 0 || condition == NEVER)
            continue;
        ir_access_t a = {kind,
                         k.param,
                         k.member,
                         k.offset,
                         bytes,
                         condition,
                         loop ? loop_number_[loop] : -1,
                         0,
                         0,
                         0,
                         nullptr,
                         0,
                         0,
                         0,
                         0,
                         0,
                         0,
                         combine_of(i),
                         place_[i],
                         {-1, -1},
                         nullptr,
                         0,
                         element_of(i),
                         kind == IR_ATOMIC && !i->use_empty(),
                         0};
        locate(i->getDebugLoc().get(), &a);
        std::set<std::pair<const Value *, bool>> seen;
        if (auto *store = dyn_cast<StoreInst>(i)) {
            auto *number = dyn_cast<Constant>(store->getValueOperand());
            a.stores_zero = number && number->isZeroValue();
            carried(store->getValueOperand(), i, 0, seen, &a);
            if (plain_)
                carried_conditions(i, seen, &a);
            a.whole = plain_ ? wholes(store) : 0;
        }
        if (auto *fill = dyn_cast<MemSetInst>(i))
            carried(fill->getValue(), i, 0, seen, &a);
        if (auto *store = plain_ ? dyn_cast<StoreInst>(i) : nullptr)
            integers(store->getValueOperand(), &a);
        for (size_t w = 0; w < access_.size() && kind == IR_READ; w++) {
            const ir_access_t &b = access_[w];
            const Instruction *at = access_at_[w];
            if (b.kind == IR_WRITE && b.param == a.param && b.member == a.member &&
                b.guard == guard(at->getParent()) && // else the pointer may have been another
                b.offset == a.offset && b.bytes == a.bytes && tree_.dominates(at, i))
                a.after_write = 1;
        }
        access_.push_back(a);
        access_at_.push_back(i);
    }
}

// CUDA's atomic functions, which headers only declare: `_Z9atomicAddPff`.
bool is_atomic(const CallBase *call)
{
    const Function *callee = call->getCalledFunction();
    StringRef name = callee ? callee->getName() : "", word;
    if (name.starts_with("llvm.nvvm.atomic.") && call->arg_size() >= 2)
        return call->getArgOperand(0)->getType()->isPointerTy();
    if (call->arg_size() < 2 || atomic_types(name, &word).empty())
        return false;
    static const char *const words[] = {"Add", "Sub", "Exch", "Min", "Max", "Inc",
                                        "Dec", "CAS", "And",  "Or",  "Xor"};
    for (const char *k : words)
        if (word == k)
            return call->getArgOperand(0)->getType()->isPointerTy() &&
                   !call->getArgOperand(1)->getType()->isPointerTy();
    return false;
}

void Analysis::visit_call(const CallBase *call)
{
    if (is_atomic(call)) {
        Type *t = call->getArgOperand(1)->getType();
        int bytes = nodes_.constant((int64_t)layout_.getTypeStoreSize(t).getFixedValue(), 64);
        return access(call, IR_ATOMIC, call->getArgOperand(0), bytes);
    }
    const Function *callee = call->getCalledFunction();
    if (auto *m = dyn_cast<MemIntrinsic>(call)) {
        int bytes = nodes_.wide(value(m->getLength()));
        if (auto *t = dyn_cast<MemTransferInst>(m))
            access(call, IR_READ, t->getRawSource(), bytes);
        access(call, IR_WRITE, m->getRawDest(), bytes);
        return;
    }
    if (callee && callee->isIntrinsic()) {
        switch (callee->getIntrinsicID()) {
        case Intrinsic::lifetime_start:
        case Intrinsic::lifetime_end:
        case Intrinsic::assume:
        case Intrinsic::dbg_declare:
        case Intrinsic::dbg_value: return;
        default: break;
        }
    }
    std::string reason = call->isInlineAsm() ? "inline assembly"
                         : callee
                             ? "a call of " + callee->getName().str() + ", whose code is not seen"
                             : "a call through a pointer";
    for (const Use &argument : call->args())
        escapes(argument, reason, call);
}

// What is made of the value is only computed with, or an address, whose accesses are seen.
static bool only_computes(const Value *v, std::set<const Value *> &seen)
{
    if (!seen.insert(v).second)
        return true;
    for (const User *u : v->users()) {
        bool ends = isa<ICmpInst>(u) || isa<IntToPtrInst>(u);
        bool goes_on = isa<BinaryOperator>(u) || isa<CastInst>(u) || isa<PHINode>(u) ||
                       isa<SelectInst>(u) || isa<FreezeInst>(u);
        if (!ends && !(goes_on && only_computes(u, seen)))
            return false;
    }
    return true;
}

// The one parameter, and member of it, that the pointer is of; {BASE_UNKNOWN, -1}: there are
// others.
std::pair<int, int> Analysis::origin(const Value *pointer)
{
    std::pair<int, int> one(BASE_UNKNOWN, -1);
    for (const Candidate &c : pointers(pointer)) {
        if (c.param < 0 || (one.first >= 0 && one != std::make_pair(c.param, c.member)))
            return {BASE_UNKNOWN, -1};
        one = {c.param, c.member};
    }
    return one;
}

// A number made of a pointer to memory that no parameter leads to, or one that only goes into the
// distance to another pointer of the same parameter.
bool Analysis::is_harmless(const PtrToIntInst *i)
{
    std::set<const Value *> seen;
    if (all_of(i->users(), [](const User *u) { return isa<IntToPtrInst>(u); }))
        return true; // a cast there and back
    bool from_outside = true, is_distance = origin(i->getPointerOperand()).first >= 0;
    for (const Candidate &c : pointers(i->getPointerOperand()))
        from_outside &= c.param < 0;
    for (const User *u : i->users()) {
        auto *difference = dyn_cast<BinaryOperator>(u);
        is_distance &= difference && difference->getOpcode() == Instruction::Sub;
        for (unsigned k = 0; k < 2 && is_distance; k++) {
            auto *other = dyn_cast<PtrToIntInst>(difference->getOperand(k));
            is_distance =
                other && origin(other->getPointerOperand()) == origin(i->getPointerOperand());
        }
    }
    return is_distance || (from_outside && only_computes(i, seen));
}

void Analysis::visit(const Instruction *i)
{
    // What x86's long double leaves of its 16 bytes is padding.
    auto bytes = [&](Type *t) {
        auto size = t->isX86_FP80Ty() ? layout_.getTypeAllocSize(t) : layout_.getTypeStoreSize(t);
        return nodes_.constant((int64_t)size.getFixedValue(), 64);
    };
    if (auto *load = dyn_cast<LoadInst>(i))
        return access(i, IR_READ, load->getPointerOperand(), bytes(load->getType()));
    if (auto *store = dyn_cast<StoreInst>(i)) {
        escapes(store->getValueOperand(), "the pointer is stored", i);
        return access(i, IR_WRITE, store->getPointerOperand(),
                      bytes(store->getValueOperand()->getType()));
    }
    if (auto *a = dyn_cast<AtomicRMWInst>(i))
        return access(i, IR_ATOMIC, a->getPointerOperand(), bytes(a->getType()));
    if (auto *a = dyn_cast<AtomicCmpXchgInst>(i))
        return access(i, IR_ATOMIC, a->getPointerOperand(),
                      bytes(a->getNewValOperand()->getType()));
    if (auto *call = dyn_cast<CallBase>(i))
        return visit_call(call);
    if (isa<GetElementPtrInst>(i) || isa<AddrSpaceCastInst>(i) || isa<PHINode>(i) ||
        isa<SelectInst>(i) || isa<ICmpInst>(i) || isa<FreezeInst>(i) || isa<BitCastInst>(i))
        return;
    auto *number = dyn_cast<PtrToIntInst>(i);
    if (number && is_harmless(number))
        return;
    for (const Use &operand : i->operands())
        escapes(operand,
                isa<PtrToIntInst>(i) ? "the pointer becomes an integer"
                                     : std::string("the pointer is used by ") + i->getOpcodeName(),
                i);
}

ir_function_t *Analysis::run()
{
    for (const Instruction &i : instructions(f_)) {
        place_[&i] = (int)place_.size();
        const Value *to = nullptr;
        if (auto *store = dyn_cast<StoreInst>(&i))
            to = store->getPointerOperand();
        else if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i))
            to = i.getOperand(0);
        auto *call = dyn_cast<CallBase>(&i);
        SmallVector<const Value *, 4> objects;
        if (to)
            getUnderlyingObjects(to, objects);
        for (unsigned k = 0; call && k < call->arg_size(); k++)
            if (call->getArgOperand(k)->getType()->isPointerTy() &&
                !(isa<MemTransferInst>(call) && k == 1))
                getUnderlyingObjects(call->getArgOperand(k), objects);
        stored_.insert(objects.begin(), objects.end());
    }
    number_loops();
    ReversePostOrderTraversal<const Function *> order(&f_);
    for (const BasicBlock *b : order)
        for (const Instruction &i : *b)
            visit(&i);
    test_loops();
    find_earlier();
    find_elsewhere();
    if (plain_) {
        find_own();
        find_thrown();
        find_shared();
        find_flags();
        owns_memory_ = any_of(instructions(f_), owns);
    }
    for (size_t k = 0; k < access_.size(); k++) {
        if (access_[k].kind == IR_WRITE)
            access_[k].fold = what_combines(access_at_[k]);
        if (!plain_ && access_[k].kind == IR_ATOMIC)
            access_[k].fold = folds_of_atomic(access_at_[k], &access_[k].combine);
    }
    if (nodes_.all.size() > MOST_NODES)
        unknown(-1, -1, "the kernel is too large", &f_.getEntryBlock().front());
    std::vector<const char *> names;
    std::vector<unsigned char> are_pointers;
    for (const Argument &a : f_.args()) {
        names.push_back(kept(a.getName()));
        are_pointers.push_back(a.getType()->isPointerTy() && !a.hasByValAttr());
    }
    const char *title = kept(demangle(f_.getName().split("__intern__").first.str()));
    auto *result = (ir_function_t *)calloc(1, sizeof(ir_function_t));
    *result = {kept(f_.getName()),
               title,
               (int)f_.arg_size(),
               kept_array(names),
               kept_array(are_pointers),
               kept_array(nodes_.all),
               (int)nodes_.all.size(),
               kept_array(loop_),
               (int)loop_.size(),
               kept_array(access_),
               (int)access_.size(),
               kept_array(unknown_),
               (int)unknown_.size(),
               kept_array(change_),
               (int)change_.size(),
               kept_array(own_),
               (int)own_.size(),
               kept_array(thrown_),
               (int)thrown_.size(),
               kept_array(shared_),
               (int)shared_.size(),
               clears_flags_,
               flags_kept_,
               takes_turns_,
               elsewhere_,
               owns_memory_,
               addresses_};
    return result;
}

} // namespace kmm_ir
