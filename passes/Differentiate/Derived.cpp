//===- Derived.cpp - Functions made of other functions --------------------===//

#include "passes/Differentiate/Derived.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/MovementOps.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

FailureOr<Value> createFilled(OpBuilder &builder, Value like, double number) {
  auto type = cast<RankedTensorType>(like.getType());
  FailureOr<FillOp> fill = createOp<FillOp>(
      builder, like.getLoc(),
      DimsAttr::get(builder.getContext(), *getDims(type)),
      RealAttr::get(builder.getContext(), number), type.getElementType());
  return failed(fill) ? FailureOr<Value>(failure())
                      : FailureOr<Value>(fill->getResult());
}

FailureOr<func::FuncOp>
deriveFunction(func::FuncOp function, llvm::StringRef suffix,
               llvm::function_ref<LogicalResult(OpBuilder &, Block &,
                                                llvm::SmallVectorImpl<Value> &)>
                   change) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "requires one block to have a derivative";
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  auto derived = cast<func::FuncOp>(builder.clone(*function));
  derived.setName((function.getName() + suffix).str());
  Block &block = derived.getBody().front();
  Operation *end = block.getTerminator();
  builder.setInsertionPoint(end);
  SmallVector<Value> results;
  if (failed(change(builder, block, results))) {
    derived.erase();
    return failure();
  }
  end->setOperands(results);
  derived.setFunctionType(FunctionType::get(function->getContext(),
                                            block.getArgumentTypes(),
                                            end->getOperandTypes()));
  derived.removeArgAttrsAttr();
  derived.removeResAttrsAttr();
  return derived;
}

} // namespace mlc
