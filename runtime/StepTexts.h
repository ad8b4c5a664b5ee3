//===- StepTexts.h - What people read of the steps --------------*- C++ -*-===//

#ifndef MLC_RUNTIME_STEPTEXTS_H
#define MLC_RUNTIME_STEPTEXTS_H

#include "runtime/Program.h"

namespace mlc::runtime {

/// Describes each step of a valid program, without its tensors, for people:
/// "kernel k3, tasks 4*N, args (N; 2*N)".
std::vector<std::string> describeSteps(const Program &program,
                                       const std::vector<MeshAxis> &mesh = {});

} // namespace mlc::runtime

#endif // MLC_RUNTIME_STEPTEXTS_H
