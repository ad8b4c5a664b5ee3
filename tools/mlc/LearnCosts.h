//===- LearnCosts.h - Learns what operators take ----------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_LEARNCOSTS_H
#define MLC_TOOLS_MLC_LEARNCOSTS_H

#include "codegen/target/Target.h"
#include "rewrites/Cost/TimingCache.h"

namespace mlc::cli {

/// How well predictions order what was measured: Spearman's and Kendall's rank
/// correlation (tau-b), and the mean of |log(predicted / measured)|. NaN where
/// there are fewer than two different times.
struct RankAgreement {
  double spearman = 0, kendall = 0, error = 0;
};

/// The operators of one file, as trees that were learned from the others
/// predict them, and as the analytic model does. Operators that the file shares
/// with others are not learned from.
struct HeldOutFile {
  std::string file;
  size_t operators = 0;
  RankAgreement learned, analytic;
};

struct CostLearning {
  /// All that was measured, the faster where files differ, with what was
  /// learned from it.
  TimingCache cache;
  /// One for each file, if there are several.
  std::vector<HeldOutFile> heldOut;
  /// All operators of all files together, as they were held out.
  HeldOutFile together;
};

/// Learns from timing files that `mlc calibrate MODEL --timings` wrote for the
/// target. Fails for files of other targets, for operators that this version
/// does not know, and without XGBoost's library.
llvm::Expected<CostLearning> learnCosts(llvm::ArrayRef<std::string> files,
                                        const Target &target);

/// As one object, or as a table.
void printLearning(const CostLearning &learning, bool asJson);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_LEARNCOSTS_H
