// SPDX-License-Identifier: Apache-2.0
// Integers as nodes.
#include "ir/function.hpp"

#include <llvm/Analysis/ConstantFolding.h>

namespace kmm_ir
{

int Analysis::value(const Value *v)
{
    auto at = value_.find(v);
    if (at != value_.end())
        return at->second;
    if (!v->getType()->isIntegerTy() || v->getType()->getIntegerBitWidth() > 64 ||
        !in_progress_.insert(v).second || nodes_.all.size() > MOST_NODES)
        return nodes_.data(std::min(bits_of(v), 64));
    int n = value_of_new(v);
    in_progress_.erase(v);
    return value_[v] = n;
}

int Analysis::value_of_new(const Value *v)
{
    int bits = bits_of(v);
    if (auto *c = dyn_cast<ConstantInt>(v))
        return nodes_.constant(c->getSExtValue(), bits);
    if (auto *a = dyn_cast<Argument>(v))
        return nodes_.leaf(IR_PARAM, a->getArgNo(), bits);
    if (auto *b = dyn_cast<BinaryOperator>(v))
        return value_of_binary(b);
    if (auto *c = dyn_cast<ICmpInst>(v))
        return value_of_compare(c);
    if (auto *s = dyn_cast<SelectInst>(v))
        return nodes_.select(bits, value(s->getCondition()), value(s->getTrueValue()),
                             value(s->getFalseValue()));
    if (auto *c = dyn_cast<CastInst>(v)) {
        ir_op_t op = c->getOpcode() == Instruction::ZExt   ? IR_ZEXT
                     : c->getOpcode() == Instruction::SExt ? IR_SEXT
                                                           : IR_TRUNC;
        bool integers = op != IR_TRUNC || c->getOpcode() == Instruction::Trunc;
        return integers && bits_of(c->getOperand(0)) <= 64
                   ? nodes_.cast(op, bits, value(c->getOperand(0)))
                   : nodes_.data(bits);
    }
    if (auto *z = dyn_cast<FreezeInst>(v))
        return value(z->getOperand(0));
    if (auto *phi = dyn_cast<PHINode>(v))
        return value_of_phi(phi);
    if (auto *load = dyn_cast<LoadInst>(v))
        return value_of_load(load);
    if (auto *call = dyn_cast<CallBase>(v))
        return value_of_call(call);
    return nodes_.data(bits);
}

int Analysis::value_of_binary(const BinaryOperator *b)
{
    ir_op_t op;
    switch (b->getOpcode()) {
    case Instruction::Add: op = IR_ADD; break;
    case Instruction::Sub: op = IR_SUB; break;
    case Instruction::Mul: op = IR_MUL; break;
    case Instruction::UDiv: op = IR_UDIV; break;
    case Instruction::SDiv: op = IR_SDIV; break;
    case Instruction::URem: op = IR_UREM; break;
    case Instruction::SRem: op = IR_SREM; break;
    case Instruction::Shl: op = IR_SHL; break;
    case Instruction::LShr: op = IR_LSHR; break;
    case Instruction::AShr: op = IR_ASHR; break;
    case Instruction::And: op = IR_AND; break;
    case Instruction::Or: op = IR_OR; break;
    case Instruction::Xor: op = IR_XOR; break;
    default: return nodes_.data(bits_of(b));
    }
    return nodes_.binary(op, bits_of(b), value(b->getOperand(0)), value(b->getOperand(1)));
}

int Analysis::value_of_compare(const ICmpInst *c)
{
    const Value *x = c->getOperand(0), *y = c->getOperand(1);
    if (x->getType()->isPointerTy()) {
        // A pointer that is compared with NULL is used only where it is none.
        bool null = isa<ConstantPointerNull>(y) || isa<ConstantPointerNull>(x);
        if (null && c->isEquality())
            for (const Candidate &k : pointers(isa<ConstantPointerNull>(y) ? x : y))
                if (k.param >= 0)
                    return c->getPredicate() == CmpInst::ICMP_EQ ? NEVER : ALWAYS;
        // Pointers of one parameter lie in one object, as their distances from it do.
        Candidates first = pointers(x), second = pointers(y);
        if (first.size() != 1 || second.size() != 1 || origin(x).first < 0 ||
            origin(x) != origin(y))
            return nodes_.data(1);
        return compare(c->getSignedPredicate(), first[0].offset, second[0].offset);
    }
    if (!x->getType()->isIntegerTy() || bits_of(x) > 64)
        return nodes_.data(1);
    return compare(c->getPredicate(), value(x), value(y));
}

int Analysis::compare(CmpInst::Predicate predicate, int a, int b)
{
    switch (predicate) {
    case CmpInst::ICMP_EQ: return nodes_.binary(IR_EQ, 1, a, b);
    case CmpInst::ICMP_NE: return nodes_.binary(IR_NE, 1, a, b);
    case CmpInst::ICMP_ULT: return nodes_.binary(IR_ULT, 1, a, b);
    case CmpInst::ICMP_ULE: return nodes_.binary(IR_ULE, 1, a, b);
    case CmpInst::ICMP_UGT: return nodes_.binary(IR_ULT, 1, b, a);
    case CmpInst::ICMP_UGE: return nodes_.binary(IR_ULE, 1, b, a);
    case CmpInst::ICMP_SLT: return nodes_.binary(IR_SLT, 1, a, b);
    case CmpInst::ICMP_SLE: return nodes_.binary(IR_SLE, 1, a, b);
    case CmpInst::ICMP_SGT: return nodes_.binary(IR_SLT, 1, b, a);
    case CmpInst::ICMP_SGE: return nodes_.binary(IR_SLE, 1, b, a);
    default: return nodes_.data(1);
    }
}

// The value may differ between iterations of the loop.
bool Analysis::depends_on(int node, const Loop *loop) const
{
    if (node < 0)
        return false;
    const ir_node_t &n = nodes_.all[node];
    if (n.op == IR_DATA)
        return true;
    if (n.op == IR_COUNTER)
        for (auto &[l, number] : loop_number_)
            if (number == n.value)
                return loop->contains(l);
    if (n.op <= IR_DATA)
        return false;
    return depends_on(n.a, loop) || depends_on(n.b, loop) || depends_on(n.c, loop);
}

bool Analysis::is_invariant(const Value *v, const Loop *loop)
{
    return loop->isLoopInvariant(v) || !depends_on(value(v), loop);
}

// What one iteration of the loop adds to the variable, if it adds the same in each.
bool Analysis::step_of(const PHINode *phi, const Loop *loop, int *step)
{
    const BasicBlock *latch = loop->getLoopLatch();
    if (!latch || !loop->getLoopPreheader())
        return false;
    int bits = bits_of(phi), total = nodes_.constant(0, bits);
    const Value *v = phi->getIncomingValueForBlock(latch);
    while (v != phi) {
        if (auto *gep = dyn_cast<GEPOperator>(v)) {
            for (const Use &k : gep->indices())
                if (!is_invariant(k, loop))
                    return false;
            total = nodes_.binary(IR_ADD, bits, total, offset_of(gep));
            v = gep->getPointerOperand();
            continue;
        }
        auto *b = dyn_cast<BinaryOperator>(v);
        if (!b || (b->getOpcode() != Instruction::Add && b->getOpcode() != Instruction::Sub))
            return false;
        bool adds = b->getOpcode() == Instruction::Add;
        const Value *rest = b->getOperand(0), *by = b->getOperand(1);
        if (adds && rest != phi && is_invariant(rest, loop))
            std::swap(rest, by);
        if (!is_invariant(by, loop))
            return false;
        total = nodes_.binary(adds ? IR_ADD : IR_SUB, bits, total, value(by));
        v = rest;
    }
    *step = total;
    return true;
}

int Analysis::value_of_phi(const PHINode *phi)
{
    const BasicBlock *b = phi->getParent();
    const Loop *loop = loops_.getLoopFor(b);
    int bits = bits_of(phi), step;
    if (loop && loop->getHeader() == b) {
        if (!step_of(phi, loop, &step))
            return nodes_.data(bits);
        int counter = nodes_.leaf(IR_COUNTER, loop_number_[loop], bits);
        int start = value(phi->getIncomingValueForBlock(loop->getLoopPreheader()));
        return nodes_.binary(IR_ADD, bits, start, nodes_.binary(IR_MUL, bits, counter, step));
    }
    int result = -1;
    for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
        const BasicBlock *p = phi->getIncomingBlock(k);
        const Loop *from = loops_.getLoopFor(p);
        bool leaves = from && !from->contains(b);
        auto *i = dyn_cast<Instruction>(phi->getIncomingValue(k));
        int v =
            leaves && i && from->contains(i) ? nodes_.data(bits) : value(phi->getIncomingValue(k));
        if (result < 0)
            result = v;
        else
            result = nodes_.select(
                bits, leaves ? nodes_.data(1) : nodes_.both(guard(p), edge(p, b)), v, result);
    }
    return result < 0 ? nodes_.data(bits) : result;
}

int Analysis::value_of_call(const CallBase *call)
{
    int bits = bits_of(call);
    const Function *callee = call->getCalledFunction();
    if (!callee || !callee->isIntrinsic())
        return nodes_.data(bits);
    static const char *const name[] = {"tid", "ctaid", "ntid", "nctaid"};
    for (int k = 0; k < 4; k++)
        for (int d = 0; d < 3; d++)
            if (callee->getName() ==
                std::string("llvm.nvvm.read.ptx.sreg.") + name[k] + "." + "xyz"[d])
                return nodes_.leaf(IR_GRID, k * 3 + d, bits);
    ir_op_t less = IR_CONST;
    bool least = false;
    switch (callee->getIntrinsicID()) {
    case Intrinsic::smin: less = IR_SLT, least = true; break;
    case Intrinsic::smax: less = IR_SLT; break;
    case Intrinsic::umin: less = IR_ULT, least = true; break;
    case Intrinsic::umax: less = IR_ULT; break;
    case Intrinsic::expect: return value(call->getArgOperand(0));
    case Intrinsic::abs: {
        int a = value(call->getArgOperand(0)), zero = nodes_.constant(0, bits);
        return nodes_.select(bits, nodes_.binary(IR_SLT, 1, a, zero),
                             nodes_.binary(IR_SUB, bits, zero, a), a);
    }
    default: return nodes_.data(bits);
    }
    int a = value(call->getArgOperand(0)), b = value(call->getArgOperand(1));
    return nodes_.select(bits, nodes_.binary(less, 1, least ? a : b, least ? b : a), a, b);
}

// An element of a small constant table, at `at` bytes behind the pointer.
int Analysis::value_of_table(const LoadInst *load, const GEPOperator *pointer, int64_t at)
{
    enum { MOST_ELEMENTS = 64 };
    int bits = bits_of(load), result = nodes_.data(bits);
    auto *g = dyn_cast<GlobalVariable>(pointer->getPointerOperand());
    if (!g || !g->isConstant() || !g->hasDefinitiveInitializer() || load->isVolatile())
        return result;
    auto size = (int64_t)layout_.getTypeStoreSize(load->getType()).getFixedValue();
    auto total = (int64_t)layout_.getTypeStoreSize(g->getValueType()).getFixedValue();
    if (total / size > MOST_ELEMENTS)
        return result;
    int where = nodes_.binary(IR_ADD, 64, offset_of(pointer), nodes_.constant(at, 64));
    for (int64_t k = 0; k + size <= total; k += size) {
        auto *initial = const_cast<Constant *>(g->getInitializer());
        auto *c = dyn_cast_or_null<ConstantInt>(
            ConstantFoldLoadFromConst(initial, load->getType(), APInt(64, (uint64_t)k), layout_));
        if (!c)
            return nodes_.data(bits);
        int here = nodes_.binary(IR_EQ, 1, where, nodes_.constant(k, 64));
        result = nodes_.select(bits, here, nodes_.constant(c->getSExtValue(), bits), result);
    }
    return result;
}

int Analysis::value_of_load(const LoadInst *load)
{
    int bits = bits_of(load);
    APInt offset(64, 0);
    const Value *base =
        load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true, true);
    int64_t at = offset.getSExtValue();
    if (auto *a = dyn_cast<Argument>(base))
        return a->hasByValAttr() && !stored_.count(a) && !load->isVolatile()
                   ? nodes_.leaf(IR_PARAM, a->getArgNo(), bits, (int)at)
                   : nodes_.data(bits);
    if (isa<GEPOperator>(base))
        return value_of_table(load, cast<GEPOperator>(base), at);
    auto *g = dyn_cast<GlobalVariable>(base);
    if (!g)
        return nodes_.data(bits);
    static const char *const name[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    for (int k = 0; k < 4; k++)
        if (g->getName() == name[k] && at % 4 == 0 && at < 12)
            return nodes_.leaf(IR_GRID, k * 3 + at / 4, bits);
    if (g->isConstant() && g->hasDefinitiveInitializer()) {
        auto *initial = const_cast<Constant *>(g->getInitializer());
        if (auto *c = dyn_cast_or_null<ConstantInt>(
                ConstantFoldLoadFromConst(initial, load->getType(), offset, layout_)))
            return nodes_.constant(c->getSExtValue(), bits);
    }
    if (stored_.count(g) || g->isThreadLocal() || g->getAddressSpace() == 3 || load->isVolatile())
        return nodes_.data(bits);
    auto found = symbol_.insert({{g, at}, (int)symbol_.size()});
    return nodes_.leaf(IR_SYMBOL, found.first->second, bits);
}

} // namespace kmm_ir
