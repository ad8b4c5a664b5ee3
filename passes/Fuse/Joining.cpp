//===- Joining.cpp - Ops that join a group --------------------------------===//

#include "mlir/Transforms/RegionUtils.h"
#include "passes/Fuse/Grouping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

static bool isElementwise(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 0 || op.getNumDpsInits() != 1 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return false;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  if (!captured.empty())
    return false;
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return inner.getNumRegions() == 0 && inner.getNumResults() == 1 &&
           (isa<arith::ConstantOp>(inner) ||
            inner.hasTrait<OpTrait::Elementwise>());
  });
}

/// Whether it is a sum of loops times constants, without division.
static bool isLinear(AffineExpr expr) {
  bool linear = true;
  expr.walk([&](AffineExpr e) {
    linear &= e.getKind() != AffineExprKind::FloorDiv &&
              e.getKind() != AffineExprKind::CeilDiv &&
              e.getKind() != AffineExprKind::Mod;
  });
  return linear;
}

void Grouping::join(Operation *op, unsigned index,
                    ArrayRef<Operation *> views) {
  Group &group = groups[index];
  for (Operation *view : views)
    if (groupIndex.try_emplace(view, index).second)
      group.ops.push_back(view);
  group.ops.push_back(op);
  llvm::sort(group.ops, [&](Operation *a, Operation *b) {
    return position.at(a) < position.at(b);
  });
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    group.numReductions += linalgOp.getNumReductionLoops() != 0;
  groupIndex[op] = index;
}

/// Element-wise ops and pads on the contraction's index space.
bool Grouping::canJoinEpilogue(Operation *op, unsigned index) const {
  const Group &group = groups[index];
  if (group.ops.size() >= limits.contractionOps)
    return false;
  auto isResult = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return def && groupOf(def) == index;
  };
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return isResult(pad.getSource()) && pad.getConstantPaddingValue() &&
           !pad.getSource().getDefiningOp<tensor::PadOp>() &&
           target.backend->canPadResult(cast<linalg::LinalgOp>(group.anchor),
                                        pad);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !isElementwise(generic))
    return false;
  // Ops after a permutation would be permuted, too.
  if (llvm::any_of(group.ops, [](Operation *member) {
        auto moved = dyn_cast<linalg::GenericOp>(member);
        return moved && getMovement(moved);
      }))
    return false;
  if (std::optional<AffineMap> movement = getMovement(generic))
    if (movement->isPermutation() && !movement->isIdentity())
      return target.backend->canPermuteResult() &&
             isResult(generic.getDpsInputs()[0]) &&
             !generic.getDpsInputs()[0].getDefiningOp<tensor::PadOp>();
  ArrayRef<IntExpr> dims = shapes.of(group.anchor->getResult(0));
  if (shapes.of(op->getResult(0)) != dims)
    return false;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(operand);
    if (isResult(operand->get())) {
      if (!map.isIdentity() || operand->get().getDefiningOp<tensor::PadOp>())
        return false;
    } else if (producerOf(operand->get()) == index ||
               !llvm::all_of(map.getResults(), isLinear)) {
      return false;
    }
  }
  return true;
}

bool Grouping::tryJoin(Operation *op, unsigned index) {
  Group &group = groups[index];
  if (group.opaque || dependsOn(op, index))
    return false;
  if (group.anchor) {
    if (!canJoinEpilogue(op, index))
      return false;
    join(op, index, {});
    return true;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  bool reduces = linalgOp && linalgOp.getNumReductionLoops() != 0;
  if (group.ops.size() >= limits.groupOps ||
      group.numReductions + reduces > limits.groupReductions)
    return false;
  SmallVector<Operation *> views = viewsBetween(op, index);
  SmallVector<Operation *> members(group.ops);
  for (Operation *view : views)
    if (!groupIndex.contains(view))
      members.push_back(view);
  llvm::sort(members, [&](Operation *a, Operation *b) {
    return position.at(a) < position.at(b);
  });
  if (!target.backend->canJoinLoopGroup(target.target, members, op))
    return false;
  join(op, index, views);
  return true;
}

/// The tensors that `op` reads element for element, if it reads each of its
/// elements once.
static SmallVector<Value> readByElements(Operation *op) {
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return {insert.getSource()};
  SmallVector<Value> values;
  if (auto consumer = dyn_cast<linalg::GenericOp>(op))
    for (OpOperand *operand : consumer.getDpsInputOperands())
      if (consumer.getMatchingIndexingMap(operand).isPermutation())
        values.push_back(operand->get());
  return values;
}

/// Merges other loop groups that only `op` reads, element for element, into its
/// group.
void Grouping::tryMerge(Operation *op, unsigned into) {
  if (groups[into].anchor)
    return;
  for (Value value : readByElements(op)) {
    Operation *def = value.getDefiningOp();
    std::optional<unsigned> other = def ? groupOf(def) : std::nullopt;
    if (!other || *other == into || groups[*other].anchor ||
        groups[*other].opaque || groups[*other].numReductions ||
        !value.hasOneUse() ||
        groups[into].ops.size() + groups[*other].ops.size() > limits.groupOps)
      continue;
    if (outputsOf(groups[*other]) != SmallVector<Value>{value} ||
        dependsOn(groups[*other].ops, into))
      continue;
    SmallVector<Operation *> members(groups[into].ops);
    bool possible = true;
    for (Operation *member : llvm::reverse(groups[*other].ops)) {
      possible = possible && target.backend->canJoinLoopGroup(target.target,
                                                              members, member);
      members.push_back(member);
      llvm::sort(members, [&](Operation *a, Operation *b) {
        return position.at(a) < position.at(b);
      });
    }
    if (!possible)
      continue;
    for (Operation *member : groups[*other].ops)
      groupIndex[member] = into;
    groups[into].ops = members;
    groups[*other].ops.clear();
  }
}

} // namespace mlc
