//===- Weights.h - Which weights of a model are trained ---------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_WEIGHTS_H
#define MLC_PASSES_IMPORT_WEIGHTS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
}

namespace mlc {

/// An initializer of a model.
struct Weight {
  std::string name;
  std::vector<int64_t> dims;
  /// Why it is not trained unless somebody asks for it; empty where it is.
  std::string frozen;
  /// Whether asking helps: it is of floats, and something reads it.
  bool canBeTrained = false;
};

/// The initializers of `graph`, in the file's order, and whether each is one
/// that training changes: of floats, of at least one dim, and read somewhere
/// where it is not a setting (a running mean, the bounds of Clip, the scales of
/// Resize). Nodes inside If and Loop count as readers.
std::vector<Weight> listWeights(const onnx::GraphProto &graph);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_WEIGHTS_H
