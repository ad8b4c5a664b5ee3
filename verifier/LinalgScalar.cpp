//===- LinalgScalar.cpp - arith, math and affine --------------------------===//

#include "dialects/Interfaces/IntExprSize.h"
#include "verifier/Arith.h"
#include "verifier/LinalgReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

std::optional<IntExpr> LinalgReader::affine(AffineExpr expr, Indices dims,
                                            Indices symbols, Where where) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto operation = cast<AffineBinaryOpExpr>(expr);
  std::optional<IntExpr> a = affine(operation.getLHS(), dims, symbols, where),
                         b = affine(operation.getRHS(), dims, symbols, where);
  if (!a || !b)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *a + *b;
  case AffineExprKind::Mul:
    return *a * *b;
  case AffineExprKind::FloorDiv:
    return canDivideBy(*b, where) ? std::optional(a->floorDiv(*b))
                                  : std::nullopt;
  case AffineExprKind::CeilDiv:
    return canDivideBy(*b, where) ? std::optional(a->ceilDiv(*b))
                                  : std::nullopt;
  case AffineExprKind::Mod:
    return canDivideBy(*b, where) ? std::optional(a->mod(*b)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Division of integers forgets its divisor (n / n is 1), so that this must be
/// positive, or be required to be. A region may never run, and then requires
/// nothing: there, readScalar keeps the division.
bool LinalgReader::canDivideBy(IntExpr divisor, Where where) {
  if (divisor.isKnownPositive())
    return true;
  if (divisor.isConstant() || where == Where::Region)
    return false;
  must(divisor, ComparePredicate::GE, constant(1),
       "a divisor of an index is positive");
  return true;
}

/// Sizes are below 2^31; numbers beyond are no factors of indices, so that
/// their arithmetic does not leave 64 bits.
static bool isSmall(IntExpr expr) {
  constexpr int64_t largest = int64_t(1) << 31;
  for (const IndexMonomial &m : monomialsOf(expr)) {
    if (!m.atoms.empty() &&
        (m.coefficient > largest || m.coefficient < -largest))
      return false;
    for (IntExpr atom : m.atoms)
      if (!llvm::all_of(atom.getOperands(), isSmall))
        return false;
  }
  return true;
}

/// Operations on indices, which are sizes and offsets: integers, where nothing
/// wraps. What is unsigned is read of numbers that are not negative, division
/// of them too; everything else is left to readScalar.
bool LinalgReader::readInteger(Operation *op, Where where) {
  if (op->getNumResults() != 1 || !isa<IndexType>(op->getResult(0).getType()) ||
      !llvm::all_of(op->getOperandTypes(), [](Type type) {
        return isa<IndexType, RankedTensorType>(type);
      }))
    return false;
  Value result = op->getResult(0);
  auto set = [&](std::optional<IntExpr> value) {
    if (value && sizeOf(*value).isTooLarge())
      return fail("an index is computed from too many others");
    if (value && !isSmall(*value))
      return fail("an index is computed with numbers beyond 2^31");
    if (value)
      integers[result] = *value;
    return value.has_value();
  };
  if (auto number = dyn_cast<arith::ConstantOp>(op)) {
    auto value = dyn_cast<IntegerAttr>(number.getValue());
    return value && set(constant(value.getInt()));
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
  if (hasPromises(op))
    return false;
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
                  all.drop_front(map.getNumDims()), where);
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
  auto divides = [&] { return canDivideBy(operands[1], where); };
  auto isNatural = [&] {
    return llvm::all_of(operands,
                        [](IntExpr e) { return e.isKnownNonNegative(); });
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
      .Case([&](arith::AddIOp) { return set(operands[0] + operands[1]); })
      .Case([&](arith::SubIOp) { return set(operands[0] - operands[1]); })
      .Case([&](arith::MulIOp) { return set(operands[0] * operands[1]); })
      .Case([&](arith::MinSIOp) {
        return set(IntExpr::min(operands[0], operands[1]));
      })
      .Case([&](arith::MaxSIOp) {
        return set(IntExpr::max(operands[0], operands[1]));
      })
      .Case([&](arith::MinUIOp) {
        return isNatural() && set(IntExpr::min(operands[0], operands[1]));
      })
      .Case([&](arith::MaxUIOp) {
        return isNatural() && set(IntExpr::max(operands[0], operands[1]));
      })
      .Case([&](arith::FloorDivSIOp) {
        return divides() && set(operands[0].floorDiv(operands[1]));
      })
      .Case([&](arith::CeilDivSIOp) {
        return divides() && set(operands[0].ceilDiv(operands[1]));
      })
      .Case([&](arith::CeilDivUIOp) {
        return divides() && operands[0].isKnownNonNegative() &&
               set(operands[0].ceilDiv(operands[1]));
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

/// Operations on elements: in regions, and on scalars outside.
bool LinalgReader::readScalar(Operation *op, Where where) {
  if (op->getNumResults() != 1 || !isScalarType(op->getResult(0).getType()))
    return false;
  Value result = op->getResult(0);
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
    if (where == Where::Function)
      for (auto [index, dim] : llvm::zip(at, tensor->dims)) {
        must(index, ComparePredicate::GE, constant(0), "an index is in range");
        must(index, ComparePredicate::LT, dim, "an index is in range");
      }
    scalars[result] = tensor->at(at);
    return true;
  }
  auto isKnown = [&](Value v) { return scalars.count(v) || integers.count(v); };
  if (!llvm::all_of(op->getOperands(), isKnown))
    return false;
  SmallVector<Expr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalarOf(operand));
  Expr element = verifier::elementOf(op, operands);
  if (!element)
    return false;
  scalars[result] = limited(element);
  if (where == Where::Region || !mayBeUndefined(op))
    return true;
  if (!around.empty())
    return fail("a division of integers inside a loop");
  keepScalar(result);
  return true;
}

/// A division of integers is one, whether its value is used or not.
void LinalgReader::keepScalar(Value value) {
  Stage stage;
  stage.name = "y";
  stage.elementType = value.getType();
  Piece piece;
  piece.body = scalars[value];
  stage.pieces.push_back(std::move(piece));
  ExprNode read(Expr::Kind::Read, value.getType());
  read.tensor = builder.addStage(std::move(stage));
  scalars[value] = Expr(std::make_shared<const ExprNode>(std::move(read)));
}

/// All operations of a region but its terminator.
bool LinalgReader::readScalars(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!readInteger(&op, Where::Region) && !readScalar(&op, Where::Region))
      return fail("'" + op.getName().getStringRef() +
                  "' in a region is beyond the verifier");
  return true;
}

} // namespace mlc::verifier
