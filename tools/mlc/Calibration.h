//===- Calibration.h - What this machine does, measured ---------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_CALIBRATION_H
#define MLC_TOOLS_MLC_CALIBRATION_H

#include "codegen/target/Target.h"
#include "rewrites/Cost/TimingCache.h"
#include "tools/mlc/Build.h"

namespace mlc::cli {

class Progress;

/// `base` with rates measured on this machine, most of them on kernels that
/// mlc makes. Some seconds. Errors: code 8 when the machine cannot run code for
/// `base`.
llvm::Expected<Target> calibrate(const Target &base, Progress &progress);

/// A whole run of a model on one thread.
struct ModelTimes {
  double measured = 0;  ///< seconds: its kernels, each in its calmest run
  double predicted = 0; ///< by the target's cost model, without timings
};

/// Adds to `cache` what the operators of a model take, each in the kernel in
/// which it runs (with what is fused to it), on one thread: the calmest of
/// `runs`, and the median of operators alike. Errors: those of compiling and
/// running the model.
llvm::Expected<ModelTimes> timeModel(const ModelOptions &model,
                                     const InputOptions &inputs, unsigned runs,
                                     TimingCache &cache);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_CALIBRATION_H
