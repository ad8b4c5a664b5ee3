//===- Learner.h - The cheapest formula over literals -----------*- C++ -*-===//

#ifndef MLC_REWRITES_PRECONDITION_LEARNER_H
#define MLC_REWRITES_PRECONDITION_LEARNER_H

#include "rewrites/Precondition/Vocabulary.h"

namespace mlc::precondition {

/// A disjunction of conjunctions of literal classes (by number). It is false on
/// all invalid samples.
struct Formula {
  using Conjunction = llvm::SmallVector<unsigned, 4>;
  std::vector<Conjunction> alternatives;
  /// Whether it is true on all non-degenerate valid samples.
  bool isWeakest = false;
};

/// The cheapest conjunction of up to four literals that separates valid from
/// invalid samples; else a small disjunction; nullopt if no valid sample can be
/// separated. `samples` holds valid and invalid ones.
std::optional<Formula> learn(llvm::ArrayRef<Sample> samples,
                             llvm::ArrayRef<LiteralClass> literals);

} // namespace mlc::precondition

#endif // MLC_REWRITES_PRECONDITION_LEARNER_H
