//===- OperatorPlans.cpp - Plans of strategies of operators ---------------===//

#include "tools/mlc/OperatorPlans.h"
#include "tools/mlc/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;

namespace {

/// The axes of a mesh, outermost first: where operators' dims end, as numbers
/// of parts from outside.
class Axes {
public:
  /// The first axis is the one of samples.
  llvm::Error find(const OperatorGraph &graph, const Strategies &strategies,
                   int32_t devices) {
    std::set<int32_t> cuts{devices};
    int32_t samples = devices;
    for (size_t i = 0; i < strategies.size(); ++i) {
      int32_t product = 1;
      const StepOperator &op = graph.operators[i];
      const bool hasSamples =
          !op.dims.empty() && op.dims[0].kind == SplitKind::Sample;
      samples =
          std::gcd(samples, hasSamples ? strategies[i].degrees[0] : int32_t(1));
      for (size_t d = 0; d < op.dims.size(); ++d) {
        product *= strategies[i].degrees[d];
        cuts.insert(product);
      }
    }
    cuts.insert(samples);
    int32_t last = 1;
    sizes.push_back(samples);
    for (int32_t cut : cuts) {
      if (cut % last)
        return fail(Exit::Unsupported,
                    fmt::format("operators are divided into {} and into {} "
                                "parts, which no mesh of a plan has; plan for "
                                "a power of two of ranks",
                                last, cut));
      if (cut > samples)
        sizes.push_back(cut / last);
      last = cut;
    }
    return llvm::Error::success();
  }

  static std::string nameOf(size_t axis) {
    return axis == 0 ? std::string(runtime::kDataAxis)
                     : "split" + std::to_string(axis);
  }

  /// The axes from so many parts on that make `degree` parts.
  std::vector<size_t> between(int32_t before, int32_t degree) const {
    std::vector<size_t> found;
    int32_t product = 1;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      if (product >= before && product < before * degree && sizes[axis] > 1)
        found.push_back(axis);
      product *= sizes[axis];
    }
    return found;
  }

  std::vector<int32_t> sizes;
};

} // namespace

/// The names of the axes that split each dim of a tensor.
using Dims = std::vector<std::vector<std::string>>;

/// Those of a tensor, in the forms of a plan. The axis of
/// samples is left out inside of a model, where it is the plan's.
static Dims axesOf(const DimMap &along, const Strategy &strategy,
                   const Axes &axes) {
  Dims dims(along.size());
  for (size_t d = 0; d < along.size(); ++d) {
    if (along[d] == kWhole)
      continue;
    int32_t before = 1;
    for (int32_t i = 0; i < along[d]; ++i)
      before *= strategy.degrees[i];
    for (size_t axis : axes.between(before, strategy.degrees[along[d]]))
      if (axis > 0)
        dims[d].push_back(Axes::nameOf(axis));
  }
  while (dims.size() > 1 && dims.back().empty())
    dims.pop_back();
  if (dims.empty())
    dims.emplace_back();
  return dims;
}

/// For each tensor the different ways in which it is read.
static std::vector<std::vector<Dims>> listWanted(const OperatorGraph &graph,
                                                 const Strategies &strategies,
                                                 const Axes &axes) {
  std::vector<std::vector<Dims>> wanted(graph.tensors.size());
  for (size_t i = 0; i < strategies.size(); ++i)
    for (const TensorRead &read : graph.operators[i].reads) {
      Dims dims = axesOf(read.along, strategies[i], axes);
      std::vector<Dims> &known = wanted[read.tensor];
      if (!llvm::is_contained(known, dims))
        known.push_back(std::move(dims));
    }
  return wanted;
}

llvm::Expected<runtime::Plan> mlc::cli::makePlan(const OperatorGraph &graph,
                                                 const Strategies &strategies,
                                                 int32_t devices) {
  Axes axes;
  if (llvm::Error error = axes.find(graph, strategies, devices))
    return error;
  runtime::Plan plan;
  plan.training.emplace();
  plan.training->ranks = axes.sizes.front();
  for (size_t axis = 1; axis < axes.sizes.size(); ++axis)
    plan.training->axes.push_back(
        {Axes::nameOf(axis), uint32_t(axes.sizes[axis])});
  if (plan.training->axes.empty())
    return plan;
  std::set<std::string> known;
  auto add = [&](const std::string &name, Dims dims, bool keepsWhole) {
    const bool isWhole =
        llvm::all_of(dims, [](const auto &names) { return names.empty(); });
    if (!name.empty() && name.find('*') == std::string::npos &&
        (keepsWhole || !isWhole) && known.insert(name).second)
      plan.shardings.push_back({name, std::move(dims)});
  };
  // A weight is where its first reader has it.
  for (size_t i = 0; i < strategies.size(); ++i)
    for (const WeightRead &read : graph.operators[i].weights)
      if (graph.weights[read.weight].isTrained)
        add(graph.weights[read.weight].name,
            axesOf(read.along, strategies[i], axes), false);
  std::map<std::string, int> names;
  for (const StepTensor &tensor : graph.tensors)
    ++names[tensor.name];
  const std::vector<std::vector<Dims>> wanted =
      listWanted(graph, strategies, axes);
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const StepTensor &tensor = graph.tensors[i];
    // Where all readers want it, the partitioner brings it once.
    if (tensor.maker >= 0 && names[tensor.name] == 1 && !tensor.dims.empty())
      add(tensor.name,
          wanted[i].size() == 1
              ? wanted[i].front()
              : axesOf(tensor.along, strategies[tensor.maker], axes),
          true);
  }
  return plan;
}
