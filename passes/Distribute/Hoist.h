//===- Hoist.h - Sums as stages of their own --------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_HOIST_H
#define MLC_PASSES_DISTRIBUTE_HOIST_H

#include "dialects/Interfaces/Definition.h"

namespace mlc::dist {

/// The same definition with each reduction that is part of a larger expression,
/// and of no other reduction, as a stage before, over the loops that it depends
/// on: what is summed over parts can then be reduced before it is used. Nothing
/// where there is none.
std::optional<Definition> hoistReductions(const Definition &definition);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_HOIST_H
