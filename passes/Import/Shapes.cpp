//===- Shapes.cpp - ONNX's constants, shapes and ranges -------------------===//

#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "passes/Import/Handlers.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;
using onnx::AttributeProto;

namespace mlc {

static LogicalResult constantResult(Node &n, ElementsAttr value) {
  Tensor tensor;
  auto type = cast<RankedTensorType>(value.getType());
  tensor.dims = *getDims(type);
  tensor.elementType = type.getElementType();
  tensor.constant = value;
  return n.result(0, std::move(tensor));
}

/// A vector or scalar constant from a list of numbers.
template <typename T>
static LogicalResult listResult(Node &n, ArrayRef<T> values, bool isScalar) {
  Type type = std::is_same_v<T, float> ? Type(n.builder().getF32Type())
                                       : Type(n.builder().getI64Type());
  SmallVector<int64_t> shape;
  if (!isScalar)
    shape.push_back(values.size());
  llvm::StringRef bytes(reinterpret_cast<const char *>(values.data()),
                        values.size() * sizeof(T));
  return constantResult(n,
                        makeElements(RankedTensorType::get(shape, type), bytes,
                                     nullptr, n.getProto().output(0)));
}

static LogicalResult importConstant(Node &n) {
  if (const auto *a = n.find("value", AttributeProto::TENSOR)) {
    llvm::Expected<ElementsAttr> value =
        readTensor(n.context(), a->t(), n.file(), n.getProto().output(0));
    if (!value)
      return n.invalid("its value " + llvm::toString(value.takeError()));
    return constantResult(n, *value);
  }
  if (const auto *a = n.find("value_float", AttributeProto::FLOAT))
    return listResult<float>(n, {a->f()}, true);
  if (const auto *a = n.find("value_int", AttributeProto::INT))
    return listResult<int64_t>(n, {a->i()}, true);
  if (const auto *a = n.find("value_floats", AttributeProto::FLOATS))
    return listResult<float>(
        n, ArrayRef<float>(a->floats().data(), a->floats().size()), false);
  if (const auto *a = n.find("value_ints", AttributeProto::INTS)) {
    SmallVector<int64_t> values(a->ints().begin(), a->ints().end());
    return listResult<int64_t>(n, values, false);
  }
  return n.unsupported("constants of strings or sparse tensors are not "
                       "supported");
}

/// A tensor filled with `value`: a splat if the dims are known.
static LogicalResult filled(Node &n, ArrayRef<IntExpr> dims, Type type,
                            ElementsAttr value) {
  SmallVector<int64_t> shape;
  for (IntExpr dim : dims)
    if (dim.isConstant())
      shape.push_back(dim.getConstant());
  if (shape.size() == dims.size() && countElements(shape)) {
    auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
    Attribute element = dense ? Attribute(*dense.getValues<Attribute>().begin())
                              : Attribute(n.builder().getZeroAttr(type));
    return constantResult(
        n, DenseElementsAttr::get(RankedTensorType::get(shape, type), element));
  }
  double number = 0.0;
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(value)) {
    if (isa<FloatType>(type))
      number = (*dense.getValues<APFloat>().begin()).convertToDouble();
    else if (type.isInteger(1) || type.isUnsignedInteger())
      number = double((*dense.getValues<APInt>().begin()).getZExtValue());
    else
      number = double((*dense.getValues<APInt>().begin()).getSExtValue());
  }
  if (!isa<FloatType>(type) && !isExactInteger(number))
    return n.result(n.broadcast(n.constant(reshapeElements(value, {})), dims));
  return n.result(
      n.op<FillOp>(n.dimsAttr(dims), n.real(number), TypeAttr::get(type)));
}

static LogicalResult importConstantOfShape(Node &n) {
  std::optional<Dims> dims = n.ints(0, "the shape");
  if (!dims)
    return failure();
  for (IntExpr dim : *dims)
    n.requireNonNegative(dim, "a dim must not be negative");
  Type type = n.builder().getF32Type();
  ElementsAttr value;
  if (const auto *a = n.find("value", AttributeProto::TENSOR)) {
    llvm::Expected<ElementsAttr> read =
        readTensor(n.context(), a->t(), n.file(), n.getProto().output(0));
    if (!read)
      return n.invalid("its value " + llvm::toString(read.takeError()));
    value = *read;
    type = value.getElementType();
    if (value.getNumElements() != 1)
      return n.invalid("its value must have one element");
  }
  return n.failed() ? failure() : filled(n, *dims, type, value);
}

/// Integers that follow from dims.
static LogicalResult integersResult(Node &n, ArrayRef<IntExpr> values,
                                    bool isScalar) {
  DimsAttr list = n.dimsAttr(values);
  Dims dims;
  if (!isScalar)
    dims.push_back(n.integer(values.size()));
  if (std::optional<SmallVector<int64_t>> constants = list.asConstants()) {
    SmallVector<int64_t> shape;
    if (!isScalar)
      shape.push_back(values.size());
    return constantResult(
        n, DenseElementsAttr::get(
               RankedTensorType::get(shape, n.builder().getI64Type()),
               ArrayRef<int64_t>(*constants)));
  }
  return n.result(n.op<IntTensorOp>(list, n.dimsAttr(dims)));
}

static LogicalResult importShape(Node &n) {
  int64_t rank = n.rank(0);
  auto clamp = [&](int64_t at) {
    return std::min(std::max(at < 0 ? at + rank : at, int64_t(0)), rank);
  };
  int64_t start = clamp(n.intAttr("start", 0));
  int64_t end = clamp(n.intAttr("end", rank));
  return integersResult(
      n, n.dims(0).slice(start, std::max(end - start, int64_t(0))), false);
}

static LogicalResult importSize(Node &n) {
  return integersResult(n, {getNumElements(n.context(), n.dims(0))}, true);
}

/// Whether a bound of Range is a constant float with a fraction.
static bool isFractional(Node &n, unsigned i) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(n.literal(i));
  return dense && n.isFloat(i) && dense.getNumElements() == 1 &&
         !(*dense.getValues<APFloat>().begin()).isInteger();
}

/// Range of constant floats. Each element is the previous one plus the step,
/// rounded, as in ONNX's function body and ONNX Runtime.
static LogicalResult fractionalRange(Node &n) {
  std::optional<double> bounds[3];
  for (unsigned i = 0; i < 3; ++i)
    if (bounds[i] = n.scalar(i, "a bound of Range"); !bounds[i])
      return failure();
  auto [start, limit, step] = bounds;
  double count = std::ceil((*limit - *start) / *step);
  if (!std::isfinite(*start) || !(count <= double(maxNumbers)))
    return n.unsupported("a Range of fractions must have at most " +
                         Twine(maxNumbers) + " elements");
  SmallVector<Attribute> elements;
  auto type = cast<FloatType>(n.type(0));
  bool loses;
  APFloat value(*start), by(*step);
  for (APFloat *number : {&value, &by})
    number->convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &loses);
  for (int64_t i = 0; double(i) < count; ++i) {
    elements.push_back(FloatAttr::get(type, value));
    value = value + by;
  }
  return constantResult(
      n,
      DenseElementsAttr::get(
          RankedTensorType::get({int64_t(elements.size())}, type), elements));
}

/// Range of known numbers.
static LogicalResult importRange(Node &n) {
  Dims bounds;
  for (unsigned i = 0; i < 3; ++i)
    if (n.type(i) != n.type(0))
      return n.invalid("inputs have different element types");
  if (isFractional(n, 0) || isFractional(n, 1) || isFractional(n, 2))
    return fractionalRange(n);
  for (unsigned i = 0; i < 3; ++i) {
    std::optional<Dims> number = n.ints(i, "a bound of Range");
    if (!number)
      return failure();
    if (number->size() != 1)
      return n.invalid("bounds must be scalars");
    bounds.push_back(number->front());
  }
  IntExpr start = bounds[0], limit = bounds[1], delta = bounds[2];
  if (!delta.isConstant() || delta.isConstant(0))
    return n.unsupported(
        "the step of Range must be constant and not 0",
        {Remedy{Remedy::Kind::GiveConstant}, Remedy{Remedy::Kind::FixDim}});
  IntExpr span = limit - start;
  int64_t step = delta.getConstant();
  if (step == std::numeric_limits<int64_t>::min())
    return n.invalid("the step is out of range");
  IntExpr count = IntExpr::max(
      step > 0 ? span.ceilDiv(step) : (-span).ceilDiv(-step), n.integer(0));
  Value result = n.op<IotaOp>(n.dimsAttr({count}), 0, start, delta);
  return n.result(n.cast(result, n.type(0)));
}

/// 1 on a diagonal.
static LogicalResult importEyeLike(Node &n) {
  if (n.rank(0) != 2)
    return n.invalid("requires a matrix");
  Type type = n.hasAttr("dtype")
                  ? getElementType(n.context(), n.intAttr("dtype", 0))
                  : n.type(0);
  if (!type)
    return n.unsupported("its dtype is not supported");
  int64_t offset = n.intAttr("k", 0);
  auto iota = [&](int64_t axis, int64_t start) {
    return n.op<IotaOp>(n.dimsAttr(n.dims(0)), axis, n.integer(start),
                        n.integer(1));
  };
  return n.result(n.cast(
      n.compare(ComparePredicate::EQ, iota(0, offset), iota(1, 0)), type));
}

/// The triangle where column - row <= k (lower) or >= k (upper), else 0.
static LogicalResult importTrilu(Node &n) {
  int64_t rank = n.rank(0);
  if (rank < 2)
    return n.invalid("requires rank 2 or more");
  IntExpr k = n.integer(0);
  if (n.has(1)) {
    std::optional<Dims> given = n.ints(1, "k");
    if (!given)
      return failure();
    if (given->size() != 1)
      return n.invalid("requires one k");
    k = given->front();
    // No matrix has a diagonal beyond that; positions plus k must not overflow.
    constexpr int64_t farthest = int64_t(1) << 48;
    if (k.isConstant())
      k = n.integer(std::clamp(k.getConstant(), -farthest, farthest));
  }
  Dims matrix(n.dims(0).take_back(2));
  auto iota = [&](int64_t axis, IntExpr start) {
    return n.op<IotaOp>(n.dimsAttr(matrix), axis, start, n.integer(1));
  };
  Value keep = n.compare(n.intAttr("upper", 1) ? ComparePredicate::GE
                                               : ComparePredicate::LE,
                         iota(1, n.integer(0)), iota(0, k));
  Value zero = n.scalarConstant(n.type(0), 0.0);
  return n.result(n.pointwise<SelectOp>({keep, n.value(0), zero}));
}

/// values[1] where the index is the position along a new axis, else values[0].
static LogicalResult importOneHot(Node &n) {
  std::optional<Dims> depth = n.ints(1, "depth");
  if (!depth)
    return failure();
  if (depth->size() != 1 || n.rank(2) != 1)
    return n.invalid("requires one depth and two values");
  n.requireEqual(n.dims(2)[0], n.integer(2), "OneHot requires two values");
  int64_t rank = n.rank(0) + 1;
  int64_t axis = n.axis(n.intAttr("axis", -1), rank);
  if (n.failed())
    return failure();
  Type i64 = n.builder().getI64Type();
  IntExpr one = n.integer(1), count = depth->front();
  Dims dims(n.dims(0)), column(rank, one);
  dims.insert(dims.begin() + axis, one);
  column[axis] = count;
  Value index = n.reshape(n.cast(n.value(0), i64), dims);
  Value positions = n.op<IotaOp>(n.dimsAttr(column), axis, n.integer(0), one);
  // Negative indices count from the end. Large unsigned ones, which became
  // negative, match nothing.
  if (!n.type(0).isUnsignedInteger()) {
    Value end =
        n.op<IntTensorOp>(n.dimsAttr({count}), n.dimsAttr(ArrayRef<IntExpr>()));
    Value isNegative =
        n.compare(ComparePredicate::LT, index, n.scalarConstant(i64, 0.0));
    index = n.pointwise<SelectOp>(
        {isNegative, n.pointwise<AddOp>({index, end}), index});
  }
  auto pick = [&](int64_t at) {
    return n.reshape(n.slice(n.value(2), {n.integer(at)}, {one}, {one}),
                     ArrayRef<IntExpr>());
  };
  return n.result(n.pointwise<SelectOp>(
      {n.compare(ComparePredicate::EQ, index, positions), pick(1), pick(0)}));
}

/// Positions of nonzero elements, if these are known.
static LogicalResult importNonZero(Node &n) {
  std::optional<SmallVector<bool>> truths = n.truths(0);
  if (!truths)
    return failure();
  SmallVector<int64_t> shape = *n.dimsAttr(n.dims(0)).asConstants();
  SmallVector<SmallVector<int64_t>> positions(shape.size());
  for (auto [i, isTrue] : llvm::enumerate(*truths)) {
    int64_t rest = i;
    for (size_t d = shape.size(); isTrue && d-- > 0; rest /= shape[d])
      positions[d].push_back(rest % shape[d]);
  }
  SmallVector<int64_t> all;
  for (ArrayRef<int64_t> row : positions)
    llvm::append_range(all, row);
  int64_t rank = shape.size(), count = llvm::count(*truths, true);
  auto type = RankedTensorType::get({rank, count}, n.builder().getI64Type());
  return constantResult(n, DenseElementsAttr::get(type, ArrayRef(all)));
}

ArrayRef<OperatorEntry> shapeOperators() {
  static const OperatorEntry entries[] = {
      {"", "Constant", 0, 0, importConstant},
      {"", "ConstantOfShape", 1, 1, importConstantOfShape},
      {"", "EyeLike", 1, 1, importEyeLike},
      {"", "NonZero", 1, 1, importNonZero},
      {"", "OneHot", 3, 3, importOneHot},
      {"", "Range", 3, 3, importRange},
      {"", "Shape", 1, 1, importShape},
      {"", "Size", 1, 1, importSize},
      {"", "Trilu", 1, 2, importTrilu},
  };
  return entries;
}

} // namespace mlc
