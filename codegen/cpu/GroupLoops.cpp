//===- GroupLoops.cpp - Loop nests with lanes -----------------------------===//

#include "codegen/cpu/GroupEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mlc::cpu {

GroupEmitter::Loop GroupEmitter::loopFor(IntExpr size, int id) {
  Loop loop;
  if (id >= 0 && id < int(sharedIndex.size())) {
    loop.fixed = sharedIndex[id];
    loop.extent = 1;
    return loop;
  }
  if (id >= 0) {
    loop.low = tileLow;
    loop.high = tileHigh;
    if (!plan.tile)
      loop.extent = size.asConstant();
    else if (std::optional<int64_t> total = size.asConstant();
             total && *total % plan.tile == 0)
      loop.extent = plan.tile;
    return loop;
  }
  loop.low = sizeOf(IntExpr::constant(kernel.context(), 0));
  loop.high = sizeOf(size);
  loop.extent = size.asConstant();
  return loop;
}

SmallVector<Value> GroupEmitter::forLoop(
    Value low, Value high, int64_t step, ValueRange init,
    function_ref<SmallVector<Value>(Value, ValueRange)> write) {
  auto loop = scf::ForOp::create(b, loc, low, high, body.constant(step), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results =
      write(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(b, loc, results);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// Emits `write` under the condition that `count` is positive; `known` is its
/// static value, if any.
void GroupEmitter::ifPositive(Value count, std::optional<int64_t> known,
                              function_ref<void()> write) {
  if (known) {
    if (*known > 0)
      write();
    return;
  }
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, count,
                                    body.constant(0));
  auto branch = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  write();
}

Value GroupEmitter::tailMask(unsigned width, Value count) {
  return vector::CreateMaskOp::create(
      b, loc, VectorType::get({width}, b.getI1Type()), ValueRange{count});
}

void GroupEmitter::runNest(ArrayRef<Loop> loops, const Schedule &schedule,
                           ElementFn write) {
  Indices indices(loops.size());
  runLevel(loops, 0, schedule, indices, write);
}

void GroupEmitter::runLevel(ArrayRef<Loop> loops, unsigned level,
                            const Schedule &schedule, Indices &indices,
                            ElementFn write) {
  if (level == loops.size()) {
    if (schedule.lane >= 0)
      return runLane(loops[schedule.lane], schedule, indices, write);
    Lanes lanes(b, loc, 1);
    write(lanes, indices);
    return;
  }
  const Loop &loop = loops[level];
  if (int(level) == schedule.lane)
    return runLevel(loops, level + 1, schedule, indices, write);
  if (loop.fixed) {
    indices[level] = LaneIndex{loop.fixed, 0, {}};
    return runLevel(loops, level + 1, schedule, indices, write);
  }
  forLoop(loop.low, loop.high, 1, {}, [&](Value index, ValueRange) {
    indices[level] = LaneIndex{index, 0, {}};
    runLevel(loops, level + 1, schedule, indices, write);
    return SmallVector<Value>();
  });
}

/// The innermost loop: whole vectors, then the remainder.
void GroupEmitter::runLane(const Loop &loop, const Schedule &schedule,
                           Indices &indices, ElementFn write) {
  int64_t width = schedule.width;
  Value length = b.createOrFold<arith::SubIOp>(loc, loop.high, loop.low);
  Value rest =
      b.createOrFold<arith::RemUIOp>(loc, length, body.constant(width));
  Value whole = b.createOrFold<arith::SubIOp>(loc, loop.high, rest);
  std::optional<int64_t> knownRest;
  if (loop.extent)
    knownRest = *loop.extent % width;
  auto writeAt = [&](Value index, unsigned lanesWidth, Value mask) {
    Lanes lanes(b, loc, lanesWidth, mask);
    indices[schedule.lane] = LaneIndex{index, lanesWidth > 1 ? 1 : 0, {}};
    write(lanes, indices);
  };
  if (!loop.extent || *loop.extent >= width)
    forLoop(loop.low, whole, width, {}, [&](Value index, ValueRange) {
      writeAt(index, width, {});
      return SmallVector<Value>();
    });
  if (width == 1 || knownRest == 0)
    return;
  if (schedule.maskedTail) {
    ifPositive(rest, knownRest,
               [&] { writeAt(whole, width, tailMask(width, rest)); });
    return;
  }
  forLoop(whole, loop.high, 1, {}, [&](Value index, ValueRange) {
    writeAt(index, 1, {});
    return SmallVector<Value>();
  });
}

//===----------------------------------------------------------------------===//
// Choice of lanes
//===----------------------------------------------------------------------===//

/// The cost of `write` with lanes along loop `lane`, found by emitting it into
/// a block that is then discarded.
LaneCost GroupEmitter::tryOut(unsigned width, unsigned loops, int lane,
                              ElementFn write) {
  OpBuilder::InsertionGuard guard(b);
  Block block;
  Indices indices;
  for (unsigned i = 0; i < loops; ++i)
    indices.push_back(LaneIndex{
        block.addArgument(b.getIndexType(), loc), int(i) == lane ? 1 : 0, {}});
  b.setInsertionPointToStart(&block);
  Lanes lanes(b, loc, width);
  write(lanes, indices);
  return lanes.cost;
}

unsigned GroupEmitter::widthFor(const Loop &loop) const {
  if (!loop.extent || *loop.extent >= nativeWidth)
    return nativeWidth;
  return llvm::PowerOf2Ceil(std::max<int64_t>(*loop.extent, 1));
}

GroupEmitter::Schedule GroupEmitter::chooseSchedule(ArrayRef<Loop> loops,
                                                    ArrayRef<bool> reduces,
                                                    bool mayReduceLanes,
                                                    ElementFn write) {
  Schedule best;
  int64_t bestPrice = std::numeric_limits<int64_t>::max();
  // Later loops are tried first: they are the contiguous ones in most tensors.
  for (int lane = loops.size() - 1; lane >= 0; --lane) {
    const Loop &loop = loops[lane];
    unsigned width = loop.fixed ? 1 : widthFor(loop);
    if (width == 1 || (reduces[lane] && !mayReduceLanes))
      continue;
    LaneCost cost = tryOut(width, loops.size(), lane, write);
    if (cost.impossible)
      continue;
    // Relative to a full vector: a gather costs about a scalar load per lane,
    // and a short loop wastes lanes.
    int64_t price = (cost.gathers * 16 + cost.contiguous + 1) * nativeWidth /
                    std::min<int64_t>(width, loop.extent.value_or(width));
    if (price >= bestPrice)
      continue;
    bestPrice = price;
    best.lane = lane;
    best.width = width;
    best.laneReduces = reduces[lane];
    // The remainder must have the same bits as whole vectors.
    best.maskedTail = !cost.narrowAccess || cost.sharesInverse ||
                      body.target.hasMaskRegisters;
  }
  return best;
}

} // namespace mlc::cpu
