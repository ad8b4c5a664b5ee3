//===- Difference.h - Differences between two sides -------------*- C++ -*-===//

#ifndef MLC_VERIFIER_SEARCH_DIFFERENCE_H
#define MLC_VERIFIER_SEARCH_DIFFERENCE_H

#include "verifier/kernel/Unfold.h"

namespace mlc::verifier {

/// Lists the functions, reductions and arguments that occur in only one side of
/// a difference, to explain why it was not found to be 0: "only before has sin;
/// only after has %y, cos". Uses the definition's names: a minimum is a maximum
/// in a sum. Empty if both sides have the same. `arguments` has the names of
/// arguments (Goal::argumentNames).
std::string describeDifference(const Definition &before,
                               const Definition &after,
                               const kernel::Sum &difference,
                               llvm::ArrayRef<std::string> arguments);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_DIFFERENCE_H
