//===- RunOutputs.h - The files of a run command ----------------*- C++ -*-===//

#ifndef MLC_RUNTIME_RUNOUTPUTS_H
#define MLC_RUNTIME_RUNOUTPUTS_H

#include "runtime/Npy.h"

namespace mlc::runtime {

/// The files for `count` outputs (RunOptions::outputDir and outputNpz, "" for
/// none): in the folder, then the archive.
std::vector<std::string> runOutputPaths(const std::string &folder,
                                        const std::string &archive,
                                        size_t count);

/// Writes them, all or none.
Status writeRunOutputs(const std::string &folder, const std::string &archive,
                       const std::vector<NpzItem> &outputs);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_RUNOUTPUTS_H
