//===- TopK.cpp - top_k of a split tensor ---------------------------------===//

#include "passes/Distribute/TopK.h"
#include "dialects/Definition/OpInterfaces.h"
#include "passes/Differentiate/Emit.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

namespace {

class TopK {
public:
  TopK(OpBuilder &builder, TopKOp op, Parts &parts, AxisAttr axis, Bring bring)
      : builder(builder), op(op), parts(parts), axis(axis), bring(bring) {}

  /// If a dim other than its axis is split.
  LogicalResult ofRows(const Place &place) {
    FailureOr<Value> part = bring(op.getX(), place);
    if (failed(part))
      return failure();
    FailureOr<TopKOp> made = find(*part, op.getK());
    if (failed(made))
      return failure();
    parts.set(op.getValues(), place, made->getValues());
    parts.set(op.getIndices(), place, made->getIndices());
    return success();
  }

  /// The candidates per part; nothing if parts may have different numbers.
  std::optional<IntExpr> countCandidates(const Place &place) {
    IntExpr k = op.getK();
    IntExpr least = place.extent.floorDiv(axis.getSize()) * place.unit;
    if ((least - k).isKnownNonNegative())
      return k;
    if (!place.extent.exactDiv(axis.getSize()))
      return std::nullopt;
    return IntExpr::min(k, least);
  }

  /// The bytes of values and indices.
  double bytesOfCandidates(IntExpr count) {
    SmallVector<IntExpr> dims = dimsOf(op.getX());
    dims[op.getAxis()] = count * axis.getSize();
    return countElements(dims) *
           (bytesOf(op.getValues()) + bytesOf(op.getIndices())) /
           countElements(dimsOf(op.getValues()));
  }

  /// If its axis is split.
  LogicalResult ofCandidates(const Place &place, IntExpr count) {
    FailureOr<Value> part = bring(op.getX(), place);
    if (failed(part))
      return failure();
    FailureOr<TopKOp> own = find(*part, count);
    if (failed(own))
      return failure();
    FailureOr<Value> indices = inWhole(own->getIndices(), place);
    FailureOr<Value> values = gather(own->getValues(), count),
                     all = failed(indices) ? indices : gather(*indices, count);
    if (failed(values) || failed(all))
      return failure();
    FailureOr<TopKOp> made = find(*values, op.getK());
    FailureOr<Value> chosen = failed(made) ? FailureOr<Value>(failure())
                                           : choose(*all, made->getIndices());
    if (failed(chosen))
      return failure();
    parts.set(op.getValues(), Place::whole(), made->getValues());
    parts.set(op.getIndices(), Place::whole(), *chosen);
    return success();
  }

private:
  FailureOr<TopKOp> find(Value x, IntExpr count) {
    return createOp<TopKOp>(builder, op.getLoc(), x, op.getAxis(), count,
                            op.getLargest(), op.getSorted());
  }

  FailureOr<Value> emit(Definition definition, ValueRange operands) {
    return emitCompute(builder, op.getLoc(), std::move(definition), operands);
  }

  /// Converts indices in a part to indices in the whole.
  FailureOr<Value> inWhole(Value indices, const Place &place) {
    TensorShape shape = shapeOf(indices);
    DefinitionBuilder b(builder.getContext(), {shape});
    IntExpr begin = axis.getBegin(place.extent) * place.unit;
    b.result(b.stage("y", shape.dims, shape.elementType, [&](ArrayRef<Expr> i) {
      return b.read(0, i) + mlc::cast(b.integer(begin), shape.elementType);
    }));
    return emit(b.take(), indices);
  }

  FailureOr<Value> gather(Value part, IntExpr count) {
    MLIRContext *context = builder.getContext();
    IntExpr one = IntExpr::constant(context, 1),
            extent = axis.getSize() * count;
    return parts.gather(part, Place::split(unsigned(op.getAxis()), extent, one),
                        op.getLoc());
  }

  /// Picks the candidates' indices at these positions.
  FailureOr<Value> choose(Value indices, Value places) {
    TensorShape all = shapeOf(indices), shape = shapeOf(places);
    DefinitionBuilder b(builder.getContext(), {all, shape});
    b.result(b.stage("y", shape.dims, shape.elementType, [&](ArrayRef<Expr> i) {
      SmallVector<Expr> at(i);
      at[op.getAxis()] =
          mlc::cast(b.read(1, i), IndexType::get(builder.getContext()));
      return b.readOr(0, at, b.constantInt(shape.elementType, 0));
    }));
    return emit(b.take(), {indices, places});
  }

  OpBuilder &builder;
  TopKOp op;
  Parts &parts;
  AxisAttr axis;
  Bring bring;
};

} // namespace

FailureOr<bool> emitTopK(OpBuilder &builder, TopKOp op, Parts &parts,
                         const Hints &hints, AxisAttr axis, Bring bring) {
  TopK top(builder, op, parts, axis, bring);
  Value x = op.getX();
  unsigned own = op.getAxis();
  double best = parts.costOf(x, Place::whole());
  std::optional<Place> rows;
  auto consider = [&](const Place &place) {
    if (!place.isSplit() || place.dim == own)
      return;
    double cost = parts.costOf(x, place);
    if (cost > best || (rows && cost == best))
      return;
    rows = place;
    best = cost;
  };
  consider(parts.placeOf(x));
  for (Value value : {Value(op.getValues()), Value(op.getIndices()), x})
    if (auto it = hints.wanted.find(value); it != hints.wanted.end())
      consider(it->second);
  Place place = parts.placeOf(x);
  if (!rows && place.isSplit() && place.dim == own)
    if (std::optional<IntExpr> count = top.countCandidates(place))
      if (top.bytesOfCandidates(*count) *
              movedShare(place, Place::whole(), axis) <
          best)
        return failed(top.ofCandidates(place, *count))
                   ? FailureOr<bool>(failure())
                   : FailureOr<bool>(true);
  if (!rows)
    return false;
  return failed(top.ofRows(*rows)) ? FailureOr<bool>(failure())
                                   : FailureOr<bool>(true);
}

} // namespace mlc::dist
