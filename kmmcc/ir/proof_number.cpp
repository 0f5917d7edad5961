// SPDX-License-Identifier: Apache-2.0
// Values of a function as numbers, for the call of the whole range and the call of a chunk. Values
// that are equal for several choices of all that they are computed from count as the same.
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include "ir/proof.hpp"

namespace kmm_ir
{

enum { TRIALS = 9, LEAST_TRIALS = 4 };

// Further trials, with numbers below 1 << scale[k]: limits that a function has, such as a length
// of 4096, lie between some of these. They count unless a number of 32 bits or more overflows.
static const unsigned scale[] = {4,  5,  6,  7,  8,  9,  10, 10, 11, 11, 12, 12, 13, 13, 14, 15,
                                 16, 16, 17, 18, 19, 20, 21, 22, 24, 26, 28, 29, 33, 36, 40};

enum { ALL_TRIALS = TRIALS + sizeof(scale) / sizeof(scale[0]) };

static bool is_scaled(unsigned trial)
{
    return trial > TRIALS && trial <= ALL_TRIALS;
}

static unsigned scale_of(unsigned trial)
{
    return scale[trial - TRIALS - 1];
}

// A number that depends on nothing but its arguments.
static uint64_t mixed(uint64_t of, unsigned trial, uint64_t below)
{
    uint64_t x = (of + 1) * 0x9E3779B97F4A7C15ULL + trial * 0xBF58476D1CE4E5B9ULL;
    x ^= x >> 31;
    x *= 0x94D049BB133111EBULL;
    return (x ^ x >> 29) % below;
}

// The number of a value or a loop in a trial. Values that are not of the function have one number.
uint64_t Proof::chosen(const void *of, unsigned trial, uint64_t below) const
{
    auto at = number_.find(of);
    return mixed(at == number_.end() ? 0 : at->second, trial, below);
}

// ---- Ranges ----

// Where the range of an axis, the chunk in it, and the range end.
struct Bounds {
    int64_t lower, begin, end, last;
};

static Bounds bounds(int axis, unsigned trial)
{
    const uint64_t of = (uint64_t)axis + 1000000,
                   below = is_scaled(trial) ? 1ULL << scale_of(trial) : 7;
    Bounds b = {(int64_t)mixed(of, trial, 4), 0, 0, 0};
    b.begin = b.lower + 1 + (int64_t)mixed(of, trial + 100, below);
    b.end = b.begin + 1 + (int64_t)mixed(of, trial + 200, below);
    b.last = b.end + 1 + (int64_t)mixed(of, trial + 300, below);
    return b;
}

// The number of indices of the whole range.
int64_t Proof::range_of(int axis, unsigned trial)
{
    const Bounds b = bounds(axis, trial);
    return b.last - b.lower;
}

int64_t Proof::bound(const ir_role_t *role, const Trial &t) const
{
    const Bounds b = bounds(role->axis, t.number);
    const bool is_split = axes_ >> role->axis & 1;
    const int64_t begin = t.run == RUN_CHUNK && is_split   ? b.begin
                          : t.run == RUN_AFTER && is_split ? b.end
                                                           : b.lower,
                  end = t.run == RUN_WHOLE || t.run == RUN_AFTER || !is_split ? b.last
                        : t.run == RUN_BEFORE                                 ? b.begin
                                                                              : b.end;
    return role->kind == IR_BEGIN ? begin : role->kind == IR_END ? end : end - begin;
}

std::optional<APInt> Proof::argument(const Argument *a, const Trial &t) const
{
    const unsigned bits = (unsigned)layout_.getTypeSizeInBits(a->getType()).getFixedValue();
    auto at = role_.find(a);
    const ir_role_t *role = at == role_.end() ? nullptr : at->second;
    if (role && role->kind >= IR_LENGTH && role->kind <= IR_END) {
        const int64_t x = bound(role, t);
        return isIntN(bits - 1, x) ? std::optional<APInt>(APInt(bits, (uint64_t)x)) : std::nullopt;
    }
    if (!a->getType()->isPointerTy() && t.number >= FIRST_EQUAL)
        return APInt(bits, t.number == FIRST_EQUAL ? 4 : 2ULL << chosen(a, t.number, 2));
    if (!a->getType()->isPointerTy() && is_scaled(t.number) && t.number % 2 && bits >= 32)
        return APInt(bits, 2 + chosen(a, t.number, 1ULL << std::min(29U, scale_of(t.number))));
    if (!a->getType()->isPointerTy())
        return APInt(bits, 2 + chosen(a, t.number, t.number % 3 ? 60 : 12));
    uint64_t address = (1 + chosen(a, t.number, 4000)) << 24;
    for (int k = 0; role && role->kind == IR_MOVED && k < IR_AXES && t.run == RUN_CHUNK; k++)
        if (!t.follows && role->moves & axes_ & 1ULL << k) {
            const Bounds b = bounds(k, t.number);
            address += (uint64_t)(role->distance[k] * (b.begin - b.lower));
        }
    return APInt(bits, address);
}

// ---- Expressions ----

std::optional<int64_t> Proof::iterations(const Divided &d, const Trial &t) const
{
    std::optional<APInt> n = number(d.count, t);
    if (!n)
        return std::nullopt;
    return n->getSExtValue() + d.at_end;
}

// The number of the iteration that is looked at: in a divided loop, one of the chunk and its
// counterpart in the whole call.
std::optional<int64_t> Proof::iteration(const Loop *l, const Trial &t) const
{
    auto at = divided_.find(l);
    if (t.at && t.at->count(l))
        return t.at->at(l);
    if (at == divided_.end())
        return (int64_t)chosen(l, t.number, 5);
    auto of = [&](Run run) { return iterations(at->second, {t.number, run, t.follows}); };
    std::optional<int64_t> before = of(at->second.descends ? RUN_AFTER : RUN_BEFORE),
                           count = of(RUN_CHUNK);
    if (!before || !count || *count <= 0)
        return std::nullopt;
    int64_t own = (int64_t)chosen(l, t.number, (uint64_t)*count);
    return t.run == RUN_CHUNK && !t.follows ? own : own + *before;
}

// Sums and products; none if they overflow in a trial with great numbers, as the program does not.
static std::optional<APInt> added(const APInt &a, const APInt &b, const Trial &t)
{
    bool over = false;
    const APInt x = a.sadd_ov(b, over);
    return over && is_scaled(t.number) && a.getBitWidth() >= 32 ? std::nullopt
                                                                : std::optional<APInt>(x);
}

static std::optional<APInt> multiplied(const APInt &a, const APInt &b, const Trial &t)
{
    bool over = false;
    const APInt x = a.smul_ov(b, over);
    return over && is_scaled(t.number) && a.getBitWidth() >= 32 ? std::nullopt
                                                                : std::optional<APInt>(x);
}

std::optional<APInt> Proof::number_of_recurrence(const SCEVAddRecExpr *r, const Trial &t) const
{
    const std::optional<int64_t> k = iteration(r->getLoop(), t);
    std::optional<APInt> sum = number(r->getStart(), t);
    if (!k || !sum || (r->getNumOperands() > 3 && is_scaled(t.number)))
        return std::nullopt;
    const unsigned bits = sum->getBitWidth();
    int64_t times = 1; // k over the number of the operand
    for (unsigned n = 1; n < r->getNumOperands(); n++) {
        times = times * (*k - n + 1) / n;
        std::optional<APInt> step = number(r->getOperand(n), t);
        if (!step)
            return std::nullopt;
        if (is_scaled(t.number) && bits >= 32 && !isIntN(bits, times))
            return std::nullopt;
        const APInt count = APInt(64, (uint64_t)times).sextOrTrunc(bits);
        std::optional<APInt> all = multiplied(step->sextOrTrunc(bits), count, t);
        sum = all ? added(*sum, *all, t) : all;
        if (!sum)
            return std::nullopt;
    }
    return sum;
}

std::optional<APInt> Proof::number_of_operands(const SCEVNAryExpr *n, const Trial &t) const
{
    std::optional<APInt> all;
    for (const SCEV *s : n->operands()) {
        std::optional<APInt> x = number(s, t);
        if (!x)
            return std::nullopt;
        if (!all) {
            all = x;
            continue;
        }
        const unsigned bits = std::max(all->getBitWidth(), x->getBitWidth());
        const APInt a = all->sextOrTrunc(bits), b = x->sextOrTrunc(bits);
        switch (n->getSCEVType()) {
        case scAddExpr: all = added(a, b, t); break;
        case scMulExpr: all = multiplied(a, b, t); break;
        case scSMaxExpr: all = APIntOps::smax(a, b); break;
        case scSMinExpr: all = APIntOps::smin(a, b); break;
        case scUMaxExpr: all = APIntOps::umax(a, b); break;
        case scUMinExpr:
        case scSequentialUMinExpr: all = APIntOps::umin(a, b); break;
        default: return std::nullopt;
        }
        if (!all)
            return std::nullopt;
    }
    return all;
}

std::optional<APInt> Proof::number(const SCEV *s, const Trial &t) const
{
    if (auto *c = dyn_cast<SCEVConstant>(s))
        return c->getAPInt();
    if (auto *r = dyn_cast<SCEVAddRecExpr>(s))
        return number_of_recurrence(r, t);
    if (auto *n = dyn_cast<SCEVNAryExpr>(s))
        return number_of_operands(n, t);
    if (auto *c = dyn_cast<SCEVCastExpr>(s)) {
        std::optional<APInt> x = number(c->getOperand(), t);
        const unsigned bits = (unsigned)scev_.getTypeSizeInBits(c->getType());
        if (!x || (is_scaled(t.number) && bits >= 32 && !x->isSignedIntN(bits) && !x->isIntN(bits)))
            return std::nullopt;
        return c->getSCEVType() == scSignExtend ? x->sextOrTrunc(bits) : x->zextOrTrunc(bits);
    }
    if (auto *d = dyn_cast<SCEVUDivExpr>(s)) {
        std::optional<APInt> x = number(d->getLHS(), t), y = number(d->getRHS(), t);
        return x && y && !y->isZero() ? std::optional<APInt>(x->udiv(*y)) : std::nullopt;
    }
    auto *u = dyn_cast<SCEVUnknown>(s);
    if (!u)
        return std::nullopt;
    if (auto *a = dyn_cast<Argument>(u->getValue()))
        return argument(a, t);
    const unsigned bits = (unsigned)scev_.getTypeSizeInBits(u->getType());
    auto *b = dyn_cast<BinaryOperator>(u->getValue()); // SCEV has no signed division
    if (b && (b->getOpcode() == Instruction::SDiv || b->getOpcode() == Instruction::SRem)) {
        const auto x = number(scev_.getSCEV(b->getOperand(0)), t),
                   y = number(scev_.getSCEV(b->getOperand(1)), t);
        if (!x || !y || y->isZero())
            return std::nullopt;
        const APInt from = x->sextOrTrunc(bits), by = y->sextOrTrunc(bits);
        return b->getOpcode() == Instruction::SDiv ? from.sdiv(by) : from.srem(by);
    }
    const Value *array = array_of(u->getValue());
    if (u->getType()->isPointerTy())
        return APInt(bits, (1 + chosen(array ? array : u->getValue(), t.number, 4000)) << 24);
    return APInt(bits, bits < 8 ? chosen(u->getValue(), t.number, 2)
                                : 2 + chosen(u->getValue(), t.number, 40));
}

// True if an argument that is the same number in all chunks is in it.
bool Proof::has_number(const SCEV *s) const
{
    return SCEVExprContains(s, [&](const SCEV *e) {
        auto *u = dyn_cast<SCEVUnknown>(e);
        auto *a = u ? dyn_cast<Argument>(u->getValue()) : nullptr;
        auto at = a ? role_.find(a) : role_.end();
        return at != role_.end() && at->second->kind == IR_FIXED && !a->getType()->isPointerTy();
    });
}

// True if it steps by a constant for each index, as pointers do not that move by what is none.
bool Proof::steps_otherwise(const SCEV *s) const
{
    bool steps = false, is_open = false;
    SCEVExprContains(s, [&](const SCEV *e) {
        auto *r = dyn_cast<SCEVAddRecExpr>(e);
        auto of = r ? divided_.find(r->getLoop()) : divided_.end();
        steps |= of != divided_.end() && isa<SCEVConstant>(r->getOperand(1)) &&
                 !has_number(of->second.count);
        auto *u = dyn_cast<SCEVUnknown>(e);
        auto *a = u ? dyn_cast<Argument>(u->getValue()) : nullptr;
        auto at = a ? role_.find(a) : role_.end();
        for (int k = 0; at != role_.end() && k < IR_AXES; k++)
            is_open |= at->second->kind == IR_MOVED && at->second->moves & axes_ & 1ULL << k &&
                       !at->second->distance[k];
        return false;
    });
    return steps && is_open;
}

// True if pointers move in it by what the clauses alone know, such as the width of a row.
bool Proof::has_open_distance(const SCEV *s) const
{
    bool is_open = has_number(s), has_moved = false;
    SCEVExprContains(s, [&](const SCEV *e) {
        auto *u = dyn_cast<SCEVUnknown>(e);
        auto *a = u ? dyn_cast<Argument>(u->getValue()) : nullptr;
        auto at = a ? role_.find(a) : role_.end();
        const ir_role_t *role = at == role_.end() ? nullptr : at->second;
        has_moved |= role && role->kind == IR_MOVED;
        for (int k = 0; role && k < IR_AXES; k++)
            is_open |= role->kind == IR_MOVED && role->moves >> k & 1 && !role->distance[k];
        return false;
    });
    return has_moved && is_open;
}

bool Proof::is_same_number(const SCEV *s, bool follows) const
{
    int tried = 0;
    for (unsigned n = 1; n <= ALL_TRIALS; n++) {
        std::optional<APInt> whole = number(s, {n, RUN_WHOLE, follows}),
                             chunk = number(s, {n, RUN_CHUNK, follows});
        if (!whole || !chunk)
            continue;
        if (*whole != *chunk)
            return false;
        tried++;
    }
    return tried >= LEAST_TRIALS;
}

bool Proof::is_same(const Value *v)
{
    auto at = same_.find(v);
    if (at != same_.end())
        return at->second;
    const SCEV *s = scev_.getSCEV(const_cast<Value *>(v));
    auto *u = dyn_cast<SCEVUnknown>(s);
    auto *i = dyn_cast<Instruction>(v);
    if (SCEVExprContains(s, [](const SCEV *e) { return isa<SCEVPtrToIntExpr>(e); }))
        return same_[v] = false; // an address, and no difference of two in an array
    // Behind a loop, the number of its iterations decides which value it is.
    const bool is_result = SCEVExprContains(s, [&](const SCEV *e) {
        auto *r = dyn_cast<SCEVAddRecExpr>(e);
        return r && !(i && r->getLoop()->contains(i));
    });
    return same_[v] = !is_result && !(u && u->getValue() == v) && !isa<SCEVCouldNotCompute>(s) &&
                      (is_same_number(s, false) ||
                       (has_open_distance(s) && !steps_otherwise(s) && is_same_number(s, true)));
}

// The instructions that SCEV takes as they are; the first one that is marked counts.
Mark Proof::mark_of_leaves(const SCEV *s) const
{
    Mark found = nullptr;
    SCEVExprContains(s, [&](const SCEV *e) {
        auto *u = dyn_cast<SCEVUnknown>(e);
        if (u && isa<Instruction>(u->getValue()))
            found = mark(u->getValue());
        return found != nullptr;
    });
    return found;
}

// True for a pointer that each iteration finds in the same place: in a variable, or in a struct to
// which a parameter points that does not move.
bool Proof::is_steady(const Value *v) const
{
    auto *load = dyn_cast<LoadInst>(v);
    const Value *from = load && load->isSimple()
                            ? load->getPointerOperand()->stripInBoundsConstantOffsets()
                            : nullptr;
    auto *a = dyn_cast_or_null<Argument>(from);
    auto at = a ? role_.find(a) : role_.end();
    return load && load->getType()->isPointerTy() &&
           (isa<GlobalVariable>(from) || is_steady(from) ||
            (at != role_.end() && at->second->kind == IR_FIXED));
}

// True for a number that the function finds in memory and does not change, such as a width.
bool Proof::is_setting(const Value *v) const
{
    auto *load = dyn_cast<LoadInst>(v);
    return load && load->getType()->isIntegerTy() && load->getParent() == &f_.getEntryBlock() &&
           !mark(load) && !loops_.getLoopFor(load->getParent());
}

// True if the place is computed from parameters and the numbers of iterations alone.
bool Proof::is_affine(const SCEV *s) const
{
    return !SCEVExprContains(s, [&](const SCEV *e) {
        auto *u = dyn_cast<SCEVUnknown>(e);
        return isa<SCEVCouldNotCompute>(e) ||
               (u && isa<Instruction>(u->getValue()) && !isa<AllocaInst>(u->getValue()) &&
                !is_steady(u->getValue()) && !is_setting(u->getValue()));
    });
}

uint64_t Proof::axes_of(const SCEV *s) const
{
    uint64_t found = 0;
    SCEVExprContains(s, [&](const SCEV *e) {
        auto *u = dyn_cast<SCEVUnknown>(e);
        auto *a = u ? dyn_cast<Argument>(u->getValue()) : nullptr;
        auto at = a ? role_.find(a) : role_.end();
        if (at != role_.end() && at->second->kind >= IR_LENGTH && at->second->kind <= IR_END)
            found |= 1ULL << at->second->axis;
        return false;
    });
    return found & axes_;
}

// ---- Loops ----

bool Proof::adds_up(const Divided &d) const
{
    int tried = 0;
    for (unsigned n = 1; n <= ALL_TRIALS; n++) {
        std::optional<int64_t> before = iterations(d, {n, RUN_BEFORE, false}),
                               chunk = iterations(d, {n, RUN_CHUNK, false}),
                               with = iterations(d, {n, RUN_WITH, false});
        if (is_scaled(n) && (!before || !chunk || !with))
            continue;
        if (!before || !chunk || !with || *before < 0 || *chunk < 0 || *before + *chunk != *with)
            return false;
        tried += *chunk > 0;
    }
    return tried >= LEAST_TRIALS;
}

// True if what lies at the place, of this length, is divided as the range is.
bool Proof::spans(const SCEV *at, const SCEV *length) const
{
    int tried = 0;
    for (unsigned n = 1; n <= ALL_TRIALS; n++) {
        auto of = [&](const SCEV *s, Run run) {
            std::optional<APInt> x = number(s, {n, run, false});
            return x ? std::optional<int64_t>(x->getSExtValue()) : std::nullopt;
        };
        auto before = of(length, RUN_BEFORE), chunk = of(length, RUN_CHUNK),
             with = of(length, RUN_WITH), whole = of(at, RUN_WHOLE), part = of(at, RUN_CHUNK);
        if (is_scaled(n) && (!before || !chunk || !with || !whole || !part))
            continue;
        if (!before || !chunk || !with || !whole || !part || *before + *chunk != *with ||
            *whole + *before != *part)
            return false;
        tried++;
    }
    return tried > 0;
}

// Blocks from which no way leads to a return.
void Proof::find_cold()
{
    std::set<const BasicBlock *> returns;
    std::vector<const BasicBlock *> list;
    for (const BasicBlock &b : f_)
        if (isa<ReturnInst>(b.getTerminator()))
            list.push_back(&b);
    while (!list.empty()) {
        const BasicBlock *b = list.back();
        list.pop_back();
        if (returns.insert(b).second)
            list.insert(list.end(), pred_begin(b), pred_end(b));
    }
    for (const BasicBlock &b : f_)
        if (!returns.count(&b))
            cold_.insert(&b);
}

// True if another way leads out of the loop than its bound, unless the function does not return
// then.
bool Proof::ends_early(const Loop *l, const Divided &d, const Instruction **at) const
{
    for (const BasicBlock *b : l->blocks())
        for (const BasicBlock *s : successors(b))
            if (b != d.exiting && !l->contains(s) && !cold_.count(s)) {
                *at = b->getTerminator();
                return true;
            }
    return false;
}

// True if the loop counts down, and nothing in it counts up.
bool Proof::descends(const Loop *l) const
{
    bool down = false;
    for (PHINode &phi : l->getHeader()->phis()) {
        auto *r = scev_.isSCEVable(phi.getType()) ? dyn_cast<SCEVAddRecExpr>(scev_.getSCEV(&phi))
                                                  : nullptr;
        if (!r || r->getLoop() != l || !r->isAffine())
            continue;
        if (!scev_.isKnownNegative(r->getStepRecurrence(scev_)))
            return false;
        down = true;
    }
    return down;
}

// True if a divided loop along one of the axes is around the loop.
bool Proof::is_inside(const Loop *l, uint64_t axes) const
{
    for (l = l->getParentLoop(); l; l = l->getParentLoop()) {
        auto at = divided_.find(l);
        if (at != divided_.end() && (at->second.axes & axes))
            return true;
    }
    return false;
}

void Proof::find_divided()
{
    for (const Loop *l : loops_.getLoopsInPreorder()) {
        SmallVector<BasicBlock *, 4> exiting;
        l->getExitingBlocks(exiting);
        for (BasicBlock *e : exiting) {
            const SCEV *count = scev_.getExitCount(l, e);
            if (isa<SCEVCouldNotCompute>(count) || !axes_of(count))
                continue;
            const Divided d = {e, count, e == l->getLoopLatch(), axes_of(count), descends(l)};
            const Instruction *at = e->getTerminator();
            const bool early = ends_early(l, d, &at);
            if (e != l->getHeader() && !d.at_end)
                continue;
            if (early)
                undivided_[l] = because("has a loop over the range that data may end early, which "
                                        "other chunks would have to know",
                                        at);
            else if (!isPowerOf2_64(d.axes) || !adds_up(d))
                undivided_[l] = because("has a loop whose iterations do not divide as the range "
                                        "does",
                                        at);
            else if (is_inside(l, d.axes))
                undivided_[l] = because("has a loop over the range inside of another one, and no "
                                        "chunk has all of their pairs",
                                        at);
            else
                divided_[l] = d;
        }
    }
}

// Finds for each block those whose branches decide whether it runs, but for the bounds of divided
// loops.
// True if the block's condition is the bound of a divided loop, which says how many iterations
// there are, and not whether one of them does something.
bool Proof::is_bound(const BasicBlock *b) const
{
    const Loop *l = loops_.getLoopFor(b);
    auto at = l ? divided_.find(l) : divided_.end();
    return at != divided_.end() && at->second.exiting == b;
}

// True if the condition has one value in all calls; or it is `value` only where a bound is too
// great or a begin too small, and so in no chunk if not in the whole call.
bool Proof::stays_other(const Value *condition, bool value) const
{
    using namespace llvm::PatternMatch;
    const Value *x = nullptr, *y = nullptr;
    if (!mark(condition))
        return true;
    if (value ? match(condition, m_LogicalOr(m_Value(x), m_Value(y)))
              : match(condition, m_LogicalAnd(m_Value(x), m_Value(y))))
        return stays_other(x, value) && stays_other(y, value);
    auto *test = dyn_cast<ICmpInst>(condition);
    for (unsigned k = 0; test && k < 2; k++) {
        auto *a = dyn_cast<Argument>(test->getOperand(k));
        auto role = a ? role_.find(a) : role_.end();
        CmpInst::Predicate is = value ? test->getPredicate() : test->getInversePredicate();
        is = k ? CmpInst::getSwappedPredicate(is) : is;
        if (role == role_.end() || mark(test->getOperand(1 - k)))
            continue;
        const ir_role_kind_t kind = role->second->kind;
        if (kind == IR_BEGIN ? ICmpInst::isLT(is) || ICmpInst::isLE(is)
                             : (kind == IR_END || kind == IR_LENGTH) &&
                                   (ICmpInst::isGT(is) || ICmpInst::isGE(is)))
            return true;
    }
    return false;
}

// True if the block ends the program in no chunk, if it does not in the whole call.
bool Proof::is_kept(const BasicBlock *b) const
{
    auto *branch = dyn_cast<BranchInst>(b->getTerminator());
    return branch && branch->isConditional() &&
           cold_.count(branch->getSuccessor(0)) != cold_.count(branch->getSuccessor(1)) &&
           stays_other(branch->getCondition(), cold_.count(branch->getSuccessor(0)) > 0);
}

void Proof::find_decisions()
{
    for (const BasicBlock &b : f_) {
        if (b.getTerminator()->getNumSuccessors() < 2)
            continue;
        auto *node = post_.getNode(const_cast<BasicBlock *>(&b));
        const auto *end = node ? node->getIDom() : nullptr;
        for (const BasicBlock *s : successors(&b))
            for (auto *n = post_.getNode(const_cast<BasicBlock *>(s)); n && n != end;
                 n = n->getIDom())
                if (n->getBlock())
                    decided_by_[n->getBlock()].push_back(&b);
    }
}

} // namespace kmm_ir
