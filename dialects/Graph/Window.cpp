//===- Window.cpp - Sliding windows of convolution and pooling ------------===//

#include "dialects/Graph/Window.h"

using namespace mlir;
using namespace mlc;

IntExpr Window::extent(unsigned d) const {
  return (kernel[d] - 1) * dilations[d] + 1;
}

IntExpr Window::outputSize(unsigned d) const {
  return (sizes[d] + low[d] + high[d] + ceilPads[d] - extent(d))
             .floorDiv(strides[d]) +
         1;
}

bool Window::isUnpadded() const {
  for (unsigned d = 0; d < rank(); ++d)
    if (!low[d].isConstant(0) || !high[d].isConstant(0) ||
        !ceilPads[d].isConstant(0))
      return false;
  return true;
}

Expr Window::start(unsigned d, Expr output) const {
  return output * strides[d] - low[d];
}

Expr Window::position(unsigned d, Expr output, Expr tap) const {
  return output * strides[d] + tap * dilations[d] - low[d];
}

void Window::require(DefinitionBuilder &b) const {
  IntExpr zero = IntExpr::constant(b.getContext(), 0);
  for (unsigned d = 0; d < rank(); ++d) {
    b.require(strides[d], ComparePredicate::GT, zero,
              "strides must be positive");
    b.require(dilations[d], ComparePredicate::GT, zero,
              "dilations must be positive");
    b.require(kernel[d], ComparePredicate::GT, zero,
              "the kernel must not be empty");
    // An input smaller than the window by less than a stride gives an empty
    // output, which is legal.
    b.require(sizes[d] + low[d] + high[d] + ceilPads[d] + strides[d],
              ComparePredicate::GE, extent(d),
              "the padded input is too small for the window in spatial dim " +
                  llvm::Twine(d));
  }
}

LogicalResult mlc::checkWindow(Operation *op, unsigned rank, DimsAttr strides,
                               DimsAttr dilations, DimsAttr pads) {
  auto checkSize = [&](StringRef name, DimsAttr list,
                       size_t expected) -> LogicalResult {
    if (list.size() == expected)
      return success();
    return op->emitOpError()
           << "requires " << expected << " " << name << ", got " << list.size();
  };
  if (failed(checkSize("strides", strides, rank)) ||
      failed(checkSize("dilations", dilations, rank)) ||
      failed(checkSize("pads", pads, 2 * rank)))
    return failure();
  for (IntExpr pad : pads)
    if (pad.isConstant() && pad.getConstant() < 0)
      return op->emitOpError() << "requires pads that are not negative, got "
                               << pad.str() << " - insert mlc.slice";
  for (DimsAttr list : {strides, dilations})
    for (IntExpr value : list)
      if (value.isConstant() && value.getConstant() <= 0)
        return op->emitOpError()
               << "requires strides and dilations that are positive, got "
               << value.str();
  return success();
}
