// SPDX-License-Identifier: Apache-2.0
// What is known of one function while its graph is made.
//
// A block's guard is the condition, within one iteration of each loop around it, under which it
// runs. A pointer is a list of candidates, each a parameter with an offset and a condition.
// Whatever is not on a list makes a value IR_DATA or a pointer unknown.
#ifndef KMMCC_IR_FUNCTION_HPP
#define KMMCC_IR_FUNCTION_HPP

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "ir/nodes.hpp"

namespace kmm_ir
{

// LLVM's analyses of a module.
struct Analyses {
    PassBuilder builder;
    LoopAnalysisManager of_loops;
    FunctionAnalysisManager of_functions;
    CGSCCAnalysisManager of_circles;
    ModuleAnalysisManager of_modules;

    Analyses()
    {
        builder.registerModuleAnalyses(of_modules);
        builder.registerCGSCCAnalyses(of_circles);
        builder.registerFunctionAnalyses(of_functions);
        builder.registerLoopAnalyses(of_loops);
        builder.crossRegisterProxies(of_loops, of_functions, of_circles, of_modules);
    }
};

enum { MOST_NODES = 60000, MOST_CANDIDATES = 16 };

enum { BASE_LOCAL = -1, BASE_UNKNOWN = -2 };

inline const char *kept_text(StringRef text)
{
    return strdup(text.str().c_str());
}

template <class T> T *kept_array(const std::vector<T> &v)
{
    T *a = (T *)calloc(v.size() + 1, sizeof(T));
    std::copy(v.begin(), v.end(), a);
    return a;
}

struct Candidate {
    int param, member, offset, guard;
};
typedef std::vector<Candidate> Candidates;

// Inlines what f calls, and what that calls, but for functions that call themselves.
void inline_all(Function &f);
bool has_body(Function &f);
// The file, line and column of an instruction, for messages; of kmm's own headers, of the call.
template <class T> void locate(const DILocation *l, T *t);
// True for functions of libraries that keep and read nothing but what their pointers point to.
bool is_own_work(StringRef name);
int64_t period_of(const Instruction *i);
// True if a call gives memory of its own.
bool gives_memory(StringRef name);
// True if the instruction frees what a pointer in a parameter's memory leads to, or stores a
// pointer to new memory there.
bool owns(const Instruction &i);
// The name of the function that a call names; "": it is none.
StringRef called(const Value *v);
// The operator of `*p = *p + v` and of atomic operations.
ir_combine_t combine_of(const Instruction *i);
bool is_atomic(const CallBase *call);
// True if the call is one of CUDA's atomic functions that combine, of a number.
bool is_combination(const CallBase *call);
bool is_index(const Value *next, const PHINode *phi);

// True for memory at a place that an atomic sum gives out, to each call or iteration another one.
bool is_given_out(const Value *pointer);
// The atomic operations from which a value or an address is computed.
SmallVector<const Value *, 4> numbers_of(const Value *v);
// True for `*p = *p + x`: the value is made of the old one.
bool is_combined(const Instruction *i);
// True for the counts of owners of C++'s shared pointers, which are plain while there is one
// thread.
bool is_count_of_owners(const Instruction *i);
bool is_program_state(const GlobalVariable *g);
// `next.k` of C, and names of C++.
std::string title_of(const GlobalVariable *g);

class Analysis
{
  public:
    // `plain`: the function is no kernel, so its chunks are compared with one call.
    Analysis(Function &f, FunctionAnalysisManager &m, bool plain)
        : f_(f), plain_(plain), layout_(f.getParent()->getDataLayout()),
          loops_(m.getResult<LoopAnalysis>(f)), tree_(m.getResult<DominatorTreeAnalysis>(f)),
          post_(m.getResult<PostDominatorTreeAnalysis>(f))
    {
    }
    ir_function_t *run();

  private:
    friend class Folding;
    Function &f_;
    const bool plain_;
    const DataLayout &layout_;
    LoopInfo &loops_;
    DominatorTree &tree_;
    PostDominatorTree &post_;
    Nodes nodes_;
    std::map<const Value *, int> value_;
    std::map<const Value *, Candidates> pointer_;
    std::map<const BasicBlock *, int> guard_;
    std::map<const Loop *, int> loop_number_;
    std::map<const Instruction *, int> place_;
    std::vector<ir_loop_t> loop_;
    std::vector<ir_access_t> access_;
    std::vector<const Instruction *> access_at_;
    std::vector<ir_unknown_t> unknown_;
    std::vector<ir_change_t> change_;
    std::vector<ir_own_t> own_;
    std::vector<ir_throw_t> thrown_;
    std::vector<ir_shared_t> shared_;
    bool clears_flags_ = false, owns_memory_ = false;
    uint64_t flags_kept_ = 0;
    bool takes_turns_ = false, elsewhere_ = false;
    uint64_t addresses_ = 0;
    std::map<std::pair<const Value *, int64_t>, int> symbol_;
    std::set<const Value *> in_progress_, stored_;
    bool cut_ = false; // a pointer in progress was met again, so what depends on it is not kept

    static const char *kept(StringRef text) { return kept_text(text); }
    void unknown(int param, int member, const std::string &reason, const Instruction *i,
                 bool is_loaded = false);
    void escapes(const Value *pointer, const std::string &reason, const Instruction *i);

    int edge(const BasicBlock *from, const BasicBlock *to);
    int guard(const BasicBlock *b);
    int guard_of_new(const BasicBlock *b);
    void number_loops();
    void test_loops();

    int bits_of(const Value *v) const
    {
        return v->getType()->isIntegerTy() ? (int)v->getType()->getIntegerBitWidth() : 64;
    }
    int value(const Value *v);
    int value_of_new(const Value *v);
    int value_of_phi(const PHINode *phi);
    int value_of_call(const CallBase *call);
    int value_of_load(const LoadInst *load);
    int value_of_table(const LoadInst *load, const GEPOperator *pointer, int64_t at);
    int value_of_binary(const BinaryOperator *b);
    int value_of_compare(const ICmpInst *c);
    int compare(CmpInst::Predicate predicate, int a, int b);
    bool depends_on(int node, const Loop *loop) const;
    bool is_invariant(const Value *v, const Loop *loop);
    bool step_of(const PHINode *phi, const Loop *loop, int *step);
    int offset_of(const GEPOperator *gep);
    Candidates pointers(const Value *v);
    Candidates pointers_of_new(const Value *v);
    Candidates pointers_of_phi(const PHINode *phi);
    void append(Candidates &to, const Candidates &from, int condition);

    void access(const Instruction *i, ir_access_kind_t kind, const Value *pointer, int bytes);
    bool stores_before(size_t store, size_t load);
    void find_earlier();
    bool renews(const Value *v, const PHINode *phi, std::set<const Value *> &seen);
    bool is_length(const Instruction *difference, const Instruction *store, int64_t period);
    void carried_address(const Value *p, const Instruction *store, int64_t period,
                         std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a);
    void carried_by(const PHINode *phi, const Loop *loop, const Value *stored, int64_t period,
                    ir_access_t *a);
    void carried(const Value *v, const Instruction *store, int64_t period,
                 std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a);
    void carried_test(const Value *v, const Instruction *store,
                      std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a);
    void carried_conditions(const Instruction *store,
                            std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a);
    void carried_local(const LoadInst *load, const Instruction *store, int64_t period,
                       std::set<std::pair<const Value *, bool>> &seen, ir_access_t *a);
    uint64_t wholes(const StoreInst *store);
    uint64_t wholes_of(const Value *v, const Instruction *store, std::set<const Value *> &seen);
    const ir_fold_t *what_combines(const Instruction *store);
    const ir_fold_t *folds_of_atomic(const Instruction *i, ir_combine_t *combine);
    ir_combine_t fold_swap(const Instruction *i, ir_fold_t *all);
    std::pair<int, int> origin(const Value *pointer);
    bool is_harmless(const PtrToIntInst *i);
    bool is_previous(const Value *next, const PHINode *phi, const Loop *loop);
    void drawn(const AllocaInst *state, const Instruction *draw, const Instruction *store,
               ir_access_t *a);
    bool has_data(int node) const;
    void integers(const Value *v, ir_access_t *a);
    bool is_given(const Value *pointer, std::set<const Value *> &seen) const;
    bool is_given(const Value *pointer) const;
    bool reaches_elsewhere(const Instruction &i) const;
    bool keeps_address(const Instruction &i) const;
    bool calls_elsewhere(const CallBase *call) const;
    bool is_first_value(const Instruction *i, const GlobalVariable *g) const;
    void note_change(const Instruction *i, const Value *pointer);
    void note_parameter(const Instruction *i, const Argument *a);
    void add_change(const Instruction *i, ir_change_t c);
    void note_number(const Value *v);
    void find_elsewhere();
    void note_own(const Instruction &i, const GlobalVariable *g);
    void find_own();
    void thrown_by(const PHINode *phi, int64_t period, bool is_sure, ir_throw_t *t);
    void find_thrown();
    bool is_scratch(const Instruction *store, const Value *place) const;
    bool is_only_use(const Instruction *store, const GlobalVariable *variable) const;
    void note_given_number(const StoreInst *store);
    void note_shared(const Instruction *i);
    void find_shared();
    uint64_t flags_kept(const CallBase *test, const CallBase *clear) const;
    void find_flags();
    void visit(const Instruction *i);
    void visit_call(const CallBase *call);
};

} // namespace kmm_ir

#endif
