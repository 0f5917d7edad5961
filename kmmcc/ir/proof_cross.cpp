// SPDX-License-Identifier: Apache-2.0
// Whether iterations of divided loops use elements that other iterations store: by example, with
// numbers for all that addresses are computed from.
#include <llvm/IR/InstIterator.h>

#include <unordered_map>

#include "ir/proof.hpp"

namespace kmm_ir
{

enum { CROSS_TRIALS = 6, LEAST_CROSS_TRIALS = 2, CROSS_ITERATIONS = 48, CROSS_DRAWS = 6 };
enum { MOST_CROSS_BYTES = 4096 };

// Factors with which iterations along several axes have different sums, in practice.
static const uint64_t NAME_OF_AXIS[] = {0x9E3779B97F4A7C15ULL, 0xBF58476D1CE4E5B9ULL,
                                        0x94D049BB133111EBULL, 0xD6E8FEB86659FD93ULL,
                                        0xA0761D6478BD642FULL, 0xE7037ED1A0B428DBULL};
static_assert(sizeof(NAME_OF_AXIS) / sizeof(NAME_OF_AXIS[0]) >= IR_AXES, "each axis has a factor");

// One access to an array, in a divided loop. `is_range`: a memset or memcpy of all of the range,
// outside of loops; `bytes` are those of all iterations. `is_other`: through another pointer, which
// may lead there.
struct Touch {
    const Instruction *at;
    const SCEV *place, *bytes;
    bool stores, is_range, is_other;
};

// The loops whose iterations are in an expression, from the outermost on.
static std::vector<const Loop *> loops_in(const SCEV *s)
{
    std::vector<const Loop *> found;
    SCEVExprContains(s, [&](const SCEV *e) {
        auto *r = dyn_cast<SCEVAddRecExpr>(e);
        if (r && !is_contained(found, r->getLoop()))
            found.push_back(r->getLoop());
        return false;
    });
    llvm::sort(found,
               [](const Loop *a, const Loop *b) { return a->getLoopDepth() < b->getLoopDepth(); });
    return found;
}

// The place of an access if its pointer may lead into the array, and then begins where that does;
// NULL: it does not.
const SCEV *Proof::place_in(const Value *array, const Instruction *at, const Value *pointer) const
{
    const SCEV *place = scev_.getSCEV(const_cast<Value *>(pointer));
    if (is_contained(arrays_of(pointer), array))
        return place;
    for (const Value *o : objects_of(pointer))
        if ((array_of(o) || isa<GlobalVariable>(o)) && may_meet(array, o, at))
            return scev_.getAddExpr(scev_.getSCEV(const_cast<Value *>(array)),
                                    scev_.removePointerBase(place));
    return nullptr;
}

// How often the loop goes back at most; SCEVCouldNotCompute: that is not known.
const SCEV *Proof::most_iterations(const Loop *l) const
{
    const BasicBlock *e = l->getExitingBlock();
    return e ? scev_.getExitCount(l, e) : scev_.getSymbolicMaxBackedgeTakenCount(l);
}

// True for a value that is computed from what lies in memory, other than from settings.
bool Proof::is_data(const Value *v) const
{
    auto *i = dyn_cast<Instruction>(v);
    return i && !is_setting(i) &&
           (isa<LoadInst>(i) || isa<PHINode>(i) || (isa<CallBase>(i) && !isa<IntrinsicInst>(i)) ||
            any_of(i->operands(), [&](const Value *part) { return is_data(part); }));
}

// True if the number is not known, or computed from data. A minimum is not if one part is not.
bool Proof::is_open(const SCEV *count) const
{
    auto *u = dyn_cast<SCEVUnknown>(count);
    const auto open = [&](const SCEV *part) { return is_open(part); };
    if (isa<SCEVCouldNotCompute>(count) || u)
        return !u || is_data(u->getValue());
    if (isa<SCEVSMinExpr>(count) || isa<SCEVUMinExpr>(count) || isa<SCEVSequentialUMinExpr>(count))
        return all_of(count->operands(), open);
    return any_of(count->operands(), open);
}

// True if data alone ends a loop that decides about the place.
bool Proof::has_open_loop(const SCEV *place) const
{
    return any_of(loops_in(place),
                  [&](const Loop *l) { return !divided_.count(l) && is_open(most_iterations(l)); });
}

// Accesses to the array, in loops over the range and of all of the range.
std::vector<Touch> Proof::touches(const Value *array, bool with_others) const
{
    std::vector<Touch> found;
    auto add = [&](const Instruction *i, const Value *pointer, const SCEV *bytes, bool stores) {
        const bool is_range = isa<MemIntrinsic>(i) && !is_within(i->getParent());
        const bool is_other = !is_contained(arrays_of(pointer), array);
        if ((!is_range && !is_within(i->getParent())) || (is_other && !with_others))
            return;
        if (const SCEV *place = place_in(array, i, pointer))
            found.push_back({i, place, bytes, stores, is_range, is_other});
    };
    for (const Instruction &i : instructions(f_)) {
        Type *t = isa<StoreInst>(i) ? i.getOperand(0)->getType() : i.getType();
        Type *size = Type::getInt64Ty(i.getContext());
        if (auto *load = dyn_cast<LoadInst>(&i))
            add(&i, load->getPointerOperand(),
                scev_.getConstant(size, layout_.getTypeStoreSize(t).getFixedValue()), false);
        if (auto *store = dyn_cast<StoreInst>(&i))
            add(&i, store->getPointerOperand(),
                scev_.getConstant(size, layout_.getTypeStoreSize(t).getFixedValue()), true);
        auto *m = dyn_cast<MemIntrinsic>(&i);
        if (m)
            add(&i, m->getRawDest(), scev_.getSCEV(m->getLength()), true);
        if (auto *copy = dyn_cast_or_null<MemTransferInst>(m))
            add(&i, copy->getRawSource(), scev_.getSCEV(m->getLength()), false);
        auto *call = dyn_cast<CallBase>(&i); // such as strlen
        for (unsigned k = 0; call && !isa<IntrinsicInst>(call) && k < call->arg_size(); k++)
            if (call->getArgOperand(k)->getType()->isPointerTy())
                add(&i, call->getArgOperand(k), scev_.getCouldNotCompute(), false);
    }
    return found;
}

// Chooses iterations of all loops of an access. Returns the iteration of the divided ones as one
// number.
uint64_t Proof::choose_iterations(const Touch &x, unsigned trial, const Draw &d,
                                  std::map<const Loop *, int64_t> &at) const
{
    const unsigned draw = d.number;
    uint64_t name = 0;
    bool is_outermost = true;
    if (x.is_range)
        return (uint64_t)(d.first + draw / CROSS_DRAWS + 1) * NAME_OF_AXIS[Log2_64(axes_)];
    for (const Loop *l : loops_in(x.place)) {
        auto of = divided_.find(l);
        if (of != divided_.end()) {
            const int64_t k = is_outermost ? d.first + draw / CROSS_DRAWS : draw % CROSS_DRAWS;
            is_outermost = false;
            name += (uint64_t)(k + 1) * NAME_OF_AXIS[Log2_64(of->second.axes)];
            at[l] = k;
            continue;
        }
        const BasicBlock *e = l->getExitingBlock();
        const SCEV *count = most_iterations(l);
        const Trial t = {trial, RUN_WHOLE, false, &at};
        auto n = isa<SCEVCouldNotCompute>(count) ? std::nullopt : number(count, t);
        const int64_t times = n ? n->getSExtValue() + (e == l->getLoopLatch()) : 5;
        const unsigned k = draw % CROSS_DRAWS;
        at[l] = times <= 0 ? 0 : k == 0 ? 0 : k == 1 ? times - 1 : (int64_t)(draw * 7 + k) % times;
    }
    return name;
}

// What the access touches in the iterations that were chosen; none: it cannot be computed. Of a
// range, each iteration has an equal part.
std::optional<Touched> Proof::touched(const Touch &x, unsigned trial, const Draw &d,
                                      const std::map<const Loop *, int64_t> &at) const
{
    const Trial t = {trial, RUN_WHOLE, false, &at};
    auto place = number(x.place, t), bytes = number(x.bytes, t);
    if (!place || !bytes)
        return std::nullopt;
    const Touched all = {place->getSExtValue(), bytes->getSExtValue()};
    if (!x.is_range)
        return all;
    const int64_t indices = range_of((int)Log2_64(axes_), trial), part = all.count / indices;
    if (part * indices != all.count)
        return std::nullopt;
    return Touched{all.begin + part * (d.first + d.number / CROSS_DRAWS), part};
}

// Calls `visit` with each byte that the access touches and the iteration, from the iteration
// `first` of the outermost divided loop on. False: the place cannot be computed.
template <class F>
bool Proof::walk(const Touch &x, unsigned trial, int64_t first, const F &visit) const
{
    for (unsigned draw = 0; draw < CROSS_ITERATIONS * CROSS_DRAWS; draw++) {
        std::map<const Loop *, int64_t> at;
        const uint64_t name = choose_iterations(x, trial, {draw, first}, at);
        const std::optional<Touched> all = touched(x, trial, {draw, first}, at);
        if (!all)
            return false;
        for (int64_t k = 0; k < std::min<int64_t>(all->count, MOST_CROSS_BYTES); k++)
            visit(all->begin + k, name);
    }
    return true;
}

// The iteration of the access in which it comes to where the other one begins; 0: in none. `draw`
// chooses the iterations of the other one's inner loops.
int64_t Proof::meets(const Touch &x, const Touch &other, unsigned draw, unsigned trial) const
{
    const auto outer = [&](const Touch &y, const Draw &d) {
        std::map<const Loop *, int64_t> at;
        choose_iterations(y, trial, d, at);
        return touched(y, trial, d, at);
    };
    const auto from = outer(x, {0, 0}), next = outer(x, {0, 1}), to = outer(other, {draw, 0});
    if (!from || !next || !to || from->begin == next->begin)
        return 0;
    return (to->begin - from->begin) / (next->begin - from->begin);
}

// The iteration of the access in which the number comes to another one, its limit; 0: in none.
int64_t Proof::comes_to(const SCEV *s, const SCEV *limit, const Touch &x, unsigned trial) const
{
    const auto in = [&](const SCEV *e, int64_t k) {
        std::map<const Loop *, int64_t> at;
        choose_iterations(x, trial, {0, k}, at);
        const std::optional<APInt> n = number(e, {trial, RUN_WHOLE, false, &at});
        return n && n->isSignedIntN(62) ? std::optional(n->getSExtValue()) : std::nullopt;
    };
    const auto from = in(s, 0), next = in(s, 1), to = in(limit, 0);
    return from && next && to && *from != *next ? (*to - *from) / (*next - *from) : 0;
}

// Where the place is not linear in the iterations: first iterations from which on it may be others.
void Proof::add_limits(const Touch &x, unsigned trial, std::set<int64_t> &first) const
{
    enum { MOST_BITS = 31 };
    SCEVExprContains(x.place, [&](const SCEV *e) {
        const bool is_choice =
            isa<SCEVMinMaxExpr>(e) || isa<SCEVSequentialMinMaxExpr>(e) || isa<SCEVUDivExpr>(e);
        auto *narrow = dyn_cast<SCEVTruncateExpr>(e);
        if (narrow && narrow->getType()->getIntegerBitWidth() < MOST_BITS)
            first.insert(int64_t(1) << narrow->getType()->getIntegerBitWidth());
        for (const SCEV *s : e->operands())
            for (const SCEV *limit : e->operands()) {
                const int64_t k = is_choice && s != limit ? comes_to(s, limit, x, trial) : 0;
                if (k > CROSS_ITERATIONS / 2 && k < INT32_MAX)
                    first.insert(k);
            }
        return false;
    });
}

// The iterations from which on each access is looked at, besides 0.
std::vector<std::set<int64_t>> Proof::far_iterations(const std::vector<Touch> &all,
                                                     unsigned trial) const
{
    enum { MOST = 6 };
    std::vector<std::set<int64_t>> first(all.size());
    std::set<int64_t> limits;
    for (const Touch &x : all)
        add_limits(x, trial, limits);
    for (size_t k = 0; k < all.size(); k++) {
        for (int64_t n : limits)
            if (first[k].size() < MOST)
                first[k].insert(n);
        for (const Touch &other : all)
            for (unsigned draw = 0; draw < CROSS_DRAWS; draw++) {
                const int64_t n = meets(all[k], other, draw, trial) - CROSS_ITERATIONS / 2;
                if (n > 0 && n < INT32_MAX && first[k].size() < (size_t)2 * MOST)
                    first[k].insert(n);
            }
        first[k].insert(0);
    }
    return first;
}

static const char aliased[] = "reads through another pointer or name what another iteration may "
                              "store";

// Why inner loops may lead to what other iterations access; NULL: none is ended by data.
Mark Proof::open_end(const std::vector<Touch> &all) const
{
    for (const Touch &x : all)
        if (!x.is_range && has_open_loop(x.place))
            return because(x.stores     ? "stores in an inner loop that data ends, perhaps to what "
                                          "another iteration accesses"
                           : x.is_other ? aliased
                                        : "reads in an inner loop that data ends, perhaps what "
                                          "another iteration stores",
                           x.at);
    return nullptr;
}

// Why iterations may use what others store to the array; NULL: they do not.
Mark Proof::crossing(const Value *array, bool with_others) const
{
    const std::vector<Touch> all = touches(array, with_others);
    const auto is_other = [&](const Instruction *at) {
        return any_of(all, [&](const Touch &x) { return x.at == at && x.is_other; });
    };
    int tried = 0;
    const Instruction *shared = nullptr;
    if (with_others && none_of(all, [](const Touch &x) { return x.is_other; }))
        return nullptr;
    if (Mark m = open_end(all))
        return m;
    for (unsigned k = 1; k <= CROSS_TRIALS + EQUAL_TRIALS; k++) {
        const unsigned trial = k <= CROSS_TRIALS ? k : FIRST_EQUAL + k - CROSS_TRIALS - 1;
        std::unordered_map<int64_t, uint64_t> owner;
        const Instruction *twice = nullptr, *reads = nullptr;
        const std::vector<std::set<int64_t>> first = far_iterations(all, trial);
        const auto each = [&](bool stores, const auto &visit) -> const Instruction * {
            for (size_t k = 0; k < all.size(); k++)
                for (int64_t from : first[k])
                    if (all[k].stores == stores &&
                        !walk(all[k], trial, from,
                              [&](int64_t byte, uint64_t name) { visit(all[k].at, byte, name); }))
                        return all[k].at;
            return nullptr;
        };
        if (auto *at = each(true, [&](const Instruction *at, int64_t byte, uint64_t name) {
                auto [place, is_new] = owner.insert({byte, name});
                twice = is_new || place->second == name ? twice : at;
            }))
            return because("stores at a place that cannot be compared with others", at);
        shared = twice ? twice : shared;
        if (twice && is_other(twice))
            return because("stores through another pointer, perhaps to where another iteration "
                           "stores",
                           twice);
        if (twice)
            continue; // the numbers may not go together, as a width that is more than the distance
        if (auto *at = each(false, [&](const Instruction *at, int64_t byte, uint64_t name) {
                auto place = owner.find(byte);
                reads = place == owner.end() || place->second == name ? reads : at;
            }))
            return because("reads at a place that cannot be compared with its stores", at);
        if (reads)
            return because(is_other(reads) ? aliased : "reads what another iteration stores",
                           reads);
        tried++;
    }
    return tried >= LEAST_CROSS_TRIALS ? nullptr
                                       : because("stores to a place in several iterations", shared);
}

Mark Proof::crossings() const
{
    for (const bool with_others : {false, true})
        for (const Value *array : stored_)
            if (Mark m = crossing(array, with_others))
                return m;
    return nullptr;
}

} // namespace kmm_ir
