// SPDX-License-Identifier: Apache-2.0
// A proof that calls of a function for the chunks of a launch leave what one call leaves.
//
// Two runs are compared in thought: the call of the whole range, and the call of one chunk. A loop
// is *divided* if the numbers of its iterations add up: those of [a, b) and of [b, c) to those of
// [a, c). So each iteration of the chunk's call has its counterpart in the whole call. A value is
// *marked* if it may be another one in the counterpart, with the reason why. What is stored, where,
// and under which conditions must not be marked; then each iteration stores the same in both runs.
#ifndef KMMCC_IR_PROOF_HPP
#define KMMCC_IR_PROOF_HPP

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>

#include <optional>

#include "ir/function.hpp"

namespace kmm_ir
{

// Why a value may be another one. `at`: the instruction that makes it so; NULL: none does yet.
struct Why {
    std::string reason;
    const Instruction *at;
};
typedef const Why *Mark; // NULL: not marked

// The calls with which values are computed: of the whole range; of a chunk in it; of all that lies
// before that chunk, or behind it; and of it with what lies before.
enum Run { RUN_WHOLE, RUN_CHUNK, RUN_BEFORE, RUN_AFTER, RUN_WITH };

// Trials in which all numbers that are no bounds are one, or multiples of each other.
enum { FIRST_EQUAL = 50, EQUAL_TRIALS = 2 };

// One choice of numbers. `follows`: pointers move as the divided loops' indices do.
struct Trial {
    unsigned number;
    Run run;
    bool follows;
    const std::map<const Loop *, int64_t> *at = nullptr; // iterations that are chosen otherwise
};

struct Divided {
    const BasicBlock *exiting;
    const SCEV *count; // of the exit: how often it is not taken
    bool at_end;       // the exit is in the latch
    uint64_t axes;     // whose bounds decide about the number of iterations
    bool descends;     // it begins with the last index
};

enum ObjectKind { LOCAL_OBJECT, PARAMETER, VARIABLE, CONSTANT, UNKNOWN_OBJECT };

// An instruction that reads or writes a local object.
struct Use1 {
    const Instruction *at;
    const Value *pointer;
    bool reads, writes;
};

struct Touch;

// Bytes that an access touches in one iteration.
struct Touched {
    int64_t begin, count;
};

// A choice of iterations of an access; of the outermost divided loop, from the first one on.
struct Draw {
    unsigned number;
    int64_t first;
};

// Metadata of the assumptions that prove.cpp makes; the source makes the others.
inline const char own_assumption[] = "kmm.own";

// True if a function of a library only reads what its argument of this number points to.
bool library_reads(StringRef name, unsigned number);

class Proof
{
  public:
    Proof(Function &f, FunctionAnalysisManager &m, const ir_role_t *role, int count, uint64_t axes);
    // Returns NULL if the proof succeeds.
    Mark run();

  private:
    friend class Combining;
    Function &f_;
    const DataLayout &layout_;
    LoopInfo &loops_;
    DominatorTree &tree_;
    PostDominatorTree &post_;
    ScalarEvolution &scev_;
    const uint64_t axes_;
    std::map<const Argument *, const ir_role_t *> role_;
    MapVector<const Loop *, Divided> divided_;
    std::map<const void *, unsigned> number_; // of arguments, instructions and loops, in order
    std::map<const Loop *, Mark> undivided_;  // loops that would be divided but for the reason
    std::set<const BasicBlock *> cold_;       // blocks after which the function does not return
    std::map<const BasicBlock *, std::vector<const BasicBlock *>> decided_by_;
    std::map<const Value *, Mark> mark_;
    std::map<const BasicBlock *, Mark> block_mark_;
    std::map<const Value *, bool> same_; // whether SCEV shows the value to be the same
    std::map<const Value *, std::vector<Use1>> uses_;
    std::map<const Value *, const Value *> array_; // of loads of pointers: the first equal load
    SetVector<const Value *> stored_;              // arrays to which the function stores

    static Mark because(const std::string &reason, const Instruction *at)
    {
        return new Why{reason, at};
    }
    Mark mark(const Value *v) const;
    Mark mark_of_block(const BasicBlock *b) const;
    Mark located(Mark m, const Instruction *at) const;

    // ---- proof_number.cpp: values as numbers ----
    uint64_t chosen(const void *of, unsigned trial, uint64_t below) const;
    int64_t bound(const ir_role_t *role, const Trial &t) const;
    static int64_t range_of(int axis, unsigned trial);
    std::optional<APInt> argument(const Argument *a, const Trial &t) const;
    std::optional<APInt> number(const SCEV *s, const Trial &t) const;
    std::optional<APInt> number_of_recurrence(const SCEVAddRecExpr *r, const Trial &t) const;
    std::optional<APInt> number_of_operands(const SCEVNAryExpr *n, const Trial &t) const;
    std::optional<int64_t> iterations(const Divided &d, const Trial &t) const;
    std::optional<int64_t> iteration(const Loop *l, const Trial &t) const;
    bool is_same_number(const SCEV *s, bool follows) const;
    bool spans(const SCEV *at, const SCEV *length) const;
    bool has_open_distance(const SCEV *s) const;
    bool has_number(const SCEV *s) const;
    bool steps_otherwise(const SCEV *s) const;
    bool is_same(const Value *v);
    bool adds_up(const Divided &d) const;
    uint64_t axes_of(const SCEV *s) const;
    Mark mark_of_leaves(const SCEV *s) const;
    bool is_steady(const Value *v) const;
    bool is_setting(const Value *v) const;
    bool is_affine(const SCEV *s) const;
    void find_cold();
    bool ends_early(const Loop *l, const Divided &d, const Instruction **at) const;
    bool descends(const Loop *l) const;
    bool is_inside(const Loop *l, uint64_t axes) const;
    void find_divided();
    bool is_bound(const BasicBlock *b) const;
    bool stays_other(const Value *condition, bool value) const;
    bool is_kept(const BasicBlock *b) const;
    void find_decisions();

    // ---- proof_value.cpp: which values are marked ----
    Mark judge(const Instruction *i);
    Mark judge_phi(const PHINode *phi);
    Mark judge_load(const Instruction *i, const Value *pointer);
    Mark judge_call(const CallBase *call);
    bool compares_arrays(const Instruction *i) const;
    Mark judge_operands(const Instruction *i) const;
    Mark judge_block(const BasicBlock *b) const;
    void propagate();
    Mark ending() const;
    bool is_of_chunk(const Value *v) const;
    Mark promises() const;

    // ---- proof_memory.cpp: objects ----
    ObjectKind kind_of(const Value *object) const;
    SmallVector<const Value *, 4> objects_of(const Value *pointer) const;
    void note_use(const Instruction *at, const Value *pointer, bool reads, bool writes);
    void find_uses();
    bool covers(const Use1 &w, const Value *object, const Instruction *r, const Value *pointer);
    bool fills(const Use1 &w, const Value *object, const Instruction *r, const Value *pointer);
    bool begins_in(const Value *object, const Loop *l) const;
    Mark contents(const Value *object, const Instruction *r, const Value *pointer);
    const StoreInst *left_by(const LoadInst *load);
    const Value *array_of(const Value *object) const;
    SmallVector<const Value *, 4> arrays_of(const Value *pointer) const;
    void find_stored();
    bool is_stored(const Value *array) const { return stored_.count(array) > 0; }

    // ---- proof_alias.cpp: pointers that may lead into one array ----
    bool is_named(const Value *object) const;
    bool has_plain_elements(const Value *array) const;
    bool may_be_element(const Instruction *member, const Value *array) const;
    bool may_be_array(const GlobalVariable *g, const Value *pointer) const;
    bool may_meet(const Value *array, const Value *object, const Instruction *at) const;
    Mark judge_aliases(const Instruction *i, const Value *object, const Value *pointer) const;

    // ---- proof_effect.cpp: what is done to memory ----
    bool is_within(const BasicBlock *b) const;
    Mark effect(const Instruction *i);
    Mark effect_on(const Instruction *i, const Value *pointer, const Value *value);
    Mark effect_of_call(const CallBase *call);
    Mark effect_of_range(const MemIntrinsic *m);
    const ir_role_t *target(const Value *pointer) const;

    // ---- proof_cross.cpp: iterations that meet ----
    const SCEV *place_in(const Value *array, const Instruction *at, const Value *pointer) const;
    const SCEV *most_iterations(const Loop *l) const;
    bool is_data(const Value *v) const;
    bool is_open(const SCEV *count) const;
    bool has_open_loop(const SCEV *place) const;
    std::vector<Touch> touches(const Value *array, bool with_others) const;
    uint64_t choose_iterations(const Touch &x, unsigned trial, const Draw &d,
                               std::map<const Loop *, int64_t> &at) const;
    std::optional<Touched> touched(const Touch &x, unsigned trial, const Draw &d,
                                   const std::map<const Loop *, int64_t> &at) const;
    template <class F>
    bool walk(const Touch &x, unsigned trial, int64_t first, const F &visit) const;
    int64_t meets(const Touch &x, const Touch &other, unsigned draw, unsigned trial) const;
    int64_t comes_to(const SCEV *s, const SCEV *limit, const Touch &x, unsigned trial) const;
    void add_limits(const Touch &x, unsigned trial, std::set<int64_t> &first) const;
    std::vector<std::set<int64_t>> far_iterations(const std::vector<Touch> &all,
                                                  unsigned trial) const;
    Mark open_end(const std::vector<Touch> &all) const;
    Mark crossing(const Value *array, bool with_others) const;
    Mark crossings() const;
};

// Recognises reductions.
class Combining
{
  public:
    Combining(Proof &p, const ir_role_t *role) : p_(p), role_(role) {}
    // NULL: the store combines what iterations give with the target's value.
    Mark run(const StoreInst *store);
    Mark run_atomic(const AtomicRMWInst *a);

  private:
    // FREE_VALUE: no part of it is accumulated.
    enum Kind { FREE_VALUE, FROM_IDENTITY, FROM_TARGET, NO_SUM };
    // Loops' accumulators, by their phis.
    typedef std::set<const PHINode *> Partials;
    Proof &p_;
    const ir_role_t *role_;
    const Value *place_ = nullptr;
    std::map<const Value *, Kind> open_;
    std::map<const Value *, Partials> partials_;
    std::set<const Value *> counted_;
    Mark why_ = nullptr;

    bool is_same_place(const Value *a, const Value *b) const;
    bool is_additive() const;
    bool is_idempotent() const { return !is_additive(); }
    bool combines_truth(const Instruction *i) const;
    bool is_operator(const Instruction *i, bool *only_left) const;
    bool is_identity(const Value *v) const;
    bool is_zero(const Value *v) const;
    bool combines_always(const Loop *l) const;
    bool is_first(const Value *v, const Loop *l) const;
    Kind refuse(const std::string &reason, const Instruction *at);
    Kind combine(const Value *a, const Value *b, const Instruction *at);
    Kind kind(const Value *v, const Instruction *user);
    Kind kind_of_new(const Instruction *i);
    Kind kind_of_header(const PHINode *phi, const Loop *l);
    bool comes_by(const BranchInst *branch, unsigned way, const PHINode *phi, unsigned k) const;
    Kind kind_of_phi(const PHINode *phi);
    Kind kind_of_truth(const Value *condition, const Value *yes, const Value *no,
                       const Instruction *at);
    const Value *comparing_part(const Value *condition, bool stays_if_no) const;
    Kind kind_of_choice(const Value *condition, const Value *yes, const Value *no,
                        const Instruction *at);
    bool is_least(CmpInst::Predicate is, const Value *a, const Value *b, const Value *chosen,
                  const Value *other) const;
    bool is_least(const Value *condition, const Value *chosen, const Value *other) const;
    bool contributes(const Value *v, const Instruction *at);
    bool joins(const Value *a, const Value *b, const Instruction *at);
    bool chooses(const Value *yes, const Value *no, const Instruction *at);

    // ---- proof_sum.cpp ----
    Partials partials(const Value *v, const Instruction *at) const;
    bool is_complete(const Value *v, const Instruction *at) const;
    bool only_grows(const Value *v, std::set<const Value *> &seen) const;
    bool is_local_sum(const LoadInst *load);
    bool adds_locally(const StoreInst *store);
    Kind kind_of_scaled(const Instruction *i, unsigned number);
    Kind kind_of_cast(const CastInst *i);
    Kind kind_of_linear(const Instruction *i);
    Kind kind_of_fused(const CallBase *call);
    Mark run_guarded(const StoreInst *store, Kind kind);
    bool is_truth_of_sum(const Value *condition, bool when, const StoreInst *store);
    Mark mark_of_exit(const BasicBlock *from, const PHINode *phi) const;

    // ---- proof_pair.cpp ----
    std::set<std::pair<const Value *, const Value *>> paired_;
    const Value *index_place_ = nullptr;
    bool is_from_zero(const SCEV *s) const;
    bool keeps_order(const SCEVAddRecExpr *r) const;
    const SCEVAddRecExpr *of_rows(const SCEVAddRecExpr *r) const;
    bool is_ascending(const Value *index) const;
    const Value *first_ = nullptr; // the value that is stored, while its conditions are looked at
    std::optional<bool> holds(const Value *condition, unsigned atoms) const;
    std::optional<bool> holds(const CmpInst *test, CmpInst::Predicate is, unsigned atoms) const;
    std::optional<bool> reaches(const BasicBlock *from, const BasicBlock *to, unsigned atoms) const;
    bool is_before(const BasicBlock *b) const;
    Mark run_pair(const StoreInst *value, const StoreInst *index);
    bool goes_with(const Value *index, const Value *chosen);
    Mark run_pair(const StoreInst *store);
};

} // namespace kmm_ir

#endif
