//===- TrainedModel.cpp - A model file with its trained weights -----------===//

#include "tools/mlc/TrainedModel.h"
#include "passes/Export/Trained.h"
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

llvm::Expected<train::Checkpoint>
mlc::cli::readWeights(const TrainingModel &read, const std::string &path) {
  runtime::NpzFile file;
  if (auto status = file.open(path); !status.ok())
    return statusFailure(status);
  std::vector<std::string> names = file.names();
  train::Checkpoint checkpoint;
  for (auto [weight, value] : llvm::zip(read.kept(), read.values)) {
    const std::string state = "weight/" + weight->name;
    const std::string shown = "'" + runtime::printable(state) + "'";
    if (!llvm::is_contained(names, state))
      return fail(Exit::BadFile, path + ": has no " + shown +
                                     "; give a checkpoint of this model, with "
                                     "--train and --freeze as it was made");
    runtime::NpyArray array;
    if (auto status = file.read(state, array); !status.ok())
      return statusFailure(status);
    HostTensor tensor = HostTensor::of(std::move(array));
    if (tensor.type != value.type || tensor.dims != value.dims)
      return fail(Exit::BadFile, path + ": " + shown +
                                     " has another type or other dims than "
                                     "the model's");
    checkpoint.values.push_back(
        {state, runtime::StateRole::Weight, weight->name, std::move(tensor)});
  }
  return checkpoint;
}
