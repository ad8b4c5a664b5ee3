//===- TrainedModel.cpp - A model file with its trained weights -----------===//

#include "tools/mlc/TrainedModel.h"
#include "onnx-ml.pb.h"
#include "passes/Export/Trained.h"
#include "passes/Import/ModelFile.h"
#include "passes/Import/Weights.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/SmallFloats.h"

using namespace mlc;
using namespace mlc::cli;
namespace train = mlc::runtime::train;

llvm::Error mlc::cli::writeTrained(const TrainingModel &read, ModelFile &file,
                                   const train::Checkpoint &checkpoint,
                                   llvm::StringRef name,
                                   llvm::StringRef output) {
  std::vector<NewWeight> weights;
  std::vector<HostTensor> values;
  for (auto [weight, own] : llvm::zip(read.kept(), read.own))
    for (const train::Checkpoint::Value &value : checkpoint.values) {
      if (value.owner != weight->name ||
          value.role == runtime::StateRole::Moment)
        continue;
      auto narrow = narrowed(value.tensor, own.type);
      if (!narrow)
        return narrow.takeError();
      weights.push_back({weight->name, {narrow->data.get(), narrow->bytes}});
      values.push_back(std::move(*narrow));
    }
  auto bytes = replaceWeights(file, weights);
  if (!bytes)
    return withFile(name, Exit::Resources, bytes.takeError());
  return writeOutput(output, [&](llvm::raw_ostream &os) {
    os << *bytes;
    return llvm::Error::success();
  });
}

/// The type of a float weight in the file; nothing if there is none.
static std::optional<mlc_dtype> findType(const onnx::GraphProto &graph,
                                         llvm::StringRef name) {
  const onnx::TensorProto *found = nullptr;
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (tensor.name() == name)
      found = &tensor;
  for (const onnx::NodeProto &node : graph.node())
    if (!found && node.output_size() == 1 && node.output(0) == name)
      found = findHeldTensor(node);
  if (!found)
    return std::nullopt;
  switch (found->data_type()) {
  case onnx::TensorProto::FLOAT:
    return MLC_F32;
  case onnx::TensorProto::DOUBLE:
    return MLC_F64;
  case onnx::TensorProto::FLOAT16:
    return MLC_F16;
  case onnx::TensorProto::BFLOAT16:
    return MLC_BF16;
  default:
    return std::nullopt;
  }
}

/// Reads the array `state` of the checkpoint in the form of the model's weight.
static llvm::Expected<HostTensor>
readWeight(const runtime::NpzFile &file, const std::string &path,
           const std::string &state, const Weight &weight, mlc_dtype type) {
  runtime::NpyArray array;
  if (auto status = file.read(state, array); !status.ok())
    return statusFailure(status);
  HostTensor tensor = HostTensor::of(std::move(array));
  const mlc_dtype trained = isSmallFloat(type) ? MLC_F32 : type;
  if (tensor.type != trained || tensor.dims != weight.dims)
    return fail(Exit::BadFile, path + ": '" + runtime::printable(state) +
                                   "' has another type or other dims than "
                                   "the model's");
  return narrowed(std::move(tensor), type);
}

llvm::Error mlc::cli::exportWeights(const std::string &model,
                                    const std::string &checkpoint,
                                    llvm::StringRef output) {
  auto file = ModelFile::open(model);
  if (!file)
    return withFile(model, Exit::BadFile, file.takeError());
  runtime::NpzFile values;
  if (auto status = values.open(checkpoint); !status.ok())
    return statusFailure(status);
  std::vector<std::string> names = values.names();
  const onnx::GraphProto &graph = file->proto().graph();
  std::vector<NewWeight> found;
  std::vector<HostTensor> tensors;
  const std::vector<Weight> weights = listWeights(graph, /*inTraining=*/true);
  for (const Weight &weight : weights) {
    const std::string state = train::weightPrefix + weight.name;
    auto type = findType(graph, weight.name);
    if (!type || !llvm::is_contained(names, state))
      continue;
    auto tensor = readWeight(values, checkpoint, state, weight, *type);
    if (!tensor)
      return tensor.takeError();
    found.push_back({weight.name, {tensor->data.get(), tensor->bytes}});
    tensors.push_back(std::move(*tensor));
  }
  if (found.empty())
    return fail(Exit::BadFile, checkpoint + ": has no weight of " + model +
                                   "; give what --checkpoint wrote");
  auto bytes = replaceWeights(*file, found);
  if (!bytes)
    return withFile(model, Exit::Resources, bytes.takeError());
  return writeOutput(output, [&](llvm::raw_ostream &os) {
    os << *bytes;
    return llvm::Error::success();
  });
}
