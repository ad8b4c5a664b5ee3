//===- CheckProof.h - Checks proofs that others have found ------*- C++ -*-===//
//
// Two functions become statements for the kernel (verifier/kernel), which holds
// a proof against them. This and what it includes is the library
// MLCProofKernel, which has nothing that looks for proofs.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_CHECKPROOF_H
#define MLC_VERIFIER_READ_CHECKPROOF_H

#include "verifier/kernel/Statement.h"
#include "verifier/read/FloatClass.h"
#include "verifier/read/Question.h"
#include <functional>

namespace mlc::verifier {

struct CheckOptions {
  /// Z3's own count (rlimit) for one obligation.
  uint64_t maxLemmaWork = 3000000;
  /// Called with each obligation, one SMT-LIB script, that Z3 finds to be
  /// "unsat", as it must be.
  std::function<void(const std::string &script)> onObligation = {};
};

struct CheckVerdict {
  bool isAccepted = false;
  FloatClass floatClass = FloatClass::ValueChanging; // of what is accepted
  /// Of what is accepted: that each side is defined where the other is.
  bool isTwoWay = false;
  std::string reason = {}; // why not
  double ms = 0.0;
  /// That Z3 was asked.
  unsigned numObligations = 0;
};

/// Has the kernel check a proof (kernel/Text.h) that `after` gives what
/// `before` gives (Verifier.h).
CheckVerdict checkProof(mlir::func::FuncOp before, mlir::func::FuncOp after,
                        const Assumptions &assumptions, llvm::StringRef proof,
                        const CheckOptions &options = {});

CheckVerdict checkQuestion(const Question &question,
                           const Assumptions &assumptions,
                           llvm::StringRef proof,
                           const CheckOptions &options = {});

/// What must be proved in a case of a question; floats are taken for their bits
/// or for real numbers.
kernel::Statement toStatement(const Question &question, const Case &one,
                              const Assumptions &assumptions, bool isLiteral);

/// Why the cases of a question are not all that its conditions admit, or say
/// something else; empty where the kernel sees that they are and do not.
std::string whyNoCases(const Question &question, kernel::Decider &decider);

/// How floats may differ, by a proof whose steps keep all terms, or not.
FloatClass floatClassOf(const Question &question, bool isLiteral,
                        bool keepsTerms);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_CHECKPROOF_H
