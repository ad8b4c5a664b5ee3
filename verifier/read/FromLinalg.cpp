//===- FromLinalg.cpp - Functions of linalg on tensors as definitions -----===//

#include "dialects/Symbolic/IntExprSize.h"
#include "mlir/IR/Matchers.h"
#include "verifier/read/Goal.h"
#include "verifier/read/LinalgReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

DialectRegistry readDialects() {
  DialectRegistry registry;
  registry.insert<MlcDialect, func::FuncDialect, linalg::LinalgDialect,
                  tensor::TensorDialect, arith::ArithDialect, math::MathDialect,
                  affine::AffineDialect, scf::SCFDialect>();
  return registry;
}

static bool isSafe(Operation *op) {
  return !isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
              arith::CeilDivSIOp, arith::CeilDivUIOp, arith::RemSIOp,
              arith::RemUIOp, tensor::ExtractOp>(op);
}

bool LinalgReader::mayBeUndefined(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        return isSafe(inner) ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Whether the divisor is a constant other than 0 and -1.
static bool dividesByNumber(Operation *op) {
  llvm::APInt divisor;
  return !isa<tensor::ExtractOp>(op) && op->getNumOperands() == 2 &&
         matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
         !divisor.isZero() && !divisor.isAllOnes();
}

bool LinalgReader::usesAll(Block &body) {
  // The operations that all yielded values depend on, whatever is selected.
  llvm::SmallPtrSet<Operation *, 16> used;
  SmallVector<Value> left(body.getTerminator()->getOperands());
  while (!left.empty()) {
    Operation *op = left.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != &body || !used.insert(op).second)
      continue;
    if (auto choice = dyn_cast<arith::SelectOp>(op))
      left.push_back(choice.getCondition());
    else
      llvm::append_range(left, op->getOperands());
  }
  return llvm::all_of(body, [&](Operation &op) {
    return isSafe(&op) || dividesByNumber(&op) || used.contains(&op);
  });
}

bool LinalgReader::read(Operation *op) {
  // A stage would have to hold the values of every iteration.
  if (!around.empty() && op->getNumRegions() && mayBeUndefined(op))
    return fail("a division of integers or a read at a computed place, inside "
                "a loop");
  // A definition does not contain operations whose results are unused.
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (!isa<scf::ForOp, scf::ForallOp>(op) && !usesAll(block))
        return fail("a division of integers or a read at a computed place, "
                    "which is not always used");
  if (readInteger(op, Where::Function) || readScalar(op, Where::Function))
    return true;
  if (builder.hasFailed())
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return readFor(loop);
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return readForall(loop);
  return readTensor(op);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static Expr makeNode(ExprNode node) {
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

bool LinalgReader::hasVariables(IntExpr expr) {
  bool found = false;
  expr.walkSymbols([&](StringRef name) {
    for (StringRef prefix : {"%L", "%I", "%P"})
      found |= name.starts_with(prefix);
  });
  return found;
}

IntExpr LinalgReader::freshLoop(unsigned &id) {
  id = builder.freshLoop();
  return IntExpr::symbol(context, "%L" + std::to_string(id));
}

/// Loops become Loop nodes; only variables of enclosing loops stay symbols.
Expr LinalgReader::toExpr(IntExpr expr) {
  Type index = IndexType::get(context);
  if (!hasVariables(expr) || expr.getKind() == IntExpr::Kind::Symbol) {
    StringRef name =
        expr.getKind() == IntExpr::Kind::Symbol ? expr.getSymbol() : "";
    if (name.consume_front("%L")) {
      ExprNode node(Expr::Kind::Loop, index);
      name.getAsInteger(10, node.loop);
      return makeNode(std::move(node));
    }
    ExprNode node(Expr::Kind::Int, index);
    node.integer = expr;
    return makeNode(std::move(node));
  }
  Expr result = toExpr(expr.getOperands()[0]);
  for (IntExpr operand : expr.getOperands().drop_front())
    result = binary(functionOf(expr.getKind()), result, toExpr(operand));
  return result;
}

Expr LinalgReader::allNonNegative(ArrayRef<IntExpr> exprs) {
  Expr all;
  for (IntExpr expr : exprs) {
    if (expr.isKnownNonNegative())
      continue;
    Expr one = compare(ComparePredicate::GE, toExpr(expr), toExpr(constant(0)));
    all = all ? binary(BinaryFn::And, all, one) : one;
  }
  return all;
}

void LinalgReader::must(IntExpr lhs, ComparePredicate predicate, IntExpr rhs,
                        const llvm::Twine &message, ArrayRef<Guard> given) {
  Need need{{given.begin(), given.end()},
            {guardOf(lhs, predicate, rhs)},
            message.str()};
  // A variable is its lower bound plus one step per iteration.
  for (const LoopRange &range : llvm::reverse(around)) {
    IntExpr variable = integers[range.variable];
    IntExpr count = IntExpr::symbol(
        context, (iterationPrefix + variable.getSymbol().drop_front(2)).str());
    IntExpr value = range.lower + range.step * count;
    need.given.push_back(Guard::less(value, range.upper));
    Substitution map{{variable.getSymbol().str(), value}};
    for (std::vector<Guard> *guards : {&need.given, &need.anyOf})
      for (Guard &guard : *guards)
        guard.expr = substitute(guard.expr, map);
  }
  builder.need(std::move(need));
}

void LinalgReader::mustHaveSizes(Value value, ArrayRef<IntExpr> dims) {
  for (auto [size, dim] :
       llvm::zip(cast<RankedTensorType>(value.getType()).getShape(), dims)) {
    if (ShapedType::isDynamic(size))
      continue;
    if (around.empty())
      builder.require({dim, ComparePredicate::EQ, constant(size),
                       "a tensor has the size that its type says"});
    else
      must(dim, ComparePredicate::EQ, constant(size),
           "a tensor has the size that its type says");
  }
}

Expr LinalgReader::failExpr(const llvm::Twine &reason, Type type) {
  fail(reason);
  if (isa<IndexType>(type))
    return toExpr(constant(0));
  return makeNode(ExprNode(Expr::Kind::Constant, type));
}

namespace {
/// Limits that every walk over expressions can handle.
constexpr unsigned maxNodes = 20000, maxHeight = 1000;
constexpr unsigned maxElements = 100000, maxDepth = 500;

/// Counts nodes as a walk meets them; false past the limits.
bool isSmall(const Expr &expr, unsigned height, unsigned &nodes) {
  if (height > maxHeight || ++nodes > maxNodes)
    return false;
  if (expr->integer && sizeOf(expr->integer).isTooLarge())
    return false;
  return llvm::all_of(expr->operands, [&](const Expr &operand) {
    return isSmall(operand, height + 1, nodes);
  });
}
} // namespace

Expr LinalgReader::limited(Expr expr) {
  unsigned nodes = 0;
  if (isSmall(expr, 0, nodes))
    return expr;
  return failExpr("an element is computed from too many others", expr->type);
}

Expr LinalgReader::elementOf(const Element &at, Indices indices, Type type) {
  if (builder.hasFailed())
    return failExpr("", type);
  if (++numElements > maxElements || depth > maxDepth)
    return failExpr("an element is computed from too many others", type);
  if (llvm::any_of(indices, [](IntExpr i) { return sizeOf(i).isTooLarge(); }))
    return failExpr("an index is too large", type);
  ++depth;
  Expr result = limited(at(indices));
  --depth;
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<LinalgReader::Tensor> LinalgReader::tensorOf(Value value) {
  if (auto it = tensors.find(value); it != tensors.end()) {
    Tensor tensor = it->second;
    // Shared, so that a long chain does not copy its predecessors.
    tensor.at = [this, type = tensor.elementType,
                 own = std::make_shared<Element>(tensor.at)](Indices at) {
      return elementOf(*own, at, type);
    };
    return tensor;
  }
  std::optional<TensorId> id = builder.lookup(value);
  if (!id)
    return std::nullopt;
  TensorShape shape = builder.shapeOf(*id);
  Tensor tensor{shape.dims, shape.elementType, {}, {}};
  tensor.at = [this, id = *id, type = shape.elementType](Indices at) {
    ExprNode node(Expr::Kind::Read, type);
    node.tensor = id;
    for (IntExpr index : at)
      node.operands.push_back(toExpr(index));
    return makeNode(std::move(node));
  };
  return tensor;
}

LinalgReader::Tensor LinalgReader::updated(ArrayRef<IntExpr> dims,
                                           Type elementType, Update update) {
  Tensor tensor{SmallVector<IntExpr>(dims), elementType, {}, update};
  tensor.at = [this, update](Indices at) {
    Expr condition = allNonNegative(update.nonNegatives(at));
    Expr value = update.value(at);
    return condition ? mlc::select(condition, value, update.base(at)) : value;
  };
  return tensor;
}

std::optional<IntExpr> LinalgReader::integerOf(Value value) {
  auto it = integers.find(value);
  return it == integers.end() ? std::nullopt : std::optional(it->second);
}

std::optional<IntExpr> LinalgReader::integerOf(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return constant(cast<IntegerAttr>(attribute).getInt());
  return integerOf(cast<Value>(value));
}

Expr LinalgReader::scalarOf(Value value) {
  if (auto it = scalars.find(value); it != scalars.end())
    return it->second;
  if (std::optional<IntExpr> integer = integerOf(value))
    return cast(toExpr(*integer), value.getType());
  return failExpr("a scalar comes from an operation beyond the verifier",
                  value.getType());
}

void LinalgReader::keep(Value value) {
  std::optional<TensorId> stage = materialize(value);
  if (!stage)
    return;
  builder.set(value, *stage);
  tensors.erase(value);
}

std::optional<TensorId> LinalgReader::materialize(Value value) {
  auto it = tensors.find(value);
  if (it == tensors.end())
    return std::nullopt;
  Tensor tensor = it->second;
  Stage stage;
  stage.name = "y";
  stage.elementType = tensor.elementType;
  stage.dims = tensor.dims;
  Piece piece;
  SmallVector<IntExpr> at;
  for (IntExpr dim : tensor.dims) {
    if (hasVariables(dim)) {
      fail("a result dim depends on a loop");
      return std::nullopt;
    }
    unsigned id = 0;
    at.push_back(freshLoop(id));
    piece.loops.push_back({id, dim});
    piece.offset.push_back(constant(0));
  }
  piece.body = elementOf(tensor.at, at, tensor.elementType);
  stage.pieces.push_back(std::move(piece));
  return builder.addStage(std::move(stage));
}

} // namespace mlc::verifier
