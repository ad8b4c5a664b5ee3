//===- ForwardFlags.h - The stages of a compiled model ----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_FORWARDFLAGS_H
#define MLC_TOOLS_MLC_FORWARDFLAGS_H

#include "runtime/plan/Plan.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// `--stages`, `--stage-ends`, `--micro-batches` and `--pipeline` of a model
/// that is compiled (docs/Pipelines.md).
class ForwardFlags {
public:
  explicit ForwardFlags(llvm::cl::SubCommand &sub);

  bool isGiven() const;
  /// The flags, which say the same as a plan.
  llvm::SmallVector<const llvm::cl::Option *> options() const;
  /// Sets the stages of a plan that has the axes of --mesh, if that is given.
  llvm::Error apply(runtime::Plan &plan) const;

private:
  llvm::cl::opt<int64_t> stages;
  llvm::cl::list<std::string> ends;
  llvm::cl::opt<int64_t> microBatches;
  llvm::cl::opt<std::string> schedule;
};

/// The same as flags, for the manifest.
std::vector<std::string> textsOf(const runtime::ForwardPlan &plan);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_FORWARDFLAGS_H
