//===- Reals.h - Limits of proofs over the reals ----------------*- C++ -*-===//

#ifndef MLC_VERIFIER_READ_REALS_H
#define MLC_VERIFIER_READ_REALS_H

#include "verifier/read/Goal.h"

namespace mlc::verifier {

/// Why real numbers cannot model the floats of the goal, or "":
///
/// - a constant is NaN, which equals itself there;
/// - an infinite constant, or an extremum that may be empty, is multiplied,
///   subtracted from or compared with another one, or passed to a function;
/// - a rounded float becomes an integer or an index, which a rounding error
///   changes by one.
///
/// Only bitwise equality can then be proved.
std::string whyNotReal(const Goal &goal);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_REALS_H
