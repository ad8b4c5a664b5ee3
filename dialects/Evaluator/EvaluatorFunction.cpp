//===- EvaluatorFunction.cpp - Values of operators and functions ----------===//

#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Evaluator/Evaluator.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;

namespace mlc {

Expected<std::vector<EvalTensor>> evaluateOp(Operation *op,
                                             ArrayRef<EvalTensor> inputs,
                                             const EvalOptions &options) {
  ElementsAttr value;
  if (op->getNumOperands() == 0 && matchPattern(op, m_Constant(&value))) {
    Expected<EvalTensor> native = EvalTensor::fromAttr(value);
    if (!native)
      return native.takeError();
    Expected<EvalTensor> tensor = native->toDomain(options.domain);
    if (!tensor)
      return tensor.takeError();
    return std::vector<EvalTensor>{std::move(*tensor)};
  }
  if (auto defined = dyn_cast<DefinitionOpInterface>(op)) {
    FailureOr<Definition> definition = getDefinition(defined);
    if (failed(definition))
      return evalError(EvalFailure::Input, "operator is not well formed");
    return evaluate(*definition, inputs, options);
  }
  if (auto opaque = dyn_cast<OpaqueOpInterface>(op)) {
    if (OpaqueEvaluator evaluate = opaque.getEvaluator())
      return evaluate(op, inputs, options);
    return evalError(EvalFailure::Unsupported,
                     "no evaluator for library kernel " +
                         opaque.getLibraryKernel());
  }
  return evalError(EvalFailure::Unsupported, "operator " +
                                                 op->getName().getStringRef() +
                                                 " states no definition");
}

namespace {

/// `at conv_12 (mlc.conv): what`.
Error withPlace(Operation *op, Error error) {
  EvalFailure failure = EvalFailure::Input;
  std::string text;
  llvm::handleAllErrors(
      std::move(error),
      [&](const EvalError &e) {
        failure = e.getFailure();
        text = e.getText().str();
      },
      [&](const llvm::ErrorInfoBase &e) { text = e.message(); });
  std::string place = op->getName().getStringRef().str();
  if (auto named = dyn_cast<NameLoc>(op->getLoc()))
    place = named.getName().str() + " (" + place + ")";
  return evalError(failure, "at " + place + ": " + text);
}

/// Binds the symbols of all arguments, repeatedly as long as more become known.
Error bindArguments(Block &block, ArrayRef<EvalTensor> inputs,
                    llvm::StringMap<int64_t> &symbols) {
  if (block.getNumArguments() != inputs.size())
    return evalError(EvalFailure::Input,
                     "expected " + llvm::Twine(block.getNumArguments()) +
                         " inputs, got " + llvm::Twine(inputs.size()));
  for (int pass = 0; pass < 2; ++pass)
    for (auto [argument, input] : llvm::zip(block.getArguments(), inputs)) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type || type.getElementType() != input.getElementType())
        return evalError(EvalFailure::Input,
                         "input " + llvm::Twine(argument.getArgNumber()) +
                             " has another type");
      if (std::optional<SmallVector<IntExpr>> dims = getDims(type))
        if (Error error = bindSymbols(*dims, input.getDims(), symbols))
          return error;
    }
  return Error::success();
}

} // namespace

Expected<std::vector<EvalTensor>> evaluateFunction(Operation *function,
                                                   ArrayRef<EvalTensor> inputs,
                                                   const EvalOptions &options,
                                                   EvalObserver observer) {
  if (function->getNumRegions() != 1 || !function->getRegion(0).hasOneBlock())
    return evalError(EvalFailure::Unsupported,
                     "only functions of one block are evaluated");
  Block &block = function->getRegion(0).front();
  EvalOptions bound = options;
  if (Error error = bindArguments(block, inputs, bound.symbols))
    return error;
  llvm::DenseMap<Value, EvalTensor> values;
  llvm::DenseMap<Value, unsigned> pending; // remaining uses
  auto define = [&](Value value, const EvalTensor &tensor) {
    pending[value] = std::distance(value.use_begin(), value.use_end());
    if (pending[value])
      values[value] = tensor;
  };
  for (auto [argument, input] : llvm::zip(block.getArguments(), inputs))
    define(argument, input);
  for (Operation &op : block) {
    std::vector<EvalTensor> operands;
    for (Value operand : op.getOperands()) {
      auto it = values.find(operand);
      if (it == values.end())
        return evalError(EvalFailure::Unsupported,
                         "value from outside the function");
      operands.push_back(it->second);
    }
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    Expected<std::vector<EvalTensor>> results =
        evaluateOp(&op, operands, bound);
    if (!results)
      return withPlace(&op, results.takeError());
    operands.clear();
    for (Value operand : op.getOperands())
      if (--pending[operand] == 0)
        values.erase(operand);
    for (auto [result, tensor] : llvm::zip(op.getResults(), *results))
      define(result, tensor);
    if (observer)
      observer(&op, *results);
  }
  return evalError(EvalFailure::Unsupported, "function without a return");
}

} // namespace mlc
