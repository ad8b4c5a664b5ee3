//===- BoostedTrees.h - Regression trees, by XGBoost ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_BOOSTEDTREES_H
#define MLC_TOOLS_MLC_BOOSTEDTREES_H

#include "rewrites/Cost/LearnedCosts.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// Trees whose sum is near the labels: gradient boosting (Chen and Guestrin
/// 2016) by XGBoost's library, which is loaded here and nowhere else; what was
/// learned is used without it. All rows have one length, and there is one at
/// least. The same rows give the same trees. Fails with code 8 where the
/// library is missing (Debian: libxgboost0).
struct BoostedTrees {
  std::vector<RegressionTree> trees;
  double base = 0; ///< what their sum begins with

  static llvm::Expected<BoostedTrees>
  learn(llvm::ArrayRef<std::vector<float>> rows, llvm::ArrayRef<float> labels);
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_BOOSTEDTREES_H
