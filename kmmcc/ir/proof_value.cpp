// SPDX-License-Identifier: Apache-2.0
// Which values of a function may be other ones in the call of a chunk than in the whole call.
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>

#include "ir/proof.hpp"

namespace kmm_ir
{

Proof::Proof(Function &f, FunctionAnalysisManager &m, const ir_role_t *role, int count,
             uint64_t axes)
    : f_(f), layout_(f.getParent()->getDataLayout()), loops_(m.getResult<LoopAnalysis>(f)),
      tree_(m.getResult<DominatorTreeAnalysis>(f)),
      post_(m.getResult<PostDominatorTreeAnalysis>(f)),
      scev_(m.getResult<ScalarEvolutionAnalysis>(f)), axes_(axes)
{
    for (const Argument &a : f.args())
        number_[&a] = (unsigned)number_.size() + 1;
    for (const Instruction &i : instructions(f))
        number_[&i] = (unsigned)number_.size() + 1;
    for (const Loop *l : loops_.getLoopsInPreorder())
        number_[l] = (unsigned)number_.size() + 1;
    int number = -1;
    for (const Argument &a : f.args()) {
        // A struct that is passed in registers is several arguments.
        const size_t part = a.getName().rfind(".coerce");
        const bool goes_on = part != StringRef::npos && a.getName().drop_front(part + 7) != "0" &&
                             a.getName().size() > part + 7;
        number += !goes_on && !a.hasStructRetAttr();
        if (number < 0 || number >= count || a.hasStructRetAttr())
            continue;
        role_[&a] = &role[number];
        if (role[number].kind != IR_FIXED)
            mark_[&a] =
                because("uses a number or an address that is another one in each chunk", nullptr);
    }
}

Mark Proof::mark(const Value *v) const
{
    auto at = mark_.find(v);
    return at == mark_.end() ? nullptr : at->second;
}

Mark Proof::mark_of_block(const BasicBlock *b) const
{
    auto at = block_mark_.find(b);
    return at == block_mark_.end() ? nullptr : at->second;
}

Mark Proof::located(Mark m, const Instruction *at) const
{
    return m && !m->at ? because(m->reason, at) : m;
}

Mark Proof::judge_operands(const Instruction *i) const
{
    for (const Use &u : i->operands())
        if (Mark m = mark(u))
            return m;
    return nullptr;
}

// What decides whether the block runs.
Mark Proof::judge_block(const BasicBlock *b) const
{
    auto at = decided_by_.find(b);
    if (at == decided_by_.end())
        return nullptr;
    for (const BasicBlock *by : at->second) {
        const Instruction *t = by->getTerminator();
        Mark m = mark_of_block(by);
        if (t->getNumOperands() && !isa<InvokeInst>(t) && !is_bound(by) && !is_kept(by))
            m = m ? m : located(mark(t->getOperand(0)), t);
        for (const Loop *l = loops_.getLoopFor(by); l && m; l = l->getParentLoop())
            if (undivided_.count(l) && l->isLoopExiting(by))
                return undivided_.find(l)->second;
        if (m)
            return m;
    }
    return nullptr;
}

Mark Proof::judge_phi(const PHINode *phi)
{
    const Loop *l = loops_.getLoopFor(phi->getParent());
    if (l && l->getHeader() == phi->getParent()) {
        const bool is_divided = divided_.count(l) > 0;
        if (undivided_.count(l))
            return undivided_.find(l)->second;
        for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
            const Value *v = phi->getIncomingValue(k);
            auto *next = dyn_cast<Instruction>(v);
            if (is_divided && v != phi && l->contains(phi->getIncomingBlock(k)))
                return because("carries a value from one iteration of its loop to the next",
                               next && l->contains(next) ? next : phi);
            if (Mark m = mark(v))
                return m;
        }
        return nullptr;
    }
    for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
        const Value *v = phi->getIncomingValue(k);
        const BasicBlock *from = phi->getIncomingBlock(k);
        const Instruction *t = from->getTerminator();
        if (Mark m = mark(v))
            return m;
        auto *i = dyn_cast<Instruction>(v);
        for (auto &[loop, d] : divided_)
            if (loop->contains(from) && !loop->contains(phi) && i && loop->contains(i) &&
                !cold_.count(phi->getParent()))
                return because("uses behind a loop over the range what that loop computes", phi);
        if (phi->getNumIncomingValues() > 1 || loops_.getLoopFor(from) != l) {
            auto at = divided_.find(loops_.getLoopFor(from));
            const bool is_bound = at != divided_.end() && at->second.exiting == from;
            if (Mark m = mark_of_block(from))
                return m;
            if (t->getNumSuccessors() > 1 && !is_bound && !isa<InvokeInst>(t))
                if (Mark m = mark(t->getOperand(0)))
                    return located(m, t);
        }
    }
    return nullptr;
}

static bool is_thread_local(const Value *object)
{
    auto *call = dyn_cast<IntrinsicInst>(object);
    auto *g = dyn_cast<GlobalVariable>(object);
    return (call && call->getIntrinsicID() == Intrinsic::threadlocal_address) ||
           (g && g->isThreadLocal());
}

// What lies at the pointer before the instruction.
Mark Proof::judge_load(const Instruction *i, const Value *pointer)
{
    auto *load = dyn_cast<LoadInst>(i);
    if (const StoreInst *store = load ? left_by(load) : nullptr) {
        Mark m = mark(store->getValueOperand());
        return m ? m : mark_of_block(store->getParent());
    }
    if (Mark m = mark(pointer))
        return m;
    if (load && !load->isSimple())
        return because("reads memory that is volatile or atomic", i);
    for (const Value *o : objects_of(pointer)) {
        if (is_thread_local(o))
            return because("reads a variable of which each thread has its own", i);
        auto *a = dyn_cast<Argument>(o);
        if (a && role_.count(a) && role_.at(a)->is_reduced)
            return because("reads what it reduces", i);
        const Value *array = array_of(o);
        if (is_stored(array) && !is_affine(scev_.getSCEV(const_cast<Value *>(pointer))))
            return because("reads at an index that is data where it also stores", i);
        if (is_stored(array) && !is_within(i->getParent()))
            return because("reads outside of its loops over the range what it also stores", i);
        if (Mark m = judge_aliases(i, o, pointer))
            return m;
        if (kind_of(o) == LOCAL_OBJECT)
            if (Mark m = contents(o, i, pointer))
                return m;
        auto *from = dyn_cast<LoadInst>(o);
        if (from && any_of(objects_of(from->getPointerOperand()),
                           [&](const Value *x) { return kind_of(x) == LOCAL_OBJECT; }))
            return because("follows a pointer that it keeps in local memory", i);
    }
    return nullptr;
}

Mark Proof::judge_call(const CallBase *call)
{
    auto *intrinsic = dyn_cast<IntrinsicInst>(call);
    if (intrinsic && intrinsic->getIntrinsicID() == Intrinsic::threadlocal_address)
        return nullptr;
    if (gives_memory(called(call)))
        return nullptr; // the address itself is no matter
    for (const Use &u : call->args()) {
        if (Mark m = mark(u))
            return m;
        if (u->getType()->isPointerTy() && is_own_work(called(call)))
            if (Mark m = judge_load(call, u))
                return m;
    }
    if (auto *t = dyn_cast<MemTransferInst>(call))
        return judge_load(call, t->getRawSource());
    return nullptr;
}

// True for a test of addresses whose result depends on where arrays lie.
bool Proof::compares_arrays(const Instruction *i) const
{
    const auto is_array = [](const Value *o) { return isa<Argument>(o) || isa<GlobalVariable>(o); };
    if (!isa<ICmpInst>(i) || !i->getOperand(0)->getType()->isPointerTy())
        return false;
    for (const Value *a : objects_of(i->getOperand(0)))
        for (const Value *b : objects_of(i->getOperand(1)))
            if (a != b && is_array(a) && is_array(b))
                return true;
    return false;
}

Mark Proof::judge(const Instruction *i)
{
    if (auto *phi = dyn_cast<PHINode>(i))
        return judge_phi(phi);
    if (auto *load = dyn_cast<LoadInst>(i))
        return judge_load(i, load->getPointerOperand());
    if (auto *call = dyn_cast<CallBase>(i))
        return judge_call(call);
    if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i))
        return because("uses what an atomic operation returns", i);
    if (isa<LandingPadInst>(i))
        return because("catches an exception", i);
    // An address tells where the arrays of a chunk lie. Differences within an array are numbers.
    auto *address = dyn_cast<PtrToIntInst>(i);
    if (address && !mark(address->getPointerOperand()) &&
        any_of(objects_of(address->getPointerOperand()),
               [&](const Value *o) { return kind_of(o) != LOCAL_OBJECT; }))
        return because("uses the address of an array as a number", i);
    if (compares_arrays(i))
        return because("compares addresses that are not known to be of one array", i);
    // A pointer that moves is no null pointer (libkmm refuses that), in no chunk.
    auto *test = dyn_cast<ICmpInst>(i);
    if (test && test->isEquality() && isa<ConstantPointerNull>(test->getOperand(1)) &&
        isa<Argument>(test->getOperand(0)))
        return nullptr;
    return judge_operands(i);
}

void Proof::propagate()
{
    ReversePostOrderTraversal<const Function *> order(&f_);
    for (bool changed = true; changed;) {
        changed = false;
        for (const BasicBlock *b : order) {
            if (!mark_of_block(b))
                if (Mark m = judge_block(b)) {
                    block_mark_[b] = m;
                    changed = true;
                }
            for (const Instruction &i : *b) {
                if ((i.getType()->isVoidTy() && !isa<CallBase>(i)) || mark(&i))
                    continue;
                Mark m = judge(&i);
                if (m && !isa<LoadInst>(i) && scev_.isSCEVable(i.getType()) && is_same(&i))
                    m = mark_of_leaves(scev_.getSCEV(const_cast<Instruction *>(&i)));
                if (m) {
                    mark_[&i] = located(m, &i);
                    changed = true;
                }
            }
        }
    }
}

// ---- The end of the program ----

// How a call ends the program. RETURNS: it does not, or it throws.
enum End { RETURNS, WITH_STATUS, ABORTS, UNSEEN };

static End end_of(const CallBase *call)
{
    static const std::set<StringRef> with = {"exit", "_exit", "_Exit", "quick_exit", "err",
                                             "errx", "verr",  "verrx", "errc",       "verrc"},
                                     aborts = {"abort", "_ZSt9terminatev", "llvm.trap",
                                               "llvm.ubsantrap"};
    const StringRef name = called(call);
    if (with.count(name) && call->arg_size() > 0)
        return WITH_STATUS;
    if (aborts.count(name) || name.starts_with("__assert"))
        return ABORTS;
    const bool throws = name.starts_with("__cxa_") || name.starts_with("_Unwind") ||
                        name.contains("__throw") || name.starts_with("__clang_call_terminate");
    return call->doesNotReturn() && !throws ? UNSEEN : RETURNS;
}

// Of several iterations that end the program, any may be the first one where there are chunks. So
// all have to end it in one way.
Mark Proof::ending() const
{
    const Value *one = nullptr; // the status, or a call that aborts
    bool throws = false;
    for (const Instruction &i : instructions(f_))
        if (auto *call = dyn_cast<CallBase>(&i))
            throws |= called(call) == "__cxa_throw";
    for (const Instruction &i : instructions(f_)) {
        auto *call = dyn_cast<CallBase>(&i);
        const End end = call ? end_of(call) : RETURNS;
        if (call && (end != RETURNS || called(call) == "__cxa_throw"))
            if (Mark m = mark_of_block(i.getParent()))
                return located(m, &i);
        if (end == UNSEEN)
            return because("calls '" + called(call).str() + "', whose code is not seen", &i);
        if (end == RETURNS)
            continue;
        const Value *way = end == ABORTS ? call : call->getArgOperand(0);
        const bool is_known =
            end == ABORTS || ((isa<Constant>(way) || isa<Argument>(way)) && !mark(way));
        const bool is_same = (!one || one == way || (end == ABORTS && isa<CallBase>(one))) &&
                             !(throws && end == WITH_STATUS);
        if (!is_known || !is_same)
            return because("may end the program with a status that depends on which chunk comes "
                           "first",
                           &i);
        one = way;
    }
    return nullptr;
}

// True if the value is computed from what is another number or address in each chunk. What an
// assumption says of it is known to SCEV, so its marks do not count.
bool Proof::is_of_chunk(const Value *v) const
{
    auto *a = dyn_cast<Argument>(v);
    auto *i = dyn_cast<Instruction>(v);
    if (a && role_.count(a))
        return role_.at(a)->kind != IR_FIXED;
    if (!i || isa<PHINode>(i) || isa<LoadInst>(i) || isa<CallBase>(i))
        return mark(v) != nullptr;
    return any_of(i->operands(), [&](const Value *part) { return is_of_chunk(part); });
}

// The function may promise, as by __builtin_unreachable and __builtin_assume_aligned, what holds
// for the whole range. Compilers count on it in chunks, too.
Mark Proof::promises() const
{
    for (const Instruction &i : instructions(f_)) {
        auto *call = dyn_cast<IntrinsicInst>(&i);
        bool promised = false;
        Mark m = isa<UnreachableInst>(i) && &i == &*i.getParent()->begin()
                     ? mark_of_block(i.getParent())
                     : nullptr;
        if (call && call->getIntrinsicID() == Intrinsic::assume &&
            !call->hasMetadata(own_assumption))
            for (const Use &u : call->operands())
                promised |= is_of_chunk(u);
        if (m || promised)
            return because("promises something of its length or pointers, which need not hold in "
                           "chunks",
                           &i);
    }
    return nullptr;
}

// ---- The whole function ----

Mark Proof::run()
{
    find_cold();
    find_divided();
    find_decisions();
    find_stored();
    find_uses();
    propagate();
    for (auto &[l, d] : divided_)
        if (Mark m = mark_of_leaves(d.count))
            return m;
    ReversePostOrderTraversal<const Function *> order(&f_);
    for (const BasicBlock *b : order)
        for (const Instruction &i : *b) {
            Mark m = cold_.count(b) ? nullptr : effect(&i);
            if (m)
                return located(m, &i);
        }
    if (Mark m = ending())
        return m;
    if (Mark m = promises())
        return m;
    return crossings();
}

} // namespace kmm_ir
