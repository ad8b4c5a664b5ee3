//===- Scattering.cpp - ONNX's operators with an index per element --------===//
//
// Tensors are flattened, and indices along several axes are combined into one.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "passes/Import/Handlers.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace mlc {

static Value integerScalar(Node &n, IntExpr value) {
  return n.op<IntTensorOp>(n.dimsAttr({value}),
                           n.dimsAttr(ArrayRef<IntExpr>()));
}

namespace {
/// Positions in a flattened tensor, and whether each is inside it.
struct FlatPlaces {
  Value value;
  Value inside;
};
/// A tensor as rows, and the rows that tuples of indices select.
struct Rows {
  int64_t width = 0; // the dims that they combine
  IntExpr count, inner;
  Value places;
};
} // namespace

static Value summed(Node &n, Value sum, Value term) {
  return sum ? n.pointwise<AddOp>({sum, term}) : term;
}

/// Adds `index` along a dim of `extent`; negative indices count from the end.
static void addIndex(Node &n, FlatPlaces &places, Value index, IntExpr extent,
                     IntExpr stride) {
  useAsIndices(n, index, 1, extent, IndexKind::AlsoFromEnd);
  Type i64 = n.builder().getI64Type();
  index = n.cast(index, i64);
  Value zero = n.scalarConstant(i64, 0.0), size = integerScalar(n, extent);
  if (!index || !zero || !size)
    return;
  Value isNegative = n.compare(ComparePredicate::LT, index, zero);
  index = n.pointwise<SelectOp>(
      {isNegative, n.pointwise<AddOp>({index, size}), index});
  Value inside =
      n.pointwise<AndOp>({n.compare(ComparePredicate::GE, index, zero),
                          n.compare(ComparePredicate::LT, index, size)});
  places.inside =
      places.inside ? n.pointwise<AndOp>({places.inside, inside}) : inside;
  places.value = summed(n, places.value,
                        n.pointwise<MulOp>({index, integerScalar(n, stride)}));
}

/// One index each; an outside position becomes `total`, which is out of range.
static Value flatIndices(Node &n, const FlatPlaces &places, IntExpr total) {
  if (!places.value || !places.inside)
    return {};
  Value flat = n.pointwise<SelectOp>(
      {places.inside, places.value, integerScalar(n, total)});
  return flat ? n.reshape(flat, {getNumElements(n.context(), dimsOf(flat))})
              : Value();
}

/// The positions in input 0 that indices (input 1) select along an axis; along
/// other axes they are the positions of the indices themselves.
static Value elementPlaces(Node &n) {
  int64_t rank = n.rank(0), axis = n.axis(n.intAttr("axis", 0), rank);
  if (n.failed() || rank == 0 || n.rank(1) != rank ||
      !isa<IntegerType>(n.type(1))) {
    (void)n.invalid("requires integer indices of the input's rank, 1 or more");
    return {};
  }
  ArrayRef<IntExpr> dims = n.dims(0), picks = n.dims(1);
  FlatPlaces places;
  for (int64_t d = 0; d < rank; ++d) {
    IntExpr stride = getNumElements(n.context(), dims.drop_front(d + 1));
    if (d == axis) {
      addIndex(n, places, n.value(1), dims[d], stride);
      continue;
    }
    n.requireNonNegative(dims[d] - picks[d],
                         "indices must not exceed the input in dim " +
                             Twine(d));
    places.value =
        summed(n, places.value,
               n.op<IotaOp>(n.dimsAttr(picks), d, n.integer(0), stride));
  }
  return flatIndices(n, places, getNumElements(n.context(), dims));
}

static Value flattened(Node &n, Value value) {
  return value ? n.reshape(value, {getNumElements(n.context(), dimsOf(value))})
               : Value();
}

static LogicalResult importGatherElements(Node &n) {
  Value places = elementPlaces(n);
  Value picked = n.op<GatherOp>({flattened(n, n.value(0)), places}, 0);
  return picked ? n.result(n.reshape(picked, n.dims(1))) : failure();
}

/// `x` with the slices at `places` replaced. ONNX does not define which of
/// several updates of one slice stays; here it is the last, as a whole.
static Value replaced(Node &n, Value x, Value places, Value updates) {
  if (!x || !places || !updates)
    return {};
  Type counted = n.builder().getI64Type();
  Dims dims = dimsOf(x), rows(dims.size(), n.integer(1));
  rows[0] = dims[0];
  // For each row, the number of its last update, from 1 on; 0 is none.
  Value none =
      n.op<FillOp>(n.dimsAttr({dims[0]}), n.real(0.0), TypeAttr::get(counted));
  Value numbers =
      n.op<IotaOp>(n.dimsAttr(dimsOf(places)), 0, n.integer(1), n.integer(1));
  Value last = n.op<ScatterAddOp>({none, places, numbers}, 0,
                                  n.builder().getStringAttr("max"));
  Value zero = n.scalarConstant(counted, 0.0);
  Value from = n.pointwise<MaxOp>(
      {n.pointwise<SubOp>({last, n.scalarConstant(counted, 1.0)}), zero});
  Value taken = n.op<GatherOp>({updates, from}, 0);
  Value isHit = n.compare(ComparePredicate::GT, n.reshape(last, rows), zero);
  return n.pointwise<SelectOp>({isHit, taken, x});
}

/// `x` with slices changed by the node's reduction.
static Value scattered(Node &n, Value x, Value places, Value updates) {
  std::string reduction = n.stringAttr("reduction", "none");
  if (reduction == "none")
    return replaced(n, x, places, updates);
  if (n.type(0).isInteger(1)) {
    (void)n.unsupported("reduction " + reduction + " of bool is not supported");
    return {};
  }
  if (reduction == "add")
    return n.op<ScatterAddOp>({x, places, updates}, 0);
  if (reduction == "mul" || reduction == "max" || reduction == "min")
    return n.op<ScatterAddOp>(
        {x, places, updates}, 0,
        n.builder().getStringAttr(reduction == "mul" ? "prod" : reduction));
  (void)n.unsupported("reduction " + reduction + " is not supported");
  return {};
}

static LogicalResult importScatterElements(Node &n) {
  if (n.rank(2) != n.rank(1) || n.type(2) != n.type(0))
    return n.invalid("requires updates of the indices' rank and the input's "
                     "type");
  for (auto [d, pair] : llvm::enumerate(llvm::zip(n.dims(1), n.dims(2))))
    n.requireEqual(std::get<1>(pair), std::get<0>(pair),
                   "updates and indices differ in dim " + Twine(d));
  Value places = elementPlaces(n);
  Value updates = flattened(n, n.reshape(n.value(2), n.dims(1)));
  Value result = scattered(n, flattened(n, n.value(0)), places, updates);
  return result ? n.result(n.reshape(result, n.dims(0))) : failure();
}

/// Input 0 as rows, and the rows that the tuples of input 1 select. Both share
/// the first `batches` dims.
static Rows tupleRows(Node &n, int64_t batches) {
  ArrayRef<IntExpr> dims = n.dims(0), picks = n.dims(1);
  Rows rows;
  if (!picks.empty() && !picks.back().isConstant()) {
    (void)n.unsupported("the last dim of the indices must be known",
                        {Remedy{Remedy::Kind::FixDim}});
    return rows;
  }
  if (picks.empty() || picks.back().getConstant() < 1 ||
      picks.back().getConstant() > n.rank(0) - batches || batches < 0 ||
      batches >= int64_t(picks.size()) || !isa<IntegerType>(n.type(1))) {
    (void)n.invalid("requires integer indices whose last dim is 1 or more, and "
                    "at most the input's rank");
    return rows;
  }
  rows.width = batches + picks.back().getConstant();
  rows.count = getNumElements(n.context(), dims.take_front(rows.width));
  rows.inner = getNumElements(n.context(), dims.drop_front(rows.width));
  FlatPlaces places;
  Dims outer(picks.drop_back());
  for (int64_t d = 0; d < rows.width; ++d) {
    IntExpr stride =
        getNumElements(n.context(), dims.slice(d + 1, rows.width - d - 1));
    if (d < batches) {
      n.requireEqual(dims[d], picks[d], "batch dims must be equal");
      places.value =
          summed(n, places.value,
                 n.op<IotaOp>(n.dimsAttr(outer), d, n.integer(0), stride));
      continue;
    }
    Dims starts(picks.size(), n.integer(0)), sizes(picks),
        steps(picks.size(), n.integer(1));
    starts.back() = n.integer(d - batches);
    sizes.back() = n.integer(1);
    Value index = n.slice(n.value(1), starts, sizes, steps);
    addIndex(n, places, index ? n.reshape(index, outer) : index, dims[d],
             stride);
  }
  rows.places = flatIndices(n, places, rows.count);
  return rows;
}

static LogicalResult importGatherND(Node &n) {
  Rows rows = tupleRows(n, n.intAttr("batch_dims", 0));
  if (!rows.places)
    return failure();
  Value x = n.reshape(n.value(0), {rows.count, rows.inner});
  Value picked = n.op<GatherOp>({x, rows.places}, 0);
  Dims dims(n.dims(1).drop_back());
  llvm::append_range(dims, n.dims(0).drop_front(rows.width));
  return picked ? n.result(n.reshape(picked, dims)) : failure();
}

static LogicalResult importScatterND(Node &n) {
  Rows rows = tupleRows(n, 0);
  if (!rows.places)
    return failure();
  Dims dims(n.dims(1).drop_back());
  llvm::append_range(dims, n.dims(0).drop_front(rows.width));
  if (n.rank(2) != int64_t(dims.size()) || n.type(2) != n.type(0))
    return n.invalid("requires updates of rank " + Twine(dims.size()) +
                     " and the input's type");
  for (auto [have, want] : llvm::zip(n.dims(2), dims))
    n.requireEqual(have, want, "updates must have the dims that indices pick");
  Value x = n.reshape(n.value(0), {rows.count, rows.inner});
  Value updates = n.reshape(n.reshape(n.value(2), dims),
                            {dimsOf(rows.places)[0], rows.inner});
  Value result = scattered(n, x, rows.places, updates);
  return result ? n.result(n.reshape(result, n.dims(0))) : failure();
}

ArrayRef<OperatorEntry> scatteringOperators() {
  static const OperatorEntry entries[] = {
      {"", "GatherElements", 2, 2, importGatherElements},
      {"", "GatherND", 2, 2, importGatherND},
      {"", "Scatter", 3, 3, importScatterElements},
      {"", "ScatterElements", 3, 3, importScatterElements},
      {"", "ScatterND", 3, 3, importScatterND},
  };
  return entries;
}

} // namespace mlc
