//===- Definition.cpp - Building and printing definitions -----------------===//

#include "dialects/Definition/Definition.h"
#include "dialects/Definition/ScalarArithmetic.h"

#include "dialects/Symbolic/Enums.cpp.inc"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

Expr make(ExprNode node) {
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

} // namespace

TensorShape shapeOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return {*getDims(type), type.getElementType()};
}

DefinitionBuilder::DefinitionBuilder(MLIRContext *context,
                                     ArrayRef<TensorShape> inputs)
    : context(context) {
  definition.inputs.assign(inputs.begin(), inputs.end());
}

Expr DefinitionBuilder::readTensor(TensorId tensor, ArrayRef<Expr> indices,
                                   Expr otherwise) const {
  TensorShape shape = definition.shapeOf(tensor);
  assert(shape.dims.size() == indices.size() && "one index per dim");
  ExprNode node(Expr::Kind::Read, shape.elementType);
  node.tensor = tensor;
  node.operands.assign(indices.begin(), indices.end());
  if (otherwise) {
    assert(otherwise->type == shape.elementType && "type of the other value");
    node.guarded = true;
    node.operands.push_back(otherwise);
  }
  return make(std::move(node));
}

Expr DefinitionBuilder::read(unsigned i, ArrayRef<Expr> indices) const {
  return readTensor({false, i}, indices, Expr());
}
Expr DefinitionBuilder::readOr(unsigned i, ArrayRef<Expr> indices,
                               Expr otherwise) const {
  return readTensor({false, i}, indices, otherwise);
}
Expr DefinitionBuilder::readStage(unsigned stage,
                                  ArrayRef<Expr> indices) const {
  return readTensor({true, stage}, indices, Expr());
}
Expr DefinitionBuilder::readStageOr(unsigned stage, ArrayRef<Expr> indices,
                                    Expr otherwise) const {
  return readTensor({true, stage}, indices, otherwise);
}

Expr DefinitionBuilder::integer(IntExpr value) const {
  ExprNode node(Expr::Kind::Int, IndexType::get(context));
  node.integer = value;
  return make(std::move(node));
}

Expr DefinitionBuilder::index(int64_t value) const {
  return integer(IntExpr::constant(context, value));
}

Expr DefinitionBuilder::constant(Type type, double value) const {
  if (!isa<FloatType>(type))
    return constantInt(type, truncateToType(type, value));
  ExprNode node(Expr::Kind::Constant, type);
  node.number = roundToType(type, value);
  return make(std::move(node));
}

Expr DefinitionBuilder::constantInt(Type type, int64_t value) const {
  if (isa<IndexType>(type))
    return index(value);
  if (isa<FloatType>(type))
    return constant(type, static_cast<double>(value));
  ExprNode node(Expr::Kind::Constant, type);
  node.integerNumber = value;
  return make(std::move(node));
}

Expr DefinitionBuilder::real(Type type, RealAttr value) const {
  if (!value.isSymbol())
    return constant(type, value.getDouble());
  ExprNode node(Expr::Kind::Param, type);
  node.parameter = value.getSymbol().str();
  return make(std::move(node));
}

SmallVector<Loop> DefinitionBuilder::freshLoops(ArrayRef<IntExpr> extents) {
  SmallVector<Loop> loops;
  for (IntExpr extent : extents)
    loops.push_back({definition.numLoops++, extent});
  return loops;
}

SmallVector<Expr> DefinitionBuilder::variables(ArrayRef<Loop> loops) const {
  SmallVector<Expr> result;
  for (const Loop &loop : loops) {
    ExprNode node(Expr::Kind::Loop, IndexType::get(context));
    node.loop = loop.id;
    result.push_back(make(std::move(node)));
  }
  return result;
}

Expr DefinitionBuilder::reduce(ReduceKind kind, ArrayRef<IntExpr> extents,
                               const Body &body) {
  SmallVector<Loop> loops = freshLoops(extents);
  Expr value = body(variables(loops));
  ExprNode node(Expr::Kind::Reduce, value->type);
  node.reduce = kind;
  node.loops.assign(loops.begin(), loops.end());
  node.operands.push_back(value);
  return make(std::move(node));
}

unsigned DefinitionBuilder::stage(StringRef name, ArrayRef<IntExpr> dims,
                                  Type elementType, const Body &body) {
  SmallVector<IntExpr> offset(dims.size(), IntExpr::constant(context, 0));
  return piecewiseStage(name, dims, elementType,
                        {{offset, SmallVector<IntExpr>(dims), body}});
}

unsigned DefinitionBuilder::piecewiseStage(StringRef name,
                                           ArrayRef<IntExpr> dims,
                                           Type elementType,
                                           ArrayRef<PieceSpec> pieces) {
  Stage stage;
  stage.name = name.str();
  stage.elementType = elementType;
  stage.dims.assign(dims.begin(), dims.end());
  for (const PieceSpec &spec : pieces) {
    Piece piece;
    piece.offset = spec.offset;
    piece.loops = freshLoops(spec.extents);
    piece.body = spec.body(variables(piece.loops));
    assert(piece.body->type == elementType && "element type of the stage");
    stage.pieces.push_back(std::move(piece));
  }
  definition.stages.push_back(std::move(stage));
  return definition.stages.size() - 1;
}

unsigned DefinitionBuilder::reinterpret(StringRef name, unsigned i,
                                        ArrayRef<IntExpr> dims) {
  ArrayRef<IntExpr> from = input(i).dims;
  auto body = [&](ArrayRef<Expr> loops) {
    Expr linear = index(0);
    for (auto [loop, dim] : llvm::zip(loops, dims))
      linear = linear * dim + loop;
    SmallVector<Expr> indices(from.size());
    for (size_t d = from.size(); d-- > 0;) {
      if (d == 0) {
        indices[d] = linear;
        break;
      }
      indices[d] = mod(linear, from[d]);
      linear = floorDiv(linear, from[d]);
    }
    return read(i, indices);
  };
  unsigned result = stage(name, dims, elementType(i), body);
  definition.stages[result].reinterprets = TensorId{false, i};
  return result;
}

void DefinitionBuilder::require(IntExpr lhs, ComparePredicate predicate,
                                IntExpr rhs, const llvm::Twine &message) {
  definition.requirements.push_back({lhs, predicate, rhs, message.str()});
}

Expr unary(UnaryFn fn, Expr a) {
  ExprNode node(Expr::Kind::Unary, a->type);
  node.unary = fn;
  node.operands.push_back(a);
  return make(std::move(node));
}

namespace {

/// Folds index arithmetic over IntExprs, so that definitions print readably.
std::optional<IntExpr> foldIndex(BinaryFn fn, IntExpr a, IntExpr b) {
  switch (fn) {
  case BinaryFn::Add:
    return a + b;
  case BinaryFn::Sub:
    return a - b;
  case BinaryFn::Mul:
    return a * b;
  case BinaryFn::FloorDiv:
    return a.floorDiv(b);
  case BinaryFn::Mod:
    return a.mod(b);
  case BinaryFn::Min:
    return IntExpr::min(a, b);
  case BinaryFn::Max:
    return IntExpr::max(a, b);
  default:
    return std::nullopt;
  }
}

} // namespace

Expr binary(BinaryFn fn, Expr a, Expr b) {
  assert(a->type == b->type && "arguments of one type");
  if (a->kind == Expr::Kind::Int && b->kind == Expr::Kind::Int)
    if (std::optional<IntExpr> folded = foldIndex(fn, a->integer, b->integer)) {
      ExprNode node(Expr::Kind::Int, a->type);
      node.integer = *folded;
      return make(std::move(node));
    }
  auto isInt = [](const Expr &e, int64_t value) {
    return e->kind == Expr::Kind::Int && e->integer.isConstant(value);
  };
  if ((fn == BinaryFn::Add || fn == BinaryFn::Sub) && isInt(b, 0))
    return a;
  if (fn == BinaryFn::Add && isInt(a, 0))
    return b;
  if ((fn == BinaryFn::Mul || fn == BinaryFn::FloorDiv) && isInt(b, 1))
    return a;
  if (fn == BinaryFn::Mul && (isInt(a, 0) || isInt(b, 1)))
    return a;
  if (fn == BinaryFn::Mul && (isInt(a, 1) || isInt(b, 0)))
    return b;
  ExprNode node(Expr::Kind::Binary, a->type);
  node.binary = fn;
  node.operands = {a, b};
  return make(std::move(node));
}

Expr compare(ComparePredicate predicate, Expr a, Expr b) {
  assert(a->type == b->type && "arguments of one type");
  ExprNode node{Expr::Kind::Compare, IntegerType::get(a->type.getContext(), 1)};
  node.predicate = predicate;
  node.operands = {a, b};
  return make(std::move(node));
}

Expr select(Expr condition, Expr then, Expr otherwise) {
  assert(then->type == otherwise->type && "branches of one type");
  ExprNode node(Expr::Kind::Select, then->type);
  node.operands = {condition, then, otherwise};
  return make(std::move(node));
}

Expr cast(Expr a, Type type) {
  if (a->type == type)
    return a;
  ExprNode node(Expr::Kind::Cast, type);
  node.operands.push_back(a);
  return make(std::move(node));
}

namespace {
Expr integerLike(const Expr &a, IntExpr value) {
  ExprNode node(Expr::Kind::Int, a->type);
  node.integer = value;
  return make(std::move(node));
}
} // namespace

Expr operator+(Expr a, Expr b) { return binary(BinaryFn::Add, a, b); }
Expr operator-(Expr a, Expr b) { return binary(BinaryFn::Sub, a, b); }
Expr operator*(Expr a, Expr b) { return binary(BinaryFn::Mul, a, b); }
Expr operator/(Expr a, Expr b) { return binary(BinaryFn::Div, a, b); }
Expr operator-(Expr a) { return unary(UnaryFn::Neg, a); }
Expr operator+(Expr a, IntExpr b) { return a + integerLike(a, b); }
Expr operator-(Expr a, IntExpr b) { return a - integerLike(a, b); }
Expr operator*(Expr a, IntExpr b) { return a * integerLike(a, b); }
Expr floorDiv(Expr a, IntExpr b) {
  return binary(BinaryFn::FloorDiv, a, integerLike(a, b));
}
Expr mod(Expr a, IntExpr b) {
  return binary(BinaryFn::Mod, a, integerLike(a, b));
}

void walk(const Expr &expr,
          llvm::function_ref<void(const ExprNode &)> callback) {
  callback(*expr);
  for (const Expr &operand : expr->operands)
    walk(operand, callback);
}

Expr rewrite(const Expr &expr,
             llvm::function_ref<Expr(const ExprNode &)> replace) {
  if (Expr replaced = replace(*expr))
    return replaced;
  ExprNode node = *expr;
  for (Expr &operand : node.operands)
    operand = rewrite(operand, replace);
  return make(std::move(node));
}

StringRef name(ComparePredicate predicate) {
  static constexpr const char *names[] = {"==", "!=", "<", "<=", ">", ">="};
  return names[static_cast<unsigned>(predicate)];
}

StringRef name(ReduceKind kind) {
  static constexpr const char *names[] = {"sum", "prod", "max",
                                          "min", "any",  "all"};
  return names[static_cast<unsigned>(kind)];
}

} // namespace mlc
