//===- Prepare.cpp - Linalg made ready for grouping -----------------------===//

#include "passes/Fuse/Prepare.h"
#include "codegen/kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

/// Whether the maps still determine every loop's extent.
static bool showAllLoops(ArrayRef<AffineMap> maps, MLIRContext *context) {
  return inversePermutation(concatAffineMaps(maps, context)) != AffineMap();
}

/// A broadcast is never worth its memory. Other data movement is read through
/// by contractions, which copy their operands anyway, and if it has one reader.
static bool shouldReadThrough(linalg::GenericOp consumer,
                              linalg::GenericOp producer, AffineMap movement) {
  bool isBroadcast = movement.getNumDims() > 0 && !movement.isPermutation();
  for (AffineExpr expr : movement.getResults())
    isBroadcast &= isa<AffineDimExpr, AffineConstantExpr>(expr);
  return isBroadcast || isContraction(consumer) || producer->hasOneUse();
}

static void readThroughMovement(linalg::GenericOp op, const Backend &backend) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    while (auto producer = operand->get().getDefiningOp<linalg::GenericOp>()) {
      std::optional<AffineMap> movement = getMovement(producer);
      if (!movement || !shouldReadThrough(op, producer, *movement))
        break;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      unsigned i = operand->getOperandNumber();
      AffineMap before = maps[i];
      maps[i] = movement->compose(before);
      if (isContraction(op) &&
          !backend.canReadThrough(op, before, *movement, maps[i]))
        break;
      if (!showAllLoops(maps, op.getContext()))
        break;
      operand->set(producer.getDpsInputOperand(0)->get());
      op.setIndexingMapsAttr(OpBuilder(op).getAffineMapArrayAttr(maps));
    }
  }
}

/// The single op of a body that widens its operand exactly; null if `op` does
/// anything else.
static Operation *getWidening(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      !llvm::hasSingleElement(op.getBody()->without_terminator()))
    return nullptr;
  Operation &cast = op.getBody()->front();
  if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(cast) ||
      cast.getOperand(0) != op.getBody()->getArgument(0) ||
      op.getBody()->getTerminator()->getOperand(0) != cast.getResult(0))
    return nullptr;
  return &cast;
}

/// Moves the widening of a contraction's factors into its body.
static void widenFactors(linalg::GenericOp op, const Backend &backend) {
  if (!isContraction(op) || !backend.canWidenFactors())
    return;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    Operation *cast = producer ? getWidening(producer) : nullptr;
    if (!cast)
      continue;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    unsigned i = operand->getOperandNumber();
    OpOperand *source = producer.getDpsInputOperand(0);
    maps[i] = producer.getMatchingIndexingMap(source).compose(maps[i]);
    if (!showAllLoops(maps, op.getContext()))
      continue;
    BlockArgument argument = op.getBody()->getArgument(i);
    argument.setType(cast->getOperand(0).getType());
    OpBuilder b = OpBuilder::atBlockBegin(op.getBody());
    IRMapping mapping;
    mapping.map(cast->getOperand(0), argument);
    Operation *copy = b.clone(*cast, mapping);
    argument.replaceAllUsesExcept(copy->getResult(0), copy);
    operand->set(source->get());
    op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }
}

/// Moves constants into the bodies that use them, so that these can be moved;
/// CSE hoists them.
static void sinkConstants(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  OpBuilder b = OpBuilder::atBlockBegin(body);
  for (Value value : captured) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    if (!constant || isa<ShapedType>(value.getType()))
      continue;
    Value copy = b.clone(*constant)->getResult(0);
    value.replaceUsesWithIf(copy, [&](OpOperand &use) {
      return op->isProperAncestor(use.getOwner());
    });
  }
}

/// Makes a slice of a fill a fill of its own: a view would need the whole one
/// in memory, which nobody writes.
static void sliceFills(func::FuncOp function) {
  function.walk([](tensor::ExtractSliceOp slice) {
    auto fill = slice.getSource().getDefiningOp<linalg::FillOp>();
    if (!fill || slice.getType().getRank() != slice.getSourceType().getRank())
      return;
    OpBuilder b(slice);
    Value init =
        tensor::EmptyOp::create(b, slice.getLoc(), slice.getMixedSizes(),
                                slice.getType().getElementType());
    Value own = linalg::FillOp::create(b, slice.getLoc(), fill.getInputs(),
                                       ValueRange(init))
                    .getResult(0);
    if (own.getType() == slice.getType())
      slice.replaceAllUsesWith(own);
  });
}

static void eraseDeadOps(func::FuncOp function) {
  Operation *op = function.getBody().front().getTerminator();
  while ((op = op->getPrevNode())) {
    if (!isOpTriviallyDead(op))
      continue;
    Operation *dead = op;
    op = op->getNextNode();
    dead->erase();
  }
}

void prepareForFusion(func::FuncOp function, const Backend &backend) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
  sliceFills(function);
  function.walk([&](linalg::GenericOp op) {
    readThroughMovement(op, backend);
    widenFactors(op, backend);
  });
  eraseDeadOps(function);
  function.walk([](linalg::GenericOp op) { sinkConstants(op); });
}

} // namespace mlc
