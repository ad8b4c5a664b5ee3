//===- Reference.h - Results of ONNX Runtime or the evaluator ---*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_REFERENCE_H
#define MLC_TOOLS_MLC_REFERENCE_H

#include "tools/mlc/Feed.h"
#include <optional>

namespace mlc::cli {

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

struct ReferenceResults {
  std::string by; ///< "ONNX Runtime 1.31.1"
  std::vector<NamedTensor> outputs;
  /// The wanted layers that the model has, in its order.
  std::vector<NamedTensor> layers;
  /// For each layer, the next layers and outputs that depend on it; outputs are
  /// numbered after layers.
  std::vector<std::vector<size_t>> readBy;
};

/// Runs the model with ONNX Runtime in a Python that has it: only $MLC_PYTHON
/// if that is set, else .venv here or above this program, or python3. Nothing
/// if there is none. Fails with ONNX Runtime's errors about the model or its
/// inputs.
llvm::Expected<std::optional<ReferenceResults>>
runOnnxRuntime(llvm::StringRef model, llvm::ArrayRef<NamedTensor> inputs,
               llvm::ArrayRef<std::string> layers);

/// The same with the reference evaluator on the original graph, without layers.
llvm::Expected<ReferenceResults>
runEvaluator(const ModelOptions &model, llvm::ArrayRef<NamedTensor> inputs);

/// ONNX Runtime's results, or the evaluator's if it is not installed.
llvm::Expected<ReferenceResults>
runReference(const ModelOptions &model, llvm::ArrayRef<NamedTensor> inputs,
             llvm::ArrayRef<std::string> layers);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_REFERENCE_H
