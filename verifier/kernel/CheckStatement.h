//===- CheckStatement.h - Whether a proof is one of a statement -*- C++ -*-===//

#ifndef MLC_VERIFIER_KERNEL_CHECKSTATEMENT_H
#define MLC_VERIFIER_KERNEL_CHECKSTATEMENT_H

#include "verifier/kernel/Statement.h"

namespace mlc::kernel {

/// Whether the proof is one of the statement; else why not.
struct Checked {
  bool isProved = false;
  /// Whether each side is defined where the other is.
  bool isTwoWay = false;
  /// That it reorders the terms of each side and no more (Check.h).
  bool keepsTerms = false;
  std::string failure = {};
};
Checked check(const Statement &statement, const StatementProof &proof,
              Decider &decider);

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_CHECKSTATEMENT_H
