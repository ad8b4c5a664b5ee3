//===- ContractionEpilogue.cpp - Initial values and epilogue of a tile ----===//
//
// The initial value before the reduction and the element-wise ops after it,
// evaluated per vector of the tile: loads follow their strides (vector, scalar
// and broadcast, or lane by lane), bodies of linalg ops become code for
// vectors (Lanes).
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ContractionEmit.h"
#include "codegen/cpu/Lanes.h"
#include "codegen/cpu/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace mlc::cpu {

/// Address of vector (r, v) of the tile in `a`.
Value ContractionEmitter::address(const RuntimeAccess &a, const TilePosition &t,
                                  int64_t r, int64_t v) {
  auto [it, isNew] = positions.try_emplace(&a);
  if (isNew)
    it->second = operand(a, t, true);
  const TileOperand &o = it->second;
  return m.value(m.add(o.base, m.add(o.rowOffset[r], o.vectorOffset[v])));
}

/// A vector whose lanes are `stride` apart; missing lanes repeat the last.
Value ContractionEmitter::strided(const RuntimeAccess &a, const TilePosition &t,
                                  Value at, Index stride, bool masked) {
  SmallVector<Value> lanes;
  for (int64_t i = 0; i < p.lanes; ++i) {
    Index lane = m.constant(i);
    if (masked)
      lane = m.min(lane, m.sub(t.activeLanes, m.constant(1)));
    Value position = m.value(m.add(at, m.mul(lane, stride)));
    lanes.push_back(memref::LoadOp::create(b, loc, a.memref, position));
  }
  Value stored = vector::FromElementsOp::create(
      b, loc, vectorOf(storageType(a.element)), lanes);
  return fromStorage(b, loc, a.element, stored);
}

Value ContractionEmitter::loadNode(const RuntimeAccess &a,
                                   const TilePosition &t, int64_t r,
                                   int64_t v) {
  Value at = address(a, t, r, v);
  VectorType type = vectorOf(a.element);
  Index lane = p.vectorDim < 0 ? m.constant(0) : a.strides[p.vectorDim];
  bool masked = t.mask && v == t.vectors - 1;
  if (p.lanes == 1 || IndexMath::is(lane, 1))
    return loadVector(b, loc, type, a.memref, at, masked ? t.mask : Value());
  if (IndexMath::is(lane, 0)) {
    Value scalar = memref::LoadOp::create(b, loc, a.memref, at);
    Value stored = vector::BroadcastOp::create(
        b, loc, vectorOf(storageType(a.element)), scalar);
    return fromStorage(b, loc, a.element, stored);
  }
  return strided(a, t, at, lane, masked);
}

/// The body of an element-wise op on vectors.
Value ContractionEmitter::opNode(const EpilogueNode &n, const TilePosition &t,
                                 int64_t r, int64_t v) {
  linalg::LinalgOp op = n.op;
  Block &source = op->getRegion(0).front();
  Lanes lanes(b, loc, p.lanes);
  llvm::DenseMap<Value, Value> values;
  for (auto [i, child] : llvm::enumerate(n.operands)) {
    if (child == ~0u)
      continue;
    Value value = evalNode(child, t, r, v);
    values[source.getArgument(i)] =
        p.lanes == 1 ? vector::ExtractOp::create(b, loc, value, 0).getResult()
                     : value;
  }
  auto mapped = [&](Value operand) {
    Value &value = values[operand];
    if (!value) {
      auto constant = operand.getDefiningOp<arith::ConstantOp>();
      assert(constant && "bodies capture constants only");
      value = lanes.clone(constant, {});
    }
    return value;
  };
  for (Operation &inner : source.without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue; // computed where it is used
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(mapped(operand));
    values[inner.getResult(0)] = lanes.clone(&inner, operands);
  }
  Value result = mapped(source.getTerminator()->getOperand(n.result));
  if (isa<VectorType>(result.getType()))
    return result;
  return vector::BroadcastOp::create(b, loc, vectorOf(result.getType()),
                                     result);
}

/// `vector` with elements of the type `element`: small floats are computed as
/// float32 (Lanes) and narrowed when they are stored.
Value ContractionEmitter::converted(Value vector, Type element) {
  Type from = getElementTypeOrSelf(vector.getType());
  if (from == element)
    return vector;
  VectorType to = vectorOf(element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, to, vector);
  return arith::TruncFOp::create(b, loc, to, vector);
}

/// The value of a node for vector (r, v) of the tile, in the type in which it
/// is computed.
Value ContractionEmitter::evalNode(unsigned node, const TilePosition &t,
                                   int64_t r, int64_t v) {
  const EpilogueNode &n = c.nodes[node];
  if (n.kind == EpilogueNode::Kind::Accumulator)
    return converted(sums[r * t.vectors + v],
                     Lanes::computeType(c.accumulator));
  // A value that is the same for all positions is made once.
  int64_t key = r;
  auto steady = [&](int d) {
    return d < 0 || IndexMath::is(loads[n.load].strides[d], 0);
  };
  if (n.kind == EpilogueNode::Kind::Load && steady(p.tileDim) &&
      steady(p.rowDim))
    key = 0;
  if (n.kind == EpilogueNode::Kind::Scalar)
    key = v = 0;
  auto found = computed.find({node, key, v});
  if (found != computed.end())
    return found->second;
  Value result;
  switch (n.kind) {
  case EpilogueNode::Kind::Load:
    result = converted(loadNode(loads[n.load], t, key, v),
                       Lanes::computeType(loads[n.load].element));
    break;
  case EpilogueNode::Kind::Scalar:
    result = converted(
        arith::ConstantOp::create(
            b, loc,
            DenseElementsAttr::get(vectorOf(n.element), Attribute(n.scalar))),
        Lanes::computeType(n.element));
    break;
  default:
    result = opNode(n, t, r, v);
  }
  computed[{node, key, v}] = result;
  return result;
}

void ContractionEmitter::store(const RuntimeAccess &a, const TilePosition &t,
                               int64_t r, int64_t v, Value vector) {
  Value at = address(a, t, r, v);
  Index lane = p.vectorDim < 0 ? m.constant(0) : a.strides[p.vectorDim];
  bool masked = t.mask && v == t.vectors - 1;
  vector = converted(vector, a.element);
  if (p.lanes == 1 || IndexMath::is(lane, 1))
    return storeVector(b, loc, vector, a.memref, at, masked ? t.mask : Value());
  vector = toStorage(b, loc, vector);
  for (int64_t i = 0; i < p.lanes; ++i) {
    auto put = [&] {
      Value scalar = vector::ExtractOp::create(b, loc, vector, i);
      Value place = m.value(m.add(at, m.mul(m.constant(i), lane)));
      memref::StoreOp::create(b, loc, scalar, a.memref, place);
    };
    if (!masked) {
      put();
      continue;
    }
    Value active =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                              m.value(t.activeLanes), m.value(m.constant(i)));
    auto guard = scf::IfOp::create(b, loc, active);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    put();
  }
}

/// The sums before this pass: the initial value, or what earlier passes left
/// in the first output.
SmallVector<Value> ContractionEmitter::initialSums(const TilePosition &t,
                                                   const Pass &pass) {
  auto each = [&](llvm::function_ref<Value(int64_t, int64_t)> make) {
    SmallVector<Value> values;
    computed.clear();
    for (int64_t r = 0; r < t.rows; ++r)
      for (int64_t v = 0; v < t.vectors; ++v)
        values.push_back(make(r, v));
    computed.clear();
    return values;
  };
  auto initial = [&] {
    return each([&](int64_t r, int64_t v) {
      return converted(evalNode(c.init, t, r, v), c.accumulator);
    });
  };
  if (!pass.first)
    return initial();
  // Positions are computed before the branch: both arms and the epilogue use
  // them.
  for (const RuntimeAccess &a : loads)
    positions[&a] = operand(a, t, true);
  for (const RuntimeAccess &a : outputs)
    positions[&a] = operand(a, t, true);
  SmallVector<Type> types(t.rows * t.vectors, vectorOf(c.accumulator));
  auto choice = scf::IfOp::create(b, loc, types, pass.first, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, initial());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, each([&](int64_t r, int64_t v) {
                         return loadNode(outputs[0], t, r, v);
                       }));
  return SmallVector<Value>(choice.getResults());
}

void ContractionEmitter::finish(const TilePosition &t, const Pass &pass,
                                ArrayRef<Value> tileSums) {
  sums = tileSums;
  auto epilogue = [&] {
    computed.clear();
    for (int64_t r = 0; r < t.rows; ++r)
      for (int64_t v = 0; v < t.vectors; ++v) {
        // Compute all values before any store: an output may share an input's
        // memory.
        SmallVector<Value> values;
        for (const ContractionOutput &o : c.outputs)
          values.push_back(evalNode(o.node, t, r, v));
        for (auto [value, a] : llvm::zip_equal(values, outputs))
          store(a, t, r, v, value);
      }
    computed.clear();
  };
  if (!pass.last)
    return epilogue();
  auto choice = scf::IfOp::create(b, loc, pass.last, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  epilogue();
  b.setInsertionPointToStart(choice.elseBlock());
  for (int64_t r = 0; r < t.rows; ++r)
    for (int64_t v = 0; v < t.vectors; ++v)
      store(outputs[0], t, r, v, tileSums[r * t.vectors + v]);
}

} // namespace mlc::cpu
