//===- Kernel.cpp - Reading kernel functions ------------------------------===//

#include "codegen/kernel/Kernel.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mlc {

Shape rowMajorStrides(ArrayRef<IntExpr> shape, MLIRContext *ctx) {
  Shape strides(shape.size(), IntExpr::constant(ctx, 1));
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

IntExpr elementCount(ArrayRef<IntExpr> shape, MLIRContext *ctx) {
  IntExpr count = IntExpr::constant(ctx, 1);
  for (IntExpr dim : shape)
    count = count * dim;
  return count;
}

MLIRContext *Kernel::context() const { return ctx; }

ArrayRef<IntExpr> Kernel::shapeOf(Value tensor) const {
  auto it = shapes.find(tensor);
  assert(it != shapes.end() && "a tensor of the kernel's body");
  return it->second;
}

//===----------------------------------------------------------------------===//
// Index values as expressions
//===----------------------------------------------------------------------===//

IntExpr fromAffine(AffineExpr expr, ArrayRef<IntExpr> dims,
                   ArrayRef<IntExpr> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IntExpr::constant(expr.getContext(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  IntExpr lhs = fromAffine(binary.getLHS(), dims, symbols);
  IntExpr rhs = fromAffine(binary.getRHS(), dims, symbols);
  if (!lhs || !rhs)
    return {};
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return lhs.floorDiv(rhs);
  case AffineExprKind::CeilDiv:
    return lhs.ceilDiv(rhs);
  case AffineExprKind::Mod:
    return lhs.mod(rhs);
  default:
    return {};
  }
}

/// The value of a two-operand integer op on sizes; null for other ops. Sizes
/// are not negative, so that truncating and floor division agree.
static IntExpr fromBinary(Operation *op, IntExpr lhs, IntExpr rhs) {
  return llvm::TypeSwitch<Operation *, IntExpr>(op)
      .Case([&](arith::AddIOp) { return lhs + rhs; })
      .Case([&](arith::SubIOp) { return lhs - rhs; })
      .Case([&](arith::MulIOp) { return lhs * rhs; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return lhs.floorDiv(rhs); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) { return lhs.ceilDiv(rhs); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return lhs.mod(rhs); })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [&](auto) { return IntExpr::min(lhs, rhs); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) { return IntExpr::max(lhs, rhs); })
      .Default([](Operation *) { return IntExpr(); });
}

static IntExpr fromAffineOp(const Kernel &kernel, AffineMap map,
                            ValueRange operands,
                            function_ref<IntExpr(IntExpr, IntExpr)> combine) {
  SmallVector<IntExpr> values;
  for (Value operand : operands)
    values.push_back(kernel.asExpr(operand));
  ArrayRef<IntExpr> all(values);
  IntExpr result;
  for (AffineExpr expr : map.getResults()) {
    IntExpr value = fromAffine(expr, all.take_front(map.getNumDims()),
                               all.drop_front(map.getNumDims()));
    if (!value)
      return {};
    result = result ? combine(result, value) : value;
  }
  return result;
}

IntExpr Kernel::asExpr(Value index) const {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return IntExpr::constant(context(), constant.getSExtValue());
  if (isa<BlockArgument>(index)) {
    auto it = llvm::find(symbolValues, index);
    if (it == symbolValues.end())
      return unknown(index);
    return IntExpr::symbol(context(), symbols[it - symbolValues.begin()]);
  }
  Operation *op = index.getDefiningOp();
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return asExpr(op->getOperand(0));
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> which = dim.getConstantIndex();
    auto it = shapes.find(dim.getSource());
    if (!which || it == shapes.end() || *which >= (int64_t)it->second.size())
      return unknown(index);
    return it->second[*which];
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return fromAffineOp(*this, apply.getAffineMap(), apply.getOperands(),
                        [](IntExpr a, IntExpr) { return a; });
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return fromAffineOp(*this, min.getAffineMap(), min.getOperands(),
                        IntExpr::min);
  if (auto max = dyn_cast<affine::AffineMaxOp>(op))
    return fromAffineOp(*this, max.getAffineMap(), max.getOperands(),
                        IntExpr::max);
  if (op->getNumOperands() == 2) {
    IntExpr lhs = asExpr(op->getOperand(0)), rhs = asExpr(op->getOperand(1));
    if (lhs && rhs)
      if (IntExpr expr = fromBinary(op, lhs, rhs))
        return expr;
  }
  return unknown(index);
}

IntExpr Kernel::asExpr(OpFoldResult index) const {
  if (auto value = dyn_cast<Value>(index))
    return asExpr(value);
  return IntExpr::constant(context(),
                           cast<IntegerAttr>(cast<Attribute>(index)).getInt());
}

//===----------------------------------------------------------------------===//
// Signature and shapes
//===----------------------------------------------------------------------===//

/// The dims that `type` and, for its unknown ones, `dims` give.
static FailureOr<Shape> declaredShape(RankedTensorType type, Attribute dims) {
  SmallVector<IntExpr> known;
  if (auto attr = dyn_cast_or_null<DimsAttr>(dims))
    llvm::append_range(known, attr.getDims());
  if (!known.empty() && known.size() != (size_t)type.getRank())
    return failure();
  Shape shape;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i))
      shape.push_back(IntExpr::constant(type.getContext(), type.getDimSize(i)));
    else if (!known.empty())
      shape.push_back(known[i]);
    else
      return failure();
  }
  return shape;
}

LogicalResult Kernel::readSignature() {
  if (auto names = function->getAttrOfType<ArrayAttr>("mlc.symbols"))
    for (Attribute name : names) {
      auto string = dyn_cast<StringAttr>(name);
      if (!string)
        return function.emitError("mlc.symbols must be strings");
      symbols.push_back(string.str());
    }
  for (BlockArgument argument : function.getArguments()) {
    if (argument.getType().isIndex()) {
      symbolValues.push_back(argument);
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !symbolValues.empty())
      return function.emitError(
          "kernel arguments are ranked tensors, then index symbols");
    FailureOr<Shape> shape = declaredShape(
        type, function.getArgAttr(argument.getArgNumber(), "mlc.dims"));
    if (failed(shape))
      return function.emitError("argument ")
             << argument.getArgNumber()
             << " has unknown dims that mlc.dims does not state";
    shapes[argument] = *shape;
    inputs.push_back(argument);
    inputSet.insert(argument);
  }
  if (symbols.size() != symbolValues.size())
    return function.emitError("expected one index argument per symbol of "
                              "mlc.symbols (")
           << symbols.size() << "), found " << symbolValues.size();
  return success();
}

static IntExpr sliceOrNull(const Kernel &kernel, OpFoldResult value,
                           bool &known) {
  IntExpr expr = kernel.asExpr(value);
  known &= bool(expr);
  return expr;
}

/// The shape of a mixed list of sizes; false if one is no expression.
static bool fromMixed(const Kernel &kernel, ArrayRef<OpFoldResult> sizes,
                      Shape &shape) {
  bool known = true;
  for (OpFoldResult size : sizes)
    shape.push_back(sliceOrNull(kernel, size, known));
  return known;
}

static bool paddedShape(const Kernel &kernel, tensor::PadOp pad, Shape &shape) {
  bool known = true;
  for (auto [dim, low, high] :
       llvm::zip_equal(kernel.shapeOf(pad.getSource()), pad.getMixedLowPad(),
                       pad.getMixedHighPad())) {
    IntExpr before = sliceOrNull(kernel, low, known);
    IntExpr after = sliceOrNull(kernel, high, known);
    if (!known)
      return false;
    shape.push_back(dim + before + after);
  }
  return true;
}

/// Drops from `sizes` the unit dims that a rank-reducing slice drops.
static void reduceRank(tensor::ExtractSliceOp slice, Shape &shape) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  Shape kept;
  for (unsigned i = 0; i < shape.size(); ++i)
    if (!dropped.test(i))
      kept.push_back(shape[i]);
  shape = kept;
}

bool Kernel::computeShape(Operation *op, Shape &shape) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tensor::EmptyOp empty) {
        return fromMixed(*this, empty.getMixedSizes(), shape);
      })
      .Case([&](tensor::PadOp pad) { return paddedShape(*this, pad, shape); })
      .Case([&](tensor::ExtractSliceOp slice) {
        bool ok = fromMixed(*this, slice.getMixedSizes(), shape);
        reduceRank(slice, shape);
        return ok;
      })
      .Case([&](tensor::InsertSliceOp insert) {
        llvm::append_range(shape, shapeOf(insert.getDest()));
        return true;
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        return fromMixed(*this,
                         getMixedValues(expand.getStaticOutputShape(),
                                        expand.getOutputShape(),
                                        op->getContext()),
                         shape);
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        ArrayRef<IntExpr> source = shapeOf(collapse.getSrc());
        for (const ReassociationIndices &group :
             collapse.getReassociationIndices()) {
          IntExpr size = IntExpr::constant(context(), 1);
          for (int64_t i : group)
            size = size * source[i];
          shape.push_back(size);
        }
        return true;
      })
      .Case([&](tensor::ConcatOp concat) {
        llvm::append_range(shape, shapeOf(concat.getInputs().front()));
        for (Value input : concat.getInputs().drop_front())
          shape[concat.getDim()] =
              shape[concat.getDim()] + shapeOf(input)[concat.getDim()];
        return true;
      })
      .Case([&](tensor::CastOp cast) {
        llvm::append_range(shape, shapeOf(cast.getSource()));
        return true;
      })
      .Case([&](arith::ConstantOp constant) {
        auto type = dyn_cast<RankedTensorType>(constant.getType());
        if (!type || !isa<DenseElementsAttr>(constant.getValue()))
          return false;
        FailureOr<Shape> declared = declaredShape(type, {});
        if (succeeded(declared))
          shape = *declared;
        return succeeded(declared);
      })
      .Case([&](exec::InverseTransformOp inverse) {
        FailureOr<Shape> declared = declaredShape(
            cast<RankedTensorType>(inverse.getOriginal().getType()), {});
        if (succeeded(declared))
          shape = *declared;
        return succeeded(declared);
      })
      .Default([](Operation *) { return false; });
}

LogicalResult Kernel::readShape(Operation *op) {
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    for (auto [result, init] :
         llvm::zip_equal(op->getResults(), linalg.getDpsInits()))
      shapes[result] = Shape(shapeOf(init));
    return success();
  }
  if (isa<OpaqueOpInterface>(op)) {
    for (Value result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      FailureOr<Shape> declared = declaredShape(type, type.getEncoding());
      if (failed(declared))
        return op->emitError("has unknown dims that its types do not state");
      shapes[result] = *declared;
    }
    return success();
  }
  Shape shape;
  if (!computeShape(op, shape))
    return isPreview ? failure()
                     : op->emitError(
                           "code generation does not know this operation, or "
                           "its shape is no expression of the symbols");
  shapes[op->getResult(0)] = shape;
  return success();
}

LogicalResult Kernel::readBody() {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError("a kernel has one block");
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>))
      continue;
    if (failed(readShape(&op)))
      return failure();
    ops.push_back(&op);
    if (!anchor && isContraction(&op))
      anchor = &op;
  }
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    outputs.push_back(value);
  if (outputs.empty())
    return function.emitError("a kernel returns at least one tensor");
  for (Value output : outputs)
    if (!shapes.contains(output))
      return function.emitError("a kernel returns tensors only");
  return success();
}

FailureOr<Kernel> Kernel::read(func::FuncOp function) {
  Kernel kernel;
  kernel.function = function;
  kernel.ctx = function.getContext();
  if (function.isExternal())
    return function.emitError("a kernel has a body");
  if (failed(kernel.readSignature()) || failed(kernel.readBody()) ||
      failed(kernel.readRepeats()) || failed(kernel.readSiblings()))
    return failure();
  return kernel;
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

std::optional<AffineMap> getMovement(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0)
    return std::nullopt;
  Operation *yield = op.getBody()->getTerminator();
  if (&op.getBody()->front() != yield ||
      yield->getOperand(0) != op.getBody()->getArgument(0))
    return std::nullopt;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!out.isIdentity())
    return std::nullopt;
  return op.getMatchingIndexingMap(op.getDpsInputOperand(0));
}

/// `value` behind conversions to a wider type.
static Value behindCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool isContraction(Operation *op) {
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  if (!linalg || linalg.getNumReductionLoops() == 0 ||
      linalg.getNumDpsInits() != 1 || linalg.getNumDpsInputs() < 2)
    return false;
  Block *block = linalg.getBlock();
  Operation *add = block->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return false;
  Value accumulator = block->getArguments().back();
  for (unsigned i : {0u, 1u}) {
    Operation *product = add->getOperand(1 - i).getDefiningOp();
    if (add->getOperand(i) != accumulator ||
        !isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
      continue;
    auto lhs = dyn_cast<BlockArgument>(behindCasts(product->getOperand(0)));
    auto rhs = dyn_cast<BlockArgument>(behindCasts(product->getOperand(1)));
    if (lhs && rhs && lhs != rhs && lhs != accumulator && rhs != accumulator)
      return true;
  }
  return false;
}

} // namespace mlc
