//===- ImportOptions.h - What an import is told -----------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_IMPORTOPTIONS_H
#define MLC_PASSES_IMPORT_IMPORTOPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlc {

struct ImportOptions {
  /// NAME=N fixes the symbolic dim NAME to N; NAME=any (nothing) leaves it
  /// open, which is also what happens to dims that are not named.
  std::vector<std::pair<std::string, std::optional<int64_t>>> dims;
  /// Weights (initializers, or what a Constant node of the outermost graph
  /// holds) that are parameters: they may change after the model has been
  /// compiled, so that nothing is computed from them before.
  std::vector<std::string> parameters;
  /// Initializers that are inputs too, from IR version 4 on, are parameters,
  /// unless something must be known of one at compile time: then all of them
  /// are constants.
  bool overridable = false;
  /// Parameters behind those which are running statistics: main returns behind
  /// the outputs, for each of these, what the model makes of it.
  std::vector<std::string> statistics;
  /// BatchNormalization and Dropout are taken as in training, whatever the
  /// nodes say.
  bool inTraining = false;
  /// A run fails, with the node's name, where an index is out of range.
  bool checked = false;
};

} // namespace mlc

#endif // MLC_PASSES_IMPORT_IMPORTOPTIONS_H
