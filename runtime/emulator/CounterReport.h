//===- CounterReport.h - What was counted, as a file ------------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_COUNTERREPORT_H
#define MLC_RUNTIME_EMULATOR_COUNTERREPORT_H

#include "runtime/emulator/Counts.h"
#include "runtime/emulator/Launch.h"

#include <string>

namespace mlc::emulator {

/// The process's counts of the launch's kernel, so far. They are written to
/// `file` when the process ends: as JSON if its name ends in .json, else as a
/// table.
KernelCounts &countsOf(const Launch &launch, const std::string &file);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_COUNTERREPORT_H
