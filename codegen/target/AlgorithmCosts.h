//===- AlgorithmCosts.h - Costs that a back end knows -----------*- C++ -*-===//
//
// What the algorithms of a code generator cost, where a target's description
// does not say it. The cost model asks, and the back end that makes the code
// answers.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_TARGET_ALGORITHMCOSTS_H
#define MLC_CODEGEN_TARGET_ALGORITHMCOSTS_H

#include "codegen/target/ConvolutionShape.h"
#include <optional>

namespace mlc {

/// A batch of matrix products of `rows` x `k` by `k` x `columns`; neighbouring
/// columns are neighbours in memory. A convolution has a row for each output
/// channel of a group, and a column for each output position.
struct ProductShape {
  int64_t batch = 1, rows = 1, columns = 1, k = 1;
  /// The size of a factor's elements.
  int64_t elementBytes = 4;
  /// A factor is the windows of a convolution, which overlap.
  bool hasWindows = false;
};

/// No answer of a back end, or a function that is not set, leaves the cost to
/// the target's description.
struct AlgorithmCosts {
  /// The cost of a convolution by its best algorithm, as a share of the cost
  /// of direct convolution; at most 1.
  std::function<double(const ConvolutionShape &)> convolutionShare;
  /// The seconds of the arithmetic of products in the code that is made for
  /// them, without the launch.
  std::function<std::optional<double>(const ProductShape &)> productSeconds;
  /// Whether pointwise readers of a part of a computed tensor take a kernel of
  /// their own instead of joining the one that computes the whole.
  bool cutsKernelsAtParts = false;
  /// The seconds of the arithmetic of so many products of one shape that read a
  /// common factor, if the back end makes one launch of them.
  std::function<std::optional<double>(const ProductShape &, unsigned)>
      joinedSeconds;
};

} // namespace mlc

#endif // MLC_CODEGEN_TARGET_ALGORITHMCOSTS_H
