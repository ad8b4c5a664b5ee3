//===- Reference.h - What ONNX Runtime says ---------------------*- C++ -*-===//

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
  /// Those of the wanted layers that the model has, in its order.
  std::vector<NamedTensor> layers;
  /// For each layer the layers, and outputs (counted behind them), that are
  /// next to depend on it.
  std::vector<std::vector<size_t>> readBy;
};

/// Runs the model with ONNX Runtime in a Python that has it: $MLC_PYTHON (and
/// nowhere else where that is set), .venv here or above this program, or
/// python3. Nothing where there is none. Errors: what ONNX Runtime says of the
/// model or its inputs.
llvm::Expected<std::optional<ReferenceResults>>
runOnnxRuntime(llvm::StringRef model, llvm::ArrayRef<NamedTensor> inputs,
               llvm::ArrayRef<std::string> layers);

/// The same by the reference evaluator, on the model's own graph. No layers.
llvm::Expected<ReferenceResults>
runEvaluator(const ModelOptions &model, llvm::ArrayRef<NamedTensor> inputs);

/// ONNX Runtime's results, or the evaluator's where that is not installed.
llvm::Expected<ReferenceResults>
runReference(const ModelOptions &model, llvm::ArrayRef<NamedTensor> inputs,
             llvm::ArrayRef<std::string> layers);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_REFERENCE_H
