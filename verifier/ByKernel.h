//===- ByKernel.h - Proofs that the kernel accepts --------------*- C++ -*-===//
//
// Looks for a proof that the kernel (verifier/kernel) accepts, and has it check
// proofs of others. What is said here rests on the kernel and on how functions
// are read, not on the prover.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_BYKERNEL_H
#define MLC_VERIFIER_BYKERNEL_H

#include "verifier/Verifier.h"

namespace mlc::verifier {

struct KernelVerdict {
  bool isAccepted = false;
  std::string proof;  // as text, of what is accepted
  std::string reason; // why not
  double ms = 0.0;
  unsigned numObligations = 0; // that Z3 was asked
};

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

} // namespace mlc::verifier

#endif // MLC_VERIFIER_BYKERNEL_H
