//===- ByKernel.h - Proofs that the kernel accepts --------------*- C++ -*-===//
//
// Looks for a proof that the kernel (verifier/kernel) accepts, and has it check
// proofs of others. What is said here rests on the kernel and on how functions
// are read, not on the prover.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_BYKERNEL_H
#define MLC_VERIFIER_BYKERNEL_H

#include "verifier/Question.h"
#include "verifier/Verifier.h"
#include <chrono>

namespace mlc::verifier {

struct KernelVerdict {
  bool isAccepted = false;
  FloatClass floatClass = FloatClass::ValueChanging; // of what is accepted
  std::string proof;  // as text, of what is accepted
  std::string reason; // why not
  double ms = 0.0, solverMs = 0.0;
  /// That Z3 was asked, with those of the search.
  unsigned numObligations = 0;
  /// What the proof rests on, each as an SMT-LIB script that must answer
  /// "unsat".
  std::vector<std::string> obligations;
  uint64_t steps = 0, solverWork = 0; // as VerifierOptions counts them
};

/// Looks for a proof of every case of a question, and has the kernel check it.
KernelVerdict proveQuestion(const Question &question,
                            const Assumptions &assumptions,
                            mlir::MLIRContext *context,
                            const VerifierOptions &options,
                            std::chrono::steady_clock::time_point start);

/// Looks for numbers that refute a question, and for a proof of it; `title`
/// stands above the obligations.
Verdict answer(const Question &question, const Assumptions &assumptions,
               mlir::MLIRContext *context, llvm::StringRef title,
               const VerifierOptions &options,
               std::chrono::steady_clock::time_point start);

/// Looks for a proof that `after` gives what `before` gives (Verifier.h), and
/// has the kernel check it.
KernelVerdict proveByKernel(mlir::func::FuncOp before, mlir::func::FuncOp after,
                            const Assumptions &assumptions,
                            const VerifierOptions &options = {});

/// Has the kernel check a proof (kernel/Text.h).
KernelVerdict checkByKernel(mlir::func::FuncOp before, mlir::func::FuncOp after,
                            const Assumptions &assumptions,
                            llvm::StringRef proof,
                            const VerifierOptions &options = {});
KernelVerdict checkQuestion(const Question &question,
                            const Assumptions &assumptions,
                            llvm::StringRef proof,
                            const VerifierOptions &options,
                            std::chrono::steady_clock::time_point start);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_BYKERNEL_H
