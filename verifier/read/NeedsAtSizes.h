//===- NeedsAtSizes.h - Whether a need holds of numbers ---------*- C++ -*-===//

#ifndef MLC_VERIFIER_READ_NEEDSATSIZES_H
#define MLC_VERIFIER_READ_NEEDSATSIZES_H

#include "verifier/read/WellFormed.h"
#include <optional>

namespace mlc::verifier {

using SymbolValues = std::map<std::string, int64_t>;

/// The value of an expression under symbols.
std::optional<int64_t> valueOf(IntExpr expr, const SymbolValues &values);

/// Whether a need holds for these sizes and all values of its loops and
/// iterations; nothing where there are too many of those, or one cannot be
/// computed.
std::optional<bool> holdsAt(const Need &need, const SymbolValues &sizes);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_NEEDSATSIZES_H
