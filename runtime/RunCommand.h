//===- RunCommand.h - `mlc run` and `mlc-run` -------------------*- C++ -*-===//
//
// Runs an artifact on arrays from files and writes the results. The mlc tool
// fills the options from its own command line; mlc-run, which is for users
// without a compiler, parses them here.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_RUNCOMMAND_H
#define MLC_RUNTIME_RUNCOMMAND_H

#include "runtime/RunRanks.h"

namespace mlc::runtime {

/// Runs and writes; prints a line per output to stdout, errors to stderr as
/// "mlc: error: FILE: what; remedy". Returns the exit code (mlc_status, 130
/// when interrupted); incomplete outputs are removed.
int runCommand(const RunOptions &options, RankSource *ranks = nullptr);

/// Prints an error as runCommand does, and returns the exit code.
int tellStatus(const Status &status);

/// main() of mlc-run.
int runMain(int argc, char **argv, RankSource *ranks = nullptr);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_RUNCOMMAND_H
