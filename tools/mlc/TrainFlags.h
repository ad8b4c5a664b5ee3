//===- TrainFlags.h - The flags of mlc train --------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAINFLAGS_H
#define MLC_TOOLS_MLC_TRAINFLAGS_H

#include "runtime/train/TrainingLog.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlc::cli {

/// The flags of `mlc train` for reports of steps and of held-out samples.
struct ReportFlags {
  explicit ReportFlags(llvm::cl::SubCommand &sub);

  /// The place of --log, if given.
  llvm::Expected<std::optional<runtime::train::LogPlace>> logPlace() const;

  llvm::cl::opt<int64_t> printEvery;
  llvm::cl::opt<std::string> evaluationFile;
  llvm::cl::opt<int64_t> evaluateEvery;
  llvm::cl::opt<runtime::train::Metric> metric;
  llvm::cl::opt<std::string> best, log;

protected:
  llvm::Error checkReport() const;
};

/// Samples, steps and files of `mlc train`.
struct TrainFlags : ReportFlags {
  explicit TrainFlags(llvm::cl::SubCommand &sub);

  /// Fails for contradicting flags and numbers out of range.
  llvm::Error check() const;
  /// Checks files before long work. Fails if an output is an input, `read`
  /// included, or its folder is missing.
  llvm::Error checkFiles(std::vector<std::string> read) const;

  llvm::cl::opt<unsigned> threads;
  llvm::cl::opt<std::string> dataFile;
  llvm::cl::opt<int64_t> batch;
  llvm::cl::opt<bool> keepHalf;
  llvm::cl::opt<int64_t> steps;
  llvm::cl::opt<uint64_t> seed;
  llvm::cl::opt<std::string> checkpoint;
  llvm::cl::opt<int64_t> checkpointEvery;
  llvm::cl::opt<bool> resume;
  llvm::cl::opt<std::string> artifact;
  llvm::cl::opt<bool> exports;
  llvm::cl::opt<std::string> output;

private:
  llvm::Error checkWithoutTraining() const;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAINFLAGS_H
