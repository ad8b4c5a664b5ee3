//===- Localize.h - A rank's definition of an operator ----------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_LOCALIZE_H
#define MLC_PASSES_DISTRIBUTE_LOCALIZE_H

#include "passes/Distribute/Factors.h"

namespace mlc::dist {

/// `whole`, restricted to what a rank has: loops of the factor run over its
/// part; where they are numbers, or index what is whole, the part's begin is
/// added. Other dims are as they were, and so is what a mean is divided by.
Definition localize(const Definition &whole, const Factor &factor,
                    AxisAttr axis);

/// The same with a guard at each read that is not evidently in range. It is
/// one, by what the restriction is made of; a definition's text has to show it.
Definition guardReads(Definition definition);

/// Whether they say the same, with other names for loops and stages.
/// Requirements are not compared.
bool isEqual(const Definition &a, const Definition &b);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_LOCALIZE_H
