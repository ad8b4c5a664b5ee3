//===- WellFormed.h - What a function needs beyond its dims -----*- C++ -*-===//
//
// Starts and paddings that are not negative, reads in range, casts that keep
// sizes, divisors that are not 0: where one of these fails, a function has no
// meaning, though its definition would give numbers. The after side must be
// shown to have all it needs wherever the before side has.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_WELLFORMED_H
#define MLC_VERIFIER_READ_WELLFORMED_H

#include "dialects/Definition/OpInterfaces.h"
#include "verifier/read/Guard.h"
#include <set>
#include <string>
#include <vector>

namespace mlc::verifier {

/// Begins the name of how often a loop of linalg has gone round.
inline constexpr llvm::StringLiteral iterationPrefix = "%T";

/// One of `anyOf` wherever all of `given` hold. Loops are symbols '%...'.
struct Need {
  std::vector<Guard> given, anyOf;
  std::string message;
};

/// What attributes of an operator of the mlc dialect must satisfy, as far as
/// its definition does not require it.
void needsOf(mlir::Operation *op, llvm::ArrayRef<TensorShape> operands,
             std::vector<Need> &out);

/// Sizes are not negative, and nothing is divided by 0 to find them; reads of
/// `openStages`, whose operators promise nothing, are in range.
void needsOf(const Definition &definition, const std::set<unsigned> &openStages,
             std::vector<Need> &out);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_WELLFORMED_H
