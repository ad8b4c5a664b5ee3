//===- Partials.h - What is made of sums that are not yet made --*- C++ -*-===//
//
// A tensor is partial where each rank has a summand of it (or a factor of a
// product, a candidate of a maximum). Sums, products by what is whole and
// movements of such a tensor are partial again; for all else it is reduced.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_PARTIALS_H
#define MLC_PASSES_DISTRIBUTE_PARTIALS_H

#include "passes/Distribute/Factors.h"

namespace mlc::dist {

struct Partials {
  /// How each stage is to be reduced, where it is partial.
  llvm::SmallVector<std::optional<Reduction>> stages;
  /// Partial stages that are reduced before others read them.
  llvm::SmallVector<bool> cuts;

  bool isCut() const { return llvm::is_contained(cuts, true); }
};

/// What is partial where `factor` says what is split and `inputs` which
/// operands are partial. Nothing where an operand has to be reduced first, or a
/// stage has parts of its own and sums over parts too.
std::optional<Partials>
findPartials(const Definition &definition, const Factor &factor,
             llvm::ArrayRef<std::optional<Reduction>> inputs);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_PARTIALS_H
