// SPDX-License-Identifier: Apache-2.0
// Whether a store combines the old value of its place with others by one operator.
#ifndef KMMCC_IR_FOLDING_HPP
#define KMMCC_IR_FOLDING_HPP

#include "ir/function.hpp"

namespace kmm_ir
{

// A value in sight of the operator.
enum FoldKind {
    FREE,  // the old value and accumulators have no part in it
    OWN,   // values that the operator combines, from its identity on: an accumulator
    WITH,  // the old value, and values that the operator combines with it
    OTHER, // the old value or an accumulator, changed otherwise
    UNTOLD // it is not known
};

struct Folded {
    FoldKind kind;
    bool open;    // it has the current value of an accumulator whose loop runs
    uint64_t acc; // loops over which it accumulates
};

// A value, or what lies at a pointer, and the conditions under which it is chosen.
struct Condition {
    const Value *value;
    bool is_true, is_certain; // is_certain: it has to be so, else it only has to do with it
};
struct Arm {
    const Value *value;
    bool is_place;
    std::vector<Condition> when;
};

// What a function does with a local array.
struct LocalArray {
    std::vector<const Instruction *> begins; // stores of the identity
    std::vector<const StoreInst *> combines; // other stores
};

// True if v is computed from parameters and constants alone.
bool is_of_parameters(const Value *v, int depth);

class Folding
{
  public:
    Folding(Analysis &a, const Instruction *store, ir_combine_t op)
        : a_(a), store_(store), op_(op), out_(), at_(store)
    {
    }
    ir_fold_t run();
    // The conditions under which the store runs.
    std::vector<Condition> conditions();
    // Those that choose the phi's value.
    std::vector<Condition> conditions_of(const PHINode *phi);
    // How a compare-and-swap combines what it expects with others. *combines receives whether
    // the operator makes the new value of it.
    ir_fold_t run_swap(const Value *pointer, const Value *expected, const Value *next,
                       bool *combines);
    // The same of a value that replaces the old one.
    ir_fold_t run_exchange(const Value *pointer, const Value *value);
    // What goes into a store to memory that all calls share. combines: `value` is combined with the
    // old one there.
    ir_fold_t run_shared(const Value *place, const Value *value, bool combines);
    // What becomes of the target's values, of an atomic operation in a kernel.
    ir_fold_t run_atomic(const Value *pointer);

  private:
    enum { MOST_STEPS = 4000, MOST_DEPTH = 8, NO_TARGET = -100 };
    Analysis &a_;
    const Instruction *store_;
    const ir_combine_t op_;
    const Value *place_ = nullptr;
    const Value *old_ = nullptr; // stands for the old value
    bool in_kernel_ = false;     // values of other elements are none of the target
    std::pair<int, int> target_;
    ir_fold_t out_;
    std::map<const PHINode *, Folded> open_;
    std::set<std::pair<const Value *, bool>> contributed_;
    std::set<const PHINode *> untold_;
    std::set<const Value *> shared_;     // variables of shared memory that get values of the target
    const AllocaInst *local_ = nullptr;  // a local array of accumulators that is looked at
    const Value *local_place_ = nullptr; // the element there that is combined
    const Instruction *at_;              // it uses the value that is looked at
    int steps_ = 0;

    bool is_additive() const
    {
        return op_ == IR_COMBINE_ADD || op_ == IR_COMBINE_MUL || op_ == IR_COMBINE_XOR;
    }
    bool is_extreme() const { return op_ == IR_COMBINE_MIN || op_ == IR_COMBINE_MAX; }
    uint64_t bit(const Loop *loop) const;
    uint64_t around(const BasicBlock *b) const;
    bool is_target(const Value *pointer);
    bool is_result(const Instruction *i);
    bool is_apart(const Value *pointer);
    bool is_old_value(const Value *v, std::set<const Value *> &seen);
    bool is_retry(const Value *v, std::set<const Value *> &seen);
    bool is_decided_otherwise(const std::vector<Condition> &when);
    ir_fold_kind_t swap_of_constant(const Constant *expected, const Value *next);
    bool is_shared_result(const Instruction *i);
    bool is_operand(const User *u, const Instruction *value);
    void share_result(const Value *pointer, std::vector<const Instruction *> &left);
    void look_at_use(const User *u, const Instruction *value,
                     std::vector<const Instruction *> &left);
    bool is_decided(const Instruction *store);
    bool is_same_place(const Value *a, const Value *b, int depth);
    bool is_same(const Value *a, const Value *b, int depth);
    bool is_value_of(const Value *v, const Arm &arm);
    bool is_identity(const Value *v) const;
    bool is_absorbing(const Value *v) const;
    bool is_about_target(const Value *v, std::set<const Value *> &seen);

    void conditions(const BasicBlock *from, const BasicBlock *to, const BasicBlock *until,
                    std::vector<Condition> &out);
    void contribute(const Value *v, int64_t period = 0);
    void contribute_phi(const PHINode *phi, int64_t period);
    void contribute_new(const Value *v, const BasicBlock *at, bool begins = false);
    void look_for_once(const Value *v, const BasicBlock *at);
    bool tests_rest(const Value *condition) const;
    bool contribute_condition(const Condition &c);
    bool reaches_open(const Value *v, std::set<const Value *> &seen);

    Folded fold(const Value *v);
    Folded fold_new(const Instruction *i);
    Folded fold_load(const LoadInst *load);
    Folded fold_place(const Value *pointer);
    Folded fold_local(const LoadInst *load, const AllocaInst *array);
    bool accumulates(const StoreInst *store, const AllocaInst *array);
    bool find_stores(const AllocaInst *array, LocalArray &out) const;
    Folded fold_phi(const PHINode *phi);
    Folded fold_header(const PHINode *phi, const Loop *loop);
    Folded fold_binary(const BinaryOperator *b);
    Folded fold_call(const CallBase *call);
    Folded fold_product_and_sum(const CallBase *call);
    Folded fold_cast(const CastInst *cast);
    Folded fold_compare(const CmpInst *compare);
    Folded fold_difference(const CmpInst *compare);
    Folded combine(const Value *a, const Value *b, const Instruction *at);
    Folded scale(const Value *v, const Value *by, const Instruction *at);
    Folded foreign(const Instruction *i);
    Folded merge(const std::vector<Arm> &arms);
    Folded merge_mixed(const std::vector<Arm> &arms, const std::vector<Folded> &folded);
    ir_combine_t extreme_of(const Condition &c, const Arm &chosen, const Arm *other);
    bool is_chosen(const Arm &chosen, const Arm *other, const Value **by, bool *wrong);
    void look_for_reads();
    ir_fold_t look_at_place();
    void run_value(const Value *v, const BasicBlock *at);
};

} // namespace kmm_ir

#endif
