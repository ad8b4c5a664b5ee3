//===- Products.cpp - Operation count of contractions ---------------------===//

#include "codegen/kernel/Kernel.h"

using namespace mlir;

namespace mlc {

IntExpr countProducts(const Kernel &kernel) {
  IntExpr all;
  for (Operation *op : kernel.ops) {
    if (!isContraction(op))
      continue;
    auto linalg = cast<linalg::LinalgOp>(op);
    SmallVector<IntExpr> extents(linalg.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = linalg.getMatchingIndexingMap(&operand);
      if (map.getNumResults() == 0)
        continue;
      for (auto [expr, dim] :
           llvm::zip_equal(map.getResults(), kernel.shapeOf(operand.get())))
        if (auto loop = dyn_cast<AffineDimExpr>(expr))
          extents[loop.getPosition()] = dim;
    }
    IntExpr count = IntExpr::constant(kernel.context(), 2);
    for (IntExpr extent : extents)
      if (extent)
        count = count * extent;
    all = all ? all + count : count;
  }
  return all;
}

} // namespace mlc
