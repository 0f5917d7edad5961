// SPDX-License-Identifier: Apache-2.0
// The nodes of a function's graph.
#ifndef KMMCC_IR_NODES_HPP
#define KMMCC_IR_NODES_HPP

#include <llvm/ADT/APInt.h>
#include <llvm/Support/MathExtras.h>

#include <map>
#include <tuple>
#include <vector>

#include "ir/ir.h"

namespace kmm_ir
{

using namespace llvm;

enum { NEVER = 0, ALWAYS = 1 };

// Nodes 0 and 1 are false and true. Equal nodes are one.
class Nodes
{
  public:
    std::vector<ir_node_t> all;

    Nodes()
    {
        add({IR_CONST, 1, -1, -1, -1, 0});
        add({IR_CONST, 1, -1, -1, -1, 1});
    }
    int constant(int64_t value, int bits)
    {
        return add({IR_CONST, bits, -1, -1, -1, SignExtend64(value, bits)});
    }
    int leaf(ir_op_t op, int64_t value, int bits, int a = -1)
    {
        return add({op, bits, a, -1, -1, value});
    }
    int data(int bits) { return leaf(IR_DATA, data_count_++, bits); }

    int binary(ir_op_t op, int bits, int a, int b)
    {
        if (is_constant(a) && is_constant(b))
            return folded(op, bits, a, b);
        bool symmetric = op == IR_ADD || op == IR_MUL || op == IR_AND || op == IR_OR ||
                         op == IR_XOR || op == IR_EQ || op == IR_NE;
        if (symmetric && a > b)
            std::swap(a, b);
        for (int side = 0; side < 2; side++) {
            int k = side ? a : b, other = side ? b : a;
            if (!is_constant(k) || (side && !symmetric))
                continue;
            int64_t v = all[k].value;
            bool ones = v == -1 || (bits == 1 && v != 0);
            if ((v == 0 && (op == IR_ADD || op == IR_SUB || op == IR_OR || op == IR_XOR ||
                            op == IR_SHL || op == IR_LSHR || op == IR_ASHR)) ||
                (v == 1 && bits > 1 && (op == IR_MUL || op == IR_UDIV || op == IR_SDIV)) ||
                (ones && op == IR_AND))
                return other;
            if (v == 0 && (op == IR_MUL || op == IR_AND))
                return constant(0, bits);
            if (ones && op == IR_OR)
                return constant(-1, bits);
        }
        if (bits == 1 && (op == IR_AND || op == IR_OR)) {
            if (a == b)
                return a;
            if (is_negation(a, b))
                return op == IR_AND ? NEVER : ALWAYS;
        }
        return add({op, bits, a, b, -1, 0});
    }
    int negation(int a) { return binary(IR_XOR, 1, a, ALWAYS); }
    int both(int a, int b) { return binary(IR_AND, 1, a, b); }
    int either(int a, int b) { return binary(IR_OR, 1, a, b); }
    int select(int bits, int condition, int a, int b)
    {
        if (condition == ALWAYS || a == b)
            return a;
        return condition == NEVER ? b : add({IR_SELECT, bits, condition, a, b, 0});
    }
    int cast(ir_op_t op, int bits, int a)
    {
        if (all[a].bits == bits)
            return a;
        if (is_constant(a))
            return constant(op == IR_ZEXT ? (int64_t)masked(a) : all[a].value, bits);
        return add({op, bits, a, -1, -1, 0});
    }
    // A value as 64 bits, as an address is computed of it.
    int wide(int a) { return cast(all[a].bits > 64 ? IR_TRUNC : IR_SEXT, 64, a); }

  private:
    std::map<std::tuple<int, int, int, int, int, int64_t>, int> found_;
    int64_t data_count_ = 0;

    int add(ir_node_t n)
    {
        if (n.bits == 1 && n.op == IR_CONST)
            n.value = n.value & 1;
        auto key = std::make_tuple((int)n.op, n.bits, n.a, n.b, n.c, n.value);
        auto at = found_.find(key);
        if (at != found_.end())
            return at->second;
        all.push_back(n);
        return found_[key] = (int)all.size() - 1;
    }
    bool is_constant(int k) const { return all[k].op == IR_CONST; }
    bool is_negation(int a, int b) const
    {
        auto is = [&](int x, int y) {
            return all[x].op == IR_XOR &&
                   ((all[x].a == y && all[x].b == ALWAYS) || (all[x].b == y && all[x].a == ALWAYS));
        };
        return is(a, b) || is(b, a);
    }
    uint64_t masked(int k) const
    {
        return all[k].bits >= 64 ? (uint64_t)all[k].value
                                 : (uint64_t)all[k].value & ((1ULL << all[k].bits) - 1);
    }
    int folded(ir_op_t op, int bits, int a, int b)
    {
        APInt x(all[a].bits, masked(a)), y(all[b].bits, masked(b)), r(bits, 0);
        bool shifts = y.ult(all[a].bits);
        switch (op) {
        case IR_ADD: r = x + y; break;
        case IR_SUB: r = x - y; break;
        case IR_MUL: r = x * y; break;
        case IR_AND: r = x & y; break;
        case IR_OR: r = x | y; break;
        case IR_XOR: r = x ^ y; break;
        case IR_EQ: r = APInt(1, x == y); break;
        case IR_NE: r = APInt(1, x != y); break;
        case IR_ULT: r = APInt(1, x.ult(y)); break;
        case IR_ULE: r = APInt(1, x.ule(y)); break;
        case IR_SLT: r = APInt(1, x.slt(y)); break;
        case IR_SLE: r = APInt(1, x.sle(y)); break;
        default:
            if ((op == IR_SHL || op == IR_LSHR || op == IR_ASHR) && shifts)
                r = op == IR_SHL ? x.shl(y) : op == IR_LSHR ? x.lshr(y) : x.ashr(y);
            else if ((op == IR_UDIV || op == IR_UREM) && y != 0)
                r = op == IR_UDIV ? x.udiv(y) : x.urem(y);
            else if ((op == IR_SDIV || op == IR_SREM) && y != 0 && !y.isAllOnes())
                r = op == IR_SDIV ? x.sdiv(y) : x.srem(y);
            else
                return data(bits);
        }
        return constant(r.getSExtValue(), bits);
    }
};

} // namespace kmm_ir

#endif
