//===- NpzOutput.h - Files of arrays, whole or not at all -------*- C++ -*-===//

#ifndef MLC_RUNTIME_NPZOUTPUT_H
#define MLC_RUNTIME_NPZOUTPUT_H

#include "runtime/Npy.h"

namespace mlc::runtime {

/// Writes the arrays to the .npz file atomically (OutputFiles.h). Threads take
/// turns.
Status writeNpzFile(const std::string &path, const std::vector<NpzItem> &items);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_NPZOUTPUT_H
