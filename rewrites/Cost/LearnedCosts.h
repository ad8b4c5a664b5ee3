//===- LearnedCosts.h - Times of operators from trees -----------*- C++ -*-===//
//
// What an operator takes that was not measured, learned from those that were:
// regression trees say by which factor it differs from the analytic estimate
// (AutoTVM predicts times of kernels with such trees; Chen et al. 2018). They
// are made by `mlc calibrate --learn` and are part of a timing cache.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_COST_LEARNEDCOSTS_H
#define MLC_REWRITES_COST_LEARNEDCOSTS_H

#include "codegen/target/CostParameters.h"
#include "rewrites/Cost/Work.h"
#include "llvm/Support/JSON.h"

namespace mlc {

/// A tree of decisions. A node's children come after it.
struct RegressionTree {
  struct Node {
    /// Of the node itself: left if the feature is less than `value`. -1: a
    /// leaf, whose result is `value`.
    int32_t feature = -1;
    float value = 0;
    int32_t left = 0, right = 0;
  };
  std::vector<Node> nodes;

  float at(llvm::ArrayRef<float> features) const;
};

/// An operator as numbers: work, sizes, and what the rates of the target make
/// of them; logarithms where they span orders of magnitude.
struct CostFeatures {
  /// As the analytic model prices the operator alone, whatever algorithm the
  /// code uses.
  double analyticSeconds = 0;
  std::vector<float> values;

  /// The names of the first values; the rest is 1 for the operator's name among
  /// `operators`, else 0.
  static llvm::ArrayRef<const char *> names();
  /// `arithmeticSeconds` of contractions, `bytesSeconds` of all bytes.
  static CostFeatures of(mlir::Operation *op, const Work &work,
                         double arithmeticSeconds, double bytesSeconds,
                         const CostParameters &parameters,
                         const SymbolSizes &symbols,
                         llvm::ArrayRef<std::string> operators);
};

struct LearnedCosts {
  /// Names of operators that have a feature each, sorted.
  std::vector<std::string> operators;
  std::vector<RegressionTree> trees;
  /// What the trees' sum begins with.
  double base = 0;

  /// What an operator takes.
  double seconds(const CostFeatures &features) const;

  /// Errors say what is missing or wrong.
  static llvm::Expected<LearnedCosts> parse(const llvm::json::Object &object);
  llvm::json::Object write() const;
};

} // namespace mlc

#endif // MLC_REWRITES_COST_LEARNEDCOSTS_H
