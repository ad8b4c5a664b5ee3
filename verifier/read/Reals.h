//===- Reals.h - What a proof over the reals leaves open --------*- C++ -*-===//

#ifndef MLC_VERIFIER_READ_REALS_H
#define MLC_VERIFIER_READ_REALS_H

#include "verifier/read/Question.h"

namespace mlc::verifier {

/// Why real numbers do not stand for the floats of the question, or "":
///
/// - a constant is NaN, which equals itself there;
/// - a constant that is infinite, or an extremum that may be of nothing, is
///   multiplied, subtracted from such a one or compared with it, or an argument
///   of a function;
/// - a float that was rounded becomes an integer or an index, which a rounding
///   error changes by a whole one.
///
/// Only what is equal bit by bit is then proved.
std::string whyNotReal(const Question &question);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_REALS_H
