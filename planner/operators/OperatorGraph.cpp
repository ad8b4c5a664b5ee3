//===- OperatorGraph.cpp - A step of training as numbers ------------------===//

#include "planner/operators/OperatorGraph.h"
#include <cmath>
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::planner;
using runtime::Status;

static int64_t countBytes(const std::vector<int64_t> &dims,
                          int32_t elementBytes) {
  int64_t bytes = elementBytes;
  for (int64_t dim : dims)
    bytes *= dim;
  return bytes;
}

double OperatorDim::shareOf(int32_t parts) const {
  for (const auto &[number, share] : shares)
    if (number == parts)
      return share;
  return 1.0 / parts;
}

int64_t StepTensor::bytes() const { return countBytes(dims, elementBytes); }
int64_t StepWeight::bytes() const { return countBytes(dims, elementBytes); }

static Status wrong(const std::string &name, const std::string &what) {
  return Status::error(MLC_USAGE,
                       fmt::format("the operator graph: {}: {}", name, what));
}

/// Tensors have at least one element, and fewer bytes than 2^62.
static bool isSized(const std::vector<int64_t> &dims, int32_t elementBytes) {
  if (dims.size() > kMostTensorDims)
    return false;
  double bytes = elementBytes;
  for (int64_t dim : dims) {
    if (dim < 1)
      return false;
    bytes *= static_cast<double>(dim);
  }
  return elementBytes >= 1 && bytes < 0x1p62;
}

static bool fits(const std::vector<int64_t> &dims, const DimMap &along,
                 const StepOperator &op) {
  if (along.size() != dims.size())
    return false;
  std::vector<bool> isUsed(op.dims.size(), false);
  for (int32_t dim : along) {
    if (dim == kWhole)
      continue;
    if (dim < 0 || static_cast<size_t>(dim) >= op.dims.size() || isUsed[dim])
      return false;
    isUsed[dim] = true;
  }
  return true;
}

static bool areTimes(const std::vector<double> &seconds, size_t kinds) {
  if (seconds.size() != kinds)
    return false;
  for (double time : seconds)
    if (!std::isfinite(time) || time < 0)
      return false;
  return true;
}

static Status checkOperator(const OperatorGraph &graph, size_t number) {
  const StepOperator &op = graph.operators[number];
  if (!areTimes(op.forwardSeconds, graph.kinds) ||
      !areTimes(op.backwardSeconds, graph.kinds))
    return wrong(op.name, "has no time for each kind of device");
  if (op.dims.size() > kMostDims)
    return wrong(op.name, fmt::format("has more than {} dims", kMostDims));
  for (const OperatorDim &dim : op.dims) {
    if (dim.extent < 1)
      return wrong(op.name, "has a dim without elements");
    for (const auto &[parts, share] : dim.shares)
      if (parts < 1 || !(share > 0 && share <= 1))
        return wrong(op.name, "has a part that takes no share of its time");
  }
  for (const TensorRead &read : op.reads) {
    if (read.tensor < 0 || size_t(read.tensor) >= graph.tensors.size())
      return wrong(op.name, "reads a tensor that there is not");
    const StepTensor &tensor = graph.tensors[read.tensor];
    if (tensor.maker >= int32_t(number))
      return wrong(op.name, "reads " + tensor.name + ", which is made later");
    if (!fits(tensor.dims, read.along, op))
      return wrong(op.name, "reads " + tensor.name + " along other dims");
  }
  for (const WeightRead &read : op.weights) {
    if (read.weight < 0 || size_t(read.weight) >= graph.weights.size())
      return wrong(op.name, "reads a weight that there is not");
    if (!fits(graph.weights[read.weight].dims, read.along, op))
      return wrong(op.name, "reads a weight along other dims");
  }
  for (int32_t result : op.results)
    if (result < 0 || size_t(result) >= graph.tensors.size() ||
        graph.tensors[result].maker != int32_t(number))
      return wrong(op.name, "has a result that it does not make");
  return Status::success();
}

Status OperatorGraph::check() const {
  for (const StepTensor &tensor : tensors) {
    if (!isSized(tensor.dims, tensor.elementBytes))
      return wrong(tensor.name, "has no size, or too many dims");
    if (tensor.maker < -1 || tensor.maker >= int32_t(operators.size()))
      return wrong(tensor.name, "nobody makes it");
    if (tensor.maker >= 0 &&
        !fits(tensor.dims, tensor.along, operators[tensor.maker]))
      return wrong(tensor.name, "lies along other dims than its operator has");
  }
  for (const StepWeight &weight : weights)
    if (!isSized(weight.dims, weight.elementBytes) ||
        !areTimes(weight.updateSeconds, kinds))
      return wrong(weight.name,
                   "has no size, too many dims, or no time of an update");
  for (size_t i = 0; i < operators.size(); ++i)
    if (Status status = checkOperator(*this, i); !status.ok())
      return status;
  return Status::success();
}
