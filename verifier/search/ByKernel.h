//===- ByKernel.h - Proofs that the kernel accepts --------------*- C++ -*-===//
//
// Looks for a proof that the kernel (verifier/kernel) accepts. Verdicts rest on
// the kernel and on the reading of functions, not on the prover.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_BYKERNEL_H
#define MLC_VERIFIER_SEARCH_BYKERNEL_H

#include "verifier/Verifier.h"
#include "verifier/read/CheckProof.h"
#include <chrono>

namespace mlc::verifier {

/// A verdict with the search's use of Z3.
struct KernelVerdict : CheckVerdict {
  std::string proof = {}; // as text, of an accepted proof
  double solverMs = 0.0;
  /// The obligations of the proof, each an SMT-LIB script that must answer
  /// "unsat".
  std::vector<std::string> obligations = {};
  uint64_t steps = 0, solverWork = 0; // as VerifierOptions counts them
};

/// Looks for a proof of every case of a goal, and has the kernel check it.
KernelVerdict proveGoal(const Goal &goal, const Assumptions &assumptions,
                        mlir::MLIRContext *context,
                        const VerifierOptions &options);

/// Looks for numbers that refute a goal, and for a proof of it; `title`
/// precedes the obligations.
Verdict answer(const Goal &goal, const Assumptions &assumptions,
               mlir::MLIRContext *context, llvm::StringRef title,
               const VerifierOptions &options,
               std::chrono::steady_clock::time_point start);

/// Looks for a proof that `after` equals `before` (Verifier.h), and has the
/// kernel check it.
KernelVerdict proveByKernel(mlir::func::FuncOp before, mlir::func::FuncOp after,
                            const Assumptions &assumptions,
                            const VerifierOptions &options = {});

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_BYKERNEL_H
