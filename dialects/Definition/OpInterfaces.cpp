//===- OpInterfaces.cpp - Types derived from definitions ------------------===//

#include "dialects/Definition/OpInterfaces.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

#include "dialects/Definition/OpInterfaces.cpp.inc"

namespace mlc {

static bool holds(int64_t lhs, ComparePredicate predicate, int64_t rhs) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return lhs == rhs;
  case ComparePredicate::NE:
    return lhs != rhs;
  case ComparePredicate::LT:
    return lhs < rhs;
  case ComparePredicate::LE:
    return lhs <= rhs;
  case ComparePredicate::GT:
    return lhs > rhs;
  case ComparePredicate::GE:
    return lhs >= rhs;
  }
  llvm_unreachable("unknown predicate");
}

FailureOr<Definition> getDefinition(DefinitionOpInterface op) {
  SmallVector<TensorShape> inputs;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    std::optional<SmallVector<IntExpr>> dims;
    if (type)
      dims = getDims(type);
    if (!dims)
      return op->emitOpError() << "operand #" << i
                               << " must be a ranked tensor whose dims are "
                                  "static or named, got "
                               << operand.getType();
    inputs.push_back({*dims, type.getElementType()});
  }
  if (failed(op.checkOperands()))
    return failure();
  DefinitionBuilder builder(op->getContext(), inputs);
  op.define(builder);
  Definition definition = builder.take();
  for (const Requirement &r : definition.requirements) {
    // The difference is decided more often than its sides.
    IntExpr difference = r.lhs - r.rhs;
    if (difference.isConstant() &&
        !holds(difference.getConstant(), r.predicate, 0))
      return op->emitOpError()
             << r.message << " (" << r.lhs.str() << ' ' << name(r.predicate)
             << ' ' << r.rhs.str() << " does not hold)";
  }
  return definition;
}

FailureOr<SmallVector<Type>> inferResultTypes(Operation *op) {
  if (auto opaque = dyn_cast<OpaqueOpInterface>(op))
    return opaque.inferOpaqueTypes();
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    Attribute value;
    if (matchPattern(op, m_Constant(&value)))
      return SmallVector<Type>{cast<TypedAttr>(value).getType()};
  }
  auto defined = dyn_cast<DefinitionOpInterface>(op);
  if (!defined)
    return op->emitOpError() << "states neither a definition nor that it is "
                                "opaque";
  FailureOr<Definition> definition = getDefinition(defined);
  if (failed(definition))
    return failure();
  SmallVector<Type> types;
  for (unsigned result : definition->results) {
    const Stage &stage = definition->stages[result];
    types.push_back(getTensorType(stage.dims, stage.elementType));
  }
  return types;
}

SmallVector<SharedDim> getDimsBeside(Operation *op, unsigned dim) {
  SmallVector<SharedDim> shared;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (d != dim)
      shared.push_back(
          {SmallVector<std::optional<unsigned>, 2>(op->getNumOperands(), d),
           SmallVector<unsigned, 2>(op->getNumResults(), d)});
  return shared;
}

FailureOr<Operation *> detail::createInferred(
    OpBuilder &builder, Location loc, StringRef name, unsigned numResults,
    llvm::function_ref<void(OperationState &, TypeRange)> fill) {
  OperationState state(loc, name);
  // Types are known only after the operator exists.
  SmallVector<Type> unknown(numResults,
                            UnrankedTensorType::get(builder.getF32Type()));
  fill(state, unknown);
  Operation *op = Operation::create(state);
  FailureOr<SmallVector<Type>> types = inferResultTypes(op);
  if (succeeded(types) && types->size() != numResults) {
    op->emitOpError() << "has " << types->size() << " results, not "
                      << numResults;
    types = failure();
  }
  if (failed(types)) {
    op->destroy();
    return failure();
  }
  for (auto [result, type] : llvm::zip(op->getResults(), *types))
    result.setType(type);
  builder.insert(op);
  return op;
}

/// The number of declared operands; nothing if any number is allowed.
static std::optional<size_t> countOperands(OperationName name) {
  if (name.hasTrait<OpTrait::ZeroOperands>())
    return 0;
  if (name.hasTrait<OpTrait::OneOperand>())
    return 1;
  std::optional<size_t> count;
  auto tryCount = [&]<unsigned... N>(std::integer_sequence<unsigned, N...>) {
    ((name.hasTrait<OpTrait::NOperands<N + 2>::template Impl>()
          ? void(count = N + 2)
          : void()),
     ...);
  };
  tryCount(std::make_integer_sequence<unsigned, 8>());
  return count;
}

/// Checks operands and attributes, because an operator's methods assume that
/// the declared ones exist.
static LogicalResult checkDeclared(Location loc, OperationName name,
                                   ValueRange operands,
                                   ArrayRef<NamedAttribute> attributes) {
  std::optional<size_t> count = countOperands(name);
  if (count && operands.size() != *count)
    return emitError(loc) << "'" << name << "' op requires " << *count
                          << " operands, got " << operands.size();
  NamedAttrList list(attributes);
  // No attribute of the mlc dialect is optional; names of other dialects'
  // operators do not come as data.
  bool areNeeded = name.getDialectNamespace() == "mlc";
  for (StringAttr attribute : name.getAttributeNames())
    if (areNeeded && !list.get(attribute))
      return emitError(loc) << "'" << name << "' op requires attribute '"
                            << attribute.getValue() << "'";
  return name.verifyInherentAttrs(list, [&] { return emitError(loc); });
}

FailureOr<Operation *> createOp(OpBuilder &builder, Location loc,
                                StringRef name, ValueRange operands,
                                ArrayRef<NamedAttribute> attributes,
                                unsigned numResults) {
  if (failed(checkDeclared(loc, OperationName(name, builder.getContext()),
                           operands, attributes)))
    return failure();
  return detail::createInferred(builder, loc, name, numResults,
                                [&](OperationState &state, TypeRange types) {
                                  state.addOperands(operands);
                                  state.addAttributes(attributes);
                                  state.addTypes(types);
                                });
}

LogicalResult verifyResultTypes(Operation *op) {
  FailureOr<SmallVector<Type>> types = inferResultTypes(op);
  if (failed(types))
    return failure();
  // Their number is declared, and verified before.
  for (auto [result, type] : llvm::zip_equal(op->getResults(), *types))
    if (result.getType() != type)
      return op->emitOpError()
             << "result #" << result.getResultNumber() << " must be " << type
             << ", got " << result.getType();
  return success();
}

std::optional<int64_t> leastOf(llvm::StringRef list) {
  return llvm::StringSwitch<std::optional<int64_t>>(list)
      .Cases(
          {"dims", "sizes", "starts", "low", "high", "pads", "output_padding"},
          0)
      .Cases({"strides", "dilations", "kernel"}, 1)
      .Default(std::nullopt);
}

} // namespace mlc
