//===- Operators.cpp - Operators without their operands -------------------===//

#include "rewrites/EGraph/Operators.h"
#include "dialects/Definition/OpInterfaces.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::ArrayRef;

OperatorTable::~OperatorTable() {
  scratch.dropAllDefinedValueUses();
  scratch.clear();
}

static const void *fromNumber(uintptr_t number) {
  return reinterpret_cast<const void *>(number);
}

OperatorId OperatorTable::intern(const Operator &op) {
  Key key{fromNumber(static_cast<uintptr_t>(op.kind)),
          op.name ? op.name->getAsOpaquePointer() : nullptr,
          op.attributes ? op.attributes.getAsOpaquePointer() : nullptr,
          fromNumber(op.numResults), fromNumber(op.index)};
  auto [it, isNew] =
      ids.try_emplace(key, static_cast<OperatorId>(operators.size()));
  if (isNew)
    operators.push_back(op);
  return it->second;
}

OperatorId OperatorTable::argument(unsigned index) {
  return intern({Operator::Kind::Argument, std::nullopt, {}, 1, index});
}

OperatorId OperatorTable::projection(unsigned index) {
  return intern({Operator::Kind::Projection, std::nullopt, {}, 1, index});
}

OperatorId OperatorTable::compute(OperationName name, DictionaryAttr attributes,
                                  unsigned numResults) {
  return intern({Operator::Kind::Compute, name, attributes, numResults, 0});
}

OperatorTable::Key OperatorTable::prototypeKey(OperatorId id,
                                               ArrayRef<Type> operands) {
  Key key{fromNumber(id)};
  for (Type type : operands)
    key.push_back(type.getAsOpaquePointer());
  return key;
}

Value OperatorTable::operandOf(Type type) {
  auto [it, isNew] = operandValues.try_emplace(type);
  if (isNew)
    it->second = scratch.addArgument(type, UnknownLoc::get(context));
  return it->second;
}

Operation *OperatorTable::prototype(OperatorId id, ArrayRef<Type> operands) {
  auto [it, isNew] = prototypes.try_emplace(prototypeKey(id, operands));
  if (!isNew)
    return it->second;
  llvm::SmallVector<Value> values;
  for (Type type : operands)
    values.push_back(operandOf(type));
  const Operator &op = operators[id];
  OpBuilder builder(context); // the block has no parent to get the context from
  builder.setInsertionPointToEnd(&scratch);
  // An operator that does not fit is an answer here, not an error to report.
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  FailureOr<Operation *> made =
      createOp(builder, builder.getUnknownLoc(), op.name->getStringRef(),
               values, op.attributes.getValue(), op.numResults);
  it->second = succeeded(made) ? *made : nullptr;
  return it->second;
}

OperatorId OperatorTable::add(Operation *op) {
  OperatorId id =
      compute(op->getName(), op->getAttrDictionary(), op->getNumResults());
  llvm::SmallVector<Type> types(op->getOperandTypes());
  prototypes.try_emplace(prototypeKey(id, types), op);
  return id;
}
