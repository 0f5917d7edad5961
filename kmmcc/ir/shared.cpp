// SPDX-License-Identifier: Apache-2.0
// What goes into memory that all calls of a plain function share: variables of static storage, and
// what pointers there lead to. A lock, an atomic operation, or a place that an atomic sum gives out
// makes such a store safe, and does not make its value right.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>

#include "ir/folding.hpp"

namespace kmm_ir
{

namespace
{

// Memory that is shared: a variable, or what so many pointers lead to, one after the other, of
// which the first lies in the variable.
struct Shared {
    const GlobalVariable *variable;
    int depth;
    bool operator==(const Shared &s) const { return variable == s.variable && depth == s.depth; }
};

// What an atomic or volatile pointer leads to is handed from call to call.
Shared shared_of(const Value *pointer)
{
    enum { MOST = 8 };
    for (int depth = 0; depth < MOST; depth++) {
        SmallVector<const Value *, 4> objects;
        getUnderlyingObjects(pointer, objects);
        if (objects.size() != 1)
            break;
        auto *g = dyn_cast<GlobalVariable>(objects[0]);
        if (g)
            return {is_program_state(g) && !g->isThreadLocal() ? g : nullptr, depth};
        auto *load = dyn_cast<LoadInst>(objects[0]);
        if (!load || !load->isSimple())
            break;
        pointer = load->getPointerOperand();
    }
    return {nullptr, 0};
}

// Where the instruction stores to, and what: of one that combines, what it combines with the old
// value, by this operator. place NULL: it stores nothing.
struct Stored {
    const Value *place, *value;
    bool combines;
    ir_combine_t op;
};

Stored stored_by(const Instruction *i)
{
    const ir_combine_t op = combine_of(i);
    const bool combines = op != IR_COMBINE_UNKNOWN;
    if (auto *a = dyn_cast<AtomicRMWInst>(i))
        return {a->getPointerOperand(), a->getValOperand(), combines, op};
    auto *store = dyn_cast<StoreInst>(i);
    if (!store)
        return {};
    const Value *place = store->getPointerOperand(), *value = store->getValueOperand();
    if (!combines)
        return {place, value, false, op};
    auto *b = cast<BinaryOperator>(value);
    auto *load = dyn_cast<LoadInst>(b->getOperand(0));
    return {place, b->getOperand(load && load->getPointerOperand() == place ? 1 : 0), true, op};
}

// True if the load is for nothing but a store of its value, combined with others, to its place.
bool is_for_combining(const LoadInst *load)
{
    return all_of(load->users(), [&](const User *u) {
        return isa<BinaryOperator>(u) && all_of(u->users(), [&](const User *s) {
                   auto *store = dyn_cast<StoreInst>(s);
                   return store && store->getPointerOperand() == load->getPointerOperand();
               });
    });
}

bool is_sum(const Value *v)
{
    auto *a = dyn_cast<AtomicRMWInst>(v);
    return a &&
           (a->getOperation() == AtomicRMWInst::Add || a->getOperation() == AtomicRMWInst::Sub) &&
           !isa<AllocaInst>(getUnderlyingObject(a->getPointerOperand()));
}

} // namespace

// True if the call reads there what it has stored, so that it may be room to work in.
bool Analysis::is_scratch(const Instruction *store, const Value *place) const
{
    const Shared here = shared_of(place);
    const bool is_one = isa<GlobalVariable>(place->stripInBoundsConstantOffsets());
    for (const Instruction &i : instructions(f_)) {
        auto *load = dyn_cast<LoadInst>(&i);
        if (load && shared_of(load->getPointerOperand()) == here && !is_for_combining(load) &&
            (!is_one || tree_.dominates(store, load)))
            return true;
    }
    return false;
}

// True if the function does nothing else with the variable.
bool Analysis::is_only_use(const Instruction *store, const GlobalVariable *variable) const
{
    if (isa<AtomicRMWInst>(store) && !store->use_empty())
        return false;
    for (const Instruction &i : instructions(f_)) {
        auto *load = dyn_cast<LoadInst>(&i);
        const Value *place = load                        ? load->getPointerOperand()
                             : isa<AtomicCmpXchgInst>(i) ? i.getOperand(0)
                                                         : stored_by(&i).place;
        if (place && &i != store && shared_of(place).variable == variable &&
            !(load && is_for_combining(load)))
            return false;
    }
    return true;
}

// Stores to parameters' memory of numbers that an atomic sum gives out.
void Analysis::note_given_number(const StoreInst *store)
{
    const auto numbers = numbers_of(store->getValueOperand());
    const int param = origin(store->getPointerOperand()).first;
    if (param < 0 || none_of(numbers, is_sum))
        return;
    ir_shared_t s = {};
    s.param = param;
    s.is_number = 1;
    locate(store->getDebugLoc().get(), &s);
    shared_.push_back(s);
}

void Analysis::note_shared(const Instruction *i)
{
    const Stored stored = stored_by(i);
    const Shared to = stored.place ? shared_of(stored.place) : Shared{};
    if (!to.variable || is_count_of_owners(i))
        return;
    ir_shared_t s = {};
    std::vector<ir_fold_t> folds;
    for (int op = IR_COMBINE_ADD; op < IR_OPERATORS; op++)
        if (!stored.combines || op == stored.op)
            folds.push_back(Folding(*this, i, (ir_combine_t)op)
                                .run_shared(stored.place, stored.value, stored.combines));
    s.name = kept(title_of(to.variable));
    s.param = -1;
    s.fold = kept_array(folds);
    s.fold_count = (int)folds.size();
    s.is_slot = any_of(numbers_of(stored.place), is_sum);
    s.combines = stored.combines;
    s.is_constant = isa<Constant>(stored.value);
    s.is_scratch = is_scratch(i, stored.place);
    s.is_counter = is_only_use(i, to.variable);
    const DILocation *l = i->getDebugLoc().get();
    while (l && l->getInlinedAt() && l->getFilename().starts_with("/usr/"))
        l = l->getInlinedAt();
    locate(l, &s);
    shared_.push_back(s);
}

void Analysis::find_shared()
{
    for (const Instruction &i : instructions(f_)) {
        note_shared(&i);
        if (auto *store = dyn_cast<StoreInst>(&i))
            note_given_number(store);
    }
}

// ---- Memory that elements own ----

// True if the pointer leads to memory of a parameter, by so many pointers at least that lie there.
static bool is_of_parameter(const Value *pointer, int least)
{
    enum { MOST = 8 };
    for (int depth = 0; depth < MOST; depth++) {
        const Value *o = getUnderlyingObject(pointer);
        auto *load = dyn_cast<LoadInst>(o);
        if (isa<Argument>(o))
            return depth >= least;
        if (!load)
            return false;
        pointer = load->getPointerOperand();
    }
    return false;
}

bool owns(const Instruction &i)
{
    static const std::set<StringRef> frees = {"free", "cfree", "realloc", "reallocarray"};
    auto *store = dyn_cast<StoreInst>(&i);
    if (store && store->getValueOperand()->getType()->isPointerTy())
        return gives_memory(called(getUnderlyingObject(store->getValueOperand()))) &&
               is_of_parameter(store->getPointerOperand(), 0);
    const StringRef name = called(&i);
    return (frees.count(name) || name.starts_with("_Zdl") || name.starts_with("_Zda")) &&
           is_of_parameter(cast<CallBase>(i).getArgOperand(0), 1);
}

// ---- Floating-point exceptions ----

// True if clear clears all that test asks for. A mask that is not known counts as all.
static bool covers(const CallBase *clear, const CallBase *test)
{
    auto mask = [](const CallBase *call) -> const ConstantInt * {
        return call->getCalledFunction()->getName() == "feclearexcept" ||
                       call->getCalledFunction()->getName() == "fetestexcept"
                   ? dyn_cast<ConstantInt>(call->getArgOperand(0))
                   : nullptr;
    };
    const ConstantInt *cleared = mask(clear), *asked = mask(test);
    return !cleared || !asked || !(asked->getZExtValue() & ~cleared->getZExtValue());
}

// The loops around the test that the call before it does not run in.
uint64_t Analysis::flags_kept(const CallBase *test, const CallBase *clear) const
{
    uint64_t found = 0;
    for (const Loop *l = loops_.getLoopFor(test->getParent()); l; l = l->getParentLoop())
        if (!l->contains(clear) && loop_number_.at(l) < 64)
            found |= 1ULL << loop_number_.at(l);
    return found;
}

void Analysis::find_flags()
{
    std::vector<const CallBase *> tests, clears;
    for (const Instruction &i : instructions(f_)) {
        StringRef name = called(&i);
        if (name == "fetestexcept" || name == "fegetexceptflag")
            tests.push_back(cast<CallBase>(&i));
        if (name == "feclearexcept" || name == "feholdexcept" || name == "fesetenv")
            clears.push_back(cast<CallBase>(&i));
    }
    clears_flags_ = !tests.empty();
    for (const CallBase *test : tests) {
        uint64_t kept = ~0ULL;
        bool found = false;
        for (const CallBase *clear : clears)
            if (tree_.dominates(clear, test) && covers(clear, test)) {
                kept &= flags_kept(test, clear);
                found = true;
            }
        clears_flags_ &= found;
        flags_kept_ |= found ? kept : 0;
    }
}

// What goes into a store to shared memory, and into the conditions under which it happens.
ir_fold_t Folding::run_shared(const Value *place, const Value *value, bool combines)
{
    const Value *by = nullptr;
    Arm chosen = {value, false, {}};
    bool wrong = false;
    target_ = {NO_TARGET, -1};
    place_ = place;
    const ir_fold_t at = look_at_place();
    out_.placed = is_given_out(place) ? 0 : at.indexed | at.carried; // a rest spreads sums
    out_.from = at.from;
    conditions(store_->getParent(), nullptr, nullptr, chosen.when);
    Folded x = fold(value);
    if (x.kind == OTHER || x.kind == UNTOLD) {
        out_.kind = IR_FOLD_UNKNOWN;
        return out_;
    }
    combines |=
        (is_extreme() && is_chosen(chosen, nullptr, &by, &wrong) && !wrong) || is_absorbing(value);
    if (x.kind == FREE && combines)
        contribute_new(value, store_->getParent());
    else if (x.kind == FREE)
        contribute(value);
    for (const Condition &c : chosen.when)
        if (c.value != by && !is_of_parameters(c.value, MOST_DEPTH))
            contribute(c.value);
    out_.kind = combines ? IR_FOLD_RIGHT : IR_FOLD_OTHER;
    out_.over = x.acc;
    return out_;
}

} // namespace kmm_ir
