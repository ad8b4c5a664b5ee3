//===- Operators.cpp - A rank's part of an operator -----------------------===//

#include "passes/Distribute/Operators.h"
#include "dialects/Definition/DefinitionForms.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Evaluator/Compare.h"
#include "passes/Differentiate/Emit.h"
#include "passes/Differentiate/Named.h"
#include "passes/Distribute/Localize.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::dist {

/// `op` with other operands and attributes; null if that is not valid.
static Operation *create(OpBuilder &builder, Operation *op, ValueRange operands,
                         const NamedAttrList &attributes) {
  // An invalid operator is an answer here, not an error of the model.
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<Operation *> made = mlc::detail::createInferred(
      builder, op->getLoc(), op->getName().getStringRef(), op->getNumResults(),
      [&](OperationState &state, TypeRange types) {
        state.addOperands(operands);
        state.addAttributes(attributes);
        state.addTypes(types);
      });
  return succeeded(made) ? *made : nullptr;
}

/// The attributes of `op` that hold the dims of its result.
static SmallVector<StringAttr> findDims(Operation *op) {
  SmallVector<StringAttr> names;
  if (op->getNumResults() == 1)
    for (NamedAttribute attribute : op->getAttrs())
      if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
        if (dims.getDims() == ArrayRef<IntExpr>(dimsOf(op->getResult(0))))
          names.push_back(attribute.getName());
  return names;
}

Operation *rebuild(OpBuilder &builder, Operation *op, ValueRange operands,
                   ArrayRef<IntExpr> dims) {
  NamedAttrList attributes(op->getAttrs());
  for (StringAttr name : findDims(op))
    attributes.set(name, DimsAttr::get(op->getContext(), dims));
  return create(builder, op, operands, attributes);
}

/// Whether no rank is known to break a condition: a part may be empty even if
/// the whole is not.
static bool holdsOnAllRanks(const Definition &definition, AxisAttr axis) {
  std::optional<int64_t> ranks = axis.getSize().asConstant();
  for (const Requirement &r : definition.requirements)
    for (int64_t rank = 0; rank < ranks.value_or(0); ++rank) {
      IntExpr difference = (r.lhs - r.rhs).substitute([&](StringRef name) {
        return name == axis.getRank().getSymbol()
                   ? IntExpr::constant(axis.getContext(), rank)
                   : IntExpr();
      });
      if (difference.isConstant() &&
          !compareNumbers<int64_t>(difference.getConstant(), r.predicate, 0))
        return false;
    }
  return true;
}

/// `op` with 0 for one or two numbers of its lists of dims: a part with a halo
/// needs no padding.
static SmallVector<NamedAttrList> withZeros(Operation *op) {
  SmallVector<std::pair<StringAttr, unsigned>> places;
  for (NamedAttribute attribute : op->getAttrs())
    if (auto list = dyn_cast<DimsAttr>(attribute.getValue()))
      for (auto [i, value] : llvm::enumerate(list))
        if (!value.isConstant(0))
          places.push_back({attribute.getName(), i});
  SmallVector<NamedAttrList> found;
  for (unsigned a = 0; a < places.size(); ++a)
    for (unsigned b = a; b < places.size(); ++b) {
      NamedAttrList attributes(op->getAttrs());
      for (auto [name, i] : {places[a], places[b]}) {
        SmallVector<IntExpr> list(
            cast<DimsAttr>(attributes.get(name)).getDims());
        list[i] = list[i] * 0;
        attributes.set(name, DimsAttr::get(op->getContext(), ArrayRef(list)));
      }
      found.push_back(std::move(attributes));
    }
  return found;
}

/// The operator with attributes that say which part of a split operand it has,
/// while others speak of the whole; null if it has none.
static Operation *rebuildPart(OpBuilder &builder, Operation *op,
                              ValueRange operands, const Factor &factor,
                              AxisAttr axis) {
  auto opaque = dyn_cast<OpaqueOpInterface>(op);
  for (auto [i, split] : llvm::enumerate(factor.inputs)) {
    if (!opaque || !split)
      continue;
    IntExpr begin = axis.getBegin(factor.extent) * split->unit;
    if (std::optional<NamedAttrList> attributes =
            opaque.getAttributesOfPart(i, split->dim, begin))
      return create(builder, op, operands, *attributes);
  }
  return nullptr;
}

/// The same operator if its definition equals `local`.
static Operation *rebuildAs(OpBuilder &builder, Operation *op,
                            ValueRange operands, const Definition &local,
                            const Factor &factor, AxisAttr axis, bool hasHalo) {
  ArrayRef<IntExpr> dims = local.stages[local.results[0]].dims;
  Operation *made = rebuild(builder, op, operands, dims);
  if (isa<DistDialect>(op->getDialect()))
    return made;
  auto isRight = [&](Operation *candidate) {
    if (!candidate)
      return false;
    FailureOr<Definition> own =
        getDefinition(cast<DefinitionOpInterface>(candidate));
    if (succeeded(own) && isEqual(*own, local) && holdsOnAllRanks(*own, axis))
      return true;
    candidate->erase();
    return false;
  };
  if (isRight(made))
    return made;
  if (Operation *other = rebuildPart(builder, op, operands, factor, axis);
      isRight(other))
    return other;
  if (hasHalo)
    for (const NamedAttrList &attributes : withZeros(op))
      if (Operation *other = create(builder, op, operands, attributes);
          isRight(other))
        return other;
  return nullptr;
}

/// Emits stage by stage; reduces cut stages before they are read.
static FailureOr<Value> emitCut(OpBuilder &builder, Location loc,
                                const Definition &local, const Plan &plan,
                                ValueRange operands, Parts &parts) {
  SmallVector<Value> stages;
  auto valueOf = [&](TensorId id) {
    return id.isStage ? stages[id.index] : operands[id.index];
  };
  for (auto [s, stage] : llvm::enumerate(local.stages)) {
    if (stage.pieces.size() != 1)
      return Value();
    FailureOr<Value> value = emitNamed(builder, loc, local, stage, valueOf);
    if (succeeded(value) && !*value)
      value = emitStage(builder, loc, local, stage, valueOf);
    if (succeeded(value) && plan.partials.cuts[s])
      value = parts.reduce(*value, *plan.partials.stages[s], loc);
    if (failed(value))
      return Value();
    stages.push_back(*value);
  }
  return stages[local.results[0]];
}

FailureOr<Value> emitPart(OpBuilder &builder, Operation *op, const Plan &plan,
                          ValueRange operands, Parts &parts, AxisAttr axis) {
  Location loc = op->getLoc();
  Definition local = localize(plan.definition, plan.factor, axis);
  if (!plan.partials.isCut())
    if (Operation *same =
            rebuildAs(builder, op, operands, local, plan.factor, axis,
                      llvm::any_of(plan.operands, [](const Place &place) {
                        return place.hasHalo();
                      })))
      return same->getResult(0);
  // A collective's definition covers only dims that it leaves alone.
  if (isa<DistDialect>(op->getDialect()))
    return Value();
  // Some definitions have no text, or exceed its limits.
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  if (plan.partials.isCut())
    return emitCut(builder, loc,
                   guardReads(localize(widenSmallFloats(plan.definition),
                                       plan.factor, axis)),
                   plan, operands, parts);
  bool hasText = local.results[0] + 1 == local.stages.size() &&
                 llvm::all_of(local.stages, [](const Stage &stage) {
                   return stage.pieces.size() == 1;
                 });
  if (!hasText)
    return Value();
  FailureOr<Value> made =
      emitCompute(builder, loc, guardReads(std::move(local)), operands);
  return succeeded(made) ? made : Value();
}

} // namespace mlc::dist
