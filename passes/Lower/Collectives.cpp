//===- Collectives.cpp - Collectives on contiguous memory -----------------===//

#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Graph/MovementOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include <numeric>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

#define GEN_PASS_DEF_LOWERCOLLECTIVESPASS
#include "passes/Base/Passes.h.inc"

namespace {

using Dims = SmallVector<IntExpr>;
/// Null: an error was emitted.
using Values = FailureOr<SmallVector<Value>>;

Dims dimsOf(Value value) {
  return *getDims(cast<RankedTensorType>(value.getType()));
}

/// Rewrites one collective. Functions pass on null values from operators that
/// could not be created and have emitted an error.
class Rewriter {
public:
  explicit Rewriter(Operation *op)
      : op(op), context(op->getContext()), b(op),
        axis(op->getAttrOfType<dist::AxisAttr>("axis")) {}

  LogicalResult run();

private:
  template <typename Op, typename... Args> Value create(Args &&...args) {
    FailureOr<Op> made =
        createOp<Op>(b, op->getLoc(), std::forward<Args>(args)...);
    return succeeded(made) ? Value(made->getResult()) : Value();
  }
  IntExpr number(int64_t value) const {
    return IntExpr::constant(context, value);
  }
  DimsAttr attr(ArrayRef<IntExpr> dims) const {
    return DimsAttr::get(context, dims);
  }
  Value reshape(Value x, ArrayRef<IntExpr> dims) {
    return x ? create<ReshapeOp>(x, attr(dims)) : x;
  }
  Value transpose(Value x, ArrayRef<int64_t> permutation) {
    return x ? create<TransposeOp>(x, permutation) : x;
  }
  Value slice(Value x, unsigned dim, IntExpr start, IntExpr size);
  Value padHigh(Value x, unsigned dim, IntExpr count);
  Value concat(ArrayRef<Value> values, unsigned dim);
  Value toFront(Value x, unsigned dim);
  Value fromFront(Value x, unsigned dim);
  /// A collective of the same kind, with these attributes changed.
  Values exchange(ArrayRef<Value> operands, ArrayRef<NamedAttribute> changed);
  NamedAttribute named(StringRef name, Attribute value) const {
    return {StringAttr::get(context, name), value};
  }

  Values exchanged();
  Values alone();
  Values inParts();
  Values packed(ArrayRef<Value> fronts);
  Values allToAll(dist::AllToAllOp op);
  /// The size of rank `rank`'s part of `extent`.
  IntExpr sizeOn(int64_t rank, IntExpr extent) const {
    return axis.getSize(extent).substitute([&](StringRef name) {
      return name == axis.getRank().getSymbol() ? number(rank) : IntExpr();
    });
  }
  /// Zeros with the dims of `x`, but `rows` rows.
  Value zeros(Value x, IntExpr rows) {
    Dims dims = dimsOf(x);
    dims[0] = rows;
    return create<FillOp>(attr(dims), RealAttr::get(context, 0.0),
                          getElementTypeOrSelf(x.getType()));
  }
  Value spread(Value x, IntExpr extent, IntExpr each);
  Value gather(Value x, IntExpr extent);
  Value exchangeBlocks(dist::AllToAllOp op, Value x);
  Values halo(dist::HaloOp op);
  Value shift(Value x, int64_t by);

  Operation *op;
  MLIRContext *context;
  OpBuilder b;
  dist::AxisAttr axis;
};

Value Rewriter::slice(Value x, unsigned dim, IntExpr start, IntExpr size) {
  if (!x)
    return x;
  Dims sizes = dimsOf(x);
  Dims starts(sizes.size(), number(0)), steps(sizes.size(), number(1));
  starts[dim] = start;
  sizes[dim] = size;
  return create<SliceOp>(x, attr(starts), attr(sizes), attr(steps));
}

Value Rewriter::padHigh(Value x, unsigned dim, IntExpr count) {
  if (!x || count.isConstant(0))
    return x;
  Dims low(dimsOf(x).size(), number(0)), high = low;
  high[dim] = count;
  return create<PadOp>(x, attr(low), attr(high), PadMode::Constant,
                       RealAttr::get(context, 0.0));
}

Value Rewriter::concat(ArrayRef<Value> values, unsigned dim) {
  if (llvm::is_contained(values, Value()))
    return {};
  return values.size() == 1 ? values[0]
                            : create<ConcatOp>(values, int64_t(dim));
}

/// Moves dim `dim` to the front, and back.
Value Rewriter::toFront(Value x, unsigned dim) {
  if (dim == 0)
    return x;
  SmallVector<int64_t> permutation(dimsOf(x).size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::rotate(permutation.begin(), permutation.begin() + dim,
              permutation.begin() + dim + 1);
  return transpose(x, permutation);
}

Value Rewriter::fromFront(Value x, unsigned dim) {
  if (!x || dim == 0)
    return x;
  SmallVector<int64_t> permutation(dimsOf(x).size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::rotate(permutation.begin(), permutation.begin() + 1,
              permutation.begin() + dim + 1);
  return transpose(x, permutation);
}

Values Rewriter::exchange(ArrayRef<Value> operands,
                          ArrayRef<NamedAttribute> changed) {
  if (llvm::is_contained(operands, Value()))
    return failure();
  NamedAttrList attributes(op->getAttrs());
  for (NamedAttribute one : changed)
    attributes.set(one.getName(), one.getValue());
  FailureOr<Operation *> made =
      createOp(b, op->getLoc(), op->getName().getStringRef(), operands,
               attributes.getAttrs(), operands.size());
  if (failed(made))
    return failure();
  return SmallVector<Value>((*made)->getResults());
}

//===----------------------------------------------------------------------===//
// An axis of one rank
//===----------------------------------------------------------------------===//

Values Rewriter::alone() {
  SmallVector<Value> results(op->getOperands());
  auto shift = dyn_cast<dist::ShiftOp>(op);
  auto halo = dyn_cast<dist::HaloOp>(op);
  for (Value &value : results) {
    Dims dims = dimsOf(value);
    if (shift && shift.getBy() != 0)
      value = create<FillOp>(attr(dims), RealAttr::get(context, 0.0),
                             getElementTypeOrSelf(value.getType()));
    if (halo) {
      Dims low(dims.size(), number(0)), high = low;
      low[halo.getDim()] = number(halo.getLow());
      high[halo.getDim()] = number(halo.getHigh());
      value = create<PadOp>(value, attr(low), attr(high), PadMode::Constant,
                            RealAttr::get(context, 0.0));
    }
    if (!value)
      return failure();
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Joins operands with the split dim first, whose elements are divided evenly
/// among ranks, into one: [ranks, elements of all].
Values Rewriter::packed(ArrayRef<Value> fronts) {
  const bool scatters = dist::findRow(op)->output == runtime::rows::Part;
  IntExpr ranks = axis.getSize(), one = number(1);
  IntExpr rows = scatters ? ranks : one;
  SmallVector<Value> flat;
  Dims counts;
  for (Value front : fronts) {
    IntExpr count = *getNumElements(context, dimsOf(front)).exactDiv(rows);
    counts.push_back(count);
    flat.push_back(reshape(front, {rows, count}));
  }
  Values joint =
      exchange({concat(flat, 1)},
               {named("dims", b.getDenseI64ArrayAttr({0})),
                named("extents", attr({ranks})), named("units", attr({one}))});
  if (failed(joint))
    return failure();
  SmallVector<Value> results;
  IntExpr offset = number(0);
  for (auto [front, count] : llvm::zip_equal(fronts, counts)) {
    unsigned i = results.size();
    Dims dims = dimsOf(front);
    IntExpr unit = op->getAttrOfType<DimsAttr>("units")[i];
    IntExpr extent = op->getAttrOfType<DimsAttr>("extents")[i];
    dims[0] = (scatters ? axis.getSize(extent) : extent) * unit;
    results.push_back(reshape(slice((*joint)[0], 1, offset, count), dims));
    offset = offset + count;
  }
  return results;
}

Values Rewriter::inParts() {
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>("dims").asArrayRef();
  SmallVector<Value> fronts;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims)) {
    fronts.push_back(toFront(operand, dim));
    if (!fronts.back())
      return failure();
  }
  bool isEven = llvm::all_of(
      op->getAttrOfType<DimsAttr>("extents").getDims(), [&](IntExpr extent) {
        return extent.exactDiv(axis.getSize()).has_value();
      });
  Values results =
      isEven && fronts.size() > 1
          ? packed(fronts)
          : exchange(fronts,
                     {named("dims", b.getDenseI64ArrayAttr(SmallVector<int64_t>(
                                        dims.size(), 0)))});
  if (succeeded(results))
    for (auto [result, dim] : llvm::zip_equal(*results, dims))
      result = fromFront(result, dim);
  return results;
}

//===----------------------------------------------------------------------===//
// All-to-all
//===----------------------------------------------------------------------===//

/// Pads each part of dim 0 to `each`, so that dim 0 has ranks * each.
Value Rewriter::spread(Value x, IntExpr extent, IntExpr each) {
  if (!x || extent.exactDiv(axis.getSize()))
    return x;
  SmallVector<Value> parts;
  IntExpr begin = number(0);
  for (int64_t rank = 0; rank < axis.getSize().getConstant(); ++rank) {
    IntExpr size = sizeOn(rank, extent);
    parts.push_back(size.isConstant(0)
                        ? zeros(x, each)
                        : padHigh(slice(x, 0, begin, size), 0, each - size));
    begin = begin + size;
  }
  return concat(parts, 0);
}

/// From [a, ranks, each, ...] to [a, extent, ...]: of each rank's `each` rows
/// it keeps that rank's part of `extent`.
Value Rewriter::gather(Value x, IntExpr extent) {
  if (!x)
    return x;
  Dims dims = dimsOf(x);
  dims.erase(dims.begin() + 1);
  if (extent.exactDiv(axis.getSize())) {
    dims[1] = extent;
    return reshape(x, dims);
  }
  SmallVector<Value> parts;
  for (int64_t rank = 0; rank < axis.getSize().getConstant(); ++rank) {
    IntExpr size = sizeOn(rank, extent);
    if (size.isConstant(0))
      break;
    Value part = reshape(slice(x, 1, number(rank), number(1)), dims);
    parts.push_back(slice(part, 1, number(0), size));
  }
  return concat(parts, 1);
}

/// From [split, part of join, ...] to [part of split, join, ...].
Value Rewriter::exchangeBlocks(dist::AllToAllOp op, Value x) {
  IntExpr ranks = axis.getSize();
  auto ceil = [&](IntExpr extent) {
    return extent.exactDiv(ranks).value_or(
        (extent + ranks - 1).floorDiv(ranks));
  };
  IntExpr split = op.getSplitExtent(), join = op.getJoinExtent();
  IntExpr rows = ceil(split), columns = ceil(join);
  x = padHigh(spread(x, split, rows), 1, columns - dimsOf(x)[1]);
  if (!x)
    return x;
  // [ranks, 1, rows, columns, ...]
  Dims dims = dimsOf(x);
  dims[0] = rows;
  dims.insert(dims.begin(), {ranks, number(1)});
  Values exchanged = exchange(
      {reshape(x, dims)},
      {named("split", b.getI64IntegerAttr(0)), named("splitExtent", ranks),
       named("join", b.getI64IntegerAttr(1)), named("joinExtent", ranks)});
  if (failed(exchanged))
    return {};
  // [ranks, rows, columns, ...], of which this rank keeps its own rows.
  dims.erase(dims.begin() + 1);
  Value result = reshape((*exchanged)[0], dims);
  IntExpr own = axis.getSize(split);
  if (own != rows)
    result = slice(result, 1, number(0), own);
  SmallVector<int64_t> permutation(dims.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[0], permutation[1]);
  return gather(transpose(result, permutation), join);
}

Values Rewriter::allToAll(dist::AllToAllOp op) {
  auto ranks = axis.getSize().asConstant();
  bool isEven = op.getSplitExtent().exactDiv(axis.getSize()) &&
                op.getJoinExtent().exactDiv(axis.getSize());
  if (!isEven && !ranks)
    return op.emitOpError("has parts of several sizes among ")
           << axis.getSize().str() << " ranks; fix how many there are";
  SmallVector<Value> results;
  for (Value operand : op->getOperands()) {
    // Moves both dims to the front, the split one first, and later back.
    unsigned split = op.getSplit(), join = op.getJoin();
    unsigned after = join < split ? join + 1 : join;
    Value x = toFront(operand, split);
    if (!x)
      return failure();
    SmallVector<int64_t> permutation{0, int64_t(after)}, back;
    for (int64_t d = 1; d < int64_t(dimsOf(x).size()); ++d)
      if (d != int64_t(after))
        permutation.push_back(d);
    back.resize(permutation.size());
    for (auto [to, from] : llvm::enumerate(permutation))
      back[from] = to;
    bool isInOrder = after == 1;
    if (!isInOrder)
      x = transpose(x, permutation);
    if (x)
      x = exchangeBlocks(op, x);
    if (!isInOrder)
      x = transpose(x, back);
    results.push_back(fromFront(x, split));
    if (!results.back())
      return failure();
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Halos
//===----------------------------------------------------------------------===//

Value Rewriter::shift(Value x, int64_t by) {
  if (!x)
    return x;
  FailureOr<Operation *> made =
      createOp(b, op->getLoc(), dist::ShiftOp::getOperationName(), x,
               {named("axis", axis), named("by", b.getI64IntegerAttr(by))});
  return succeeded(made) ? (*made)->getResult(0) : Value();
}

Values Rewriter::halo(dist::HaloOp op) {
  unsigned dim = op.getDim();
  IntExpr low = number(op.getLow()), high = number(op.getHigh());
  SmallVector<Value> results;
  for (Value x : op->getOperands()) {
    SmallVector<Value> parts;
    if (op.getLow())
      parts.push_back(shift(slice(x, dim, dimsOf(x)[dim] - low, low), 1));
    parts.push_back(x);
    if (op.getHigh())
      parts.push_back(shift(slice(x, dim, number(0), high), -1));
    results.push_back(concat(parts, dim));
    if (!results.back())
      return failure();
  }
  return results;
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

Values Rewriter::exchanged() {
  if (axis.getSize().isConstant(1))
    return alone();
  const runtime::rows::Row *row = dist::findRow(op);
  if (!row)
    return halo(cast<dist::HaloOp>(op));
  switch (row->message) {
  case runtime::rows::Units:
    return inParts();
  case runtime::rows::Blocks:
    return allToAll(cast<dist::AllToAllOp>(op));
  case runtime::rows::Elements:
    return SmallVector<Value>(op->getResults());
  }
  llvm_unreachable("a message of another kind");
}

LogicalResult Rewriter::run() {
  Values results = exchanged();
  if (failed(results))
    return failure();
  if (*results == SmallVector<Value>(op->getResults()))
    return success();
  op->replaceAllUsesWith(*results);
  op->erase();
  return success();
}

struct LowerCollectivesPass
    : impl::LowerCollectivesPassBase<LowerCollectivesPass> {
  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)))
      return signalPassFailure();
    SmallVector<Operation *> collectives;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<dist::DistDialect>(op->getDialect()))
        collectives.push_back(op);
    });
    for (Operation *op : collectives)
      if (failed(Rewriter(op).run()))
        return signalPassFailure();
  }
};

} // namespace

} // namespace mlc
