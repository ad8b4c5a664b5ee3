//===- CheckProof.h - Checks proofs that others have found ------*- C++ -*-===//
//
// Turns two functions into statements for the kernel (verifier/kernel), which
// checks a proof of these. This header and its includes are the library
// MLCProofKernel, which contains no proof search.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_CHECKPROOF_H
#define MLC_VERIFIER_READ_CHECKPROOF_H

#include "verifier/kernel/Statement.h"
#include "verifier/read/FloatClass.h"
#include "verifier/read/Goal.h"
#include <functional>

namespace mlc::verifier {

struct CheckOptions {
  /// Z3's own count (rlimit) for one obligation.
  uint64_t maxLemmaWork = 3000000;
  /// Called with each proved obligation: one SMT-LIB script to which Z3 answers
  /// "unsat".
  std::function<void(const std::string &script)> onObligation = {};
};

struct CheckVerdict {
  bool isAccepted = false;
  FloatClass floatClass = FloatClass::ValueChanging; // of an accepted proof
  /// For an accepted proof: each side is defined where the other is.
  bool isTwoWay = false;
  std::string reason = {}; // why not
  double ms = 0.0;
  /// Number of obligations given to Z3.
  unsigned numObligations = 0;
};

/// Has the kernel check a proof (kernel/Text.h) that `after` gives what
/// `before` gives (Verifier.h).
CheckVerdict checkProof(mlir::func::FuncOp before, mlir::func::FuncOp after,
                        const Assumptions &assumptions, llvm::StringRef proof,
                        const CheckOptions &options = {});

CheckVerdict checkGoal(const Goal &goal, const Assumptions &assumptions,
                       llvm::StringRef proof, const CheckOptions &options = {});

/// The statement to prove in a case of a goal; floats are compared as bits
/// or as real numbers.
kernel::Statement toStatement(const Goal &goal, const Case &one,
                              const Assumptions &assumptions, bool isLiteral);

/// Why the cases of a goal do not cover exactly what its conditions admit;
/// empty if the kernel sees that they do.
std::string whyNoCases(const Goal &goal, kernel::Decider &decider);

/// How floats may differ, given whether the steps of the proof keep all terms.
FloatClass floatClassOf(const Goal &goal, const Assumptions &assumptions,
                        bool isLiteral, bool keepsTerms);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_CHECKPROOF_H
