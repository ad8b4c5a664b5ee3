//===- Hoist.h - Sums as stages of their own --------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_HOIST_H
#define MLC_PASSES_DISTRIBUTE_HOIST_H

#include "dialects/Definition/Definition.h"

namespace mlc::dist {

/// The same definition with separate stages for reductions inside larger
/// expressions. A reduction that is part of no other reduction becomes a stage
/// before, over the loops that it depends on, so that a partial sum can be
/// reduced before it is used. Nothing if there is no such reduction.
std::optional<Definition> hoistReductions(const Definition &definition);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_HOIST_H
