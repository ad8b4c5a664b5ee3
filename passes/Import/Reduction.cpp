//===- Reduction.cpp - ONNX's reductions ----------------------------------===//

#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/OpaqueOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "passes/Import/Handlers.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

/// The axes of a Reduce operator: an attribute, or an input since opset 13
/// (ReduceSum) or 18 (the others). Without axes it reduces all, unless
/// noop_with_empty_axes is set; then `noop` is true and there are no axes.
static std::optional<SmallVector<int64_t>> reduceAxes(Node &n, bool &noop) {
  SmallVector<int64_t> listed = n.intsAttr("axes");
  if (n.has(1)) {
    std::optional<SmallVector<int64_t>> input = n.constants(1, "axes");
    if (!input)
      return std::nullopt;
    listed = *input;
  }
  noop = false;
  if (!listed.empty())
    return n.axes(listed, n.rank(0));
  noop = n.intAttr("noop_with_empty_axes", 0) != 0;
  SmallVector<int64_t> all;
  for (int64_t d = 0; d < n.rank(0) && !noop; ++d)
    all.push_back(d);
  return all;
}

/// Drops dims that a reduction has set to 1.
static Value dropAxes(Node &n, Value value, ArrayRef<int64_t> axes) {
  Dims dims;
  for (auto [i, dim] : llvm::enumerate(dimsOf(value)))
    if (!llvm::is_contained(axes, int64_t(i)))
      dims.push_back(dim);
  return n.reshape(value, dims);
}

/// The log of the sum of exponentials, after subtracting the maximum unless it
/// is infinite: then the sum is infinite, or a sum of zeros.
static Value logSumExp(Node &n, Value x, ArrayRef<int64_t> axes) {
  Value maximum = n.reduce(Reduction::Max, x, axes);
  if (!maximum)
    return {};
  Value infinite =
      n.compare(ComparePredicate::EQ, n.op<AbsOp>(maximum),
                n.scalarConstant(elementTypeOf(x),
                                 std::numeric_limits<double>::infinity()));
  maximum = n.pointwise<SelectOp>(
      {infinite, n.scalarConstant(elementTypeOf(x), 0.0), maximum});
  Value shifted = n.pointwise<SubOp>({x, maximum});
  Value sum = n.reduce(Reduction::Sum, n.op<ExpOp>(shifted), axes);
  return n.pointwise<AddOp>({n.op<LogOp>(sum), maximum});
}

static LogicalResult importReduce(Node &n) {
  bool noop;
  std::optional<SmallVector<int64_t>> axes = reduceAxes(n, noop);
  if (!axes || n.failed())
    return failure();
  StringRef kind = n.opType();
  kind.consume_front("Reduce");
  Value x = n.value(0);
  // Bools are reduced as integers: or is max, and is min.
  bool isBool = n.type(0).isInteger(1);
  if (isBool)
    x = n.cast(x, n.builder().getI32Type());
  // Roots and logarithms of integers are computed as reals and truncated.
  Type real;
  if (isa<IntegerType>(n.type(0)) && kind.starts_with("L") && kind != "L1")
    real = n.builder().getF64Type();
  if (kind == "L1")
    x = n.op<AbsOp>(x);
  else if (kind == "L2" || kind == "SumSquare")
    x = n.op<MulOp>({x, x});
  Value result;
  if (kind == "LogSumExp")
    result = logSumExp(n, real ? n.cast(x, real) : x, *axes);
  else // the norms are sums
    result = n.reduce(symbolizeReduction(kind.lower()).value_or(Reduction::Sum),
                      x, *axes);
  if (real && result)
    result = n.cast(result, real);
  if (kind == "L2")
    result = n.op<SqrtOp>(result);
  else if (kind == "LogSum")
    result = n.op<LogOp>(result);
  if (!result)
    return n.result(result);
  if (real)
    result = n.cast(result, n.type(0));
  if (isBool) // an empty reduction gives the integers' extremes
    result = n.cast(n.op<ClipOp>(result, n.real(0.0), n.real(1.0)), n.type(0));
  if (!noop && !n.intAttr("keepdims", 1))
    result = dropAxes(n, result, *axes);
  return n.result(result);
}

template <typename Op> static LogicalResult importArg(Node &n) {
  int64_t axis = n.axis(n.intAttr("axis", 0), n.rank(0));
  if (n.failed())
    return failure();
  Value x = n.value(0);
  bool last = n.intAttr("select_last_index", 0) != 0;
  if (last)
    x = n.op<ReverseOp>(x, ArrayRef<int64_t>(axis));
  Value index = n.op<Op>(x, axis);
  if (last) {
    Value end = n.op<IntTensorOp>(n.dimsAttr({n.dims(0)[axis] - 1}),
                                  n.dimsAttr({n.integer(1)}));
    index = n.pointwise<SubOp>({end, index});
  }
  if (!n.intAttr("keepdims", 1) && index)
    index = dropAxes(n, index, {axis});
  return n.result(index);
}

static LogicalResult importCumSum(Node &n) {
  std::optional<SmallVector<int64_t>> axis = n.constants(1, "the axis");
  if (!axis)
    return failure();
  if (axis->size() != 1)
    return n.invalid("requires one axis");
  int64_t at = n.axis(axis->front(), n.rank(0));
  bool exclusive = n.intAttr("exclusive", 0), reverse = n.intAttr("reverse", 0);
  return n.result(n.op<CumSumOp>(n.value(0), at, exclusive, reverse));
}

static LogicalResult importTopK(Node &n) {
  int64_t axis = n.axis(n.intAttr("axis", -1), n.rank(0));
  std::optional<Dims> k;
  if (n.opset() < 10)
    k = Dims{n.integer(n.intAttr("k", 0))};
  else if (n.has(1))
    k = n.ints(1, "k");
  if (n.failed())
    return failure();
  if (!k || k->size() != 1)
    return n.invalid("requires one k");
  bool largest = n.intAttr("largest", 1), sorted = n.intAttr("sorted", 1);
  auto made = n.make<TopKOp>(n.value(0), axis, k->front(), largest, sorted);
  if (!made || failed(n.result(0, made.getValues())))
    return failure();
  return n.result(1, made.getIndices());
}

ArrayRef<OperatorEntry> reductionOperators() {
  static const OperatorEntry entries[] = {
      {"", "ArgMax", 1, 1, importArg<ArgMaxOp>},
      {"", "ArgMin", 1, 1, importArg<ArgMinOp>},
      {"", "CumSum", 2, 2, importCumSum},
      {"", "ReduceL1", 1, 2, importReduce},
      {"", "ReduceL2", 1, 2, importReduce},
      {"", "ReduceLogSum", 1, 2, importReduce},
      {"", "ReduceLogSumExp", 1, 2, importReduce},
      {"", "ReduceMax", 1, 2, importReduce},
      {"", "ReduceMean", 1, 2, importReduce},
      {"", "ReduceMin", 1, 2, importReduce},
      {"", "ReduceProd", 1, 2, importReduce},
      {"", "ReduceSum", 1, 2, importReduce},
      {"", "ReduceSumSquare", 1, 2, importReduce},
      {"", "TopK", 1, 2, importTopK},
  };
  return entries;
}

} // namespace mlc
