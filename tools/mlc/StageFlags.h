//===- StageFlags.h - The stages of a training step -------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_STAGEFLAGS_H
#define MLC_TOOLS_MLC_STAGEFLAGS_H

#include "runtime/plan/Plan.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// `--stages`, `--stage-ends` and `--pipeline` (docs/Pipelines.md).
class StageFlags {
public:
  explicit StageFlags(llvm::cl::SubCommand &sub);

  /// The flags, which say the same as a plan.
  llvm::SmallVector<const llvm::cl::Option *> options() const;
  /// Sets the stages of a plan that has its ranks, which then run stages
  /// instead of splitting the batch.
  llvm::Error apply(runtime::TrainingPlan &plan) const;

private:
  llvm::cl::opt<int64_t> stages;
  llvm::cl::list<std::string> ends;
  llvm::cl::opt<std::string> schedule;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_STAGEFLAGS_H
