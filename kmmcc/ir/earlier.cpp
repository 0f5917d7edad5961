// SPDX-License-Identifier: Apache-2.0
// Loads of what a loop before has stored: `for k: y[k] = ..`, and then `for k: .. y[k] ..` with the
// same bounds. The two loops have the same test, and store and load are at the same place, if the
// counters of the one stand for those of the other.
#include "ir/function.hpp"

namespace kmm_ir
{

namespace
{

// The loops around an access up to `end`, which is left out: the outermost first.
std::vector<const Loop *> loops_below(const Loop *l, const Loop *end)
{
    std::vector<const Loop *> list;
    for (; l && l != end; l = l->getParentLoop())
        list.insert(list.begin(), l);
    return list;
}

const Loop *common_loop(const Loop *a, const BasicBlock *b)
{
    while (a && !a->contains(b))
        a = a->getParentLoop();
    return a;
}

// Compares nodes of a store with nodes of a load.
class Renaming
{
  public:
    explicit Renaming(const std::vector<ir_node_t> &node) : node_(node) {}

    void pair(int stored, int loaded) { counter_[stored] = loaded; }

    // True if the nodes are equal in iterations of equal numbers. Data is the same nowhere.
    bool is_same(int a, int b)
    {
        if (a < 0 || b < 0)
            return a == b;
        auto at = known_.find({a, b});
        if (at != known_.end())
            return at->second;
        return known_[{a, b}] = compare(node_[(size_t)a], node_[(size_t)b]);
    }

    // True if the condition holds where the other one does: it has no other parts.
    bool follows(int condition, int from)
    {
        const ir_node_t &x = node_[(size_t)condition], &y = node_[(size_t)from];
        if (condition == ALWAYS || is_same(condition, from))
            return true;
        if (x.op == IR_AND)
            return follows(x.a, from) && follows(x.b, from);
        return y.op == IR_AND && (follows(condition, y.a) || follows(condition, y.b));
    }

  private:
    bool compare(const ir_node_t &x, const ir_node_t &y)
    {
        if (x.op != y.op || x.bits != y.bits || x.op == IR_DATA)
            return false;
        if (x.op == IR_COUNTER) {
            auto at = counter_.find((int)x.value);
            return y.value == (at == counter_.end() ? x.value : at->second);
        }
        if (x.value != y.value || x.op <= IR_DATA)
            return x.value == y.value && x.a == y.a;
        // The operands of these stand in the order in which the nodes were made.
        bool symmetric = x.op == IR_ADD || x.op == IR_MUL || x.op == IR_AND || x.op == IR_OR ||
                         x.op == IR_XOR || x.op == IR_EQ || x.op == IR_NE;
        return (is_same(x.a, y.a) && is_same(x.b, y.b) && is_same(x.c, y.c)) ||
               (symmetric && is_same(x.a, y.b) && is_same(x.b, y.a));
    }

    const std::vector<ir_node_t> &node_;
    std::map<int, int> counter_;
    std::map<std::pair<int, int>, bool> known_;
};

} // namespace

bool Analysis::stores_before(size_t store, size_t load)
{
    const ir_access_t &s = access_[store], &l = access_[load];
    const BasicBlock *stored = access_at_[store]->getParent(),
                     *loaded = access_at_[load]->getParent();
    if (s.kind != IR_WRITE || s.param != l.param || s.member != l.member)
        return false;
    const Loop *common = common_loop(loops_.getLoopFor(stored), loaded);
    std::vector<const Loop *> from = loops_below(loops_.getLoopFor(stored), common),
                              to = loops_below(loops_.getLoopFor(loaded), common);
    if (from.empty() || from.size() > to.size() ||
        !tree_.dominates(from[0]->getHeader(), to[0]->getHeader()))
        return false;
    Renaming renaming(nodes_.all);
    for (size_t k = 0; k < from.size(); k++) {
        const ir_loop_t &a = loop_[(size_t)loop_number_[from[k]]],
                        &b = loop_[(size_t)loop_number_[to[k]]];
        renaming.pair(loop_number_[from[k]], loop_number_[to[k]]);
        if (a.has_breaks || a.tests_at_end != b.tests_at_end || !renaming.is_same(a.test, b.test))
            return false;
    }
    return renaming.is_same(s.offset, l.offset) && renaming.is_same(s.bytes, l.bytes) &&
           renaming.follows(s.guard, l.guard);
}

void Analysis::find_earlier()
{
    for (size_t l = 0; l < access_.size(); l++)
        for (size_t s = 0; s < access_.size() && access_[l].kind == IR_READ; s++)
            if (!access_[l].after_write && stores_before(s, l))
                access_[l].after_write = 1;
}

} // namespace kmm_ir
