//===- Difference.h - What two sides do not share -----------------*- C++
//-*-===//

#ifndef MLC_VERIFIER_SEARCH_DIFFERENCE_H
#define MLC_VERIFIER_SEARCH_DIFFERENCE_H

#include "verifier/kernel/Unfold.h"

namespace mlc::verifier {

/// Which functions, reductions and arguments occur in one side of a difference
/// alone, for whoever wants to know why it was not found to be 0: "only before
/// has sin; only after has %y, cos". They are called as the definition calls
/// them: a minimum is a maximum in a sum. Empty where both have the same.
/// `arguments`: what they are called (Question::argumentNames).
std::string describeDifference(const Definition &before,
                               const Definition &after,
                               const kernel::Sum &difference,
                               llvm::ArrayRef<std::string> arguments);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_DIFFERENCE_H
