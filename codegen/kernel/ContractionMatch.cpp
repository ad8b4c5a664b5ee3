//===- ContractionMatch.cpp - From linalg to strides ----------------------===//

#include "codegen/kernel/ContractionMatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace mlc {

LogicalResult ContractionMatcher::findAnchor() {
  for (Operation *op : kernel.ops) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumReductionLoops() == 0)
      continue;
    if (anchor)
      return fail("more than one op with a reduction");
    anchor = linalgOp;
  }
  if (!anchor)
    return fail("no op with a reduction");
  // If bounds are read, further inputs may serve only for their sizes.
  if (anchor.getNumDpsInputs() < 2 || anchor.getNumDpsInits() != 1 ||
      (anchor.getNumDpsInputs() > 2 && !readsBounds))
    return fail("the reduction does not have two inputs and one output");
  for (unsigned i = 2; i < anchor.getNumDpsInputs(); ++i)
    if (!anchor.getBlock()->getArgument(i).use_empty())
      return fail("the reduction is of more than two inputs");
  for (unsigned i : {0u, 1u}) {
    OpOperand *in = anchor.getDpsInputOperand(i);
    tensor::PadOp pad = padBefore(in->get());
    if (!isa<BlockArgument>(pad ? pad.getSource() : argumentOf(in->get())))
      return fail("a factor of the contraction is not a kernel argument");
  }
  return success();
}

/// Notes a loop that occurs under floordiv or mod, which is split in two.
LogicalResult ContractionMatcher::splitDims(AffineExpr e) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(e);
  if (!binary)
    return success();
  if (e.getKind() == AffineExprKind::FloorDiv ||
      e.getKind() == AffineExprKind::Mod) {
    auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
    auto size = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!dim || !size || size.getValue() < 1)
      return fail("an index map divides more than a single loop");
    if (splitLoop >= 0 &&
        (splitLoop != int(dim.getPosition()) || splitSize != size.getValue()))
      return fail("index maps split more than one loop");
    splitLoop = dim.getPosition();
    splitSize = size.getValue();
    return success();
  }
  if (failed(splitDims(binary.getLHS())) || failed(splitDims(binary.getRHS())))
    return failure();
  return success();
}

/// Rewrites an expression of the anchor's loops after the split: loop s becomes
/// size·(new loop) + s.
AffineExpr ContractionMatcher::splitExpr(AffineExpr e) {
  if (splitLoop < 0)
    return e;
  AffineExpr outer = getAffineDimExpr(loops, ctx);
  AffineExpr inner = getAffineDimExpr(splitLoop, ctx);
  if (e == inner)
    return outer * splitSize + inner;
  auto binary = dyn_cast<AffineBinaryOpExpr>(e);
  if (!binary)
    return e;
  if (e.getKind() == AffineExprKind::FloorDiv)
    return outer;
  if (e.getKind() == AffineExprKind::Mod)
    return inner;
  return getAffineBinaryOpExpr(e.getKind(), splitExpr(binary.getLHS()),
                               splitExpr(binary.getRHS()));
}

/// Extents of all loops, from the operands that index with a bare loop.
LogicalResult ContractionMatcher::matchDims() {
  loops = anchor.getNumLoops();
  extents.assign(loops, IntExpr());
  for (OpOperand &operand : anchor->getOpOperands()) {
    AffineMap map = anchor.getMatchingIndexingMap(&operand);
    for (auto [expr, size] :
         llvm::zip_equal(map.getResults(), kernel.shapeOf(operand.get()))) {
      if (!quotient(operand, expr) && failed(splitDims(expr)))
        return failure();
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (!extents[dim.getPosition()] || size.isConstant())
          extents[dim.getPosition()] = size;
    }
  }
  SmallVector<utils::IteratorType> kinds = anchor.getIteratorTypesArray();
  for (unsigned d = 0; d < loops; ++d) {
    if (!extents[d])
      return fail("the extent of a loop is not the size of a dim");
    c.dims.push_back({extents[d], kinds[d] == utils::IteratorType::parallel});
  }
  if (splitLoop < 0)
    return success();
  IntExpr extent = extents[splitLoop];
  c.dims.push_back({extent.ceilDiv(splitSize), c.dims[splitLoop].parallel});
  c.dims[splitLoop].extent = constant(splitSize);
  if (!extent.mod(splitSize).isConstant(0)) {
    if (!c.dims[splitLoop].parallel)
      return fail("a split reduction has a remainder");
    c.splitInner = splitLoop;
    c.splitOuter = loops;
    c.splitBound = extent;
  }
  return success();
}

LogicalResult addLinear(AffineExpr e, IntExpr scale, Access &a) {
  if (auto dim = dyn_cast<AffineDimExpr>(e)) {
    a.strides[dim.getPosition()] = a.strides[dim.getPosition()] + scale;
    return success();
  }
  if (auto k = dyn_cast<AffineConstantExpr>(e)) {
    a.offset = a.offset + scale * k.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(e);
  if (!binary)
    return failure();
  if (e.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(binary.getLHS(), scale, a)) &&
                   succeeded(addLinear(binary.getRHS(), scale, a)));
  if (e.getKind() == AffineExprKind::Mul)
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return addLinear(binary.getLHS(), scale * factor.getValue(), a);
  return failure();
}

/// The access of `tensor` of `shape` at `indices` (of the split loops), moved
/// by `low` where given.
FailureOr<Access> ContractionMatcher::access(Value tensor,
                                             ArrayRef<AffineExpr> indices,
                                             ArrayRef<IntExpr> shape,
                                             ArrayRef<IntExpr> low) {
  Access a;
  a.tensor = tensor;
  a.offset = constant(0);
  a.strides.assign(c.dims.size(), constant(0));
  IntExpr stride = constant(1);
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    if (failed(addLinear(indices[d], stride, a)))
      return fail("an index map is not linear");
    if (!low.empty())
      a.offset = a.offset + stride * low[d];
    stride = stride * shape[d];
  }
  return a;
}

Exprs ContractionMatcher::accumulatorIndices() {
  Exprs indices;
  for (AffineExpr e :
       anchor.getMatchingIndexingMap(anchor.getDpsInitOperand(0)).getResults())
    indices.push_back(splitExpr(e));
  return indices;
}

/// The epilogue node for element `indices` of the tensor `v`.
FailureOr<unsigned> ContractionMatcher::node(Value v,
                                             ArrayRef<AffineExpr> indices) {
  Type element = getElementTypeOrSelf(v.getType());
  EpilogueNode n;
  n.element = element;
  if (isa<BlockArgument>(v)) {
    auto a = access(v, indices, kernel.shapeOf(v));
    if (failed(a))
      return failure();
    a->element = element;
    n.kind = EpilogueNode::Kind::Load;
    n.load = c.loads.size();
    c.loads.push_back(*a);
    return addNode(n);
  }
  auto result = cast<OpResult>(v);
  if (result.getOwner() == anchor) {
    if (indices != ArrayRef<AffineExpr>(accumulatorIndices()))
      return fail("the contraction is read at another index than it is made");
    n.kind = EpilogueNode::Kind::Accumulator;
    return addNode(n);
  }
  DenseElementsAttr dense;
  if (matchPattern(v, m_Constant(&dense)) && dense.isSplat()) {
    n.scalar = dense.getSplatValue<TypedAttr>();
    return addNode(n);
  }
  if (auto fill = dyn_cast<linalg::FillOp>(result.getOwner())) {
    Attribute value;
    if (!matchPattern(fill.getInputs()[0], m_Constant(&value)))
      return fail("a fill's value is not a constant");
    n.scalar = cast<TypedAttr>(value);
    return addNode(n);
  }
  if (auto expand = dyn_cast<tensor::CastOp>(result.getOwner()))
    return node(expand.getSource(), indices);
  if (isa<linalg::LinalgOp>(result.getOwner()))
    return elementWise(result, indices);
  return fail("cannot fuse " + result.getOwner()->getName().getStringRef() +
              " with a contraction");
}

/// True if the ops of an element-wise body can be cloned onto vectors: they are
/// element-wise themselves and use nothing from outside but constants.
static bool isVectorizableBody(Block &body) {
  return llvm::all_of(body, [&](Operation &op) {
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &body &&
          !matchPattern(operand, m_Constant()))
        return false;
    if (op.hasTrait<OpTrait::IsTerminator>())
      return true;
    return op.getNumRegions() == 0 && op.getNumResults() == 1 &&
           (isa<arith::ConstantOp>(op) || op.hasTrait<OpTrait::Elementwise>());
  });
}

FailureOr<unsigned>
ContractionMatcher::elementWise(OpResult v, ArrayRef<AffineExpr> indices) {
  auto op = cast<linalg::LinalgOp>(v.getOwner());
  if (op.getNumReductionLoops() ||
      !isVectorizableBody(op->getRegion(0).front()))
    return fail("an op behind the contraction is not element-wise");
  AffineMap out =
      op.getMatchingIndexingMap(op.getDpsInitOperand(v.getResultNumber()));
  if (!out.isPermutation())
    return fail("an element-wise op does not write a permutation");
  Exprs loopValue(op.getNumLoops());
  for (auto [expr, index] : llvm::zip_equal(out.getResults(), indices))
    loopValue[cast<AffineDimExpr>(expr).getPosition()] = index;
  EpilogueNode n;
  n.kind = EpilogueNode::Kind::Op;
  n.op = op;
  n.result = v.getResultNumber();
  n.element = getElementTypeOrSelf(v.getType());
  Block &body = op->getRegion(0).front();
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (body.getArgument(number).use_empty()) {
      n.operands.push_back(~0u);
      continue;
    }
    Exprs at;
    for (AffineExpr e : op.getMatchingIndexingMap(&operand).getResults())
      at.push_back(e.replaceDims(loopValue));
    if (op.isScalar(&operand))
      return fail("an element-wise op reads a scalar operand");
    auto child = node(operand.get(), at);
    if (failed(child))
      return failure();
    n.operands.push_back(*child);
  }
  return addNode(n);
}

/// Result `v` of the kernel: the chain's value, or a constant pad of it.
LogicalResult ContractionMatcher::matchOutput(Value v) {
  ContractionOutput out;
  Value inner = v;
  SmallVector<OpFoldResult> low, high;
  if (auto pad = v.getDefiningOp<tensor::PadOp>()) {
    Value value = pad.getConstantPaddingValue();
    Attribute attr;
    if (!value || !matchPattern(value, m_Constant(&attr)))
      return fail("a pad's value is not a constant");
    out.padValue = cast<TypedAttr>(attr);
    low = pad.getMixedLowPad();
    high = pad.getMixedHighPad();
    inner = pad.getSource();
  }
  ArrayRef<IntExpr> shape = kernel.shapeOf(inner);
  Exprs indices = accumulatorIndices(), places = indices;
  if (shape.size() != indices.size())
    return fail("an output has another rank than the contraction");
  // Written with its dims in another order.
  if (auto moved = inner.getDefiningOp<linalg::GenericOp>())
    if (std::optional<AffineMap> movement = getMovement(moved);
        movement && movement->isPermutation() && !movement->isIdentity()) {
      inner = moved.getDpsInputs()[0];
      for (auto [dim, from] : llvm::enumerate(movement->getResults()))
        places[cast<AffineDimExpr>(from).getPosition()] = indices[dim];
    }
  auto chain = node(inner, indices);
  if (failed(chain))
    return failure();
  out.node = *chain;
  Shape padded(shape), before;
  for (unsigned d = 0; d < low.size(); ++d) {
    IntExpr lo = kernel.asExpr(low[d]), hi = kernel.asExpr(high[d]);
    if (!lo || !hi)
      return fail("a pad's width is no expression of the symbols");
    out.pads.push_back({lo, shape[d], hi});
    padded[d] = lo + shape[d] + hi;
    before.push_back(lo);
  }
  auto a = access(Value(), places, padded, before);
  if (failed(a))
    return failure();
  out.access = *a;
  out.access.element = getElementTypeOrSelf(v.getType());
  c.outputs.push_back(out);
  return success();
}

FailureOr<Contraction> ContractionMatcher::run() {
  c.context = ctx;
  if (failed(findAnchor()) || failed(matchBody()) || failed(matchDims()))
    return failure();
  Access *factors[2] = {&c.x, &c.w};
  for (unsigned i = 0; i < 2; ++i) {
    if (failed(factor(*anchor.getDpsInputOperand(i), *factors[i])))
      return failure();
  }
  auto init = node(anchor.getDpsInits()[0], accumulatorIndices());
  if (failed(init))
    return failure();
  c.init = *init;
  for (Value v : kernel.outputs)
    if (failed(matchOutput(v)))
      return failure();
  return c;
}

FailureOr<Contraction> matchContraction(const Kernel &kernel, std::string &why,
                                        bool readsBounds) {
  return ContractionMatcher(kernel, why, readsBounds).run();
}

SmallVector<unsigned> factorsOf(const Kernel &kernel, const Contraction &c) {
  SmallVector<unsigned> factors;
  for (auto [i, input] : llvm::enumerate(kernel.inputs)) {
    bool isLoaded = llvm::any_of(c.loads, [&, tensor = input](const Access &a) {
      return a.tensor == tensor;
    });
    if ((c.x.tensor == input || c.w.tensor == input) && !isLoaded)
      factors.push_back(i);
  }
  return factors;
}

} // namespace mlc
