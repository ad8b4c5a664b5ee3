//===- WindowReads.cpp - How operands of a reduction read inputs ----------===//

#include "codegen/cuda/WindowReads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace mlc::cuda {

//===----------------------------------------------------------------------===//
// Reads of an operand
//===----------------------------------------------------------------------===//

bool isPlain(linalg::LinalgOp op) {
  return llvm::none_of(*op.getBlock(), [](Operation &inner) {
    return isa<tensor::ExtractOp>(inner);
  });
}

bool ReadTracer::tracePad(tensor::PadOp op, ArrayRef<Place> places) {
  if (!op.getConstantPaddingValue())
    return false;
  SmallVector<Place> source;
  for (auto [i, place] : llvm::enumerate(places)) {
    IntExpr low = kernel.asExpr(op.getMixedLowPad()[i]);
    IntExpr high = kernel.asExpr(op.getMixedHighPad()[i]);
    if (!low || !low.isConstant())
      return false;
    bool isPadded = !low.isConstant(0) || !high || !high.isConstant(0);
    source.push_back(
        {place.index - low.getConstant(), place.isPadded || isPadded});
  }
  return trace(op.getSource(), source);
}

bool ReadTracer::traceLinalg(linalg::LinalgOp op, unsigned result,
                             ArrayRef<Place> places) {
  if (op.getNumReductionLoops() > 0 || !isPlain(op))
    return false;
  MLIRContext *ctx = kernel.context();
  SmallVector<AffineExpr> loops(op.getNumLoops());
  llvm::SmallBitVector padded(op.getNumLoops());
  AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, place] : llvm::zip_equal(to.getResults(), places))
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      loops[dim.getPosition()] = place.index;
      padded[dim.getPosition()] = place.isPadded;
    }
  for (AffineExpr &loop : loops)
    if (!loop)
      loop = getAffineConstantExpr(0, ctx); // of one step
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()) ||
        op.getMatchingBlockArgument(&operand).use_empty())
      continue;
    SmallVector<Place> source;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      bool isPadded = false;
      expr.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          isPadded |= padded[dim.getPosition()];
      });
      source.push_back({expr.replaceDims(loops), isPadded});
    }
    if (!trace(operand.get(), source))
      return false;
  }
  return true;
}

bool ReadTracer::trace(Value tensor, ArrayRef<Place> places) {
  if (kernel.isInput(tensor)) {
    const Value *at = llvm::find(kernel.inputs, tensor);
    reads.push_back(
        {unsigned(at - kernel.inputs.begin()), SmallVector<Place>(places)});
    return true;
  }
  Operation *op = tensor.getDefiningOp();
  if (auto linalg = dyn_cast_or_null<linalg::LinalgOp>(op))
    return traceLinalg(linalg, cast<OpResult>(tensor).getResultNumber(),
                       places);
  if (auto pad = dyn_cast_or_null<tensor::PadOp>(op))
    return tracePad(pad, places);
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return trace(cast.getSource(), places);
  return isa_and_nonnull<arith::ConstantOp, tensor::EmptyOp>(op);
}

//===----------------------------------------------------------------------===//
// Linear indices
//===----------------------------------------------------------------------===//

unsigned loopOf(AffineExpr term) {
  if (auto division = dyn_cast<AffineBinaryOpExpr>(term))
    term = division.getLHS();
  return cast<AffineDimExpr>(term).getPosition();
}

bool addTo(Linear &sum, AffineExpr expr, int64_t scale) {
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    sum.constant += scale * value.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add)
    return addTo(sum, binary.getLHS(), scale) &&
           addTo(sum, binary.getRHS(), scale);
  if (binary && expr.getKind() == AffineExprKind::Mul) {
    auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    return factor && addTo(sum, binary.getLHS(), scale * factor.getValue());
  }
  bool isDivision = binary && expr.getKind() == AffineExprKind::FloorDiv &&
                    isa<AffineDimExpr>(binary.getLHS()) &&
                    isa<AffineConstantExpr>(binary.getRHS());
  if (!isDivision && !isa<AffineDimExpr>(expr))
    return false;
  IntExpr &at = sum.terms[expr];
  IntExpr added = IntExpr::constant(expr.getContext(), scale);
  at = at ? at + added : added;
  return true;
}

} // namespace mlc::cuda
