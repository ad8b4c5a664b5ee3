//===- LinalgScalar.cpp - arith, math and affine --------------------------===//

#include "dialects/Symbolic/IntExprSize.h"
#include "verifier/read/Arith.h"
#include "verifier/read/LinalgReader.h"
#include "llvm/ADT/STLExtras.h"

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

/// Division of integers forgets its divisor (n / n is 1), so the divisor must
/// be positive or required to be. A region may never run and then requires
/// nothing; there readScalar keeps the division.
bool LinalgReader::canDivideBy(IntExpr divisor, Where where) {
  if (divisor.isKnownPositive())
    return true;
  if (divisor.isConstant() || where == Where::Region)
    return false;
  must(divisor, ComparePredicate::GE, constant(1),
       "a divisor of an index is positive");
  return true;
}

/// Sizes are below 2^31; larger numbers are not accepted as factors of indices,
/// so index arithmetic does not overflow 64 bits.
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

/// The result of affine.apply, min or max on these operands.
std::optional<IntExpr> LinalgReader::affineOf(Operation *op, Indices operands,
                                              Where where) {
  auto evaluate = [&](AffineMap map, unsigned i) {
    return affine(map.getResult(i), operands.take_front(map.getNumDims()),
                  operands.drop_front(map.getNumDims()), where);
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
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return evaluate(apply.getAffineMap(), 0);
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return choose(min.getAffineMap(), true);
  if (auto max = dyn_cast<affine::AffineMaxOp>(op))
    return choose(max.getAffineMap(), false);
  return std::nullopt;
}

/// The result of arithmetic on these two operands. Unsigned operations and
/// those that round towards zero are read only for numbers that are not
/// negative.
std::optional<IntExpr> LinalgReader::arithOf(Operation *op, Indices operands,
                                             Where where) {
  IntExpr a = operands[0], b = operands[1];
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  if (isa<arith::MulIOp>(op))
    return a * b;
  bool isNatural = a.isKnownNonNegative() && b.isKnownNonNegative();
  if (isa<arith::MinSIOp>(op) || (isa<arith::MinUIOp>(op) && isNatural))
    return IntExpr::min(a, b);
  if (isa<arith::MaxSIOp>(op) || (isa<arith::MaxUIOp>(op) && isNatural))
    return IntExpr::max(a, b);
  bool isFloorDiv = isa<arith::FloorDivSIOp>(op),
       isCeilDiv = isa<arith::CeilDivSIOp>(op),
       isDivOfNatural = isa<arith::CeilDivUIOp, arith::DivSIOp, arith::DivUIOp,
                            arith::RemSIOp, arith::RemUIOp>(op);
  // Operations of arith also divide by negative numbers.
  if ((!isFloorDiv && !isCeilDiv && !isDivOfNatural) ||
      !b.isKnownNonNegative() || !canDivideBy(b, where))
    return std::nullopt;
  if (isDivOfNatural && !a.isKnownNonNegative())
    return std::nullopt;
  if (isCeilDiv || isa<arith::CeilDivUIOp>(op))
    return a.ceilDiv(b);
  return isa<arith::RemSIOp, arith::RemUIOp>(op) ? a.mod(b) : a.floorDiv(b);
}

/// Operations on indices, which are sizes and offsets: integers that do not
/// wrap. Other operations are left to readScalar.
bool LinalgReader::readInteger(Operation *op, Where where) {
  if (op->getNumResults() != 1 || !isa<IndexType>(op->getResult(0).getType()) ||
      !llvm::all_of(op->getOperandTypes(), [](Type type) {
        return isa<IndexType, RankedTensorType>(type);
      }))
    return false;
  auto set = [&](std::optional<IntExpr> value) {
    if (value && sizeOf(*value).isTooLarge())
      return fail("an index is computed from too many others");
    if (value && !isSmall(*value))
      return fail("an index is computed with numbers beyond 2^31");
    if (value)
      integers[op->getResult(0)] = *value;
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
  if (isa_and_nonnull<affine::AffineDialect>(op->getDialect()))
    return set(affineOf(op, operands, where));
  return operands.size() == 2 && set(arithOf(op, operands, where));
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

/// Keeps an integer division even if its value is unused, because it may be
/// undefined.
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
