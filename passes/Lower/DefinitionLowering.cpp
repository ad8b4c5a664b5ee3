//===- DefinitionLowering.cpp - From a definition to linalg ---------------===//

#include "passes/Lower/DefinitionLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Lower/ElementEmitter.h"
#include "passes/Lower/ElementTypes.h"
#include "passes/Lower/Reshape.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

DefinitionLowering::DefinitionLowering(OpBuilder &builder, Location loc,
                                       SizeValues &sizes, Definition definition,
                                       ValueRange operands)
    : b(builder), loc(loc), sizes(sizes), definition(std::move(definition)),
      operands(operands) {}

SmallVector<Value> DefinitionLowering::run() {
  size_t numStages = definition.stages.size();
  stages.resize(numStages);
  for (size_t i = 0; i < numStages; ++i) {
    Stage stage = definition.stages[i];
    stages[i] = lowerStage(stage);
  }
  return llvm::map_to_vector(definition.results,
                             [&](unsigned i) { return stages[i]; });
}

Value DefinitionLowering::valueOf(TensorId tensor) const {
  return tensor.isStage ? stages[tensor.index] : operands[tensor.index];
}

bool DefinitionLowering::areEqual(IntExpr a, IntExpr c) const {
  if (a == c)
    return true;
  IntExpr difference = a - c;
  return llvm::any_of(definition.requirements, [&](const Requirement &r) {
    if (r.predicate != ComparePredicate::EQ)
      return false;
    IntExpr known = r.lhs - r.rhs;
    return known == difference || known == -difference;
  });
}

/// The scalar value of all elements of `tensor`, if it is a splat.
static TypedAttr getSplat(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    TypedAttr scalar;
    return matchPattern(fill.getInputs()[0], m_Constant(&scalar)) ? scalar
                                                                  : TypedAttr();
  }
  DenseElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<TypedAttr>();
  return {};
}

//===----------------------------------------------------------------------===//
// Stages and pieces
//===----------------------------------------------------------------------===//

Value DefinitionLowering::lowerStage(const Stage &stage) {
  // A tensor without elements reads nothing; its operands may be too small for
  // the reads of an element.
  if (llvm::any_of(stage.dims, [](IntExpr dim) { return dim.isConstant(0); }))
    return fill(stage.dims, b.getZeroAttr(lowerElementType(stage.elementType)));
  if (stage.reinterprets) {
    TensorShape source = definition.shapeOf(*stage.reinterprets);
    return reshape(b, loc, sizes, valueOf(*stage.reinterprets), source.dims,
                   stage.dims);
  }
  if (stage.pieces.size() == 1)
    return lowerPiece(stage.pieces.front(), stage.elementType);
  Value result = makeInit(stage.dims, stage.elementType);
  SmallVector<OpFoldResult> ones(stage.dims.size(), b.getIndexAttr(1));
  for (const Piece &piece : stage.pieces) {
    SmallVector<IntExpr> extents;
    for (const Loop &loop : piece.loops)
      extents.push_back(loop.extent);
    // An empty piece may have an offset out of range.
    if (llvm::any_of(extents, [](IntExpr e) { return e.isConstant(0); }))
      continue;
    Value value = lowerPiece(piece, stage.elementType);
    result = tensor::InsertSliceOp::create(b, loc, value, result,
                                           sizes.getMixed(piece.offset),
                                           sizes.getMixed(extents), ones);
  }
  return result;
}

Value DefinitionLowering::lowerPiece(const Piece &piece, Type elementType) {
  LoopNest nest;
  for (const Loop &loop : piece.loops)
    nest.add(loop);
  Expr body = piece.body;
  if (body->kind == Expr::Kind::Reduce) {
    // The outermost reduction becomes that of the op.
    SmallVector<Loop> loops(piece.loops);
    llvm::append_range(loops, body->loops);
    ExprNode node = *body;
    node.operands[0] = hoistReductions(node.operands[0], loops);
    body = Expr(std::make_shared<const ExprNode>(std::move(node)));
  } else {
    body = hoistReductions(body, piece.loops);
  }
  if (body->kind == Expr::Kind::Read) {
    if (Value moved = lowerMove(nest, *body))
      return moved;
    TypedAttr splat = getSplat(valueOf(body->tensor));
    if (splat && !body->guarded) {
      SmallVector<IntExpr> dims;
      for (const Loop &loop : nest.loops)
        dims.push_back(loop.extent);
      return fill(dims, splat);
    }
  }
  return lowerNest(std::move(nest), body, elementType);
}

//===----------------------------------------------------------------------===//
// Reductions inside expressions
//===----------------------------------------------------------------------===//

namespace {

bool containsReduction(const Expr &expr) {
  if (expr->kind == Expr::Kind::Reduce)
    return true;
  return llvm::any_of(expr->operands, containsReduction);
}

void collectLoops(const Expr &expr, llvm::SmallDenseSet<unsigned> &ids) {
  walk(expr, [&](const ExprNode &node) {
    if (node.kind == Expr::Kind::Loop)
      ids.insert(node.loop);
  });
}

Expr makeLoop(MLIRContext *context, unsigned id) {
  ExprNode node(Expr::Kind::Loop, IndexType::get(context));
  node.loop = id;
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

} // namespace

Expr DefinitionLowering::hoistReductions(const Expr &expr,
                                         ArrayRef<Loop> loops) {
  if (!containsReduction(expr))
    return expr;
  if (expr->kind == Expr::Kind::Reduce)
    return makeReductionStage(expr, loops);
  ExprNode node = *expr;
  for (Expr &operand : node.operands)
    operand = hoistReductions(operand, loops);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr DefinitionLowering::makeReductionStage(const Expr &reduce,
                                            ArrayRef<Loop> loops) {
  llvm::SmallDenseSet<unsigned> used;
  collectLoops(reduce, used);
  Stage stage;
  stage.elementType = reduce->type;
  Piece piece;
  ExprNode read(Expr::Kind::Read, reduce->type);
  for (const Loop &loop : loops) {
    if (!used.contains(loop.id))
      continue;
    stage.dims.push_back(loop.extent);
    piece.offset.push_back(IntExpr::constant(b.getContext(), 0));
    piece.loops.push_back(loop);
    read.operands.push_back(makeLoop(b.getContext(), loop.id));
  }
  piece.body = reduce;
  read.tensor = TensorId{true, unsigned(definition.stages.size())};
  definition.stages.push_back(stage);
  stages.emplace_back();
  Value value = lowerPiece(piece, reduce->type);
  stages[read.tensor.index] = value;
  return Expr(std::make_shared<const ExprNode>(std::move(read)));
}

//===----------------------------------------------------------------------===//
// One loop nest
//===----------------------------------------------------------------------===//

Value DefinitionLowering::makeInit(ArrayRef<IntExpr> dims, Type elementType) {
  return tensor::EmptyOp::create(b, loc, sizes.getMixed(dims),
                                 lowerElementType(elementType));
}

Value DefinitionLowering::fill(ArrayRef<IntExpr> dims, TypedAttr value) {
  Value scalar = arith::ConstantOp::create(b, loc, value);
  Value init = makeInit(dims, value.getType());
  return linalg::FillOp::create(b, loc, scalar, init).getResult(0);
}

void DefinitionLowering::addWindow(const LoopNest &nest, unsigned numParallel,
                                   SmallVectorImpl<Access> &accesses) {
  llvm::SmallBitVector shown(nest.size());
  for (const Access &access : accesses)
    for (AffineExpr expr : access.map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        shown.set(dim.getPosition());
  SmallVector<IntExpr> extents;
  SmallVector<AffineExpr> dims;
  for (unsigned i = numParallel; i < nest.size(); ++i)
    if (!shown.test(i)) {
      extents.push_back(nest.loops[i].extent);
      dims.push_back(b.getAffineDimExpr(i));
    }
  if (extents.empty())
    return;
  accesses.push_back({makeInit(extents, b.getF32Type()),
                      AffineMap::get(nest.size(), 0, dims, b.getContext())});
}

static void collectReads(const Expr &expr, llvm::SetVector<Expr> &reads,
                         ExprSet &visited) {
  if (!visited.insert(expr).second)
    return;
  for (const Expr &operand : expr->operands)
    collectReads(operand, reads, visited);
  if (expr->kind == Expr::Kind::Read)
    reads.insert(expr);
}

namespace {

/// Reads in the body that are not operands of the op.
struct BodyReads {
  ElementEmitter *emitter = nullptr;
  const ExprMap<Value> &arguments;
  const ExprMap<TypedAttr> &splats;
  llvm::function_ref<Value(TensorId)> valueOf;
  llvm::function_ref<TensorShape(TensorId)> shapeOf;
  const LoopNest &nest;
  SizeValues &sizes;

  /// Whether the loops alone keep the index in [0, dim).
  bool isInRange(const Expr &index, IntExpr dim) {
    std::optional<AffineIndex> affine = getAffineIndex(index, nest);
    return affine && affine->lowest().isKnownNonNegative() &&
           (dim - 1 - affine->highest()).isKnownNonNegative();
  }

  /// Whether an index depends on an element of a tensor: data are untrusted.
  static bool readsData(const Expr &index) {
    if (index->kind == Expr::Kind::Read)
      return true;
    return llvm::any_of(index->operands, readsData);
  }

  Value size(IntExpr expr) {
    if (std::optional<int64_t> c = expr.asConstant())
      return arith::ConstantIndexOp::create(emitter->b, emitter->loc, *c);
    return sizes.get(expr);
  }

  Value clamp(Value index, IntExpr dim) {
    OpBuilder &b = emitter->b;
    Location loc = emitter->loc;
    index = arith::MinSIOp::create(b, loc, index, size(dim - 1));
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    return arith::MaxSIOp::create(b, loc, index, zero);
  }

  Value isInside(Value index, IntExpr dim) {
    OpBuilder &b = emitter->b;
    Location loc = emitter->loc;
    // One unsigned comparison checks both ends.
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index,
                                 size(dim));
  }

  Value operator()(const Expr &expr) {
    const ExprNode &read = *expr;
    if (Value argument = arguments.lookup(expr))
      return argument;
    OpBuilder &b = emitter->b;
    Location loc = emitter->loc;
    if (TypedAttr splat = splats.lookup(expr))
      return arith::ConstantOp::create(b, loc, splat);
    TensorShape shape = shapeOf(read.tensor);
    SmallVector<Value> indices;
    Value inside;
    for (auto [index, dim] : llvm::zip_equal(read.indices(), shape.dims)) {
      Value value = emitter->emit(index);
      if (isInRange(index, dim)) {
        indices.push_back(value);
        continue;
      }
      if (read.guarded) {
        Value here = isInside(value, dim);
        inside =
            inside ? Value(arith::AndIOp::create(b, loc, inside, here)) : here;
      }
      if (read.guarded || readsData(index))
        value = clamp(value, dim);
      indices.push_back(value);
    }
    Value element =
        tensor::ExtractOp::create(b, loc, valueOf(read.tensor), indices);
    if (!inside)
      return element;
    Value otherwise = emitter->emit(read.operands.back());
    return arith::SelectOp::create(b, loc, inside, element, otherwise);
  }
};

} // namespace

Value DefinitionLowering::lowerNest(LoopNest nest, Expr body,
                                    Type elementType) {
  unsigned numParallel = nest.size();
  SmallVector<IntExpr> dims;
  for (const Loop &loop : nest.loops)
    dims.push_back(loop.extent);
  const ExprNode *reduction =
      body->kind == Expr::Kind::Reduce ? &*body : nullptr;
  if (reduction)
    for (const Loop &loop : reduction->loops)
      nest.add(loop);
  Expr element = reduction ? reduction->operands[0] : body;
  if (!reduction && element->kind == Expr::Kind::Constant)
    return fill(dims, getConstantAttr(*element));

  llvm::SetVector<Expr> reads;
  ExprSet visited;
  collectReads(element, reads, visited);
  SmallVector<Access> accesses;
  ExprMap<unsigned> accessOf;
  ExprMap<TypedAttr> splats;
  for (const Expr &read : reads) {
    // A contraction keeps its operands; elsewhere a splat becomes a constant.
    TypedAttr splat = getSplat(valueOf(read->tensor));
    if (splat && !read->guarded && !reduction) {
      splats[read] = splat;
      continue;
    }
    std::optional<Access> access = getAccess(*read, nest);
    if (!access)
      continue;
    auto it = llvm::find_if(accesses, [&](const Access &other) {
      return other.tensor == access->tensor && other.map == access->map;
    });
    accessOf[read] = it - accesses.begin();
    if (it == accesses.end())
      accesses.push_back(*access);
  }
  addWindow(nest, numParallel, accesses);

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Access &access : accesses) {
    inputs.push_back(access.tensor);
    maps.push_back(access.map);
  }
  MLIRContext *context = b.getContext();
  SmallVector<AffineExpr> outer;
  for (unsigned i = 0; i < numParallel; ++i)
    outer.push_back(getAffineDimExpr(i, context));
  maps.push_back(AffineMap::get(nest.size(), 0, outer, context));
  SmallVector<utils::IteratorType> iterators(numParallel,
                                             utils::IteratorType::parallel);
  iterators.resize(nest.size(), utils::IteratorType::reduction);
  Value init = reduction
                   ? fill(dims, getIdentity(reduction->reduce, elementType))
                   : makeInit(dims, elementType);

  auto emitBody = [&](OpBuilder &builder, Location where, ValueRange args) {
    ExprMap<Value> arguments;
    for (auto [read, access] : accessOf)
      arguments[read] = args[access];
    auto valueOfTensor = [&](TensorId id) { return valueOf(id); };
    auto shapeOfTensor = [&](TensorId id) { return definition.shapeOf(id); };
    BodyReads bodyReads{nullptr,       arguments, splats, valueOfTensor,
                        shapeOfTensor, nest,      sizes};
    ElementEmitter emitter(builder, where, nest, sizes, bodyReads);
    bodyReads.emitter = &emitter;
    Value value = emitter.emit(element);
    if (reduction)
      value = combine(builder, where, reduction->reduce, elementType,
                      args.back(), value);
    linalg::YieldOp::create(builder, where, value);
  };
  return linalg::GenericOp::create(b, loc, TypeRange{init.getType()}, inputs,
                                   ValueRange{init}, maps, iterators, emitBody)
      .getResult(0);
}

} // namespace mlc
