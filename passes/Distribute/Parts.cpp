//===- Parts.cpp - The tensors of a rank ----------------------------------===//

#include "passes/Distribute/Parts.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/MovementOps.h"
#include "passes/Differentiate/Emit.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::dist {

void Parts::set(Value whole, const Place &place, Value part) {
  deferredCosts.clear();
  Tensor &tensor = tensors[whole];
  // The place where it was computed comes first, but whole goes before it.
  tensor.parts.insert(place.isWhole() ? tensor.parts.begin()
                                      : tensor.parts.end(),
                      {place, part});
  if (place.isWhole() || isSame(place, tensor.deferred, axis))
    tensor.isDeferred = false;
}

void Parts::prefer(Value whole, const Place &place) {
  deferredCosts.clear();
  auto &parts = tensors[whole].parts;
  auto it = llvm::find_if(
      parts, [&](const Part &part) { return isSame(part.place, place, axis); });
  std::rotate(parts.begin(), it, std::next(it));
}

void Parts::forgetStates() {
  deferredCosts.clear();
  for (auto &[whole, tensor] : tensors) {
    Place own = tensor.deferred.isSplit() ? tensor.deferred : placeOf(whole);
    if (!tensor.isState || !own.isSplit())
      continue;
    llvm::erase_if(tensor.parts, [&](const Part &part) {
      return !isSame(part.place, own, axis);
    });
    tensor.isDeferred = tensor.parts.empty();
  }
}

Place Parts::placeOf(Value whole) const {
  auto it = tensors.find(whole);
  if (it == tensors.end())
    return Place::whole();
  const Tensor &tensor = it->second;
  return tensor.isDeferred ? tensor.deferred : tensor.parts.front().place;
}

Value Parts::find(Value whole, const Place &place) const {
  auto it = tensors.find(whole);
  if (it == tensors.end())
    return {};
  for (const Part &part : it->second.parts)
    if (isSame(part.place, place, axis))
      return part.value;
  return {};
}

double Parts::costOf(Value whole, const Place &place) const {
  if (find(whole, place))
    return 0;
  if (place.hasHalo())
    return costOf(whole, place.withoutHalo()) +
           bytesOf(whole) * double(place.low + place.high) /
               countElements({dimsOf(whole)[place.dim]});
  if (find(whole, Place::whole()))
    return 0;
  if (isDeferred(whole)) {
    for (const auto &[known, cost] : deferredCosts[whole])
      if (isSame(known, place, axis))
        return cost;
    double cost = costOfDeferred(whole, place);
    deferredCosts[whole].push_back({place, cost});
    return cost;
  }
  return bytesOf(whole) * movedShare(placeOf(whole), place, axis);
}

FailureOr<Value> Parts::bring(Value whole, const Place &place) {
  if (Value found = find(whole, place))
    return found;
  // The deferred part without its halo exists already.
  if (place.hasHalo())
    return widen(whole, place);
  assert(!isDeferred(whole) && "it was made");
  Part from = tensors[whole].parts.front();
  // Slicing the whole tensor, if it exists, costs nothing.
  if (Value here = find(whole, Place::whole()))
    from = {Place::whole(), here};
  FailureOr<Value> made = change(whole, from, place);
  deferredCosts.clear();
  if (succeeded(made))
    tensors[whole].parts.push_back({place, *made});
  return made;
}

FailureOr<Value> Parts::change(Value whole, const Part &from, const Place &to) {
  Location loc = whole.getLoc();
  if (to.isPartial()) {
    FailureOr<Value> all = bring(whole, Place::whole());
    return failed(all) ? all : makeTerm(*all, to.reduction, loc);
  }
  switch (from.place.kind) {
  case Place::Kind::Whole:
    return cut(from.value, to, loc);
  case Place::Kind::Split:
    return to.isWhole() ? gather(from.value, from.place, loc)
                        : turn(whole, from, to);
  case Place::Kind::Partial:
    return to.isWhole() ? reduce(from.value, from.place.reduction, loc)
                        : scatter(from, to, loc);
  }
  llvm_unreachable("unknown place");
}

/// A replicated value as a partial one: the first rank has it, and the others
/// have the neutral element.
FailureOr<Value> Parts::makeTerm(Value value, Reduction reduction,
                                 Location loc) {
  if (reduction == Reduction::Max || reduction == Reduction::Min)
    return value;
  double neutral = reduction == Reduction::Prod ? 1 : 0;
  TensorShape shape = shapeOf(value);
  DefinitionBuilder b(builder.getContext(), {shape});
  Expr isFirst =
           compare(ComparePredicate::EQ, b.integer(axis.getRank()), b.index(0)),
       other = isa<FloatType>(shape.elementType)
                   ? b.constant(shape.elementType, neutral)
                   : b.constantInt(shape.elementType, neutral);
  b.result(b.stage("y", shape.dims, shape.elementType, [&](ArrayRef<Expr> i) {
    return select(isFirst, b.read(0, i), other);
  }));
  return emitCompute(builder, loc, b.take(), value);
}

FailureOr<Value> createCollective(OpBuilder &builder, Location loc,
                                  StringRef name, Value operand,
                                  ArrayRef<NamedAttribute> attributes) {
  FailureOr<Operation *> op = mlc::detail::createInferred(
      builder, loc, name, 1, [&](OperationState &state, TypeRange types) {
        state.addOperands(operand);
        state.addAttributes(attributes);
        state.addTypes(types);
      });
  if (failed(op))
    return failure();
  return (*op)->getResult(0);
}

/// A part with its halo.
FailureOr<Value> Parts::widen(Value whole, const Place &to) {
  FailureOr<Value> part = bring(whole, to.withoutHalo());
  if (failed(part))
    return failure();
  FailureOr<Value> made = createCollective(
      builder, whole.getLoc(), HaloOp::getOperationName(), *part,
      {builder.getNamedAttr("axis", axis),
       builder.getNamedAttr("dim", builder.getI64IntegerAttr(to.dim)),
       builder.getNamedAttr("low", builder.getI64IntegerAttr(to.low)),
       builder.getNamedAttr("high", builder.getI64IntegerAttr(to.high))});
  deferredCosts.clear();
  if (succeeded(made))
    tensors[whole].parts.push_back({to, *made});
  return made;
}

static NamedAttribute reductionAttr(OpBuilder &builder, Reduction reduction) {
  return builder.getNamedAttr(
      "reduction", builder.getStringAttr(stringifyReduction(reduction)));
}

void Parts::addAlgorithm(SmallVectorImpl<NamedAttribute> &attributes) const {
  if (!options.algorithm.empty())
    attributes.push_back(builder.getNamedAttr(
        "algorithm", builder.getStringAttr(options.algorithm)));
}

FailureOr<Value> Parts::reduce(Value partial, Reduction reduction,
                               Location loc) {
  SmallVector<NamedAttribute> attributes{builder.getNamedAttr("axis", axis),
                                         reductionAttr(builder, reduction)};
  addAlgorithm(attributes);
  return createCollective(builder, loc, AllReduceOp::getOperationName(),
                          partial, attributes);
}

static SmallVector<NamedAttribute> partAttrs(OpBuilder &builder, AxisAttr axis,
                                             const Place &place) {
  MLIRContext *context = builder.getContext();
  return {builder.getNamedAttr("axis", axis),
          builder.getNamedAttr(
              "dims", builder.getDenseI64ArrayAttr({int64_t(place.dim)})),
          builder.getNamedAttr("extents",
                               DimsAttr::get(context, ArrayRef(place.extent))),
          builder.getNamedAttr("units",
                               DimsAttr::get(context, ArrayRef(place.unit)))};
}

FailureOr<Value> Parts::gather(Value part, const Place &place, Location loc) {
  SmallVector<NamedAttribute> attributes = partAttrs(builder, axis, place);
  addAlgorithm(attributes);
  if (options.reshardAfterForward)
    attributes.push_back(builder.getNamedAttr(
        "occasion", builder.getI64IntegerAttr(gatherings++)));
  return createCollective(builder, loc, AllGatherOp::getOperationName(), part,
                          attributes);
}

FailureOr<Value> Parts::scatter(const Part &from, const Place &to,
                                Location loc) {
  SmallVector<NamedAttribute> attributes = partAttrs(builder, axis, to);
  attributes.push_back(reductionAttr(builder, from.place.reduction));
  addAlgorithm(attributes);
  return createCollective(builder, loc, ReduceScatterOp::getOperationName(),
                          from.value, attributes);
}

FailureOr<Value> Parts::cut(Value part, const Place &to, Location loc) {
  MLIRContext *context = builder.getContext();
  SmallVector<IntExpr> sizes = dimsOf(part);
  SmallVector<IntExpr> starts(sizes.size(), IntExpr::constant(context, 0)),
      steps(sizes.size(), IntExpr::constant(context, 1));
  sizes[to.dim] = axis.getSize(to.extent) * to.unit;
  starts[to.dim] = axis.getBegin(to.extent) * to.unit;
  FailureOr<SliceOp> slice = createOp<SliceOp>(
      builder, loc, part, DimsAttr::get(context, ArrayRef(starts)),
      DimsAttr::get(context, ArrayRef(sizes)),
      DimsAttr::get(context, ArrayRef(steps)));
  if (failed(slice))
    return failure();
  return slice->getResult();
}

/// From one split dim to another.
FailureOr<Value> Parts::turn(Value whole, const Part &from, const Place &to) {
  Location loc = whole.getLoc();
  bool hasUnits = !from.place.unit.isConstant(1) || !to.unit.isConstant(1);
  if (hasUnits || from.place.dim == to.dim) {
    FailureOr<Value> all = bring(whole, Place::whole());
    return failed(all) ? all : cut(*all, to, loc);
  }
  SmallVector<NamedAttribute> attributes{
      builder.getNamedAttr("axis", axis),
      builder.getNamedAttr("split", builder.getI64IntegerAttr(to.dim)),
      builder.getNamedAttr("splitExtent", to.extent),
      builder.getNamedAttr("join", builder.getI64IntegerAttr(from.place.dim)),
      builder.getNamedAttr("joinExtent", from.place.extent)};
  return createCollective(builder, loc, AllToAllOp::getOperationName(),
                          from.value, attributes);
}

} // namespace mlc::dist
