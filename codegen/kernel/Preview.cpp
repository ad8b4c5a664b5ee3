//===- Preview.cpp - Kernels before they are functions --------------------===//

#include "codegen/kernel/Kernel.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace mlc {

IntExpr Kernel::unknown(Value index) const {
  if (!isPreview)
    return {};
  IntExpr &expr = unknowns[index];
  if (!expr)
    expr = IntExpr::symbol(ctx, "u" + std::to_string(unknowns.size()));
  return expr;
}

/// The function's symbols are the kernel's, so that sizes that are equal are
/// seen to be.
void Kernel::previewSymbols(func::FuncOp outside) {
  auto names =
      outside ? outside->getAttrOfType<ArrayAttr>("mlc.symbols") : ArrayAttr();
  if (!names)
    return;
  for (BlockArgument argument : outside.getArguments())
    if (argument.getType().isIndex() && symbols.size() < names.size()) {
      auto name = dyn_cast<StringAttr>(names[symbols.size()]);
      symbols.push_back(name ? name.str() : "");
      symbolValues.push_back(argument);
    }
}

/// The dims of a tensor from outside of the group, if an argument declares them
/// or an operation gives them as sizes; else none.
Shape Kernel::shapeOutside(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto outside = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto dims = outside ? outside.getArgAttrOfType<DimsAttr>(
                              argument.getArgNumber(), "mlc.dims")
                        : DimsAttr();
    return dims ? Shape(dims.getDims()) : Shape();
  }
  while (auto linalg = value.getDefiningOp<linalg::LinalgOp>())
    value = linalg.getDpsInits()[cast<OpResult>(value).getResultNumber()];
  Operation *op = value.getDefiningOp();
  Shape shape;
  if (isa_and_nonnull<tensor::EmptyOp, tensor::ExtractSliceOp,
                      tensor::ExpandShapeOp>(op) &&
      computeShape(op, shape))
    return shape;
  return {};
}

/// Names the unknown dims of a tensor from outside of the group.
void Kernel::previewInput(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || shapes.contains(value))
    return;
  Shape shape, known = shapeOutside(value);
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    std::string name =
        "d" + std::to_string(inputs.size()) + "_" + std::to_string(d);
    if (!ShapedType::isDynamic(size))
      shape.push_back(IntExpr::constant(ctx, size));
    else
      shape.push_back(known.empty() ? IntExpr::symbol(ctx, name) : known[d]);
  }
  shapes[value] = shape;
  inputs.push_back(value);
  inputSet.insert(value);
}

FailureOr<Kernel> Kernel::preview(ArrayRef<Operation *> ops) {
  Kernel kernel;
  kernel.ctx = ops.front()->getContext();
  kernel.isPreview = true;
  kernel.previewSymbols(ops.front()->getParentOfType<func::FuncOp>());
  llvm::DenseSet<Operation *> members(ops.begin(), ops.end());
  for (Operation *op : ops) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        // Ops without cost are outlined with the ops that use them.
        if (producer && !members.contains(producer) &&
            isa<tensor::EmptyOp, linalg::FillOp>(producer) &&
            !kernel.shapes.contains(operand)) {
          if (isa<linalg::FillOp>(producer))
            kernel.previewInput(operand);
          else if (succeeded(kernel.readShape(producer)))
            kernel.ops.push_back(producer);
        }
        kernel.previewInput(operand);
      }
    });
    if (failed(kernel.readShape(op)))
      return failure();
    kernel.ops.push_back(op);
    if (!kernel.anchor && isContraction(op))
      kernel.anchor = op;
  }
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            while (user && !members.contains(user))
              user = user->getParentOp();
            return !user;
          }))
        kernel.outputs.push_back(result);
  if (kernel.outputs.empty())
    return failure();
  return kernel;
}

} // namespace mlc
