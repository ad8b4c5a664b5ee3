//===- Lanes.cpp - Code for one or several elements at once ---------------===//

#include "codegen/cpu/Lanes.h"
#include "codegen/cpu/Storage.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace mlc::cpu {

Type Lanes::computeType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  return element;
}

Type Lanes::vectorType(Type scalar) const {
  return width == 1 ? scalar : VectorType::get({width}, scalar);
}

bool Lanes::isVector(Value value) { return isa<VectorType>(value.getType()); }

Value Lanes::splat(Value value) {
  if (width == 1 || isVector(value))
    return value;
  return b.createOrFold<vector::BroadcastOp>(
      loc, cast<VectorType>(vectorType(value.getType())), value);
}

Value Lanes::floatConstant(Type type, double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

LaneIndex Lanes::constant(int64_t value) {
  return uniform(arith::ConstantIndexOp::create(b, loc, value));
}

static bool isConstant(const LaneIndex &index, int64_t value) {
  return index.isUniform() && getConstantIntValue(index.base) == value;
}

LaneIndex Lanes::add(LaneIndex lhs, LaneIndex rhs) {
  if (isConstant(lhs, 0))
    return rhs;
  if (isConstant(rhs, 0))
    return lhs;
  if (lhs.vector || rhs.vector)
    return apply<arith::AddIOp>(lhs, rhs);
  return {b.createOrFold<arith::AddIOp>(loc, lhs.base, rhs.base),
          lhs.step + rhs.step,
          {}};
}

LaneIndex Lanes::sub(LaneIndex lhs, LaneIndex rhs) {
  if (isConstant(rhs, 0))
    return lhs;
  if (lhs.vector || rhs.vector)
    return apply<arith::SubIOp>(lhs, rhs);
  return {b.createOrFold<arith::SubIOp>(loc, lhs.base, rhs.base),
          lhs.step - rhs.step,
          {}};
}

LaneIndex Lanes::mul(LaneIndex lhs, LaneIndex rhs) {
  if (isConstant(lhs, 1))
    return rhs;
  if (isConstant(rhs, 1))
    return lhs;
  if (isConstant(lhs, 0) || isConstant(rhs, 0))
    return constant(0);
  if (rhs.step != 0)
    std::swap(lhs, rhs);
  std::optional<int64_t> factor;
  if (rhs.isUniform())
    factor = getConstantIntValue(rhs.base);
  if (lhs.vector || !rhs.isUniform() || (lhs.step != 0 && !factor))
    return apply<arith::MulIOp>(lhs, rhs);
  return {b.createOrFold<arith::MulIOp>(loc, lhs.base, rhs.base),
          lhs.step * factor.value_or(0),
          {}};
}

LaneIndex Lanes::mod(LaneIndex lhs, LaneIndex rhs) {
  LaneIndex quotient = apply<arith::FloorDivSIOp>(lhs, rhs);
  return sub(lhs, mul(quotient, rhs));
}

LaneIndex Lanes::evaluate(AffineExpr expr, ArrayRef<LaneIndex> dims,
                          ArrayRef<LaneIndex> symbols) {
  if (auto value = dyn_cast<AffineConstantExpr>(expr))
    return constant(value.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  LaneIndex lhs = evaluate(binary.getLHS(), dims, symbols);
  LaneIndex rhs = evaluate(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(lhs, rhs);
  case AffineExprKind::Mul:
    return mul(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return apply<arith::FloorDivSIOp>(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return apply<arith::CeilDivSIOp>(lhs, rhs);
  default:
    return mod(lhs, rhs);
  }
}

Value Lanes::toVector(LaneIndex index) {
  if (width == 1)
    return index.base;
  if (index.vector)
    return index.vector;
  Value base = splat(index.base);
  if (index.step == 0)
    return base;
  SmallVector<Attribute> steps;
  for (unsigned lane = 0; lane < width; ++lane)
    steps.push_back(b.getIndexAttr(lane * index.step));
  Value offsets = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<VectorType>(vectorType(b.getIndexType())),
                             steps));
  return b.createOrFold<arith::AddIOp>(loc, base, offsets);
}

Value Lanes::toValue(LaneIndex index) {
  return index.isUniform() ? index.base : toVector(index);
}

LaneIndex Lanes::fromValue(Value value) {
  if (isVector(value))
    return {{}, 0, value};
  return uniform(value);
}

Value Lanes::inRange(LaneIndex index, Value lower, Value upper) {
  Value value = toValue(index);
  auto bound = [&](Value scalar) {
    return isVector(value) ? splat(scalar) : scalar;
  };
  Value above = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge,
                                              value, bound(lower));
  Value below = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                              value, bound(upper));
  return b.createOrFold<arith::AndIOp>(loc, above, below);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LaneIndex Lanes::address(const View &view, ArrayRef<LaneIndex> indices) {
  LaneIndex result = uniform(view.offset);
  for (auto [index, stride] : llvm::zip_equal(indices, view.strides))
    result = add(result, mul(index, uniform(stride)));
  return result;
}

Value Lanes::allLanes() {
  if (mask)
    return mask;
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<VectorType>(vectorType(b.getI1Type())),
                             true));
}

void Lanes::note(Type stored, const LaneIndex &address) {
  if (address.isUniform())
    ++cost.uniform;
  else if (!address.vector && address.step == 1)
    ++cost.contiguous;
  else
    ++cost.gathers;
  if (!address.isUniform() && stored.getIntOrFloatBitWidth() < 32)
    cost.narrowAccess = true;
}

/// The base and the per-lane offsets of a gather or scatter: constant 32-bit
/// offsets where lanes are equally spaced.
static std::pair<Value, Value> gatherOffsets(Lanes &lanes, LaneIndex address) {
  OpBuilder &b = lanes.b;
  int64_t reach = address.step * int64_t(lanes.width);
  if (!address.vector && std::abs(reach) < (int64_t(1) << 24)) {
    SmallVector<int32_t> steps;
    for (unsigned lane = 0; lane < lanes.width; ++lane)
      steps.push_back(int32_t(lane * address.step));
    return {address.base,
            arith::ConstantOp::create(b, lanes.loc, b.getI32VectorAttr(steps))};
  }
  return {arith::ConstantIndexOp::create(b, lanes.loc, 0),
          lanes.toVector(address)};
}

Value Lanes::load(const View &view, ArrayRef<LaneIndex> indices) {
  LaneIndex where = address(view, indices);
  Type stored = storageType(view.element);
  note(stored, where);
  Value value;
  if (where.isUniform()) {
    value = memref::LoadOp::create(b, loc, view.memref, where.base);
  } else {
    auto type = cast<VectorType>(vectorType(stored));
    if (!where.vector && where.step == 1 && !mask) {
      value = vector::LoadOp::create(b, loc, type, view.memref, where.base);
    } else {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
      if (!where.vector && where.step == 1) {
        value = vector::MaskedLoadOp::create(b, loc, type, view.memref,
                                             where.base, mask, zero);
      } else {
        auto [base, offsets] = gatherOffsets(*this, where);
        value = vector::GatherOp::create(b, loc, type, view.memref, base,
                                         offsets, allLanes(), zero);
      }
    }
  }
  value = fromStorage(b, loc, view.element, value);
  Type wanted = computeType(view.element);
  if (wanted == view.element)
    return value;
  return arith::ExtFOp::create(
      b, loc, isVector(value) ? vectorType(wanted) : wanted, value);
}

void Lanes::store(const View &view, ArrayRef<LaneIndex> indices, Value value) {
  LaneIndex where = address(view, indices);
  Type stored = storageType(view.element);
  note(stored, where);
  if (!where.isUniform())
    value = splat(value);
  if (computeType(view.element) != view.element)
    value = arith::TruncFOp::create(
        b, loc, isVector(value) ? vectorType(view.element) : view.element,
        value);
  value = toStorage(b, loc, value);
  if (where.isUniform()) {
    // Lanes that store to one address would have to agree; schedules avoid
    // that.
    if (isVector(value)) {
      cost.impossible = true;
      value = vector::ExtractOp::create(b, loc, value, 0);
    }
    memref::StoreOp::create(b, loc, value, view.memref, where.base);
    return;
  }
  if (!where.vector && where.step == 1 && !mask) {
    vector::StoreOp::create(b, loc, value, view.memref, where.base);
    return;
  }
  if (!where.vector && where.step == 1) {
    vector::MaskedStoreOp::create(b, loc, view.memref, where.base, mask, value);
    return;
  }
  ++cost.gathers;
  auto [base, offsets] = gatherOffsets(*this, where);
  vector::ScatterOp::create(b, loc, Type(), view.memref, base, offsets,
                            allLanes(), value);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Whether `op` may trap or be slow on the garbage in an inactive lane.
static bool trapsOnGarbage(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return false;
  APInt divisor;
  return !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) ||
         divisor.isZero() || divisor.isAllOnes();
}

Value Lanes::cloneCast(Operation *op, Value operand) {
  Type to = op->getResult(0).getType();
  auto shaped = [&](Type scalar) {
    return isVector(operand) ? vectorType(scalar) : scalar;
  };
  if (isa<arith::ExtFOp>(op)) {
    if (getElementTypeOrSelf(operand.getType()) == computeType(to))
      return operand;
    return arith::ExtFOp::create(b, loc, shaped(computeType(to)), operand);
  }
  // Narrowing rounds, also where the result is then computed in f32.
  return rounded(operand, to);
}

Value Lanes::rounded(Value value, Type to) {
  auto shaped = [&](Type scalar) {
    return isVector(value) ? vectorType(scalar) : scalar;
  };
  if (getElementTypeOrSelf(value.getType()) != to)
    value = arith::TruncFOp::create(b, loc, shaped(to), value);
  if (computeType(to) == to)
    return value;
  return arith::ExtFOp::create(b, loc, shaped(computeType(to)), value);
}

/// Lets LLVM ignore the sign of a zero, which our arithmetic does not define.
static void relax(Operation *op) {
  if (!isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
           arith::MinNumFOp>(op))
    return;
  auto fast = cast<arith::ArithFastMathInterface>(op);
  auto flags =
      fast.getFastMathFlagsAttr().getValue() | arith::FastMathFlags::nsz;
  op->setAttr(fast.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(op->getContext(), flags));
}

/// Whether `value`, in the body of a kernel's operation, is a product that
/// nothing else reads.
static bool isOwnProduct(Value value) {
  while (value.hasOneUse()) {
    if (value.getDefiningOp<arith::MulFOp>())
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto reader =
          dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
      if (!reader)
        return false;
      value = reader.getMatchingOpOperand(argument)->get();
      continue;
    }
    auto maker = value.getDefiningOp<linalg::LinalgOp>();
    if (!maker)
      return false;
    value = maker.getBlock()->getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber());
  }
  return false;
}

/// Emits a sum with a product as one fused operation that rounds once. The
/// kernel alone decides this, not LLVM, so that whole vectors, remainders and
/// shards on other ranks have the same bits. A difference is not fused:
/// subtracting a rounded maximum from a recomputed product must give 0, not the
/// rounding error.
Value Lanes::fusedSum(Operation *sum, ArrayRef<Value> operands) {
  if (!isa<arith::AddFOp>(sum))
    return {};
  for (unsigned i : {0, 1}) {
    auto product = operands[i].getDefiningOp<arith::MulFOp>();
    if (!product || !isOwnProduct(sum->getOperand(i)))
      continue;
    Value parts[] = {product.getLhs(), product.getRhs(), operands[1 - i]};
    if (llvm::any_of(parts, isVector))
      for (Value &part : parts)
        part = splat(part);
    return math::FmaOp::create(b, loc, parts[0], parts[1], parts[2]);
  }
  return {};
}

/// Whether `value`, in the body of a kernel's operation, is a sum of
/// exponentials (softmax). Other divisors may be integers, whose quotients must
/// stay exact.
static bool isMadeOfExponentials(Value value) {
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      auto user =
          dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
      if (!user)
        continue;
      next = user.getMatchingOpOperand(argument)->get();
    }
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<math::ExpOp>(op))
      return true;
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (structured && llvm::any_of(*structured.getBlock(), [](Operation &in) {
          return isa<math::ExpOp>(in);
        }))
      return true;
    llvm::append_range(open, op->getOperands());
  }
  return false;
}

/// Divides once instead of once per lane, unless the inverse overflows or loses
/// bits. A product with the inverse is not the rounded quotient (49 / 49 is
/// less than 1), so this is only for divisors that are rounded themselves.
Value Lanes::divideByUniform(Value x, Value y) {
  auto byInverse = [&] {
    Value one = floatConstant(y.getType(), 1.0);
    Value inverse = arith::DivFOp::create(b, loc, one, y);
    return arith::MulFOp::create(b, loc, x, splat(inverse));
  };
  using P = arith::CmpFPredicate;
  Value magnitude = math::AbsFOp::create(b, loc, y);
  Value low = floatConstant(y.getType(), 0x1p-100);
  Value high = floatConstant(y.getType(), 0x1p100);
  Value fine = arith::AndIOp::create(
      b, loc, arith::CmpFOp::create(b, loc, P::OGE, magnitude, low),
      arith::CmpFOp::create(b, loc, P::OLE, magnitude, high));
  auto branch = scf::IfOp::create(b, loc, TypeRange(x.getType()), fine,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, byInverse().getResult());
  b.setInsertionPointToStart(branch.elseBlock());
  Value quotient = arith::DivFOp::create(b, loc, x, splat(y));
  scf::YieldOp::create(b, loc, quotient);
  return branch.getResult(0);
}

Value Lanes::clone(Operation *op, ArrayRef<Value> operands) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto real = dyn_cast<FloatAttr>(constant.getValue());
    if (!real)
      return arith::ConstantOp::create(b, loc, constant.getValue());
    Type type = computeType(real.getType());
    return floatConstant(type, real.getValueAsDouble());
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return cloneCast(op, operands[0]);
  if (width > 1 && trapsOnGarbage(op))
    cost.impossible = true;
  bool wide = llvm::any_of(operands, isVector);
  if (isa<arith::DivFOp>(op) && wide && !isVector(operands[1]) &&
      isMadeOfExponentials(op->getOperand(1))) {
    cost.sharesInverse = true;
    return divideByUniform(operands[0], operands[1]);
  }
  if (Value fused = fusedSum(op, operands))
    return fused;
  SmallVector<Value> values;
  for (auto [position, value] : llvm::enumerate(operands)) {
    bool condition = isa<arith::SelectOp>(op) && position == 0;
    values.push_back(wide && !(condition && !isVector(value)) ? splat(value)
                                                              : value);
  }
  Type type = computeType(op->getResult(0).getType());
  OperationState state(loc, op->getName(), values,
                       {wide ? vectorType(type) : type}, op->getAttrs());
  Operation *copy = b.create(state);
  relax(copy);
  // A conversion rounds to its type; later computations may stay wide.
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return rounded(copy->getResult(0), op->getResult(0).getType());
  return copy->getResult(0);
}

} // namespace mlc::cpu
