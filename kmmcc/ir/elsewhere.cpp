// SPDX-License-Identifier: Apache-2.0
// What a function changes that is neither its own nor reached through its pointers: variables of
// the program, memory whose address lies in memory or in an integer.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/AtomicOrdering.h>

#include "ir/function.hpp"

namespace kmm_ir
{

// ---- Changes ----

bool is_program_state(const GlobalVariable *g)
{
    return !g->isConstant() && !g->getName().starts_with("_ZGV") &&
           !g->getName().starts_with("_ZTV") && !g->getName().starts_with("llvm.");
}

// True if a number is made of what is loaded from memory.
static bool is_data(const Value *v)
{
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Value *, 16> list{v};
    while (!list.empty()) {
        v = list.pop_back_val();
        if (isa<LoadInst>(v))
            return true;
        if ((isa<CastInst>(v) || isa<BinaryOperator>(v)) && seen.insert(v).second)
            list.append(cast<User>(v)->op_begin(), cast<User>(v)->op_end());
    }
    return false;
}

// What an address is one place of. If `by_data`, an element at an index that is data is such a
// place: chunks may have the same index.
static const Value *whole_of(const Value *pointer, bool by_data)
{
    for (;;) {
        pointer = pointer->stripInBoundsConstantOffsets();
        auto *g = dyn_cast<GEPOperator>(pointer);
        if (!g || !by_data || none_of(g->indices(), [](const Use &k) { return is_data(k); }))
            return pointer;
        pointer = g->getPointerOperand();
    }
}

// The variable that the memory is, or whose pointers lead to one place there; NULL: there is none.
// What an atomic or volatile pointer leads to is handed from chunk to chunk.
static const GlobalVariable *variable_of(const Value *pointer, bool by_data)
{
    enum { MOST = 8 };
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects);
    for (int k = 0; k < MOST; k++) {
        auto *load = dyn_cast<LoadInst>(whole_of(pointer, by_data));
        if (!load || !load->isSimple())
            break;
        pointer = load->getPointerOperand();
        objects.push_back(whole_of(pointer, by_data));
    }
    for (const Value *v : objects) {
        auto *local = dyn_cast<IntrinsicInst>(v);
        if (local && local->getIntrinsicID() == Intrinsic::threadlocal_address)
            v = local->getArgOperand(0);
        auto *g = dyn_cast<GlobalVariable>(v);
        if (g && is_program_state(g))
            return g;
    }
    return nullptr;
}

// True if an index counts from a constant on: then it is the same in each call.
static bool is_counted(const Value *v)
{
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Value *, 16> list{v};
    while (!list.empty()) {
        v = list.pop_back_val();
        if (isa<Constant>(v) || !seen.insert(v).second)
            continue;
        if (!isa<CastInst>(v) && !isa<BinaryOperator>(v) && !isa<PHINode>(v))
            return false;
        list.append(cast<User>(v)->op_begin(), cast<User>(v)->op_end());
    }
    return true;
}

// Where a pointer begins that moves by a constant in each iteration of a loop.
static const Value *start_of(const Value *pointer)
{
    auto *phi = dyn_cast<PHINode>(pointer->stripInBoundsConstantOffsets());
    const Value *start = nullptr;
    for (unsigned k = 0; phi && k < phi->getNumIncomingValues(); k++) {
        const Value *v = phi->getIncomingValue(k)->stripInBoundsConstantOffsets();
        if (v != phi && start && v != start)
            return pointer;
        start = v != phi ? v : start;
    }
    return start ? start : pointer;
}

// The parameter from which loaded pointers lead to the memory, which is the same in each call if
// the parameter is. NULL: there is none.
static const Argument *parameter_of(const Value *pointer, bool by_data)
{
    enum { MOST = 8 };
    pointer = start_of(pointer);
    auto *g = dyn_cast<GEPOperator>(pointer->stripInBoundsConstantOffsets());
    if (g && all_of(g->indices(), [](const Use &k) { return is_counted(k); }))
        pointer = g->getPointerOperand();
    for (int k = 0; k < MOST; k++) {
        auto *load = dyn_cast<LoadInst>(whole_of(pointer, by_data && !k));
        if (!load || !load->isSimple())
            return nullptr;
        pointer = load->getPointerOperand();
        if (auto *a = dyn_cast<Argument>(pointer->stripInBoundsConstantOffsets()))
            return a;
    }
    return nullptr;
}

static bool is_computed(const Value *v)
{
    return isa<CastInst>(v) || isa<BinaryOperator>(v) || isa<PHINode>(v) || isa<SelectInst>(v) ||
           isa<GEPOperator>(v);
}

SmallVector<const Value *, 4> numbers_of(const Value *pointer)
{
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Value *, 16> list{pointer};
    SmallVector<const Value *, 4> found;
    while (!list.empty()) {
        const Value *v = list.pop_back_val();
        if (isa<AtomicRMWInst>(v))
            found.push_back(v);
        if (is_computed(v) && seen.insert(v).second)
            list.append(cast<User>(v)->op_begin(), cast<User>(v)->op_end());
    }
    return found;
}

bool is_given_out(const Value *pointer)
{
    return !numbers_of(pointer).empty();
}

// True if the number is compared with another one, or taken modulo one if `by_rest`: an array holds
// as many elements then, however many calls there are.
static bool is_bounded(const Value *number, bool by_rest)
{
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Value *, 16> list{number};
    while (!list.empty())
        for (const User *u : list.pop_back_val()->users()) {
            auto *b = dyn_cast<BinaryOperator>(u);
            bool rest =
                by_rest && b &&
                (b->getOpcode() == Instruction::And || b->getOpcode() == Instruction::URem ||
                 b->getOpcode() == Instruction::SRem);
            if (isa<ICmpInst>(u) || (rest && isa<Constant>(b->getOperand(1))))
                return true;
            if (is_computed(u) && !isa<GEPOperator>(u) && seen.insert(u).second)
                list.push_back(u);
        }
    return false;
}

bool is_combined(const Instruction *i)
{
    auto *store = dyn_cast<StoreInst>(i);
    auto *value = store ? dyn_cast<BinaryOperator>(store->getValueOperand()) : nullptr;
    return value && any_of(value->operands(), [&](const Use &u) {
               auto *load = dyn_cast<LoadInst>(u);
               return load && load->getPointerOperand() == store->getPointerOperand();
           });
}

bool is_count_of_owners(const Instruction *i)
{
    const DILocation *l = i->getDebugLoc().get();
    const DISubprogram *f = l && l->getScope() ? l->getScope()->getSubprogram() : nullptr;
    StringRef name = f ? f->getName() : "";
    return name == "__exchange_and_add_single" || name == "__atomic_add_single" ||
           name.starts_with("_M_release") || name == "_M_add_ref_copy";
}

std::string title_of(const GlobalVariable *g)
{
    std::string name = demangle(g->getName().str());
    name = name.substr(0, name.find("[abi:"));
    size_t at = StringRef(g->getName()).starts_with("_Z") ? std::string::npos : name.rfind('.');
    return at == std::string::npos || at + 1 == name.size() || isdigit(name[at + 1])
               ? name.substr(0, name.find('.'))
               : name.substr(at + 1);
}

// True for a store that gives a local static variable its first value, once for all threads.
bool Analysis::is_first_value(const Instruction *i, const GlobalVariable *g) const
{
    std::string guard =
        "_ZGV" + g->getName().substr(std::min<size_t>(2, g->getName().size())).str();
    bool begun = false, done = false;
    for (const Instruction &k : instructions(f_)) {
        StringRef name = called(&k);
        if (!name.starts_with("__cxa_guard_"))
            continue;
        auto *of =
            dyn_cast<GlobalVariable>(getUnderlyingObject(cast<CallBase>(k).getArgOperand(0)));
        if (!of || of->getName() != guard)
            continue;
        begun |= name == "__cxa_guard_acquire" && tree_.dominates(&k, i);
        done |= name == "__cxa_guard_release" && tree_.dominates(&k, i);
    }
    return begun && !done;
}

void Analysis::add_change(const Instruction *i, ir_change_t c)
{
    const DILocation *l = i->getDebugLoc().get();
    while (l && l->getInlinedAt())
        l = l->getInlinedAt();
    locate(l, &c);
    change_.push_back(c);
}

void Analysis::note_parameter(const Instruction *i, const Argument *a)
{
    int param = a ? (int)a->getArgNo() : -1;
    if (!a || is_count_of_owners(i) ||
        any_of(change_, [&](const ir_change_t &c) { return c.param == param; }))
        return;
    add_change(i, {nullptr, param, 0, 0, 0, 0, nullptr});
}

void Analysis::note_change(const Instruction *i, const Value *pointer)
{
    const GlobalVariable *g = variable_of(pointer, is_combined(i));
    if (!g)
        note_parameter(i, parameter_of(pointer, is_combined(i)));
    if (!g || is_first_value(i, g) || is_count_of_owners(i))
        return;
    const auto numbers = numbers_of(pointer);
    // A sum in an element that calls share one after the other is not theirs alone.
    const bool by_rest = !is_combined(i);
    if (!numbers.empty() && all_of(numbers, [&](const Value *v) { return is_bounded(v, by_rest); }))
        return;
    // Objects and arrays of a thread may be room to work in.
    if (g->isThreadLocal() && (g->isDeclaration() || !g->getValueType()->isSingleValueType()))
        return;
    for (const ir_change_t &c : change_)
        if (c.name && title_of(g) == c.name)
            return;
    add_change(i, {kept(title_of(g)), -1, g->isThreadLocal(), !numbers.empty(), 0, 0, nullptr});
}

// Adds the parameters that are numbers of which the address is made.
void Analysis::note_number(const Value *v)
{
    std::set<const Value *> seen;
    std::vector<const Value *> list{v};
    while (!list.empty()) {
        v = list.back();
        list.pop_back();
        if (!seen.insert(v).second)
            continue;
        auto *a = dyn_cast<Argument>(v);
        if (a && a->getType()->isIntegerTy())
            addresses_ |= 1ULL << std::min(a->getArgNo(), 63u);
        auto *i = dyn_cast<Instruction>(v);
        if (i && (isa<BinaryOperator>(i) || isa<CastInst>(i) || isa<PHINode>(i)))
            for (const Use &u : i->operands())
                list.push_back(u);
    }
}

static bool is_carrier(const Value *v)
{
    return isa<PHINode>(v) || isa<CastInst>(v) || isa<SelectInst>(v);
}

// True if the value is loaded from an atomic variable.
static bool is_atomic(const Value *v)
{
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Value *, 16> list{v};
    while (!list.empty()) {
        v = list.pop_back_val();
        auto *load = dyn_cast<LoadInst>(v);
        if (load && load->isAtomic())
            return true;
        if (is_carrier(v) && seen.insert(v).second)
            list.append(cast<User>(v)->op_begin(), cast<User>(v)->op_end());
    }
    return false;
}

// True if the result is compared with an atomic variable, as in a lock that gives out tickets.
static bool is_ticket(const AtomicRMWInst *a)
{
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Value *, 16> list{a};
    while (!list.empty())
        for (const User *u : list.pop_back_val()->users()) {
            if (isa<ICmpInst>(u) && (is_atomic(u->getOperand(0)) || is_atomic(u->getOperand(1))))
                return true;
            if (is_carrier(u) && seen.insert(u).second)
                list.push_back(u);
        }
    return false;
}

// True if both addresses are the same, with the same values of pointers in memory.
static bool is_same_place(const Value *a, const Value *b, const DataLayout &layout)
{
    for (int k = 0; k < 8; k++) {
        int64_t at[2] = {0, 0};
        a = GetPointerBaseWithConstantOffset(a, at[0], layout);
        b = GetPointerBaseWithConstantOffset(b, at[1], layout);
        if (at[0] != at[1])
            return false;
        if (a == b)
            return true;
        auto *p = dyn_cast<LoadInst>(a), *q = dyn_cast<LoadInst>(b);
        if (!p || !q)
            return false;
        a = p->getPointerOperand();
        b = q->getPointerOperand();
    }
    return false;
}

// True for a number above 0.
static bool is_step(const Value *v)
{
    auto *c = dyn_cast<ConstantInt>(v);
    return c && c->getValue().isStrictlyPositive();
}

// True for a lock with a version: an exchange counts it up, and a store or a further count releases
// it. References are counted down where they are dropped.
static bool is_version(const AtomicCmpXchgInst *c)
{
    auto *next = dyn_cast<BinaryOperator>(c->getNewValOperand());
    if (!next || !is_step(next->getOperand(1)))
        return false;
    for (const Instruction &i : instructions(*c->getFunction())) {
        auto *store = dyn_cast<StoreInst>(&i);
        auto *sum = dyn_cast<AtomicRMWInst>(&i);
        bool releases = (store && isReleaseOrStronger(store->getOrdering())) ||
                        (sum && sum->getOperation() == AtomicRMWInst::Add &&
                         is_step(sum->getValOperand()) && isReleaseOrStronger(sum->getOrdering()));
        if (releases && is_same_place(store ? store->getPointerOperand() : sum->getPointerOperand(),
                                      c->getPointerOperand(), c->getModule()->getDataLayout()))
            return true;
    }
    return false;
}

// Own locks take turns: by an exchange, which writes a constant or finds one; by setting a bit and
// looking at what was there; by tickets; by versions. A new value that is made of an old one, as in
// a sum or a maximum, is no lock.
static bool is_turn(const Instruction &i)
{
    if (auto *c = dyn_cast<AtomicCmpXchgInst>(&i))
        return isa<Constant>(c->getCompareOperand()) || isa<Constant>(c->getNewValOperand()) ||
               is_version(c);
    auto *a = dyn_cast<AtomicRMWInst>(&i);
    if (!a)
        return false;
    switch (a->getOperation()) {
    case AtomicRMWInst::Xchg: return true;
    case AtomicRMWInst::Or:
    case AtomicRMWInst::And: return !a->use_empty() && isa<Constant>(a->getValOperand());
    case AtomicRMWInst::Add: return is_ticket(a);
    default: return false;
    }
}

void Analysis::find_elsewhere()
{
    for (const Instruction &i : instructions(f_)) {
        elsewhere_ |= reaches_elsewhere(i);
        if (!plain_) {
            elsewhere_ |= keeps_address(i);
            continue;
        }
        takes_turns_ |= is_turn(i);
        if (isa<IntToPtrInst>(i))
            note_number(&i);
        auto *store = dyn_cast<StoreInst>(&i);
        if (store && !store->isVolatile() && !store->isAtomic())
            note_change(&i, store->getPointerOperand());
        if (auto *m = dyn_cast<MemIntrinsic>(&i))
            note_change(&i, m->getRawDest());
    }
}

} // namespace kmm_ir
