//===- LinalgTensor.cpp - Structured operations ---------------------------===//

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/IR/Matchers.h"
#include "verifier/read/Arith.h"
#include "verifier/read/LinalgReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc::verifier {

bool LinalgReader::readTensor(Operation *op) {
  StringRef opName = op->getName().getStringRef();
  auto beyond = [&] { return fail("'" + opName + "' is beyond the verifier"); };
  ElementsAttr constantValue;
  if (op->getNumResults() == 1 &&
      matchPattern(op, m_Constant(&constantValue)) &&
      isa<RankedTensorType>(constantValue.getType())) {
    builder.set(op->getResult(0), builder.appendConstant(constantValue));
    return true;
  }
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tensor::EmptyOp o) {
        Tensor tensor{{}, o.getType().getElementType(), {}, {}};
        for (OpFoldResult size : o.getMixedSizes()) {
          std::optional<IntExpr> dim = integerOf(size);
          if (!dim)
            return beyond();
          must(*dim, ComparePredicate::GE, constant(0), "a size is not < 0");
          tensor.dims.push_back(*dim);
        }
        // It equals nothing in the other function, and its elements differ from
        // each other.
        std::string unknown = uninitializedPrefix.str() +
                              builder.uniquePrefix() +
                              std::to_string(numUninitialized++);
        tensor.at = [this, type = tensor.elementType, unknown](Indices at) {
          ExprNode node(Expr::Kind::Param, type);
          node.parameter = unknown;
          for (IntExpr index : at)
            node.operands.push_back(toExpr(index));
          return Expr(std::make_shared<const ExprNode>(std::move(node)));
        };
        tensors[o.getResult()] = tensor;
        return true;
      })
      .Case([&](tensor::CastOp o) {
        std::optional<Tensor> source = tensorOf(o.getSource());
        if (!source)
          return beyond();
        mustHaveSizes(o.getResult(), source->dims);
        tensors[o.getResult()] = *source;
        return true;
      })
      .Case([&](tensor::SplatOp o) {
        if (!o.getDynamicSizes().empty())
          return beyond();
        Expr value = scalarOf(o.getInput());
        Tensor tensor{{}, o.getType().getElementType(), {}, {}};
        for (int64_t size : o.getType().getShape())
          tensor.dims.push_back(constant(size));
        tensor.at = [value](Indices) { return value; };
        tensors[o.getResult()] = tensor;
        return true;
      })
      .Case([&](linalg::LinalgOp o) { return readStructured(o); })
      .Case([&](tensor::ExtractSliceOp o) { return readSlice(o); })
      .Case([&](tensor::InsertSliceOp o) {
        return readInsert(o.getResult(), o.getSource(), o.getDest(), o,
                          o.getSourceType());
      })
      .Case([&](tensor::PadOp o) { return readPad(o); })
      .Case([&](tensor::CollapseShapeOp o) {
        return readReshape(o.getSrc(), o.getResult(),
                           o.getReassociationIndices(), true);
      })
      .Case([&](tensor::ExpandShapeOp o) {
        return readReshape(o.getSrc(), o.getResult(),
                           o.getReassociationIndices(), false);
      })
      .Case([&](tensor::ConcatOp o) { return readConcat(o); })
      .Case([&](tensor::GenerateOp o) { return readGenerate(o); })
      .Default([&](Operation *) { return beyond(); });
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

/// The slope of an index in a loop; nullopt if the index is no sum.
static std::optional<int64_t> slopeOf(AffineExpr expr, unsigned loop,
                                      unsigned numLoops) {
  SmallVector<int64_t> row;
  if (!expr.isPureAffine() ||
      failed(getFlattenedAffineExpr(expr, numLoops, 0, &row)) ||
      row.size() != numLoops + 1) // quotients are further columns
    return std::nullopt;
  return row[loop];
}

/// Whether `expr` rises (1) or falls (-1) with the loop, or does not depend on
/// it (0); nullopt if it may do both.
static std::optional<int> directionOf(AffineExpr expr, unsigned loop,
                                      unsigned numLoops) {
  if (std::optional<int64_t> slope = slopeOf(expr, loop, numLoops))
    return *slope > 0 ? 1 : *slope < 0 ? -1 : 0;
  auto operation = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!operation)
    return std::nullopt;
  std::optional<int> a = directionOf(operation.getLHS(), loop, numLoops),
                     b = directionOf(operation.getRHS(), loop, numLoops);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *a == 0 || *b == 0 || *a == *b ? std::optional(*a ? *a : *b)
                                          : std::nullopt;
  if (*a == 0 && *b == 0)
    return 0;
  auto factor = dyn_cast<AffineConstantExpr>(operation.getRHS());
  if (!factor || expr.getKind() == AffineExprKind::Mod)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return factor.getValue() > 0 ? *a : factor.getValue() < 0 ? -*a : 0;
  return factor.getValue() > 0 ? a : std::nullopt; // a quotient
}

bool LinalgReader::loopExtents(linalg::LinalgOp op,
                               llvm::SmallVectorImpl<IntExpr> &extents) {
  extents.assign(op.getNumLoops(), IntExpr());
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Tensor> tensor = tensorOf(operand.get());
    if (!tensor)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        IntExpr &extent = extents[dim.getPosition()], own = tensor->dims[d];
        std::string agree = "operands of '" +
                            op->getName().getStringRef().str() +
                            "' must agree in size";
        if (extent && around.empty())
          builder.require({extent, ComparePredicate::EQ, own, agree});
        else if (extent && extent != own)
          must(extent, ComparePredicate::EQ, own, agree);
        if (!extent || hasVariables(extent))
          extent = own;
      }
  }
  if (!llvm::all_of(extents, [](IntExpr e) { return bool(e); }))
    return fail("a loop of '" + op->getName().getStringRef() +
                "' has no size of its own");
  mustReadInside(op, extents);
  return true;
}

/// Requires that operand elements at sums of loops, such as those under a
/// window, exist.
void LinalgReader::mustReadInside(linalg::LinalgOp op, Indices extents) {
  SmallVector<Guard> notEmpty;
  for (IntExpr extent : extents)
    notEmpty.push_back(Guard::nonNegative(extent - 1));
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Tensor> tensor = tensorOf(operand.get());
    if (!tensor)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      if (isa<AffineDimExpr>(expr))
        continue;
      // An index that is monotone in each loop has its extremes at the loops'
      // ends.
      SmallVector<IntExpr> lowest, highest;
      for (auto [loop, extent] : llvm::enumerate(extents)) {
        std::optional<int> direction =
            directionOf(expr, loop, op.getNumLoops());
        if (!direction) {
          fail("an indexing map rises and falls");
          return;
        }
        bool isRising = *direction >= 0;
        lowest.push_back(isRising ? constant(0) : extent - 1);
        highest.push_back(isRising ? extent - 1 : constant(0));
      }
      std::optional<IntExpr> low = affine(expr, lowest, {}, Where::Region),
                             high = affine(expr, highest, {}, Where::Region);
      if (!low || !high) {
        fail("an indexing map is not affine");
        return;
      }
      must(*low, ComparePredicate::GE, constant(0), "an index is in range",
           notEmpty);
      must(*high, ComparePredicate::LT, tensor->dims[d], "an index is in range",
           notEmpty);
    }
  }
}

namespace {
/// How a reduction combines elements.
struct Monoid {
  ReduceKind kind;
  bool isUnsigned = false;
};
} // namespace

static std::optional<Monoid> booleanMonoid(Operation *op) {
  if (isa<arith::MulIOp, arith::AndIOp, arith::MaxSIOp, arith::MinUIOp>(op))
    return Monoid{ReduceKind::All};
  if (isa<arith::OrIOp, arith::MinSIOp, arith::MaxUIOp>(op))
    return Monoid{ReduceKind::Any};
  return std::nullopt;
}

/// The monoid by which a region combines its output argument with a value; sets
/// `value`.
static std::optional<Monoid> combinerOf(Value yielded, Value output,
                                        Value &value) {
  Operation *op = yielded.getDefiningOp();
  if (!op || op->getNumOperands() != 2 || hasPromises(op))
    return std::nullopt;
  bool isFirst = op->getOperand(0) == output;
  if (!isFirst && op->getOperand(1) != output)
    return std::nullopt;
  value = op->getOperand(isFirst ? 1 : 0);
  if (value.getType().isInteger(1))
    return booleanMonoid(op);
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return Monoid{ReduceKind::Sum};
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return Monoid{ReduceKind::Prod};
  bool isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(op);
  if (isa<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(op))
    return Monoid{ReduceKind::Max, isUnsigned};
  if (isa<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(op))
    return Monoid{ReduceKind::Min, isUnsigned};
  return std::nullopt;
}

std::optional<IntExpr> LinalgReader::boundOf(IntExpr extent) {
  if (!hasVariables(extent))
    return extent;
  if (extent.getKind() == IntExpr::Kind::Min)
    for (IntExpr operand : extent.getOperands())
      if (!hasVariables(operand))
        return operand;
  return std::nullopt;
}

static Expr combine(ReduceKind kind, Expr a, Expr b) {
  switch (kind) {
  case ReduceKind::Sum:
    return a + b;
  case ReduceKind::Prod:
    return a * b;
  case ReduceKind::Max:
    return binary(BinaryFn::Max, a, b);
  case ReduceKind::Min:
    return binary(BinaryFn::Min, a, b);
  case ReduceKind::Any:
    return binary(BinaryFn::Or, a, b);
  case ReduceKind::All:
    return binary(BinaryFn::And, a, b);
  }
  llvm_unreachable("unknown reduction");
}

/// Binds the body's arguments to their elements at these loops, and reads it.
bool LinalgReader::readBody(linalg::LinalgOp op, OpOperand *init,
                            Indices loops) {
  // Operands first: evaluating them may enter other regions.
  SmallVector<Expr> elements;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Tensor> tensor = tensorOf(operand.get());
    if (!tensor) {
      elements.push_back(scalarOf(operand.get()));
      continue;
    }
    SmallVector<IntExpr> indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      std::optional<IntExpr> index = affine(expr, loops, {}, Where::Region);
      if (!index)
        return fail("an indexing map is not affine");
      indices.push_back(*index);
    }
    bool isInit = operand.getOperandNumber() >= op.getNumDpsInputs();
    elements.push_back(isInit && &operand != init ? Expr()
                                                  : tensor->at(indices));
  }
  Block *body = op.getBlock();
  for (auto [argument, element] : llvm::zip(body->getArguments(), elements)) {
    integers.erase(argument);
    if (element)
      scalars[argument] = element;
    else
      scalars.erase(argument);
  }
  for (auto index : body->getOps<linalg::IndexOp>())
    integers[index.getResult()] = loops[index.getDim()];
  for (Operation &inner : body->without_terminator())
    if (!isa<linalg::IndexOp>(inner) && !readInteger(&inner, Where::Region) &&
        !readScalar(&inner, Where::Region))
      return fail("'" + inner.getName().getStringRef() +
                  "' in a region is beyond the verifier");
  return true;
}

/// The yield of the read body for `result`, reduced over the loops where all
/// conditions are >= 0.
Expr LinalgReader::reducedElement(linalg::LinalgOp op, unsigned result,
                                  ArrayRef<Loop> reduced,
                                  ArrayRef<IntExpr> conditions) {
  OpOperand *init = op.getDpsInitOperand(result);
  Type type = getElementTypeOrSelf(init->get().getType());
  Value yielded = op.getBlock()->getTerminator()->getOperand(result);
  BlockArgument output = op.getMatchingBlockArgument(init);
  Value joined;
  std::optional<Monoid> monoid = combinerOf(yielded, output, joined);
  if (!monoid || !output.hasOneUse())
    return failExpr("a reduction that is no sum, product, maximum or minimum",
                    type);
  Expr value = scalarOf(joined), start = scalars[output];
  if (monoid->isUnsigned) {
    value = asUnsigned(value);
    start = asUnsigned(start);
  }
  if (Expr condition = allNonNegative(conditions)) {
    if (monoid->kind != ReduceKind::Sum)
      return failExpr("a partial tile of a reduction that is no sum", type);
    value = mlc::select(
        condition, value,
        numberOf(value->type,
                 isa<FloatType>(value->type)
                     ? Attribute(FloatAttr::get(value->type, 0.0))
                     : Attribute(IntegerAttr::get(value->type, 0))));
  }
  ExprNode node(Expr::Kind::Reduce, value->type);
  node.reduce = monoid->kind;
  node.loops.assign(reduced.begin(), reduced.end());
  node.operands.push_back(value);
  Expr reduction(std::make_shared<const ExprNode>(std::move(node)));
  return cast(combine(monoid->kind, start, reduction), joined.getType());
}

Expr LinalgReader::structuredElement(linalg::LinalgOp op, unsigned result,
                                     Indices extents, Indices at) {
  OpOperand *init = op.getDpsInitOperand(result);
  Type type = getElementTypeOrSelf(init->get().getType());
  AffineMap outputMap = op.getMatchingIndexingMap(init);
  SmallVector<IntExpr> loops(op.getNumLoops());
  for (auto [d, expr] : llvm::enumerate(outputMap.getResults()))
    loops[cast<AffineDimExpr>(expr).getPosition()] = at[d];
  SmallVector<Loop> reduced;
  SmallVector<IntExpr> conditions;
  for (auto [d, loop] : llvm::enumerate(loops)) {
    if (loop)
      continue;
    std::optional<IntExpr> bound = boundOf(extents[d]);
    if (!bound)
      return failExpr("a reduction's size depends on a loop", type);
    unsigned id = 0;
    loop = freshLoop(id);
    reduced.push_back({id, *bound});
    if (*bound != extents[d])
      conditions.push_back(extents[d] - loop - 1);
  }
  if (!readBody(op, init, loops))
    return failExpr("", type);
  if (reduced.empty())
    return scalarOf(op.getBlock()->getTerminator()->getOperand(result));
  return reducedElement(op, result, reduced, conditions);
}

bool LinalgReader::readStructured(linalg::LinalgOp op) {
  SmallVector<IntExpr> extents;
  if (!op.hasPureTensorSemantics() || !loopExtents(op, extents))
    return fail("'" + op->getName().getStringRef() + "' is not on tensors");
  for (unsigned r = 0; r < op->getNumResults(); ++r) {
    OpOperand *init = op.getDpsInitOperand(r);
    AffineMap map = op.getMatchingIndexingMap(init);
    if (!map.isProjectedPermutation())
      return fail("an output map is no permutation");
    for (auto [d, type] : llvm::enumerate(op.getIteratorTypesArray()))
      if (type == utils::IteratorType::parallel && !map.isFunctionOfDim(d))
        return fail("a parallel loop writes one element more than once");
    std::optional<Tensor> like = tensorOf(init->get());
    if (!like)
      return fail("an output comes from an operation beyond the verifier");
    Tensor tensor{like->dims, like->elementType, {}, {}};
    tensor.at = [this, op, r, extents](Indices at) {
      return structuredElement(op, r, extents, at);
    };
    tensors[op->getResult(r)] = tensor;
  }
  return true;
}

} // namespace mlc::verifier
