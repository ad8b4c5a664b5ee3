//===- ByKernel.h - Proofs that the kernel accepts --------------*- C++ -*-===//
//
// Looks for a proof that the kernel (verifier/kernel) accepts. What is said
// here rests on the kernel and on how functions are read, not on the prover.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_BYKERNEL_H
#define MLC_VERIFIER_SEARCH_BYKERNEL_H

#include "verifier/Verifier.h"
#include "verifier/read/CheckProof.h"
#include <chrono>

namespace mlc::verifier {

/// With what the search asked of Z3.
struct KernelVerdict : CheckVerdict {
  std::string proof = {}; // as text, of what is accepted
  double solverMs = 0.0;
  /// What the proof rests on, each as an SMT-LIB script that must answer
  /// "unsat".
  std::vector<std::string> obligations = {};
  uint64_t steps = 0, solverWork = 0; // as VerifierOptions counts them
};

/// Looks for a proof of every case of a question, and has the kernel check it.
KernelVerdict proveQuestion(const Question &question,
                            const Assumptions &assumptions,
                            mlir::MLIRContext *context,
                            const VerifierOptions &options);

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

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_BYKERNEL_H
