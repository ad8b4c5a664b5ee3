//===- Localize.h - A rank's definition of an operator ----------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_LOCALIZE_H
#define MLC_PASSES_DISTRIBUTE_LOCALIZE_H

#include "passes/Distribute/Factors.h"

namespace mlc::dist {

/// `whole`, restricted to a rank's part: loops of the factor run over its part,
/// and the part's begin is added where they are numbers or index whole tensors.
/// Other dims are unchanged, and so is the divisor of a mean.
Definition localize(const Definition &whole, const Factor &factor,
                    AxisAttr axis);

/// The same with a guard at each read that is not evidently in range. The
/// restriction keeps reads in range, but a definition's text has to show it.
Definition guardReads(Definition definition);

/// Whether two definitions are equal up to the names of loops and stages.
/// Requirements are not compared.
bool isEqual(const Definition &a, const Definition &b);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_LOCALIZE_H
