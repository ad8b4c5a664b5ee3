//===- MultiOutput.cpp - Rules with several results -----------------------===//

#include "rewrites/Generate/MultiOutput.h"
#include "dialects/Graph/MovementOps.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc::generate {

namespace {

func::ReturnOp returnOf(func::FuncOp function) {
  return cast<func::ReturnOp>(function.getBody().front().getTerminator());
}

/// The concatenation that a function returns, if any.
ConcatOp concatOf(func::FuncOp function) {
  func::ReturnOp end = returnOf(function);
  return end.getNumOperands() == 1 ? end.getOperand(0).getDefiningOp<ConcatOp>()
                                   : ConcatOp();
}

void collectArguments(Value value, llvm::SmallPtrSetImpl<Value> &out) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    out.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    collectArguments(operand, out);
}

/// Arguments that the operators of all values share; empty if these are not
/// results of different operators.
SmallVector<BlockArgument> sharedArguments(ValueRange values) {
  llvm::SmallPtrSet<Value, 4> seen;
  SmallVector<BlockArgument> shared;
  for (Value value : values) {
    llvm::SmallPtrSet<Value, 4> own;
    collectArguments(value, own);
    if (!value.getDefiningOp() || !seen.insert(value).second)
      return {};
    if (seen.size() == 1)
      for (Value argument : own)
        shared.push_back(cast<BlockArgument>(argument));
    llvm::erase_if(shared, [&](Value one) { return !own.contains(one); });
  }
  return shared;
}

/// Whether `whole` can use the operand that the parts share without a copy.
bool isShared(func::FuncOp whole, ValueRange parts) {
  return llvm::any_of(sharedArguments(parts), [&](BlockArgument argument) {
    Value own = whole.getArgument(argument.getArgNumber());
    return llvm::any_of(own.getUsers(),
                        [](Operation *op) { return !isa<ConcatOp>(op); });
  });
}

/// Returns the parts instead of their concatenation.
void returnParts(func::FuncOp function) {
  ConcatOp concat = concatOf(function);
  func::ReturnOp end = returnOf(function);
  end->setOperands(SmallVector<Value>(concat.getInputs()));
  concat.erase();
}

/// Returns slices of the result, one for each of `types` along `axis`.
void returnSlices(func::FuncOp function, TypeRange types, int64_t axis) {
  func::ReturnOp end = returnOf(function);
  MLIRContext *context = function.getContext();
  OpBuilder at(end);
  SmallVector<Value> slices;
  IntExpr zero = IntExpr::constant(context, 0), start = zero;
  for (Type type : types) {
    SmallVector<IntExpr> sizes = *getDims(cast<RankedTensorType>(type));
    SmallVector<IntExpr> starts(sizes.size(), zero),
        steps(sizes.size(), IntExpr::constant(context, 1));
    starts[axis] = start;
    start = start + sizes[axis];
    slices.push_back(SliceOp::create(at, end.getLoc(), type, end.getOperand(0),
                                     DimsAttr::get(context, starts),
                                     DimsAttr::get(context, sizes),
                                     DimsAttr::get(context, steps)));
  }
  end->setOperands(slices);
}

void updateType(func::FuncOp function) {
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     returnOf(function).getOperandTypes()));
}

} // namespace

std::optional<MultiOutput> multiOutputOf(llvm::StringRef text,
                                         llvm::StringRef name) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseRule(text, context);
  auto def = cast<rule::DefOp>(module->getBody()->front());
  func::FuncOp parts = def.getBefore(), whole = def.getAfter();
  if (!concatOf(parts))
    std::swap(parts, whole);
  ConcatOp concat = concatOf(parts);
  if (!concat || concatOf(whole) || !isShared(whole, concat.getInputs()))
    return std::nullopt;
  SmallVector<Type> types(concat.getInputs().getTypes());
  int64_t axis = concat.getAxis();
  // The text may name the sides in the other order.
  auto [left, right] = def.getText().split(" = ");
  if (!left.starts_with("concat"))
    std::swap(left, right);
  MultiOutput result;
  result.text =
      (left.drop_front(left.find('(')) + " = slices of " + right).str();
  returnParts(parts);
  returnSlices(whole, types, axis);
  for (func::FuncOp side : {parts, whole})
    updateType(side);
  // The separate terms are the before side.
  parts.setSymName("before");
  whole.setSymName("after");
  whole->moveAfter(parts);
  def.setSymName(name);
  def.setText(result.text);
  result.rule = ruleText(*module);
  return result;
}

} // namespace mlc::generate
