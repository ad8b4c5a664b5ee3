//===- GroupEmitter.cpp - Tasks and storage of a loop group ---------------===//

#include "codegen/cpu/GroupEmitter.h"
#include "codegen/cpu/Storage.h"
#include "codegen/kernel/InPlace.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace mlc::cpu {

/// The lanes of a native vector of the widest element type.
static unsigned chooseWidth(const Kernel &kernel, const Target &target) {
  unsigned bits = 32;
  auto look = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      bits = std::max<unsigned>(bits, storageBytes(type.getElementType()) * 8);
  };
  llvm::for_each(kernel.inputs, look);
  for (Operation *op : kernel.ops)
    llvm::for_each(op->getResults(), look);
  return target.lanes(bits);
}

GroupEmitter::GroupEmitter(KernelBody &body, const LoopGroup &plan)
    : body(body), plan(plan), kernel(body.kernel), b(body.b), loc(body.loc),
      nativeWidth(chooseWidth(body.kernel, body.target)) {}

Value GroupEmitter::sizeOf(IntExpr expr) {
  auto [it, isNew] = sizes.try_emplace(expr);
  if (!isNew)
    return it->second;
  OpBuilder::InsertionGuard guard(b);
  if (taskLoop)
    b.setInsertionPoint(taskLoop);
  Value value = body.emit(expr);
  sizes[expr] = value;
  return value;
}

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

void GroupEmitter::createViews() {
  auto create = [&](Value tensor, Value memref) {
    View view{memref,
              sizeOf(IntExpr::constant(kernel.context(), 0)),
              {},
              elementOf(tensor)};
    ArrayRef<IntExpr> shape = kernel.shapeOf(tensor);
    if (plan.flat && !shape.empty())
      view.strides.push_back(sizeOf(IntExpr::constant(kernel.context(), 1)));
    else
      for (IntExpr stride : rowMajorStrides(shape, kernel.context()))
        view.strides.push_back(sizeOf(stride));
    views.try_emplace(tensor, view);
  };
  for (auto [tensor, memref] : llvm::zip_equal(kernel.inputs, body.inputs))
    create(tensor, memref);
  for (auto [tensor, memref] : llvm::zip_equal(kernel.outputs, body.outputs))
    create(tensor, memref);
}

/// Tensor constants with different elements become read-only globals.
void GroupEmitter::createConstants() {
  for (Operation *op : kernel.ops) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (!constant)
      continue;
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    if (dense.isSplat())
      continue;
    auto function = b.getBlock()->getParent()->getParentOfType<func::FuncOp>();
    Type stored = dense.getElementType();
    if (stored.isInteger(1)) {
      SmallVector<int8_t> bytes;
      for (bool bit : dense.getValues<bool>())
        bytes.push_back(bit);
      stored = b.getI8Type();
      dense = DenseElementsAttr::get(
          RankedTensorType::get({int64_t(bytes.size())}, stored),
          ArrayRef<int8_t>(bytes));
    }
    if (stored.isBF16()) {
      stored = storageType(stored);
      dense = dense.bitcast(stored);
    }
    int64_t count = dense.getNumElements();
    auto type = MemRefType::get({count}, stored);
    std::string name = function.getName().str() + "_constant" +
                       std::to_string(constants.size());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(function);
      memref::GlobalOp::create(
          b, loc, name, b.getStringAttr("private"), type,
          dense.reshape(RankedTensorType::get({count}, stored)), true,
          b.getI64IntegerAttr(64));
    }
    View view{memref::GetGlobalOp::create(b, loc, type, name),
              body.constant(0),
              {},
              elementOf(constant)};
    for (IntExpr stride : rowMajorStrides(kernel.shapeOf(constant.getResult()),
                                          kernel.context()))
      view.strides.push_back(sizeOf(stride));
    constants[constant.getResult()] = view;
  }
}

/// Scratch for stored intermediates: dims that are shared index by index take
/// no room.
void GroupEmitter::createScratch() {
  MLIRContext *ctx = kernel.context();
  scratchBytes = IntExpr::constant(ctx, 0);
  for (Value value : plan.stored) {
    auto it = plan.bindings.find(value);
    if (it == plan.bindings.end())
      continue;
    Binding binding = it->second;
    Shape extents = plan.scratchExtents(value);
    View view{body.scratchView(scratchBytes, elementOf(value)),
              sizeOf(IntExpr::constant(ctx, 0)),
              {},
              elementOf(value)};
    for (auto [stride, id] :
         llvm::zip_equal(rowMajorStrides(extents, ctx), binding)) {
      bool isTile = plan.tiled && id == int(plan.shared.size()) - 1;
      bool isUnit = id >= 0 && !isTile;
      view.strides.push_back(
          sizeOf(isUnit ? IntExpr::constant(ctx, 0) : stride));
    }
    views[value] = view;
    IntExpr bytes = elementCount(extents, ctx) * storageBytes(view.element);
    scratchBytes = scratchBytes + bytes.ceilDiv(64) * 64;
  }
}

/// Scratch holds one tile: index `tileLow` is its element 0.
void GroupEmitter::refreshTileOffsets() {
  if (!plan.tile)
    return;
  for (Value value : plan.stored) {
    auto it = plan.bindings.find(value);
    if (it == plan.bindings.end())
      continue;
    View &view = views[value];
    for (auto [stride, id] : llvm::zip_equal(view.strides, it->second))
      if (id == int(plan.shared.size()) - 1) {
        Value skip = arith::MulIOp::create(b, loc, tileLow, stride);
        view.offset = arith::SubIOp::create(b, loc, body.constant(0), skip);
      }
  }
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void GroupEmitter::emitTask(Value task) {
  unsigned units = plan.shared.size() - (plan.tiled ? 1 : 0);
  sharedIndex.assign(units, {});
  auto split = [&](Value size) {
    Value index = b.createOrFold<arith::RemUIOp>(loc, task, size);
    task = b.createOrFold<arith::DivUIOp>(loc, task, size);
    return index;
  };
  if (plan.tiled) {
    IntExpr size = plan.shared.back();
    tileLow = sizeOf(IntExpr::constant(kernel.context(), 0));
    tileHigh = sizeOf(size);
    if (plan.tile) {
      Value index =
          plan.taskDims ? split(sizeOf(size.ceilDiv(plan.tile))) : task;
      Value length = body.constant(plan.tile);
      tileLow = arith::MulIOp::create(b, loc, index, length);
      Value end = arith::AddIOp::create(b, loc, tileLow, length);
      tileHigh = arith::MinSIOp::create(b, loc, end, tileHigh);
    }
  }
  for (unsigned i = plan.taskDims; i-- > 1;)
    sharedIndex[i] = split(sizeOf(plan.shared[i]));
  if (plan.taskDims > 0)
    sharedIndex[0] = task;
  refreshTileOffsets();

  OpBuilder::InsertionGuard guard(b);
  for (unsigned i = plan.taskDims; i < units; ++i) {
    auto loop = scf::ForOp::create(b, loc, body.constant(0),
                                   sizeOf(plan.shared[i]), body.constant(1));
    sharedIndex[i] = loop.getInductionVar();
    b.setInsertionPointToStart(loop.getBody());
  }
  emitGroup();
}

void GroupEmitter::emitGroup() {
  for (Operation *op : kernel.ops)
    if (llvm::any_of(op->getResults(), [&](Value result) {
          return plan.bindings.contains(result);
        }))
      materialize(op);
  // Inputs that are returned, and tensors that are returned twice.
  for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
    Value memref = body.outputs[i];
    View to = views[output];
    if (to.memref == memref)
      continue;
    to.memref = memref;
    materializeCopy(output, to, plan.bindings.lookup(output));
  }
}

FailureOr<EmittedKernel> GroupEmitter::run() {
  createViews();
  createConstants();
  createScratch();
  auto loop =
      scf::ForOp::create(b, loc, body.begin, body.end, body.constant(1));
  taskLoop = loop;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    emitTask(loop.getInductionVar());
  }
  if (failed)
    return failure();
  return EmittedKernel{plan.tasks(), scratchBytes, findInPlace(plan), {}};
}

//===----------------------------------------------------------------------===//
// Stored tensors
//===----------------------------------------------------------------------===//

void GroupEmitter::materialize(Operation *op) {
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return materializeLinalg(linalg);
  Value value = op->getResult(0);
  const View &to = views[value];
  if (isa<tensor::ConcatOp, tensor::InsertSliceOp>(op))
    return materializePieces(op, to, plan.bindings.lookup(value));
  // Without its view, the value is computed instead of read.
  View target = to;
  views.erase(value);
  materializeCopy(value, target, plan.bindings.lookup(value));
  views[value] = target;
}

/// Writes every element of `value` to `to`.
void GroupEmitter::materializeCopy(Value value, const View &to,
                                   const Binding &binding) {
  SmallVector<Loop> loops;
  if (plan.flat)
    loops.push_back(loopFor(plan.shared.back(), 0));
  else
    for (auto [size, id] : llvm::zip_equal(kernel.shapeOf(value), binding))
      loops.push_back(loopFor(size, id));
  auto write = [&](Lanes &lanes, ArrayRef<LaneIndex> indices) {
    Value computed = element(lanes, value, indices);
    lanes.store(to, indices, computed);
  };
  SmallVector<bool> reduces(loops.size(), false);
  runNest(loops, chooseSchedule(loops, reduces, false, write), write);
}

/// Concatenations and insertions: writes each piece to its place.
void GroupEmitter::materializePieces(Operation *op, const View &to,
                                     const Binding &binding) {
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    IntExpr position = IntExpr::constant(kernel.context(), 0);
    for (Value input : concat.getInputs()) {
      View piece = to;
      Value skip = b.createOrFold<arith::MulIOp>(loc, sizeOf(position),
                                                 to.strides[concat.getDim()]);
      piece.offset = b.createOrFold<arith::AddIOp>(loc, to.offset, skip);
      materializeCopy(input, piece, binding);
      position = position + kernel.shapeOf(input)[concat.getDim()];
    }
    return;
  }
  auto insert = cast<tensor::InsertSliceOp>(op);
  Value dest = insert.getDest();
  if (dest.getDefiningOp<tensor::InsertSliceOp>() && !views.contains(dest))
    materializePieces(dest.getDefiningOp(), to, binding);
  else if (!dest.getDefiningOp<tensor::EmptyOp>())
    materializeCopy(dest, to, binding);
  View piece = to;
  piece.strides.clear();
  Binding pieceBinding;
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  for (unsigned i = 0; i < to.strides.size(); ++i) {
    IntExpr offset = kernel.asExpr(insert.getMixedOffsets()[i]);
    IntExpr step = kernel.asExpr(insert.getMixedStrides()[i]);
    if (!offset || !step) {
      op->emitError("an offset is no expression of the symbols");
      failed = true;
      return;
    }
    Value skip =
        b.createOrFold<arith::MulIOp>(loc, sizeOf(offset), to.strides[i]);
    piece.offset = b.createOrFold<arith::AddIOp>(loc, piece.offset, skip);
    if (dropped.test(i))
      continue;
    piece.strides.push_back(
        b.createOrFold<arith::MulIOp>(loc, sizeOf(step), to.strides[i]));
    pieceBinding.push_back(binding[i]);
  }
  materializeCopy(insert.getSource(), piece, pieceBinding);
}

void GroupEmitter::materializeLinalg(linalg::LinalgOp op) {
  SmallVector<Loop> loops;
  SmallVector<bool> reduces;
  if (plan.flat) {
    loops.push_back(loopFor(plan.shared.back(), 0));
    reduces.push_back(false);
  } else {
    auto kinds = op.getIteratorTypesArray();
    for (auto [size, id, kind] :
         llvm::zip_equal(loopSizes(kernel, op), plan.loopBinding(op), kinds)) {
      loops.push_back(loopFor(size, id));
      reduces.push_back(kind == utils::IteratorType::reduction);
    }
  }
  SmallVector<vector::CombiningKind> kinds;
  bool combinable = combiners(op, kinds);
  bool hasReduction = llvm::is_contained(reduces, true);
  auto storeAll = [&](Lanes &lanes, ArrayRef<LaneIndex> indices,
                      ArrayRef<Value> values) {
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      auto view = views.find(result);
      if (view == views.end() || !plan.bindings.contains(result))
        continue;
      AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(i));
      lanes.store(view->second, mapIndices(lanes, map, indices), values[i]);
    }
  };
  // For choosing lanes: the innermost computation, and the store where the
  // lane is a parallel loop.
  int tried = -1;
  auto sample = [&](Lanes &lanes, ArrayRef<LaneIndex> indices) {
    SmallVector<Value> values =
        evaluateBody(lanes, op, indices, initials(op, lanes, indices));
    for (auto [i, index] : llvm::enumerate(indices))
      if (index.step != 0)
        tried = i;
    if (tried < 0 || !reduces[tried])
      storeAll(lanes, indices, values);
  };
  Schedule schedule = chooseSchedule(loops, reduces, combinable, sample);

  SmallVector<Loop> parallel(loops);
  for (auto [loop, isReduction] : llvm::zip_equal(parallel, reduces))
    if (isReduction)
      loop = Loop{{}, {}, body.constant(0), 1};
  auto write = [&](Lanes &lanes, ArrayRef<LaneIndex> indices) {
    SmallVector<Value> values;
    Indices all(indices);
    if (!hasReduction)
      values = evaluateBody(lanes, op, indices, {});
    else if (schedule.laneReduces)
      values = reduceAcross(op, lanes, all, schedule, kinds);
    else
      values = reduceInOrder(op, lanes, all);
    storeAll(lanes, indices, values);
  };
  Schedule outer = schedule;
  if (schedule.laneReduces)
    outer = Schedule();
  runNest(parallel, outer, write);
}

} // namespace mlc::cpu

namespace mlc::cpu {

FailureOr<EmittedKernel> emitLoopGroup(KernelBody &body) {
  LoopGroup plan(body.kernel);
  if (!plan.isScratchBounded())
    plan.recomputeBeyond(0);
  return GroupEmitter(body, plan).run();
}

} // namespace mlc::cpu
