//===- Difference.h - What two normal forms do not share --------*- C++ -*-===//

#ifndef MLC_VERIFIER_DIFFERENCE_H
#define MLC_VERIFIER_DIFFERENCE_H

#include "verifier/Scalar.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlc::verifier {

/// A side, and what became of it.
struct Normalized {
  const Definition &definition;
  const Sum &form;
};

/// Which functions, reductions and arguments occur in one of two normal forms
/// alone, for whoever wants to know why they were not found equal: "only before
/// has sin; only after has %y, cos". They are called as the definition calls
/// them: a minimum is a maximum in normal form. Empty where both have the same.
/// `arguments`: what they are called (Question::argumentNames).
std::string describeDifference(const Normalized &before,
                               const Normalized &after,
                               llvm::ArrayRef<std::string> arguments);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_DIFFERENCE_H
