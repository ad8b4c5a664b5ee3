//===- RunCommand.h - `mlc run` and `mlc-run` -------------------*- C++ -*-===//
//
// Runs an artifact on arrays from files and writes the results. The mlc tool
// fills the options from its own command line; mlc-run, which is for users
// without a compiler, parses them here.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_RUNCOMMAND_H
#define MLC_RUNTIME_RUNCOMMAND_H

#include "runtime/Status.h"

#include <string>
#include <vector>

namespace mlc::runtime {

struct RunOptions {
  std::string artifact;
  /// "NAME=x.npy"; "NAME=x.npz" (the array NAME, or the only one); "x.npz"
  /// (each array by its name); "x.npy" if the model has one input.
  std::vector<std::string> inputs;
  /// Where to write <index>.npy, in the model's output order, and outputs.json,
  /// the list of the outputs' names in that order. Empty: not written.
  std::string outputDir;
  /// A .npz of all outputs by name. Empty: not written.
  std::string outputNpz;
  /// "cpu", "cuda", "cuda:N", "emulator"; empty: the first device.
  std::string device;
  unsigned threads = 0; ///< 0: one per core
  /// Print the time of every step of a second run.
  bool profile = false;
  bool flushDenormals = false;
  /// "inproc", "mpi", "gloo", "nccl" or a path: the engine that joins this
  /// process and others as the ranks of an artifact. Empty: according to the
  /// launcher.
  std::string engine;
  unsigned ranks = 0;   ///< for inproc: threads; 0: as many as needed
  unsigned groups = 1;  ///< groups of ranks that take collectives in turn
  double timeout = 300; ///< seconds without progress of a rank
  /// Each rank reads its own shard of inputs and writes its own shard of
  /// outputs; %r in a path is its rank. Otherwise every rank reads the whole,
  /// and rank 0 writes the whole.
  bool ownParts = false;
};

class RankSource;

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
