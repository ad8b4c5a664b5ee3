//===- Polynomial.h - What needs no solver ----------------------*- C++ -*-===//
//
// Most queries about integers are no queries once both sides are written as
// polynomials: the kernel answers those itself. What this says holds; what it
// does not see may hold too.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_POLYNOMIAL_H
#define MLC_VERIFIER_KERNEL_POLYNOMIAL_H

#include "verifier/kernel/Integer.h"

namespace mlc::kernel {

/// Whether `goal` plainly holds wherever all of `given` do: by the ring laws,
/// from at most two of what is given, and because sizes are not negative.
bool plainlyHolds(llvm::ArrayRef<Formula> given, const Formula &goal);

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_POLYNOMIAL_H
