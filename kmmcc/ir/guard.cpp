// SPDX-License-Identifier: Apache-2.0
// Under which conditions blocks run, and how often loops do.
#include "ir/function.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>

namespace kmm_ir
{

int Analysis::edge(const BasicBlock *from, const BasicBlock *to)
{
    const Instruction *t = from->getTerminator();
    if (t->getNumSuccessors() == 1)
        return ALWAYS;
    if (auto *b = dyn_cast<BranchInst>(t)) {
        if (b->getSuccessor(0) == b->getSuccessor(1))
            return ALWAYS;
        int condition = value(b->getCondition());
        return b->getSuccessor(0) == to ? condition : nodes_.negation(condition);
    }
    if (auto *s = dyn_cast<SwitchInst>(t)) {
        int on = value(s->getCondition()), any = NEVER, here = NEVER;
        for (auto &c : s->cases()) {
            int is = nodes_.binary(IR_EQ, 1, on, value(c.getCaseValue()));
            any = nodes_.either(any, is);
            if (c.getCaseSuccessor() == to)
                here = nodes_.either(here, is);
        }
        return s->getDefaultDest() == to ? nodes_.either(here, nodes_.negation(any)) : here;
    }
    return nodes_.data(1);
}

int Analysis::guard(const BasicBlock *b)
{
    auto at = guard_.find(b);
    if (at != guard_.end())
        return at->second;
    guard_[b] = nodes_.data(1); // of a circle that is no loop
    int g = guard_of_new(b);
    return guard_[b] = g;
}

int Analysis::guard_of_new(const BasicBlock *b)
{
    if (b == &f_.getEntryBlock())
        return ALWAYS;
    const Loop *loop = loops_.getLoopFor(b);
    if (loop && loop->getHeader() == b)
        return loop->getLoopPreheader() ? guard(loop->getLoopPreheader()) : nodes_.data(1);
    const DomTreeNode *node = tree_.getNode(b);
    if (!node || !node->getIDom())
        return NEVER;
    const BasicBlock *above = node->getIDom()->getBlock();
    if (loops_.getLoopFor(above) == loop && post_.dominates(b, above))
        return guard(above);
    // Behind a loop: what comes before the loop and always leads here has the same guard.
    const Loop *inner = loops_.getLoopFor(above);
    if (inner && inner != loop && !inner->contains(b)) {
        while (inner->getParentLoop() && !inner->getParentLoop()->contains(b))
            inner = inner->getParentLoop();
        const BasicBlock *before = inner->getLoopPreheader();
        if (before && loops_.getLoopFor(before) == loop && post_.dominates(b, before))
            return guard(before);
    }
    int any = NEVER;
    std::set<const Loop *> seen;
    for (const BasicBlock *p : predecessors(b)) {
        const Loop *left = loops_.getLoopFor(p);
        if (!left || left->contains(b)) {
            any = nodes_.either(any, nodes_.both(guard(p), edge(p, b)));
            continue;
        }
        while (left->getParentLoop() && !left->getParentLoop()->contains(b))
            left = left->getParentLoop();
        if (!seen.insert(left).second)
            continue;
        int entered = left->getLoopPreheader() ? guard(left->getLoopPreheader()) : nodes_.data(1);
        if (left->getUniqueExitBlock() != b)
            entered = nodes_.both(entered, nodes_.data(1));
        any = nodes_.either(any, entered);
    }
    return any;
}

void Analysis::number_loops()
{
    for (Loop *l : loops_.getLoopsInPreorder()) {
        loop_number_[l] = (int)loop_.size();
        loop_.push_back({l->getParentLoop() ? loop_number_[l->getParentLoop()] : -1, -1, 0, 0, 0});
    }
}

// True if the function may return behind the block. It does not where it only throws or ends the
// program.
static bool may_return(const BasicBlock *b)
{
    std::set<const BasicBlock *> seen;
    std::vector<const BasicBlock *> list{b};
    while (!list.empty()) {
        b = list.back();
        list.pop_back();
        if (isa<ReturnInst>(b->getTerminator()))
            return true;
        if (seen.insert(b).second)
            list.insert(list.end(), succ_begin(b), succ_end(b));
    }
    return false;
}

static bool has_exit_besides(const Loop *l, const BasicBlock *tests)
{
    SmallVector<std::pair<BasicBlock *, BasicBlock *>, 4> edges;
    l->getExitEdges(edges);
    return any_of(edges, [&](const auto &e) { return e.first != tests && may_return(e.second); });
}

// True if the loop stores to memory that the call does not keep to itself.
static bool stores_outside(const Loop *l)
{
    for (const BasicBlock *b : l->blocks())
        for (const Instruction &i : *b)
            if (i.mayWriteToMemory() && !isa<CallBase>(i) &&
                (!isa<StoreInst>(i) ||
                 !isa<AllocaInst>(getUnderlyingObject(cast<StoreInst>(i).getPointerOperand()))))
                return true;
    return false;
}

void Analysis::test_loops()
{
    for (auto &[l, number] : loop_number_) {
        SmallVector<BasicBlock *, 4> exiting;
        l->getExitingBlocks(exiting);
        const BasicBlock *header = l->getHeader(), *latch = l->getLoopLatch(), *tests = nullptr;
        for (const BasicBlock *b : exiting)
            if (b == header || (b == latch && tests != header))
                tests = b;
        ir_loop_t &loop = loop_[number];
        loop.has_breaks = exiting.size() != 1 || !tests;
        loop.has_exits =
            !tests || has_exit_besides(l, tests) || (loop.has_breaks && stores_outside(l));
        loop.tests_at_end = tests != header;
        loop.test = nodes_.data(1);
        if (!tests)
            continue;
        int stays = NEVER;
        std::set<const BasicBlock *> seen;
        for (const BasicBlock *s : successors(tests))
            if (l->contains(s) && seen.insert(s).second)
                stays = nodes_.either(stays, edge(tests, s));
        loop.test = stays;
    }
}

} // namespace kmm_ir
