// SPDX-License-Identifier: Apache-2.0
// What the exceptions that leave a function are computed from. The code that leads to nothing but
// such an exception makes it: what this code stores to memory of its own, and passes to functions
// with such memory, counts as thrown.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>

#include "ir/function.hpp"

namespace kmm_ir
{

namespace
{

typedef std::set<const BasicBlock *> Blocks;

StringRef callee_name(const Instruction &i)
{
    auto *call = dyn_cast<CallBase>(&i);
    const Function *f = call ? call->getCalledFunction() : nullptr;
    return f ? f->getName() : "";
}

// The blocks from which the control flow reaches one of the list.
Blocks before(std::vector<const BasicBlock *> list)
{
    Blocks found(list.begin(), list.end());
    while (!list.empty()) {
        const BasicBlock *b = list.back();
        list.pop_back();
        for (const BasicBlock *p : predecessors(b))
            if (found.insert(p).second)
                list.push_back(p);
    }
    return found;
}

// The blocks that lead to a throw, and not to the function's end.
Blocks throwing(const Function &f)
{
    std::vector<const BasicBlock *> ends, throws;
    for (const BasicBlock &b : f) {
        if (isa<ReturnInst>(b.getTerminator()))
            ends.push_back(&b);
        for (const Instruction &i : b)
            if (callee_name(i) == "__cxa_throw")
                throws.push_back(&b);
    }
    Blocks out, returns = before(ends);
    for (const BasicBlock *b : before(throws))
        if (!returns.count(b))
            out.insert(b);
    return out;
}

// True if memory of the function's own lies there: a local variable's, an exception's, what a call
// that was given such memory returns, or a pointer in it leads to.
bool is_own(const Value *pointer, int depth)
{
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects);
    for (const Value *o : objects) {
        auto *call = dyn_cast<CallBase>(o);
        auto *load = dyn_cast<LoadInst>(o);
        if (isa<AllocaInst>(o) || (load && depth && is_own(load->getPointerOperand(), depth - 1)))
            return true;
        if (!call || depth == 0)
            continue;
        StringRef name = callee_name(*call);
        if (name == "malloc" || name == "_Znwm" || name == "__cxa_allocate_exception")
            return true;
        for (const Use &u : call->args())
            if (u->getType()->isPointerTy() && is_own(u, depth - 1))
                return true;
    }
    return false;
}

// The values that go into the exception if the instruction is in code that makes it.
std::vector<const Value *> inputs_of(const Instruction &i)
{
    enum { MOST_CALLS = 8 };
    std::vector<const Value *> out;
    if (auto *store = dyn_cast<StoreInst>(&i)) {
        if (is_own(store->getPointerOperand(), MOST_CALLS))
            out.push_back(store->getValueOperand());
        return out;
    }
    auto *call = dyn_cast<CallBase>(&i);
    bool frees = callee_name(i).starts_with("_Zdl") || callee_name(i).starts_with("_Zda");
    bool owns = false;
    if (!call || isa<IntrinsicInst>(call) || frees)
        return out;
    for (const Use &u : call->args())
        owns |= u->getType()->isPointerTy() && is_own(u, MOST_CALLS);
    for (const Use &u : call->args())
        if (owns && !u->getType()->isPointerTy())
            out.push_back(u);
    return out;
}

// Walks over what a thrown value is computed from.
class Walk
{
  public:
    Walk(const Blocks &blocks, ir_throw_t *to) : blocks_(blocks), to_(to) {}
    // A value that a loop has carried to its end, and that no other value may stand for.
    struct Head {
        const PHINode *phi;
        int64_t period;
        bool is_sure;
    };
    std::vector<Head> heads;

    void visit(const Value *v, int64_t period, const LoopInfo &loops)
    {
        if (auto *argument = dyn_cast<Argument>(v)) {
            if (!argument->getType()->isPointerTy())
                to_->computed_from |= 1ULL << std::min(argument->getArgNo(), 63u);
            return;
        }
        auto *i = dyn_cast<Instruction>(v);
        if (!i || !seen_.insert({v, period != 0}).second)
            return;
        if (v->getType()->isPointerTy())
            return visit_address(i, period, loops);
        if (int64_t by = period_of(i))
            period = by;
        auto *phi = dyn_cast<PHINode>(i);
        if (phi) {
            to_->is_number = 0;
            return visit_phi(phi, period, loops);
        }
        auto *load = dyn_cast<LoadInst>(i);
        auto *element = load ? dyn_cast<GEPOperator>(load->getPointerOperand()) : nullptr;
        if (element && isa<GlobalVariable>(getUnderlyingObject(element))) // a table
            for (const Use &u : element->indices())
                visit(u, period, loops);
        auto *call = dyn_cast<CallBase>(i);
        bool passes = isa<BinaryOperator>(i) || isa<UnaryOperator>(i) || isa<CastInst>(i) ||
                      isa<CmpInst>(i) || isa<FreezeInst>(i) || isa<SelectInst>(i);
        for (const Use &u : i->operands())
            passes |= call && !u->getType()->isPointerTy();
        for (const Use &u : i->operands())
            passes &= !(call && u->getType()->isPointerTy() && !isa<Function>(u));
        to_->is_number &= passes && !call;
        if (const PHINode *index = index_from(i)) {
            heads.push_back({index, period, true});
            return;
        }
        // An address alone is the same in chunks.
        bool is_distance = i->getOpcode() == Instruction::Sub &&
                           isa<PtrToIntInst>(i->getOperand(0)) &&
                           isa<PtrToIntInst>(i->getOperand(1));
        if (isa<PtrToIntInst>(i) || (isa<CmpInst>(i) && i->getOperand(0)->getType()->isPointerTy()))
            return;
        for (const Use &u : i->operands())
            if (is_distance)
                visit(cast<PtrToIntInst>(u)->getPointerOperand(), period, loops);
            else if (passes)
                visit(u, period, loops);
    }

  private:
    const Blocks &blocks_;
    ir_throw_t *to_;
    std::set<std::pair<const Value *, bool>> seen_;
    bool is_sure_ = true;

    static const Value *without_casts(const Value *v)
    {
        while (auto *cast = dyn_cast<CastInst>(v))
            v = cast->getOperand(0);
        return v;
    }

    // The phi if the instruction is its distance to the parameter that it begins with.
    static const PHINode *index_from(const Instruction *i)
    {
        auto *begin = i->getOpcode() == Instruction::Sub
                          ? dyn_cast<Argument>(without_casts(i->getOperand(1)))
                          : nullptr;
        auto *phi = begin ? dyn_cast<PHINode>(without_casts(i->getOperand(0))) : nullptr;
        if (!phi)
            return nullptr;
        if (phi->getNumIncomingValues() == 1) // of LCSSA
            phi = dyn_cast<PHINode>(phi->getIncomingValue(0));
        for (unsigned k = 0; phi && k < phi->getNumIncomingValues(); k++)
            if (phi->getNumIncomingValues() == 2 &&
                without_casts(phi->getIncomingValue(k)) == begin &&
                is_index(phi->getIncomingValue(1 - k), phi))
                return phi;
        return nullptr;
    }

    // A pointer of which the distance to another one is thrown.
    void visit_address(const Instruction *i, int64_t period, const LoopInfo &loops)
    {
        to_->is_number = 0;
        if (auto *phi = dyn_cast<PHINode>(i))
            visit_phi(phi, period, loops);
        if (auto *element = dyn_cast<GetElementPtrInst>(i))
            for (const Use &u : element->operands())
                visit(u, period, loops);
    }

    void visit_phi(const PHINode *phi, int64_t period, const LoopInfo &loops)
    {
        const Loop *loop = loops.getLoopFor(phi->getParent());
        bool heads_loop = loop && loop->getHeader() == phi->getParent();
        if (heads_loop && !blocks_.count(phi->getParent()) && loop->getLoopPreheader() &&
            loop->getLoopLatch()) {
            const Value *next = phi->getIncomingValueForBlock(loop->getLoopLatch());
            heads.push_back({phi, period, is_sure_});
            visit(phi->getIncomingValueForBlock(loop->getLoopPreheader()), period, loops);
            if (!is_index(next, phi))
                visit(next, period, loops);
            return;
        }
        const bool was_sure = is_sure_;
        is_sure_ &= phi->getNumIncomingValues() == 1;
        for (const Use &u : phi->incoming_values())
            visit(u, period, loops);
        is_sure_ = was_sure;
    }
};

} // namespace

// Adds the loop of a phi in its header that carries a value from one iteration to the next.
void Analysis::thrown_by(const PHINode *phi, int64_t period, bool is_sure, ir_throw_t *t)
{
    const Loop *loop = loops_.getLoopFor(phi->getParent());
    if (!loop || loop->getHeader() != phi->getParent() || !loop->getLoopLatch())
        return;
    const Value *next = phi->getIncomingValueForBlock(loop->getLoopLatch());
    if (next == phi || loop_number_[loop] >= 64)
        return;
    const uint64_t bit = 1ULL << loop_number_[loop];
    auto *element = dyn_cast<GEPOperator>(next);
    bool walks = element && element->getPointerOperand() == phi;
    if (!is_index(next, phi) && !walks) {
        std::set<const Value *> met;
        if (!phi->getType()->isPointerTy() &&
            (renews(next, phi, met) || (is_sure && is_previous(next, phi, loop))))
            t->carried |= bit;
    } else if (period == 0) {
        t->carried |= bit;
    } else if (period > 0) {
        t->repeated |= bit;
        t->period = std::max(t->period, period);
    }
}

void Analysis::find_thrown()
{
    const Blocks blocks = throwing(f_);
    for (const BasicBlock *b : blocks)
        for (const Instruction &i : *b)
            for (const Value *v : inputs_of(i)) {
                ir_throw_t t = {};
                t.is_number = 1;
                Walk walk(blocks, &t);
                walk.visit(v, 0, loops_);
                for (const auto &[phi, period, is_sure] : walk.heads)
                    thrown_by(phi, period, is_sure, &t);
                const DILocation *l = i.getDebugLoc().get();
                while (l && l->getInlinedAt() && l->getFilename().starts_with("/usr/"))
                    l = l->getInlinedAt();
                locate(l, &t);
                if (t.carried || t.repeated || t.computed_from)
                    thrown_.push_back(t);
            }
}

} // namespace kmm_ir
