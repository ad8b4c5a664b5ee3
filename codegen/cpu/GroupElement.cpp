//===- GroupElement.cpp - One element of a tensor of a loop group ---------===//

#include "codegen/cpu/GroupEmitter.h"
#include "dialects/Graph/RandomOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mlc::cpu {

GroupEmitter::Indices GroupEmitter::mapIndices(Lanes &lanes, AffineMap map,
                                               ArrayRef<LaneIndex> loops) {
  if (plan.flat && map.getNumResults() != 0)
    return Indices(loops);
  Indices indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(lanes.evaluate(expr, loops, {}));
  return indices;
}

/// A value from outside of the loops: a constant or a size.
Value GroupEmitter::scalar(Lanes &lanes, Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return lanes.clone(constant, {});
  if (value.getType().isIndex())
    if (IntExpr expr = kernel.asExpr(value))
      return sizeOf(expr);
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    return lanes.clone(cast, {scalar(lanes, cast.getIn())});
  if (Operation *op = value.getDefiningOp();
      op && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(lanes, operand));
    return lanes.clone(op, operands);
  }
  failed = true;
  return lanes.floatConstant(b.getF32Type(), 0);
}

Value GroupEmitter::element(Lanes &lanes, Value tensor,
                            ArrayRef<LaneIndex> indices) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return scalar(lanes, tensor);
  if (auto view = views.find(tensor); view != views.end()) {
    // A flat loop reads a scalar operand without an index.
    if (view->second.strides.empty())
      return lanes.load(view->second, {});
    return lanes.load(view->second, indices);
  }
  if (auto view = constants.find(tensor); view != constants.end())
    return lanes.load(view->second, indices);
  Operation *op = tensor.getDefiningOp();
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return linalgElement(lanes, linalg,
                         cast<OpResult>(tensor).getResultNumber(), indices);
  if (isa<tensor::EmptyOp>(op))
    return arith::ConstantOp::create(
        b, loc, b.getZeroAttr(Lanes::computeType(element)));
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = cast<DenseElementsAttr>(constant.getValue());
    auto value = splat.getSplatValue<TypedAttr>();
    if (auto real = dyn_cast<FloatAttr>(value))
      return lanes.floatConstant(Lanes::computeType(element),
                                 real.getValueAsDouble());
    return arith::ConstantOp::create(b, loc, value);
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return padElement(lanes, pad, indices);
  return viewElement(lanes, op, indices);
}

Value GroupEmitter::linalgElement(Lanes &lanes, linalg::LinalgOp op,
                                  unsigned result,
                                  ArrayRef<LaneIndex> indices) {
  Indices loops(op.getNumLoops());
  if (plan.flat) {
    loops.assign(indices.begin(), indices.end());
  } else {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
    for (auto [expr, index] : llvm::zip_equal(map.getResults(), indices)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim)
        loops[dim.getPosition()] = index;
    }
    for (auto [loop, kind] : llvm::zip_equal(loops, op.getIteratorTypesArray()))
      if (!loop.base && !loop.vector) {
        if (kind == utils::IteratorType::parallel) {
          op->emitError("a result that does not name every parallel loop");
          failed = true;
        }
        loop = lanes.constant(0);
      }
  }
  if (op.getNumReductionLoops() > 0)
    return reduceInOrder(op, lanes, loops)[result];
  return evaluateBody(lanes, op, loops, {})[result];
}

//===----------------------------------------------------------------------===//
// Views and padding
//===----------------------------------------------------------------------===//

Value GroupEmitter::viewElement(Lanes &lanes, Operation *op,
                                ArrayRef<LaneIndex> indices) {
  auto uniform = [&](IntExpr expr) { return lanes.uniform(sizeOf(expr)); };
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return element(lanes, cast.getSource(), indices);
  Indices source;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    unsigned next = 0;
    for (unsigned i = 0; i < dropped.size(); ++i) {
      IntExpr offset = kernel.asExpr(slice.getMixedOffsets()[i]);
      IntExpr step = kernel.asExpr(slice.getMixedStrides()[i]);
      if (!offset || !step) {
        op->emitError("an offset is no expression of the symbols");
        failed = true;
        offset = step = IntExpr::constant(kernel.context(), 0);
      }
      LaneIndex index = uniform(offset);
      if (!dropped.test(i))
        index = lanes.add(lanes.mul(indices[next++], uniform(step)), index);
      source.push_back(index);
    }
    return element(lanes, slice.getSource(), source);
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    ArrayRef<IntExpr> shape = kernel.shapeOf(expand.getResult());
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      LaneIndex index = lanes.constant(0);
      for (int64_t dim : group)
        index = lanes.add(lanes.mul(index, uniform(shape[dim])), indices[dim]);
      source.push_back(index);
    }
    return element(lanes, expand.getSrc(), source);
  }
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  if (!collapse) {
    op->emitError("code generation cannot compute elements of this operation");
    failed = true;
    return lanes.floatConstant(b.getF32Type(), 0);
  }
  // A dense tensor in memory is read at its flat position.
  ArrayRef<IntExpr> shape = kernel.shapeOf(collapse.getSrc());
  auto view = views.find(collapse.getSrc());
  bool dense = view != views.end() &&
               !plan.stored.contains(collapse.getSrc()) && !plan.flat;
  // A scalar has no groups; all dims of its source are 1.
  if (collapse.getReassociationIndices().empty())
    source.assign(shape.size(), lanes.constant(0));
  for (auto [narrow, group] :
       llvm::enumerate(collapse.getReassociationIndices())) {
    LaneIndex rest = indices[narrow];
    Indices split(group.size());
    for (size_t i = group.size(); i-- > 0;) {
      if (dense || i == 0) {
        split[i] = rest;
        rest = lanes.constant(0);
        continue;
      }
      IntExpr size = shape[group[i]];
      if (size.isConstant(1)) {
        split[i] = lanes.constant(0);
        continue;
      }
      split[i] = lanes.mod(rest, uniform(size));
      rest = lanes.apply<arith::FloorDivSIOp>(rest, uniform(size));
    }
    source.append(split);
  }
  return element(lanes, collapse.getSrc(), source);
}

Value GroupEmitter::guarded(Lanes &lanes, Value condition, Value otherwise,
                            function_ref<Value()> inside) {
  if (std::optional<int64_t> known = getConstantIntValue(condition))
    return *known ? inside() : otherwise;
  if (Lanes::isVector(condition)) {
    Value outer = lanes.mask;
    lanes.mask = outer ? b.createOrFold<arith::AndIOp>(loc, outer, condition)
                       : condition;
    Value value = lanes.splat(inside());
    lanes.mask = outer;
    return arith::SelectOp::create(b, loc, condition, value,
                                   lanes.splat(otherwise));
  }
  // The result's type is known once the inside is emitted.
  auto scratch = std::make_unique<Block>();
  Value value;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scratch.get());
    value = inside();
  }
  if (Lanes::isVector(value))
    otherwise = lanes.splat(otherwise);
  auto branch = scf::IfOp::create(b, loc, TypeRange(value.getType()), condition,
                                  /*withElseRegion=*/true);
  Block *then = branch.thenBlock();
  then->getOperations().splice(then->begin(), scratch->getOperations());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(then);
  scf::YieldOp::create(b, loc, value);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return branch.getResult(0);
}

Value GroupEmitter::padElement(Lanes &lanes, tensor::PadOp pad,
                               ArrayRef<LaneIndex> indices) {
  ArrayRef<IntExpr> shape = kernel.shapeOf(pad.getSource());
  Value constant = pad.getConstantPaddingValue();
  if (!constant) {
    pad.emitError("padding with a value that depends on the position");
    failed = true;
    return lanes.floatConstant(b.getF32Type(), 0);
  }
  Indices source;
  Value uniform, perLane;
  for (auto [i, index] : llvm::enumerate(indices)) {
    IntExpr low = kernel.asExpr(pad.getMixedLowPad()[i]);
    IntExpr high = kernel.asExpr(pad.getMixedHighPad()[i]);
    LaneIndex inner = lanes.sub(index, lanes.uniform(sizeOf(low)));
    source.push_back(inner);
    if (low.isConstant(0) && high.isConstant(0))
      continue;
    Value inside = lanes.inRange(inner, body.constant(0), sizeOf(shape[i]));
    Value &all = Lanes::isVector(inside) ? perLane : uniform;
    all = all ? b.createOrFold<arith::AndIOp>(loc, all, inside) : inside;
  }
  Value otherwise = scalar(lanes, constant);
  auto read = [&] { return element(lanes, pad.getSource(), source); };
  auto readLanes = [&] {
    return perLane ? guarded(lanes, perLane, otherwise, read) : read();
  };
  return uniform ? guarded(lanes, uniform, otherwise, readLanes) : readLanes();
}

/// An element at computed indices. Indices are data, so each is clamped to the
/// tensor's range unless it is known to be in range, and an empty tensor gives
/// zero: no byte outside the buffer is read.
Value GroupEmitter::extractElement(Lanes &lanes, Value tensor,
                                   ArrayRef<LaneIndex> indices,
                                   ArrayRef<bool> inBounds) {
  ArrayRef<IntExpr> shape = kernel.shapeOf(tensor);
  Indices safe;
  Value nonEmpty;
  for (auto [index, size, fine] : llvm::zip_equal(indices, shape, inBounds)) {
    LaneIndex clamped = index;
    if (!fine) {
      LaneIndex last = lanes.uniform(sizeOf(size - 1));
      clamped = lanes.apply<arith::MinSIOp>(clamped, last);
      clamped = lanes.apply<arith::MaxSIOp>(clamped, lanes.constant(0));
    }
    safe.push_back(clamped);
    if (size.isKnownPositive())
      continue;
    Value some = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt,
                                               sizeOf(size), body.constant(0));
    nonEmpty =
        nonEmpty ? b.createOrFold<arith::AndIOp>(loc, nonEmpty, some) : some;
  }
  auto read = [&] { return element(lanes, tensor, safe); };
  if (!nonEmpty)
    return read();
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value zero = arith::ConstantOp::create(
      b, loc, b.getZeroAttr(Lanes::computeType(type)));
  return guarded(lanes, nonEmpty, zero, read);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Evaluates the region of one LinalgOp at one place.
class BodyEvaluator {
public:
  BodyEvaluator(GroupEmitter &emitter, Lanes &lanes, linalg::LinalgOp op,
                ArrayRef<LaneIndex> loops, ArrayRef<Value> accumulators)
      : emitter(emitter), lanes(lanes), op(op), loops(loops),
        accumulators(accumulators), extents(loopSizes(emitter.kernel, op)) {}

  SmallVector<Value> run() {
    for (Operation &inner : op.getBlock()->without_terminator())
      evaluate(&inner);
    SmallVector<Value> yields;
    for (Value value : op.getBlock()->getTerminator()->getOperands())
      yields.push_back(get(value));
    return yields;
  }

private:
  Value get(Value value) {
    if (auto index = indices.find(value); index != indices.end())
      return lanes.toValue(index->second);
    Value &known = values[value];
    if (known)
      return known;
    auto argument = dyn_cast<BlockArgument>(value);
    Value computed = argument && argument.getOwner() == op.getBlock()
                         ? operand(argument.getArgNumber())
                         : emitter.scalar(lanes, value);
    return values[value] = computed;
  }

  Value operand(unsigned number) {
    unsigned inputs = op.getNumDpsInputs();
    if (number >= inputs && !accumulators.empty())
      return accumulators[number - inputs];
    OpOperand &source = op->getOpOperand(number);
    AffineMap map = op.getMatchingIndexingMap(&source);
    return emitter.element(lanes, source.get(),
                           emitter.mapIndices(lanes, map, loops));
  }

  LaneIndex getIndex(Value value) {
    if (auto index = indices.find(value); index != indices.end())
      return index->second;
    return lanes.fromValue(get(value));
  }

  void evaluate(Operation *inner) {
    if (inner->getNumResults() != 1 || inner->getNumRegions() != 0)
      return unsupported(inner);
    Value result = inner->getResult(0);
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      indices[result] = loops[index.getDim()];
      return;
    }
    if (auto apply = dyn_cast<affine::AffineApplyOp>(inner)) {
      AffineMap map = apply.getAffineMap();
      SmallVector<LaneIndex> operands;
      for (Value value : apply.getOperands())
        operands.push_back(getIndex(value));
      ArrayRef<LaneIndex> all(operands);
      indices[result] =
          lanes.evaluate(map.getResult(0), all.take_front(map.getNumDims()),
                         all.drop_front(map.getNumDims()));
      return;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      return evaluateExtract(extract);
    if (auto dim = dyn_cast<tensor::DimOp>(inner)) {
      if (IntExpr expr = emitter.kernel.asExpr(result)) {
        indices[result] = lanes.uniform(emitter.sizeOf(expr));
        return;
      }
      return unsupported(inner);
    }
    if (!isa<arith::ArithDialect, math::MathDialect>(inner->getDialect()) &&
        !isa<ThreefryOp>(inner))
      return unsupported(inner);
    if (result.getType().isIndex() && evaluateIndex(inner))
      return;
    SmallVector<Value> operands;
    for (Value value : inner->getOperands())
      operands.push_back(get(value));
    values[result] = lanes.clone(inner, operands);
  }

  /// Evaluates index arithmetic such that the step between lanes stays known;
  /// false for other ops.
  bool evaluateIndex(Operation *inner) {
    Value result = inner->getResult(0);
    if (inner->getNumOperands() != 2 ||
        !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(inner))
      return false;
    LaneIndex lhs = getIndex(inner->getOperand(0));
    LaneIndex rhs = getIndex(inner->getOperand(1));
    if (isa<arith::AddIOp>(inner))
      indices[result] = lanes.add(lhs, rhs);
    else if (isa<arith::SubIOp>(inner))
      indices[result] = lanes.sub(lhs, rhs);
    else
      indices[result] = lanes.mul(lhs, rhs);
    return true;
  }

  void evaluateExtract(tensor::ExtractOp extract) {
    SmallVector<LaneIndex> position;
    SmallVector<bool> inBounds;
    ArrayRef<IntExpr> shape = emitter.kernel.shapeOf(extract.getTensor());
    for (auto [value, size] : llvm::zip_equal(extract.getIndices(), shape)) {
      position.push_back(getIndex(value));
      auto loop = value.getDefiningOp<linalg::IndexOp>();
      inBounds.push_back(loop && extents[loop.getDim()] == size);
    }
    values[extract.getResult()] =
        emitter.extractElement(lanes, extract.getTensor(), position, inBounds);
  }

  void unsupported(Operation *inner) {
    inner->emitError("code generation does not know this operation in the "
                     "body of a loop");
    emitter.failed = true;
    for (Value result : inner->getResults())
      values[result] =
          lanes.floatConstant(Float32Type::get(result.getContext()), 0);
  }

  GroupEmitter &emitter;
  Lanes &lanes;
  linalg::LinalgOp op;
  ArrayRef<LaneIndex> loops;
  ArrayRef<Value> accumulators;
  SmallVector<IntExpr> extents;
  llvm::DenseMap<Value, Value> values;
  llvm::DenseMap<Value, LaneIndex> indices;
};

SmallVector<Value> GroupEmitter::evaluateBody(Lanes &lanes, linalg::LinalgOp op,
                                              ArrayRef<LaneIndex> loops,
                                              ArrayRef<Value> accumulators) {
  return BodyEvaluator(*this, lanes, op, loops, accumulators).run();
}

} // namespace mlc::cpu
