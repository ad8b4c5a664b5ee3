//===- Partials.h - Partial sums through operators --------------*- C++ -*-===//
//
// A tensor is partial if each rank has a summand of it (or a factor of a
// product, a candidate of a maximum). Sums of such tensors, products with whole
// ones and data movement stay partial; everything else reduces it first.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_PARTIALS_H
#define MLC_PASSES_DISTRIBUTE_PARTIALS_H

#include "passes/Distribute/Factors.h"

namespace mlc::dist {

struct Partials {
  /// How each partial stage is to be reduced.
  llvm::SmallVector<std::optional<Reduction>> stages;
  /// Partial stages that are reduced before others read them.
  llvm::SmallVector<bool> cuts;

  bool isCut() const { return llvm::is_contained(cuts, true); }
};

/// Which stages are partial, given the split `factor` and the partial operands
/// `inputs`. Nothing if an operand has to be reduced first, or if a stage is
/// both split and a sum over parts.
std::optional<Partials>
findPartials(const Definition &definition, const Factor &factor,
             llvm::ArrayRef<std::optional<Reduction>> inputs);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_PARTIALS_H
