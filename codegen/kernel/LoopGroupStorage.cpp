//===- LoopGroupStorage.cpp - Stored tensors of a loop group --------------===//

#include "codegen/kernel/LoopGroup.h"
#include "dialects/Graph/RandomOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace mlc {

//===----------------------------------------------------------------------===//
// Stored tensors
//===----------------------------------------------------------------------===//

/// Ops that only map indices to another tensor.
static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp>(op);
}

static bool hasMath(linalg::LinalgOp op) {
  return llvm::any_of(*op.getBlock(), [](Operation &inner) {
    return isa<math::MathDialect>(inner.getDialect()) ||
           isa<arith::DivFOp, arith::DivSIOp, arith::RemSIOp, arith::RemFOp,
               tensor::ExtractOp, ThreefryOp>(inner);
  });
}

/// Ops that use `value`, through views.
static void collectUsers(Value value, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses()) {
    if (isView(use.getOwner()))
      collectUsers(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
  }
}

/// Whether reading `use` for each element of its user reads elements more than
/// once.
static bool isReadRepeatedly(OpOperand *use, Repeats repeats) {
  auto user = dyn_cast<linalg::LinalgOp>(use->getOwner());
  if (!user)
    return isa<linalg::LinalgOp>(use->getOwner()->getParentOp());
  AffineMap map = user.getMatchingIndexingMap(use);
  if (!map.isProjectedPermutation())
    return true;
  return llvm::any_of(
      llvm::enumerate(user.getStaticLoopRanges()), [&](auto loop) {
        return !map.isFunctionOfDim(loop.index()) &&
               (repeats == Repeats::ByAnyLoop || loop.value() != 1);
      });
}

/// The operations that compute an element from memory, or from what is stored
/// anyway. More than `most` if there are, or if they are not all cheap.
static int64_t countAnew(linalg::LinalgOp op, int64_t most,
                         function_ref<bool(Value)> isInMemory) {
  int64_t count = int64_t(op.getBlock()->getOperations().size()) - 1;
  if (op.getNumReductionLoops() > 0 || hasMath(op))
    return most + 1;
  for (Value input : op.getDpsInputs()) {
    if (count > most)
      break;
    if (isInMemory(input) || input.getDefiningOp<arith::ConstantOp>())
      continue;
    auto producer = input.getDefiningOp<linalg::LinalgOp>();
    count += producer && producer->getNumResults() == 1
                 ? countAnew(producer, most - count, isInMemory)
                 : most + 1;
  }
  return count;
}

bool reducesAcrossLanes(linalg::LinalgOp op) {
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (out.getNumResults() == 0)
    return false;
  auto last = dyn_cast<AffineDimExpr>(out.getResults().back());
  if (!last)
    return false;
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    return op.getBlock()
               ->getArgument(operand->getOperandNumber())
               .use_empty() ||
           map.getNumResults() == 0 ||
           map.getResults().back().isFunctionOfDim(last.getPosition());
  });
}

bool LoopGroup::mustStore(Operation *op) const {
  if (isView(op) || isa<tensor::EmptyOp, tensor::PadOp, linalg::FillOp>(op))
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return false;
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  // Pieces of one tensor all go into the tensor of the last one.
  if (isa<tensor::InsertSliceOp>(op) && op->hasOneUse())
    if (auto next = dyn_cast<tensor::InsertSliceOp>(*op->user_begin()))
      if (next.getDest() == op->getResult(0))
        return false;
  bool isConcat = isa<tensor::InsertSliceOp>(op) && repeats == Repeats::BySteps;
  if ((!linalg && !isConcat) || op->getNumResults() != 1)
    return true;
  SmallVector<OpOperand *> uses;
  collectUsers(op->getResult(0), uses);
  bool once = uses.size() == 1;
  bool repeated = llvm::any_of(
      uses, [&](OpOperand *use) { return isReadRepeatedly(use, repeats); });
  // A reshape that merges dims would need a division for each element.
  if (llvm::any_of(op->getResult(0).getUsers(), [](Operation *user) {
        return isa<tensor::CollapseShapeOp>(user);
      }))
    return true;
  if (isConcat)
    return !once || repeated;
  if (linalg.getNumReductionLoops() > 0)
    return !once || repeated || !reducesAcrossLanes(linalg);
  if (hasMath(linalg))
    return !once || repeated;
  if (once)
    return false;
  // Cheap and used several times: recompute only if that is little, so that
  // chains do not multiply. Compilers for GPUs join what is computed twice.
  if (constexpr int64_t most = 6; repeats == Repeats::BySteps)
    return countAnew(linalg, most,
                     [&](Value value) { return isInMemory(value); }) > most;
  bool shallow = llvm::all_of(linalg.getDpsInputs(), [&](Value input) {
    return isInMemory(input) || input.getDefiningOp<arith::ConstantOp>();
  });
  return !shallow || linalg.getBlock()->getOperations().size() > 3;
}

void LoopGroup::chooseStored() {
  for (Operation *op : kernel.ops)
    for (Value result : op->getResults())
      if (!isOutput(result) && isa<RankedTensorType>(result.getType()) &&
          !result.use_empty() && mustStore(op))
        stored.insert(result);
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

bool LoopGroup::isScratchBounded() const {
  bool isOneTask =
      llvm::all_of(shared, [](IntExpr size) { return size.isConstant(1); });
  return llvm::all_of(stored, [&](Value value) {
    if (!bindings.contains(value))
      return true;
    auto open = llvm::count_if(scratchExtents(value), [](IntExpr extent) {
      return !extent.isConstant();
    });
    return open <= (isOneTask ? 0 : 1);
  });
}

void LoopGroup::recomputeBeyond(int64_t limit) {
  MLIRContext *ctx = kernel.context();
  IntExpr one = IntExpr::constant(ctx, 1), bytes = IntExpr::constant(ctx, 0);
  auto elementsOf = [&](Value value) {
    Shape extents(kernel.shapeOf(value));
    for (auto [extent, id] : llvm::zip_equal(extents, bindings.at(value)))
      if (id >= 0)
        extent = one;
    return elementCount(extents, ctx);
  };
  SmallVector<Value> large;
  for (Value value : stored)
    if (bindings.contains(value)) {
      int64_t bits =
          cast<RankedTensorType>(value.getType()).getElementTypeBitWidth();
      bytes = bytes + elementsOf(value) * llvm::divideCeil(bits, 8);
      auto op = dyn_cast<linalg::LinalgOp>(value.getDefiningOp());
      if (op && op.getNumReductionLoops() == 0 &&
          !elementsOf(value).isConstant(1))
        large.push_back(value);
    }
  std::optional<int64_t> known = bytes.asConstant();
  if (known && *known <= limit)
    return;
  // Operations per element, including those that are recomputed with it.
  constexpr int64_t most = 64;
  llvm::DenseMap<Value, int64_t> cost;
  for (Value value : large) {
    auto op = cast<linalg::LinalgOp>(value.getDefiningOp());
    int64_t operations = op.getBlock()->getOperations().size();
    auto count = [&](auto &self, Value operand) -> void {
      if (auto found = cost.find(operand); found != cost.end())
        operations += found->second;
      else if (Operation *producer = operand.getDefiningOp();
               producer && !isInMemory(operand))
        for (Value deeper : producer->getOperands())
          self(self, deeper);
    };
    for (Value operand : op->getOperands())
      count(count, operand);
    SmallVector<OpOperand *> uses;
    collectUsers(value, uses);
    if (operations * int64_t(uses.size()) > most ||
        llvm::any_of(uses, [&](OpOperand *use) {
          return isReadRepeatedly(use, repeats);
        }))
      continue;
    cost[value] = operations;
    stored.remove(value);
    bindings.erase(value);
  }
}

} // namespace mlc
