//===- MeshFlags.cpp - How a model is split over ranks --------------------===//

#include "tools/mlc/MeshFlags.h"
#include "onnx-ml.pb.h"
#include "runtime/Step.h"
#include "runtime/Text.h"
#include "runtime/transport/Schedule.h"
#include "tools/mlc/Failure.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;
namespace transport = mlc::runtime::transport;

MeshFlags::MeshFlags(cl::SubCommand &sub)
    : planFlag(sub, /*trains=*/false),
      mesh("mesh", cl::value_desc("axis=N,..."),
           cl::desc("Compile for the ranks of a mesh: its axes and how many "
                    "ranks each has; mlc run starts the program on all of "
                    "them (docs/Partitioning.md)"),
           cl::sub(sub)),
      shards("shard", cl::value_desc("name=axis,..."),
             cl::desc("Split the dims of this input, weight or output over "
                      "axes of --mesh: an axis for each dim, several as a+b, "
                      "or - for a dim that is whole, as further dims are; "
                      "* stands for any characters, and of several patterns "
                      "that fit a tensor the last counts"),
             cl::sub(sub)),
      algorithm("algorithm", cl::value_desc("name"),
                cl::desc("How ranks of --mesh add: colocated, naive, ring, "
                         "tree, butterfly, halving-doubling, or own: the "
                         "engine's (own)"),
                cl::sub(sub)),
      forward(sub) {}

llvm::Error mlc::cli::addAxes(llvm::StringRef mesh, runtime::Plan &made) {
  for (std::string_view text : runtime::splitDims(mesh, ',')) {
    auto [name, size] = llvm::StringRef(text).split('=');
    int64_t ranks;
    if (size.getAsInteger(10, ranks) || ranks < 1)
      return fail(Exit::Usage, "--mesh=" + mesh +
                                   ": expected AXIS=N,... with names of "
                                   "letters, digits and _, and N >= 1");
    if (auto status = made.addAxis(name, ranks); !status.ok())
      return fail(Exit::Usage, "--mesh=" + mesh + ": " + status.message);
  }
  return llvm::Error::success();
}

llvm::Error mlc::cli::addSharding(llvm::StringRef text, llvm::StringRef mesh,
                                  runtime::Plan &made) {
  // Names of tensors may contain any character, even `=`.
  auto [pattern, list] = text.rsplit('=');
  if (pattern.empty() || pattern.size() == text.size() || list.empty())
    return fail(Exit::Usage, "--shard=" + text +
                                 ": expected NAME=AXIS,... with an axis or - "
                                 "for each dim");
  auto status = made.addSharding(pattern, runtime::splitDims(list, ','));
  return status.ok()
             ? llvm::Error::success()
             : fail(Exit::Usage, "--shard=" + text + ", --mesh=" + mesh + ": " +
                                     status.message);
}

llvm::Error MeshFlags::check() {
  if (planFlag.isGiven()) {
    // `&` of a cl::list is overloaded.
    llvm::SmallVector<const cl::Option *> others = forward.options();
    others.append({&mesh, std::addressof(shards), &algorithm});
    auto plan = planFlag.read(others);
    if (!plan)
      return plan.takeError();
    made = std::move(*plan);
    return llvm::Error::success();
  }
  auto memory = getBudget().bytes();
  if (!memory)
    return memory.takeError();
  made.memory = *memory;
  if (!isGiven() && mesh.getNumOccurrences())
    return fail(Exit::Usage, "--mesh= has no axes; give AXIS=N,...");
  if (!isGiven() && (!shards.empty() || algorithm.getNumOccurrences()))
    return fail(Exit::Usage,
                std::string(shards.empty() ? "--algorithm" : "--shard") +
                    " is about the ranks of a mesh, and there is none; give "
                    "--mesh=AXIS=N,...");
  if (!isGiven())
    return llvm::Error::success();
  if (algorithm.getNumOccurrences() && algorithm.empty())
    return fail(Exit::Usage, "--algorithm= names no algorithm; there are " +
                                 transport::algorithmNames());
  made.algorithm = algorithm;
  if (!mesh.empty() || !forward.isGiven())
    if (llvm::Error error = addAxes(mesh, made))
      return error;
  if (forward.isGiven())
    if (llvm::Error error = forward.apply(made))
      return error;
  for (const std::string &text : shards)
    if (llvm::Error error = addSharding(text, mesh, made))
      return error;
  auto status = made.check();
  return status.ok() ? llvm::Error::success() : statusFailure(status);
}

static bool isFloat(const onnx::TensorProto &tensor) {
  switch (tensor.data_type()) {
  case onnx::TensorProto::FLOAT:
  case onnx::TensorProto::DOUBLE:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
    return true;
  default:
    return false;
  }
}

/// Lists the first names, for a message.
static std::string listSome(llvm::ArrayRef<llvm::StringRef> names) {
  constexpr size_t shown = 12;
  std::string text;
  for (llvm::StringRef name : names.take_front(shown))
    text += (text.empty() ? "" : ", ") + runtime::printable(name);
  if (names.size() > shown)
    text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

llvm::Expected<std::vector<std::string>>
MeshFlags::weightsOf(const onnx::GraphProto &graph, llvm::StringRef file,
                     llvm::ArrayRef<std::string> parameters) const {
  std::vector<std::string> weights;
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto *ports : {&graph.input(), &graph.output()})
    for (const onnx::ValueInfoProto &port : *ports)
      names.push_back(port.name());
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    names.push_back(tensor.name());
    const runtime::TensorSharding *sharding = made.find(tensor.name());
    if (!sharding || llvm::is_contained(parameters, tensor.name()))
      continue;
    bool isNamed = sharding->pattern == tensor.name();
    if (isNamed || (isFloat(tensor) &&
                    size_t(tensor.dims_size()) >= sharding->axes.size()))
      weights.push_back(tensor.name());
  }
  llvm::StringSet<> nodes;
  for (const onnx::NodeProto &node : graph.node())
    nodes.insert(node.name().empty() && node.output_size() ? node.output(0)
                                                           : node.name());
  for (const runtime::TensorSharding &sharding : made.shardings)
    if (!nodes.contains(sharding.pattern) &&
        llvm::none_of(names, [&](llvm::StringRef name) {
          return runtime::matchesName(sharding.pattern, name);
        }))
      return fail(Exit::Usage, file +
                                   ": has no input, weight, output or node '" +
                                   runtime::printable(sharding.pattern) +
                                   "' for --shard; it has " + listSome(names));
  return weights;
}

std::vector<std::string> MeshFlags::texts() const {
  std::vector<std::string> texts;
  std::string axes;
  for (const runtime::MeshAxis &axis : made.mesh)
    axes +=
        (axes.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  if (!axes.empty())
    texts.push_back("--mesh=" + axes);
  if (made.forward)
    llvm::append_range(texts, textsOf(*made.forward));
  for (const runtime::TensorSharding &sharding : made.shardings)
    texts.push_back("--shard=" + sharding.pattern + "=" + sharding.text());
  if (!made.algorithm.empty())
    texts.push_back("--algorithm=" + made.algorithm);
  return texts;
}
