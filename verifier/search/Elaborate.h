//===- Elaborate.h - Finds proofs for the kernel ----------------*- C++ -*-===//
//
// Searches for proofs that kernel/Check.h accepts. Nothing here is trusted:
// proofs that it finds are checked, and what it does not find is not proved.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_ELABORATE_H
#define MLC_VERIFIER_SEARCH_ELABORATE_H

#include "verifier/kernel/Check.h"
#include "verifier/search/Unify.h"
#include <chrono>

namespace mlc::elaborate {

using verifier::Guard;

/// The prover's symbol of a variable.
std::string nameOf(kernel::Variable variable);
/// The properties that partners in a proof must share.
std::string headOf(const kernel::Factor &factor);
std::string signatureOf(const kernel::Term &term);
/// Ways to pair factors: for each of `left` the position of its partner.
std::vector<std::vector<unsigned>>
pairings(llvm::ArrayRef<kernel::FactorRef> left,
         llvm::ArrayRef<kernel::FactorRef> right);
/// The integer with variables as slots of the scope; nullopt if one is not in
/// scope.
std::optional<kernel::Integer> toSlots(const kernel::Integer &integer,
                                       llvm::ArrayRef<kernel::Integer> scope);
std::optional<std::vector<kernel::Integer>>
toSlots(llvm::ArrayRef<kernel::Variable> variables,
        const kernel::Bindings &values, llvm::ArrayRef<kernel::Integer> scope);

class Elaborator {
public:
  Elaborator(mlir::MLIRContext *context, kernel::Decider &decider,
             kernel::Names &names, const kernel::Assumptions &assumptions,
             llvm::ArrayRef<kernel::Need> given, uint64_t maxWork)
      : mlir(context), decider(decider), names(names), given(given),
        checker(decider, names, assumptions, given), maxWork(maxWork),
        numAskedBefore(decider.getNumAsked()) {}

  /// A proof that the sum is 0, or nullopt.
  std::optional<kernel::Zero> zero(const kernel::Context &context,
                                   const kernel::Sum &sum, unsigned width);
  /// Shows that a value is not 0, not negative or positive where all of `path`
  /// are 1; nullopt if no proof is found.
  std::optional<kernel::Shown> show(kernel::Need::Kind kind, unsigned width,
                                    const kernel::Context &context,
                                    const kernel::Sum &value,
                                    llvm::ArrayRef<kernel::Sum> path);
  /// Describes what could not be shown.
  const std::string &getFailure() const { return failure; }
  /// The work that counts against `maxWork`.
  uint64_t getWork() const {
    return work + (decider.getNumAsked() - numAskedBefore);
  }

private:
  using Guards = std::vector<Guard>;
  /// The equations of an alignment.
  struct Pairing {
    std::vector<IntExpr> zeros; // left - right
    /// Such equations of numbers in paired terms. Terms of like factors may
    /// have different numbers, so these are tried where the others do not do.
    std::vector<IntExpr> numbers;
    std::vector<IntExpr> leftInner, rightInner;
    Guards leftGuards, rightGuards;
  };

  std::nullopt_t fail(const llvm::Twine &reason);
  std::optional<std::vector<kernel::Group>>
  groups(const kernel::Context &context, const kernel::Sum &sum,
         unsigned width);
  std::optional<kernel::Group> groupOf(const kernel::Context &context,
                                       const kernel::Sum &sum, unsigned width,
                                       unsigned reference,
                                       llvm::ArrayRef<unsigned> open);
  std::optional<kernel::Member> align(const kernel::Context &context,
                                      const kernel::Term &term,
                                      const kernel::Term &reference);
  std::optional<kernel::Member> alignBy(const kernel::Context &context,
                                        const kernel::Term &term,
                                        const kernel::Term &reference,
                                        llvm::ArrayRef<unsigned> partner,
                                        bool *isWhole);
  std::optional<kernel::Member>
  alignWith(const Pairing &pairing, const kernel::Context &context,
            const kernel::Term &term, const kernel::Term &reference,
            llvm::ArrayRef<unsigned> partner, bool *isWhole);
  std::optional<kernel::Match> match(const kernel::Context &context,
                                     const kernel::Factor &factor,
                                     const kernel::Factor &partner,
                                     unsigned position);
  void chooseRest(llvm::ArrayRef<kernel::Variable> variables,
                  llvm::ArrayRef<kernel::Formula> guards,
                  kernel::Bindings &map) const;
  std::optional<std::vector<kernel::Cover>>
  cover(const kernel::Context &context, const kernel::Branch &branch,
        llvm::ArrayRef<kernel::Branch> others);

  bool simplify(const kernel::Context &context, kernel::Sum &sum,
                std::vector<kernel::Step> &steps);
  /// Rewrites nested quotients in indices step by step where their value is
  /// known.
  std::vector<kernel::Step> untangle(const kernel::Context &context,
                                     kernel::Sum &sum);
  bool simplifyTerms(const kernel::Context &context, kernel::Sum &root,
                     const kernel::Context &here, const kernel::Sum &sum,
                     std::vector<std::array<unsigned, 3>> &path,
                     std::vector<kernel::Step> &steps);
  std::optional<kernel::Step> stepFor(const kernel::Context &inside,
                                      const kernel::Term &term);
  std::optional<kernel::Step> stepForCall(const kernel::Context &inside,
                                          const kernel::Term &term,
                                          unsigned factor);
  bool worksOn(const kernel::Step &step, const kernel::Context &inside,
               const kernel::Factor &factor);
  std::optional<kernel::Step> stepForResidues(const kernel::Context &inside,
                                              const kernel::Term &term,
                                              unsigned factor);
  std::optional<kernel::Step> stepForOrder(const kernel::Context &inside,
                                           const kernel::Term &term,
                                           unsigned factor);
  std::optional<kernel::Step> stepForPair(const kernel::Context &inside,
                                          const kernel::Term &term,
                                          unsigned factor, unsigned other);
  std::optional<kernel::Step> stepForReduce(const kernel::Context &inside,
                                            const kernel::Factor &factor);
  std::optional<kernel::Step> stepForMaximum(const kernel::Context &inside,
                                             const kernel::Factor &factor);
  std::optional<kernel::Step> takeFunctionFor(const kernel::Context &inside,
                                              const kernel::Factor &factor,
                                              unsigned other);
  std::optional<kernel::Step> decisionFor(const kernel::Context &inside,
                                          const kernel::Term &term,
                                          unsigned factor);
  std::optional<kernel::Step> unwrapFor(const kernel::Context &inside,
                                        const kernel::Factor &factor);
  std::optional<std::vector<kernel::Integer>>
  pointOf(const kernel::Context &inside,
          llvm::ArrayRef<kernel::Variable> variables,
          llvm::ArrayRef<kernel::Formula> guards);
  std::optional<kernel::Step> rewriteFor(const kernel::Context &inside,
                                         const kernel::Term &term);
  std::optional<kernel::Step> countFor(const kernel::Context &here,
                                       const kernel::Term &term);
  // Distinctions, bounds, quotients and logarithms (ElaborateEnds.cpp).
  using Place = std::vector<std::array<unsigned, 3>>;
  enum class Expansion { Tanh, Residues, All };
  std::optional<kernel::Zero> resolve(const kernel::Context &context,
                                      const kernel::Sum &sum, unsigned width,
                                      bool isNew = true);
  std::optional<kernel::Zero> byNote(const kernel::Context &context,
                                     const kernel::Sum &sum, bool isOfRange);
  std::optional<kernel::Zero> endOf(const kernel::Context &context,
                                    const kernel::Sum &sum, unsigned width);
  std::optional<kernel::Zero> byWhole(const kernel::Context &context,
                                      const kernel::Sum &sum);
  std::optional<kernel::Zero> byBetween(const kernel::Context &context,
                                        const kernel::Sum &sum);
  std::optional<kernel::Zero> byLogarithms(const kernel::Context &context,
                                           const kernel::Sum &sum);
  std::optional<kernel::Zero> byClearing(const kernel::Context &context,
                                         const kernel::Sum &sum);
  std::optional<kernel::Zero>
  byJoinedReciprocals(const kernel::Context &context, const kernel::Sum &sum);
  std::optional<kernel::Zero> byAbsurdity(const kernel::Context &context);
  // Sums in parts (ElaborateSplits.cpp).
  std::optional<kernel::Zero> bySplitting(const kernel::Context &context,
                                          const kernel::Sum &sum,
                                          unsigned width);
  std::optional<kernel::Formula> borderOf(const kernel::Context &context,
                                          const kernel::Term &term,
                                          const kernel::Term &other);
  bool splitTerm(const kernel::Context &context, unsigned term,
                 const kernel::Formula &formula, kernel::Sum &sum,
                 std::vector<kernel::Step> &steps);
  std::optional<kernel::Zero> byTruth(const kernel::Context &context,
                                      const kernel::Sum &sum, unsigned width);
  std::optional<kernel::Zero> byExpansion(const kernel::Context &context,
                                          const kernel::Sum &sum,
                                          unsigned width, Expansion what);
  /// The place of a factor that `isWanted` and mentions no bound variables.
  std::optional<Place>
  findFactor(const kernel::Sum &root, const kernel::Sum &sum, Place &path,
             llvm::function_ref<bool(const kernel::Factor &)> isWanted);
  std::optional<kernel::Step> choiceFor(const kernel::Context &context,
                                        const kernel::Factor &factor);
  std::optional<kernel::Step> expansionOf(const kernel::Context &context,
                                          const kernel::Factor &factor,
                                          Expansion what);

  // Properties of values (ElaborateBounds.cpp).
  std::optional<kernel::Shown> showParts(kernel::Shown::Kind how,
                                         kernel::Need::Kind kind,
                                         const kernel::Context &context,
                                         llvm::ArrayRef<kernel::Sum> values,
                                         llvm::ArrayRef<kernel::Sum> path);
  std::optional<kernel::Shown> showByTruth(kernel::Need::Kind kind,
                                           const kernel::Context &context,
                                           const kernel::Sum &value,
                                           llvm::ArrayRef<kernel::Sum> path);
  std::optional<kernel::Shown> showPoint(kernel::Need::Kind kind,
                                         const kernel::Context &context,
                                         const kernel::Sum &value);
  std::optional<kernel::Shown> showBound(kernel::Need::Kind kind,
                                         const kernel::Context &context,
                                         const kernel::Sum &value);
  std::optional<kernel::Bindings> placeOf(const kernel::Need &need,
                                          const kernel::Sum &other,
                                          const kernel::Context &context,
                                          const kernel::Sum &value);
  std::optional<kernel::Shown> showGiven(kernel::Need::Kind kind,
                                         unsigned width,
                                         const kernel::Context &context,
                                         const kernel::Sum &value,
                                         llvm::ArrayRef<kernel::Sum> path);

  IntExpr toExpr(const kernel::Integer &integer) const;
  kernel::Integer fromExpr(IntExpr expr) const;
  void toGuards(const kernel::Formula &formula, Guards &out) const;
  Guards toGuards(llvm::ArrayRef<kernel::Formula> formulas) const;
  std::optional<kernel::Bindings>
  solve(const Pairing &pairing, bool isForward,
        llvm::ArrayRef<kernel::Variable> wanted,
        llvm::ArrayRef<kernel::Variable> given,
        llvm::ArrayRef<kernel::Formula> wantedGuards,
        llvm::ArrayRef<kernel::Formula> givenGuards,
        llvm::ArrayRef<kernel::Formula> known, bool pairByRange);
  template <class Bound>
  void pairDomains(const Bound &left, const Bound &right, Pairing &out) const;
  void pairNumbers(const kernel::Term &left, const kernel::Term &right,
                   Pairing &out) const;
  bool pair(const kernel::Factor &left, const kernel::Factor &right,
            Pairing &out) const;
  bool pair(const kernel::Sum &left, const kernel::Sum &right,
            Pairing &out) const;

  mlir::MLIRContext *mlir;
  kernel::Decider &decider;
  kernel::Names &names;
  llvm::ArrayRef<kernel::Need> given;
  kernel::Checker checker;
  std::string failure;
  /// Integers that are symbols to the prover, "%e0" and so on.
  mutable std::vector<kernel::Integer> elements;
  unsigned depth = 0;
  unsigned numEnds = 0, endDepth = 0, numSplits = 0;
  bool rewritesOnly = false;
  /// Alignments and queries to the solver.
  uint64_t work = 0;
  const uint64_t maxWork;
  const unsigned numAskedBefore;
  bool isExhausted() const { return getWork() > maxWork; }
};

} // namespace mlc::elaborate

#endif // MLC_VERIFIER_SEARCH_ELABORATE_H
