//===- Calibration.h - Measures the rates of this machine -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_CALIBRATION_H
#define MLC_TOOLS_MLC_CALIBRATION_H

#include "codegen/target/Target.h"
#include "rewrites/Cost/TimingCache.h"
#include "tools/mlc/Build.h"

namespace mlc::cli {

class Progress;

/// `base` with rates measured on this machine, most of them on kernels that mlc
/// makes. Takes some seconds. Fails with code 8 if the machine cannot run code
/// for `base`.
llvm::Expected<Target> calibrate(const Target &base, Progress &progress);

/// A whole run of a model on one thread.
struct ModelTimes {
  double measured = 0;  ///< seconds: the sum of its kernels' fastest runs
  double predicted = 0; ///< by the target's cost model, without timings
};

/// Adds the times of a model's operators to `cache`, each measured in its
/// kernel (with fused operators), on one thread: the fastest of `runs`, and the
/// median over equal operators. Fails if compiling or running the model does.
llvm::Expected<ModelTimes> timeModel(const ModelOptions &model,
                                     const InputOptions &inputs, unsigned runs,
                                     TimingCache &cache);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_CALIBRATION_H
