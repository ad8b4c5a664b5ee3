//===- LinalgScalar.cpp - arith, math and affine --------------------------===//

#include "dialects/Interfaces/IntExprSize.h"
#include "verifier/LinalgReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

std::optional<IntExpr> LinalgReader::affine(AffineExpr expr, Indices dims,
                                            Indices symbols) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto operation = cast<AffineBinaryOpExpr>(expr);
  std::optional<IntExpr> a = affine(operation.getLHS(), dims, symbols),
                         b = affine(operation.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *a + *b;
  case AffineExprKind::Mul:
    return *a * *b;
  case AffineExprKind::FloorDiv:
    return a->floorDiv(*b);
  case AffineExprKind::CeilDiv:
    return a->ceilDiv(*b);
  case AffineExprKind::Mod:
    return a->mod(*b);
  default:
    return std::nullopt;
  }
}

/// Operations on index and integer scalars outside of regions, where they are
/// sizes and offsets. Division is taken of non-negative numbers only.
bool LinalgReader::readInteger(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndex())
    return false;
  Value result = op->getResult(0);
  auto set = [&](std::optional<IntExpr> value) {
    if (value && sizeOf(*value).isTooLarge())
      return fail("an index is computed from too many others");
    if (value)
      integers[result] = *value;
    return value.has_value();
  };
  if (auto number = dyn_cast<arith::ConstantOp>(op)) {
    auto value = dyn_cast<IntegerAttr>(number.getValue());
    return value && !result.getType().isInteger(1) &&
           set(constant(value.getInt()));
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<Tensor> tensor = tensorOf(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!index)
      if (std::optional<IntExpr> known = integerOf(dim.getIndex()))
        index = known->asConstant();
    return tensor && index && *index >= 0 &&
           *index < static_cast<int64_t>(tensor->dims.size()) &&
           set(tensor->dims[*index]);
  }
  SmallVector<IntExpr> operands;
  for (Value operand : op->getOperands()) {
    std::optional<IntExpr> value = integerOf(operand);
    if (!value)
      return false;
    operands.push_back(*value);
  }
  auto evaluate = [&](AffineMap map, unsigned i) {
    ArrayRef<IntExpr> all = operands;
    return affine(map.getResult(i), all.take_front(map.getNumDims()),
                  all.drop_front(map.getNumDims()));
  };
  auto choose = [&](AffineMap map, bool isMin) -> std::optional<IntExpr> {
    std::optional<IntExpr> best = evaluate(map, 0);
    for (unsigned i = 1; i < map.getNumResults() && best; ++i) {
      std::optional<IntExpr> next = evaluate(map, i);
      if (!next)
        return std::nullopt;
      best = isMin ? IntExpr::min(*best, *next) : IntExpr::max(*best, *next);
    }
    return best;
  };
  auto divides = [&] {
    return operands[1].isKnownPositive() ||
           operands[1].getKind() == IntExpr::Kind::Symbol;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](affine::AffineApplyOp o) {
        return set(evaluate(o.getAffineMap(), 0));
      })
      .Case([&](affine::AffineMinOp o) {
        return set(choose(o.getAffineMap(), true));
      })
      .Case([&](affine::AffineMaxOp o) {
        return set(choose(o.getAffineMap(), false));
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto) { return set(operands[0]); })
      .Case([&](arith::AddIOp) { return set(operands[0] + operands[1]); })
      .Case([&](arith::SubIOp) { return set(operands[0] - operands[1]); })
      .Case([&](arith::MulIOp) { return set(operands[0] * operands[1]); })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [&](auto) { return set(IntExpr::min(operands[0], operands[1])); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) { return set(IntExpr::max(operands[0], operands[1])); })
      .Case([&](arith::FloorDivSIOp) {
        return divides() && set(operands[0].floorDiv(operands[1]));
      })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) {
        return divides() && set(operands[0].ceilDiv(operands[1]));
      })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) {
        return divides() && operands[0].isKnownNonNegative() &&
               set(operands[0].floorDiv(operands[1]));
      })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) {
        return divides() && operands[0].isKnownNonNegative() &&
               set(operands[0].mod(operands[1]));
      })
      .Default([](Operation *) { return false; });
}

Expr LinalgReader::numberOf(Type type, Attribute value) {
  ExprNode node(Expr::Kind::Constant, type);
  if (auto number = dyn_cast<FloatAttr>(value))
    node.number = number.getValueAsDouble();
  else if (type.isInteger(1))
    node.integerNumber = cast<IntegerAttr>(value).getValue().getZExtValue();
  else
    node.integerNumber = cast<IntegerAttr>(value).getValue().getSExtValue();
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

static std::optional<ComparePredicate> predicateOf(arith::CmpIPredicate p) {
  switch (p) {
  case arith::CmpIPredicate::eq:
    return ComparePredicate::EQ;
  case arith::CmpIPredicate::ne:
    return ComparePredicate::NE;
  case arith::CmpIPredicate::slt:
    return ComparePredicate::LT;
  case arith::CmpIPredicate::sle:
    return ComparePredicate::LE;
  case arith::CmpIPredicate::sgt:
    return ComparePredicate::GT;
  case arith::CmpIPredicate::sge:
    return ComparePredicate::GE;
  default:
    return std::nullopt; // unsigned
  }
}

static std::optional<ComparePredicate> predicateOf(arith::CmpFPredicate p) {
  switch (p) {
  case arith::CmpFPredicate::OEQ:
    return ComparePredicate::EQ;
  case arith::CmpFPredicate::UNE:
    return ComparePredicate::NE;
  case arith::CmpFPredicate::OLT:
    return ComparePredicate::LT;
  case arith::CmpFPredicate::OLE:
    return ComparePredicate::LE;
  case arith::CmpFPredicate::OGT:
    return ComparePredicate::GT;
  case arith::CmpFPredicate::OGE:
    return ComparePredicate::GE;
  default:
    return std::nullopt;
  }
}

/// Operations on elements: in regions, and on scalars outside.
bool LinalgReader::readScalar(Operation *op) {
  if (op->getNumResults() != 1 ||
      !op->getResult(0).getType().isIntOrIndexOrFloat())
    return false;
  Value result = op->getResult(0);
  Type type = result.getType();
  if (auto number = dyn_cast<arith::ConstantOp>(op)) {
    scalars[result] = numberOf(type, number.getValue());
    return true;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    std::optional<Tensor> tensor = tensorOf(extract.getTensor());
    SmallVector<IntExpr> at;
    for (Value index : extract.getIndices()) {
      std::optional<IntExpr> value = integerOf(index);
      if (!value)
        return fail("an index of tensor.extract depends on data");
      at.push_back(*value);
    }
    if (!tensor)
      return fail("tensor.extract reads no known tensor");
    scalars[result] = tensor->at(at);
    return true;
  }
  auto isKnown = [&](Value v) { return scalars.count(v) || integers.count(v); };
  if (!llvm::all_of(op->getOperands(), isKnown))
    return false;
  auto x = [&](unsigned i) { return scalarOf(op->getOperand(i)); };
  auto set = [&](Expr expr) {
    scalars[result] = limited(expr);
    return true;
  };
  auto one = [&](UnaryFn fn) { return set(unary(fn, x(0))); };
  auto two = [&](BinaryFn fn) { return set(binary(fn, x(0), x(1))); };
  auto bools = [&](BinaryFn fn) { return type.isInteger(1) && two(fn); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::AddFOp, arith::AddIOp>(
          [&](auto) { return two(BinaryFn::Add); })
      .Case<arith::SubFOp, arith::SubIOp>(
          [&](auto) { return two(BinaryFn::Sub); })
      .Case<arith::MulFOp, arith::MulIOp>(
          [&](auto) { return two(BinaryFn::Mul); })
      .Case<arith::DivFOp, arith::DivSIOp>(
          [&](auto) { return two(BinaryFn::Div); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(
          [&](auto) { return two(BinaryFn::Max); })
      .Case<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(
          [&](auto) { return two(BinaryFn::Min); })
      .Case([&](arith::AndIOp) { return bools(BinaryFn::And); })
      .Case([&](arith::OrIOp) { return bools(BinaryFn::Or); })
      .Case([&](arith::XOrIOp) { return bools(BinaryFn::Xor); })
      .Case([&](arith::NegFOp) { return one(UnaryFn::Neg); })
      .Case<math::AbsFOp, math::AbsIOp>([&](auto) { return one(UnaryFn::Abs); })
      .Case([&](math::ExpOp) { return one(UnaryFn::Exp); })
      .Case([&](math::LogOp) { return one(UnaryFn::Log); })
      .Case([&](math::SqrtOp) { return one(UnaryFn::Sqrt); })
      .Case([&](math::RsqrtOp) {
        return set(unary(UnaryFn::Reciprocal, unary(UnaryFn::Sqrt, x(0))));
      })
      .Case([&](math::TanhOp) { return one(UnaryFn::Tanh); })
      .Case([&](math::ErfOp) { return one(UnaryFn::Erf); })
      .Case([&](math::SinOp) { return one(UnaryFn::Sin); })
      .Case([&](math::CosOp) { return one(UnaryFn::Cos); })
      .Case([&](math::FloorOp) { return one(UnaryFn::Floor); })
      .Case([&](math::CeilOp) { return one(UnaryFn::Ceil); })
      .Case([&](math::RoundEvenOp) { return one(UnaryFn::RoundEven); })
      .Case([&](math::PowFOp) { return two(BinaryFn::Pow); })
      .Case([&](math::FmaOp) { return set(x(0) * x(1) + x(2)); })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp,
            arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return set(cast(x(0), type)); })
      .Case([&](arith::UIToFPOp) {
        return op->getOperand(0).getType().isInteger(1) &&
               set(cast(x(0), type));
      })
      .Case([&](arith::ExtUIOp) {
        return op->getOperand(0).getType().isInteger(1) &&
               set(cast(x(0), type));
      })
      .Case([&](arith::SelectOp) { return set(select(x(0), x(1), x(2))); })
      .Case([&](arith::CmpFOp o) {
        auto predicate = predicateOf(o.getPredicate());
        return predicate && set(compare(*predicate, x(0), x(1)));
      })
      .Case([&](arith::CmpIOp o) {
        auto predicate = predicateOf(o.getPredicate());
        return predicate && set(compare(*predicate, x(0), x(1)));
      })
      .Default([](Operation *) { return false; });
}

/// All operations of a region but its terminator.
bool LinalgReader::readScalars(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!readInteger(&op) && !readScalar(&op))
      return fail("'" + op.getName().getStringRef() +
                  "' in a region is beyond the verifier");
  return true;
}

} // namespace mlc::verifier
