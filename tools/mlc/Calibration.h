//===- Calibration.h - What this machine does, measured ---------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_CALIBRATION_H
#define MLC_TOOLS_MLC_CALIBRATION_H

#include "codegen/Target.h"
#include "rewrites/TimingCache.h"
#include "tools/mlc/Build.h"

namespace mlc::cli {

class Progress;

/// `base` with rates measured on this machine, most of them on kernels that
/// mlc makes. Some seconds. Errors: code 8 when the machine cannot run code for
/// `base`.
llvm::Expected<Target> calibrate(const Target &base, Progress &progress);

/// Adds to `cache` what the operators of a model take, each in the kernel in
/// which it runs (with what is fused to it), on one thread: the median of
/// `runs`. Errors: those of compiling and running the model.
llvm::Error timeModel(const ModelOptions &model, const InputOptions &inputs,
                      unsigned runs, TimingCache &cache);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_CALIBRATION_H
