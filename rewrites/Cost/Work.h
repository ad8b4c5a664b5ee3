//===- Work.h - The work of an operator -------------------------*- C++ -*-===//
//
// The work that the cost model prices, derived from the definition with a value
// for every symbol. It depends on neither the target nor the operator's name.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_COST_WORK_H
#define MLC_REWRITES_COST_WORK_H

#include "codegen/target/ConvolutionShape.h"
#include "dialects/Definition/Definition.h"
#include <map>
#include <optional>
#include <string>

namespace mlc {

/// A sum of products of two tensors, as a batch of matrix products: for each
/// of `batch` problems, `rows` x `depth` (the first factor) by `depth` x
/// `columns` (the second). A convolution has one row for each output position,
/// one column for each output channel of a group and one problem for each
/// group.
struct ContractionWork {
  double batch = 1, rows = 1, columns = 1, depth = 1;
  /// The size of a factor's elements.
  double elementBytes = 4;
  /// Its shape if it is a 2-D convolution with a filter of fixed sizes. The
  /// caller decides whether the filter is constant.
  std::optional<ConvolutionShape> convolution;

  /// A multiplication and an addition each.
  double flops() const { return 2 * batch * rows * columns * depth; }
};

/// One evaluation of a definition.
struct Work {
  /// Scalar operations outside contractions; a function such as exp counts as
  /// ten, pow as twenty.
  double operations = 0;
  /// Bytes of operands that are read, and of results.
  double bytesRead = 0, bytesWritten = 0;
  llvm::SmallVector<ContractionWork, 1> contractions;
  /// Only scalar functions of elements at the position of the result's element,
  /// or at some of its indices in order (a bias per channel, a broadcast). It
  /// can be fused into the operator that makes the operand.
  bool isPointwise = false;
  /// Storage can be shared with the operand (reshape).
  bool isReinterpretation = false;
  /// A box of the operand at constant offsets and steps (slice).
  bool isBox = false;
  /// No operands: numbers from dims and attributes.
  bool isLeaf = false;

  double bytes() const { return bytesRead + bytesWritten; }
};

/// The assumed sizes of a model's symbols.
struct SymbolSizes {
  std::map<std::string, int64_t, std::less<>> named;
  int64_t others = 64;

  /// Coordinates of ranks are 0: where parts differ, the first is the largest.
  int64_t of(llvm::StringRef symbol) const {
    auto it = named.find(symbol);
    if (it != named.end())
      return it->second;
    return symbol.starts_with("rank.") ? 0 : others;
  }
};

/// The work of `definition` for these sizes of symbols.
Work countWork(mlir::MLIRContext *context, const Definition &definition,
               const SymbolSizes &symbols);

/// `expr` for these sizes of symbols; 0 if negative, 1 if it cannot be
/// evaluated.
double valueOf(IntExpr expr, const SymbolSizes &symbols);

} // namespace mlc

#endif // MLC_REWRITES_COST_WORK_H
