//===- Statement.h - What a proof is of -------------------------*- C++ -*-===//
//
// That a function `after` gives what `before` gives, for all sizes that satisfy
// what is known of them and all values: wherever an element of `before` is
// defined, that of `after` is, and equals it. So `after` may stand for `before`
// under whatever reads some of its elements only. The other way round it may
// where the proof is two-way: what `before` needs is shown from what `after`
// does, so that both are defined at the same elements.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_STATEMENT_H
#define MLC_VERIFIER_KERNEL_STATEMENT_H

#include "verifier/kernel/Check.h"
#include "verifier/kernel/Defined.h"

namespace mlc::kernel {

struct Statement {
  /// Over the same inputs, with results in the same order.
  Definition before, after;
  /// Of their symbols; that `before` is well formed is part of it.
  std::vector<Formula> known;
  /// What makes `after` well formed, beyond its requirements; it may use
  /// `given`, which holds where `before` is, for all values of symbols that
  /// begin with '%'.
  std::vector<Formula> given, required;
  std::vector<std::string> messages; // what `required` says
  Assumptions assumptions;           // of values
};

/// lhs predicate rhs.
Formula formulaOf(IntExpr lhs, ComparePredicate predicate, IntExpr rhs);

struct StatementProof {
  bool isShared = false;     // of what Share.h makes of it
  std::vector<Shown> needs;  // of `after`
  std::vector<Zero> results; // before less after
  /// Of `before`, by what `after` needs; none: one way.
  std::optional<std::vector<Shown>> reverse = {};
};

/// What a statement comes to: all of these together.
struct Goals {
  explicit Goals(const Statement &statement);

  struct Result {
    Context context;
    Sum difference;
    unsigned width;
    /// For the element of the context to be defined, in `before` and `after`.
    std::vector<Need> given, needed;
  };
  std::vector<Formula> known, wellFormed; // the one must imply the other
  std::vector<std::string> messages;      // what `wellFormed` says
  std::vector<Result> results;
  /// For a side to be defined at all.
  std::vector<Need> given, needed;
  bool dropsTerms = false; // what is multiplied by 0 is gone
  std::string failure;     // why it is beyond the kernel
  Names names;

  /// Shows needs, each by `show(given, need, context)`; false ends it: those of
  /// `after` by what is given, or, in reverse, those of `before`.
  using Show = llvm::function_ref<bool(llvm::ArrayRef<Need>, const Need &,
                                       const Context &)>;
  bool showAll(bool inReverse, Show show) const;
  /// All that is known to hold where the element of `result` is defined.
  std::vector<Need> needsOf(const Result &result) const;
  size_t count(bool inReverse) const;

private:
  void addNeeds(const Definition &side, Definedness &defined,
                std::vector<Need> &into);
};

/// A proof for each case of a query.
struct Proof {
  bool isLiteral = false; // of floats as bits (Unfold.h)
  std::vector<StatementProof> cases;
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_STATEMENT_H
