//===- LoopGroup.cpp - The plan of a loop-group kernel --------------------===//

#include "codegen/kernel/LoopGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mlc {

/// Computes the same thing for each element, without reductions.
static bool isElementwise(Operation *op) {
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  return linalg && linalg.getNumReductionLoops() == 0;
}

SmallVector<IntExpr> loopSizes(const Kernel &kernel, linalg::LinalgOp op) {
  SmallVector<IntExpr> sizes(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    ArrayRef<IntExpr> shape = kernel.shapeOf(operand.get());
    for (auto [expr, size] : llvm::zip_equal(map.getResults(), shape))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (!sizes[dim.getPosition()])
          sizes[dim.getPosition()] = size;
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Flat groups
//===----------------------------------------------------------------------===//

static bool readsIndices(linalg::LinalgOp op) {
  return op.hasIndexSemantics() ||
         llvm::any_of(*op.getBlock(), [](Operation &inner) {
           return isa<tensor::ExtractOp>(inner);
         });
}

bool LoopGroup::isFlat() const {
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  if (!stored.empty() || !llvm::all_of(kernel.outputs, [&](Value output) {
        return kernel.shapeOf(output) == shape && output.getDefiningOp() &&
               isElementwise(output.getDefiningOp());
      }))
    return false;
  for (Operation *op : kernel.ops) {
    if (isa<tensor::EmptyOp, linalg::FillOp>(op))
      continue;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (cast<DenseElementsAttr>(constant.getValue()).isSplat())
        continue;
      return false;
    }
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    if (!linalg || !isElementwise(op) || readsIndices(linalg))
      return false;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = linalg.getMatchingIndexingMap(&operand);
      if (map.getNumResults() != 0 &&
          (!map.isIdentity() || kernel.shapeOf(operand.get()) != shape))
        return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Shared dims
//===----------------------------------------------------------------------===//

static bool isConstantIndex(OpFoldResult value, int64_t wanted) {
  return getConstantIntValue(value) == wanted;
}

/// The binding of a reshape's operand: dims alone in their group keep theirs,
/// as do dims whose group has otherwise unit dims.
static Binding throughReshape(ArrayRef<ReassociationIndices> groups,
                              const Binding &binding,
                              ArrayRef<IntExpr> wideShape, bool isExpand) {
  Binding result(isExpand ? groups.size() : wideShape.size(), -1);
  for (auto [narrow, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> real;
    for (int64_t dim : group)
      if (!wideShape[dim].isConstant(1))
        real.push_back(dim);
    if (real.empty() && group.size() == 1)
      real.push_back(group[0]);
    if (real.size() != 1)
      continue;
    if (isExpand)
      result[narrow] = binding[real[0]];
    else
      result[real[0]] = binding[narrow];
  }
  return result;
}

static Binding throughSlice(const Kernel &kernel, tensor::ExtractSliceOp slice,
                            const Binding &binding) {
  ArrayRef<IntExpr> source = kernel.shapeOf(slice.getSource());
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  Binding result(source.size(), -1);
  unsigned narrow = 0;
  for (unsigned i = 0; i < source.size(); ++i) {
    if (dropped.test(i))
      continue;
    int id = binding[narrow++];
    if (isConstantIndex(slice.getMixedOffsets()[i], 0) &&
        isConstantIndex(slice.getMixedStrides()[i], 1) &&
        kernel.asExpr(slice.getMixedSizes()[i]) == source[i])
      result[i] = id;
  }
  return result;
}

Binding LoopGroup::loopBinding(linalg::LinalgOp op) const {
  Binding loops(op.getNumLoops(), -1);
  for (auto [result, init] :
       llvm::zip_equal(op->getResults(), op.getDpsInitsMutable())) {
    auto it = bindings.find(result);
    if (it == bindings.end())
      continue;
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (auto [expr, id] : llvm::zip_equal(map.getResults(), it->second))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        loops[dim.getPosition()] = id;
    return loops;
  }
  return loops;
}

static void markDead(const Binding &binding, SmallVectorImpl<bool> &dead) {
  for (int id : binding)
    if (id >= 0)
      dead[id] = true;
}

/// Notes that `value` is read at shared indices `binding`.
void LoopGroup::demand(Value value, const Binding &binding,
                       SmallVectorImpl<bool> &dead) {
  if (kernel.isInput(value))
    return;
  if (isInMemory(value)) {
    auto [it, isNew] = bindings.try_emplace(value, binding);
    for (auto [have, want] : llvm::zip_equal(it->second, binding))
      if (have != want) {
        if (have >= 0)
          dead[have] = true;
        if (want >= 0)
          dead[want] = true;
      }
    return;
  }
  demandOperands(value.getDefiningOp(), binding, dead);
}

/// Passes the binding of a result of `op` on to what `op` reads.
void LoopGroup::demandOperands(Operation *op, const Binding &binding,
                               SmallVectorImpl<bool> &dead) {
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    Binding loops(linalg.getNumLoops(), -1);
    AffineMap out = linalg.getMatchingIndexingMap(linalg.getDpsInitOperand(0));
    for (auto [expr, id] : llvm::zip_equal(out.getResults(), binding))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        loops[dim.getPosition()] = id;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = linalg.getMatchingIndexingMap(&operand);
      Binding read;
      for (AffineExpr expr : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        read.push_back(dim ? loops[dim.getPosition()] : -1);
      }
      demand(operand.get(), read, dead);
    }
    // A computed read may access any element.
    linalg.getBlock()->walk([&](tensor::ExtractOp extract) {
      Binding anywhere(extract.getIndices().size(), -1);
      demand(extract.getTensor(), anywhere, dead);
    });
    return;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Binding source = binding;
    for (auto [i, low] : llvm::enumerate(pad.getMixedLowPad()))
      if (!isConstantIndex(low, 0) ||
          !isConstantIndex(pad.getMixedHighPad()[i], 0))
        source[i] = -1;
    return demand(pad.getSource(), source, dead);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return demand(slice.getSource(), throughSlice(kernel, slice, binding),
                  dead);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return demand(expand.getSrc(),
                  throughReshape(expand.getReassociationIndices(), binding,
                                 kernel.shapeOf(expand.getResult()), true),
                  dead);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return demand(collapse.getSrc(),
                  throughReshape(collapse.getReassociationIndices(), binding,
                                 kernel.shapeOf(collapse.getSrc()), false),
                  dead);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    Binding piece = binding;
    if (piece[concat.getDim()] >= 0)
      dead[piece[concat.getDim()]] = true;
    piece[concat.getDim()] = -1;
    for (Value input : concat.getInputs())
      demand(input, piece, dead);
    return;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    // Dims that the piece fills can be shared; along others it is placed as a
    // whole.
    Binding whole = binding, piece;
    ArrayRef<IntExpr> shape = kernel.shapeOf(insert.getDest());
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    for (unsigned i = 0; i < shape.size(); ++i) {
      bool fills = isConstantIndex(insert.getMixedOffsets()[i], 0) &&
                   isConstantIndex(insert.getMixedStrides()[i], 1) &&
                   kernel.asExpr(insert.getMixedSizes()[i]) == shape[i];
      if (!fills || dropped.test(i)) {
        if (whole[i] >= 0)
          dead[whole[i]] = true;
        whole[i] = -1;
      }
      if (!dropped.test(i))
        piece.push_back(whole[i]);
    }
    demand(insert.getDest(), whole, dead);
    demand(insert.getSource(), piece, dead);
    return;
  }
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      demand(operand, Binding(kernel.shapeOf(operand).size(), -1), dead);
}

/// Binds the outputs' leading dims to the live ids, in order, where the sizes
/// agree.
void LoopGroup::bindOutputs(ArrayRef<bool> live) {
  ArrayRef<IntExpr> first = kernel.shapeOf(kernel.outputs.front());
  for (Value output : kernel.outputs) {
    ArrayRef<IntExpr> shape = kernel.shapeOf(output);
    Binding binding(shape.size(), -1);
    for (unsigned i = 0; i < shape.size() && i < first.size(); ++i)
      if (live[i] && shape[i] == first[i])
        binding[i] = i;
    bindings[output] = binding;
  }
}

/// One attempt to bind everything with the live ids; collects the ids that
/// cannot be shared in `dead`. Returns whether there were none.
bool LoopGroup::bindAll(ArrayRef<bool> live, SmallVectorImpl<bool> &dead) {
  bindings.clear();
  bindOutputs(live);
  for (Operation *op : llvm::reverse(kernel.ops)) {
    // Several results of one op share its loops: the first bound one counts.
    Value first;
    for (Value result : op->getResults()) {
      if (!bindings.contains(result))
        continue;
      if (!first)
        first = result;
      else if (bindings[result] != bindings[first]) {
        markDead(bindings[result], dead);
        markDead(bindings[first], dead);
      }
    }
    if (first)
      demandOperands(op, Binding(bindings[first]), dead);
  }
  auto needsAll = [&](Value value) {
    const Binding &binding = bindings[value];
    for (unsigned id = 0; id < live.size(); ++id)
      if (live[id] && llvm::count(binding, int(id)) != 1)
        dead[id] = true;
  };
  for (Value output : kernel.outputs)
    if (!kernel.isInput(output))
      needsAll(output);
  for (Value value : stored)
    if (bindings.contains(value))
      needsAll(value);
  return llvm::none_of(dead, [](bool is) { return is; });
}

void LoopGroup::chooseShared() {
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  SmallVector<bool> live(shape.size(), true);
  while (true) {
    SmallVector<bool> dead(shape.size(), false);
    if (bindAll(live, dead))
      break;
    for (auto [alive, gone] : llvm::zip_equal(live, dead))
      alive = alive && !gone;
  }
  // Number the live dims from 0.
  SmallVector<int> renumbered(shape.size(), -1);
  for (unsigned i = 0; i < shape.size(); ++i)
    if (live[i]) {
      renumbered[i] = shared.size();
      shared.push_back(shape[i]);
    }
  for (auto &entry : bindings)
    for (int &id : entry.second)
      id = id < 0 ? -1 : renumbered[id];
  tiled = !shape.empty() && live.back();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void LoopGroup::chooseTasks() {
  // Enough tasks for many threads, but not so many that their set-up matters.
  constexpr int64_t enough = 256, guessForOpenDim = 8, tileElements = 4096;
  unsigned units = shared.size() - (tiled ? 1 : 0);
  int64_t count = 1;
  for (taskDims = 0; taskDims < units && count < enough; ++taskDims)
    count *= shared[taskDims].asConstant().value_or(guessForOpenDim);
  if (!tiled || taskDims != units || count >= enough)
    return;
  // A reduction does more work for each element of its result.
  int64_t length =
      std::max<int64_t>(tileElements / workPerElement() / 64, 1) * 64;
  std::optional<int64_t> size = shared.back().asConstant();
  if (!size || *size > length)
    tile = length;
}

/// A lower bound of the elements read per element of the first output; open
/// dims count as 64.
int64_t LoopGroup::workPerElement() const {
  auto count = [&](Value value) {
    auto guess = [](StringRef) { return std::optional<int64_t>(64); };
    IntExpr elements = elementCount(kernel.shapeOf(value), kernel.context());
    return std::max<int64_t>(elements.evaluate(guess).value_or(1), 1);
  };
  int64_t most = 1;
  for (Value input : kernel.inputs)
    most = std::max(most, count(input));
  return std::max<int64_t>(most / count(kernel.outputs.front()), 1);
}

IntExpr LoopGroup::tasks() const {
  IntExpr count = IntExpr::constant(kernel.context(), 1);
  for (unsigned i = 0; i < taskDims; ++i)
    count = count * shared[i];
  if (tile)
    count = count * shared.back().ceilDiv(tile);
  return count;
}

Shape LoopGroup::scratchExtents(Value value) const {
  Shape extents(kernel.shapeOf(value));
  for (auto [extent, id] : llvm::zip_equal(extents, bindings.at(value))) {
    bool isTile = tiled && id == int(shared.size()) - 1;
    if (id >= 0 && !isTile)
      extent = IntExpr::constant(kernel.context(), 1);
    else if (isTile && tile)
      extent = IntExpr::constant(kernel.context(), tile);
  }
  return extents;
}

LoopGroup::LoopGroup(const Kernel &kernel, Repeats repeats)
    : kernel(kernel), repeats(repeats) {
  chooseStored();
  flat = isFlat();
  if (flat) {
    shared.push_back(
        elementCount(kernel.shapeOf(kernel.outputs.front()), kernel.context()));
    tiled = true;
    for (Value output : kernel.outputs)
      bindings[output] = {0};
  } else {
    chooseShared();
  }
  chooseTasks();
}

} // namespace mlc
