//===- RunOptions.h - What a run command is asked for -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_RUNOPTIONS_H
#define MLC_RUNTIME_RUNOPTIONS_H

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
  /// Print the time of every step, of a second run.
  bool profile = false;
  bool flushDenormals = false;
  /// The engine that joins this process and others as the ranks of an artifact:
  /// its name (Engines.def) or path. Empty: according to the launcher.
  std::string engine;
  unsigned ranks = 0;   ///< of threads; 0: as many as are needed
  unsigned groups = 1;  ///< of ranks, to which collectives are given in turn
  double timeout = 300; ///< seconds of waiting for a rank without progress
  /// Each rank reads its own part of inputs and writes its own of outputs; in
  /// all paths %r is its rank. Else every rank reads the whole, and rank 0
  /// writes the whole.
  bool ownParts = false;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_RUNOPTIONS_H
