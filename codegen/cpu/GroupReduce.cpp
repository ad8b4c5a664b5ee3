//===- GroupReduce.cpp - Reductions of a loop group -----------------------===//
//
// A reduction runs in one of two ways. With lanes along a parallel loop (or
// none) the reduction loops carry its accumulators in order. With lanes along a
// reduction loop there are several accumulators per lane, combined at the end;
// the body must then end in an associative combiner.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/GroupEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mlc::cpu {

static std::optional<vector::CombiningKind> combiningKind(Operation *op) {
  using Kind = vector::CombiningKind;
  using Result = std::optional<Kind>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Kind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Kind::MUL; })
      .Case<arith::MaximumFOp>([](auto) { return Kind::MAXIMUMF; })
      .Case<arith::MinimumFOp>([](auto) { return Kind::MINIMUMF; })
      .Case<arith::MaxNumFOp>([](auto) { return Kind::MAXNUMF; })
      .Case<arith::MinNumFOp>([](auto) { return Kind::MINNUMF; })
      .Case<arith::MaxSIOp>([](auto) { return Kind::MAXSI; })
      .Case<arith::MaxUIOp>([](auto) { return Kind::MAXUI; })
      .Case<arith::MinSIOp>([](auto) { return Kind::MINSI; })
      .Case<arith::MinUIOp>([](auto) { return Kind::MINUI; })
      .Case<arith::AndIOp>([](auto) { return Kind::AND; })
      .Case<arith::OrIOp>([](auto) { return Kind::OR; })
      .Default([](Operation *) { return Result(); });
}

bool GroupEmitter::combiners(linalg::LinalgOp op,
                             SmallVectorImpl<vector::CombiningKind> &kinds) {
  Block *block = op.getBlock();
  for (auto [i, yielded] :
       llvm::enumerate(block->getTerminator()->getOperands())) {
    BlockArgument accumulator = block->getArgument(op.getNumDpsInputs() + i);
    Operation *combine = yielded.getDefiningOp();
    if (!combine || combine->getBlock() != block || !accumulator.hasOneUse() ||
        *accumulator.user_begin() != combine)
      return false;
    std::optional<vector::CombiningKind> kind = combiningKind(combine);
    if (!kind)
      return false;
    kinds.push_back(*kind);
  }
  return true;
}

/// The identity of a combiner.
static TypedAttr identityOf(vector::CombiningKind kind, Type type) {
  using Kind = vector::CombiningKind;
  Builder b(type.getContext());
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    switch (kind) {
    case Kind::ADD:
      return b.getFloatAttr(type, APFloat::getZero(semantics, true));
    case Kind::MUL:
      return b.getFloatAttr(type, 1.0);
    case Kind::MAXNUMF:
    case Kind::MINNUMF:
      return b.getFloatAttr(type, APFloat::getNaN(semantics));
    default:
      return b.getFloatAttr(type,
                            APFloat::getInf(semantics, kind == Kind::MAXIMUMF));
    }
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  switch (kind) {
  case Kind::MUL:
    return b.getIntegerAttr(type, APInt(bits, 1));
  case Kind::MAXSI:
    return b.getIntegerAttr(type, APInt::getSignedMinValue(bits));
  case Kind::MINSI:
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(bits));
  case Kind::MINUI:
  case Kind::AND:
    return b.getIntegerAttr(type, APInt::getAllOnes(bits));
  default:
    return b.getIntegerAttr(type, APInt::getZero(bits));
  }
}

SmallVector<Value> GroupEmitter::initials(linalg::LinalgOp op, Lanes &lanes,
                                          ArrayRef<LaneIndex> loops) {
  SmallVector<Value> values;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    values.push_back(element(lanes, init.get(), mapIndices(lanes, map, loops)));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// In order
//===----------------------------------------------------------------------===//

SmallVector<Value> GroupEmitter::reduceInOrder(linalg::LinalgOp op,
                                               Lanes &lanes, Indices loops) {
  SmallVector<Value> accumulators = initials(op, lanes, loops);
  for (Value &value : accumulators)
    value = lanes.splat(value);
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  SmallVector<IntExpr> extents = loopSizes(kernel, op);
  auto level = [&](auto &self, unsigned depth,
                   SmallVector<Value> values) -> SmallVector<Value> {
    if (depth == reductions.size()) {
      SmallVector<Value> next = evaluateBody(lanes, op, loops, values);
      for (Value &value : next)
        value = lanes.splat(value);
      return next;
    }
    return forLoop(body.constant(0), sizeOf(extents[reductions[depth]]), 1,
                   values, [&](Value index, ValueRange carried) {
                     loops[reductions[depth]] = LaneIndex{index, 0, {}};
                     return self(self, depth + 1, SmallVector<Value>(carried));
                   });
  };
  return level(level, 0, accumulators);
}

//===----------------------------------------------------------------------===//
// Across lanes
//===----------------------------------------------------------------------===//

/// `lhs` and `rhs` combined the way the body of `op` does it for `result`.
static Value combineWith(Lanes &lanes, linalg::LinalgOp op, unsigned result,
                         Value lhs, Value rhs) {
  Operation *combine =
      op.getBlock()->getTerminator()->getOperand(result).getDefiningOp();
  return lanes.clone(combine, {lhs, rhs});
}

SmallVector<Value>
GroupEmitter::reduceAcross(linalg::LinalgOp op, Lanes &scalar, Indices loops,
                           const Schedule &schedule,
                           ArrayRef<vector::CombiningKind> kinds) {
  SmallVector<IntExpr> extents = loopSizes(kernel, op);
  std::optional<int64_t> extent = extents[schedule.lane].asConstant();
  unsigned copies = !extent || *extent >= 4 * int64_t(schedule.width) ? 4 : 1;
  SmallVector<Value> start = initials(op, scalar, loops);
  Lanes lanes(b, loc, schedule.width);
  SmallVector<Value> accumulators;
  for (unsigned copy = 0; copy < copies; ++copy)
    for (auto [value, kind] : llvm::zip_equal(start, kinds)) {
      Value neutral =
          arith::ConstantOp::create(b, loc, identityOf(kind, value.getType()));
      accumulators.push_back(lanes.splat(neutral));
    }
  accumulators = accumulate(op, schedule, 0, loops, accumulators, copies);

  SmallVector<Value> results;
  unsigned count = start.size();
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned distance = copies / 2; distance > 0; distance /= 2)
      for (unsigned copy = 0; copy < distance; ++copy)
        accumulators[copy * count + i] =
            combineWith(lanes, op, i, accumulators[copy * count + i],
                        accumulators[(copy + distance) * count + i]);
    auto fast = isa<FloatType>(start[i].getType())
                    ? arith::FastMathFlags::reassoc
                    : arith::FastMathFlags::none;
    Value across =
        vector::ReductionOp::create(b, loc, kinds[i], accumulators[i], fast);
    results.push_back(combineWith(scalar, op, i, start[i], across));
  }
  return results;
}

SmallVector<Value> GroupEmitter::accumulate(linalg::LinalgOp op,
                                            const Schedule &schedule,
                                            unsigned level, Indices &loops,
                                            SmallVector<Value> accs,
                                            unsigned copies) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  llvm::erase(reductions, unsigned(schedule.lane));
  if (level == reductions.size())
    return accumulateLane(op, schedule, loops, accs, copies);
  IntExpr extent = loopSizes(kernel, op)[reductions[level]];
  return forLoop(body.constant(0), sizeOf(extent), 1, accs,
                 [&](Value index, ValueRange carried) {
                   loops[reductions[level]] = LaneIndex{index, 0, {}};
                   return accumulate(op, schedule, level + 1, loops,
                                     SmallVector<Value>(carried), copies);
                 });
}

/// The lane loop: `copies` vectors at a time, one at a time, the masked
/// remainder.
SmallVector<Value> GroupEmitter::accumulateLane(linalg::LinalgOp op,
                                                const Schedule &schedule,
                                                Indices &loops,
                                                SmallVector<Value> accs,
                                                unsigned copies) {
  int64_t width = schedule.width;
  unsigned count = accs.size() / copies;
  IntExpr extent = loopSizes(kernel, op)[schedule.lane];
  std::optional<int64_t> known = extent.asConstant();
  Value size = sizeOf(extent);
  auto step = [&](Value index, Value mask, ArrayRef<Value> values) {
    Lanes lanes(b, loc, width, mask);
    loops[schedule.lane] = LaneIndex{index, 1, {}};
    SmallVector<Value> next = evaluateBody(lanes, op, loops, values);
    for (auto [value, old] : llvm::zip_equal(next, values)) {
      value = lanes.splat(value);
      if (mask)
        value = arith::SelectOp::create(b, loc, mask, value, old);
    }
    return next;
  };
  auto roundDown = [&](int64_t unit) {
    Value rest = b.createOrFold<arith::RemUIOp>(loc, size, body.constant(unit));
    return b.createOrFold<arith::SubIOp>(loc, size, rest);
  };

  Value done = body.constant(0);
  if (copies > 1) {
    Value end = roundDown(width * copies);
    accs = forLoop(
        done, end, width * copies, accs, [&](Value index, ValueRange carried) {
          SmallVector<Value> next;
          for (unsigned copy = 0; copy < copies; ++copy) {
            Value at = b.createOrFold<arith::AddIOp>(
                loc, index, body.constant(copy * width));
            SmallVector<Value> values(carried.slice(copy * count, count));
            llvm::append_range(next, step(at, {}, values));
          }
          return next;
        });
    done = end;
  }
  SmallVector<Value> first(ArrayRef<Value>(accs).take_front(count));
  Value whole = roundDown(width);
  if (!known || *known % (width * copies) >= width || copies == 1)
    first = forLoop(done, whole, width, first,
                    [&](Value index, ValueRange carried) {
                      return step(index, {}, SmallVector<Value>(carried));
                    });
  if (!known || *known % width != 0) {
    // An empty mask changes nothing, so no branch is needed.
    Value rest = b.createOrFold<arith::SubIOp>(loc, size, whole);
    first = step(whole, tailMask(width, rest), first);
  }
  llvm::copy(first, accs.begin());
  return accs;
}

} // namespace mlc::cpu
