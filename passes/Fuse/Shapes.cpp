//===- Shapes.cpp - Dims of every tensor of a lowered function ------------===//

#include "passes/Fuse/Shapes.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

IntExpr ShapeTable::asExpr(OpFoldResult index) const {
  if (auto value = dyn_cast<Value>(index))
    return asExpr(value);
  return IntExpr::constant(context,
                           cast<IntegerAttr>(cast<Attribute>(index)).getInt());
}

std::optional<Shape> ShapeTable::mixed(ArrayRef<OpFoldResult> sizes) const {
  Shape shape;
  for (OpFoldResult size : sizes) {
    shape.push_back(asExpr(size));
    if (!shape.back())
      return std::nullopt;
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Index values
//===----------------------------------------------------------------------===//

IntExpr ShapeTable::affineOf(AffineMap map, ValueRange operands) const {
  SmallVector<IntExpr> values;
  for (Value operand : operands) {
    values.push_back(asExpr(operand));
    if (!values.back())
      return {};
  }
  ArrayRef<IntExpr> all(values);
  return fromAffine(map.getResult(0), all.take_front(map.getNumDims()),
                    all.drop_front(map.getNumDims()));
}

IntExpr ShapeTable::indexOf(Operation *op) const {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return IntExpr::constant(context,
                             cast<IntegerAttr>(constant.getValue()).getInt());
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return affineOf(apply.getAffineMap(), apply.getOperands());
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> i = dim.getConstantIndex();
    return i && contains(dim.getSource()) ? of(dim.getSource())[*i] : IntExpr();
  }
  if (op->getNumOperands() != 2)
    return {};
  IntExpr lhs = asExpr(op->getOperand(0)), rhs = asExpr(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  return llvm::TypeSwitch<Operation *, IntExpr>(op)
      .Case([&](arith::AddIOp) { return lhs + rhs; })
      .Case([&](arith::SubIOp) { return lhs - rhs; })
      .Case([&](arith::MulIOp) { return lhs * rhs; })
      .Case([&](arith::MinSIOp) { return IntExpr::min(lhs, rhs); })
      .Case([&](arith::MaxSIOp) { return IntExpr::max(lhs, rhs); })
      .Default([](Operation *) { return IntExpr(); });
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static std::optional<Shape> declared(RankedTensorType type,
                                     Attribute dims = {}) {
  if (auto attr = dyn_cast_or_null<DimsAttr>(dims))
    if (attr.size() == size_t(type.getRank()))
      return Shape(attr.getDims());
  std::optional<SmallVector<IntExpr>> known = getDims(type);
  if (!known)
    return std::nullopt;
  return Shape(known->begin(), known->end());
}

std::optional<Shape> ShapeTable::shapeOf(Operation *op) {
  using Result = std::optional<Shape>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tensor::EmptyOp empty) { return mixed(empty.getMixedSizes()); })
      .Case([&](tensor::ExtractSliceOp slice) -> Result {
        if (slice.getType().getRank() != slice.getSourceType().getRank())
          return std::nullopt;
        return mixed(slice.getMixedSizes());
      })
      .Case([&](tensor::InsertSliceOp insert) -> Result {
        return Shape(of(insert.getDest()));
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        return mixed(expand.getMixedOutputShape());
      })
      .Case([&](tensor::CollapseShapeOp collapse) -> Result {
        Shape shape;
        for (const ReassociationIndices &group :
             collapse.getReassociationIndices()) {
          IntExpr size = IntExpr::constant(context, 1);
          for (int64_t d : group)
            size = size * of(collapse.getSrc())[d];
          shape.push_back(size);
        }
        return shape;
      })
      .Case([&](tensor::PadOp pad) -> Result {
        Result low = mixed(pad.getMixedLowPad());
        Result high = mixed(pad.getMixedHighPad());
        if (!low || !high)
          return std::nullopt;
        Shape shape(of(pad.getSource()));
        for (auto [dim, before, after] : llvm::zip_equal(shape, *low, *high))
          dim = before + dim + after;
        return shape;
      })
      .Case([&](tensor::CastOp cast) -> Result {
        Result known = declared(mlir::cast<RankedTensorType>(cast.getType()));
        return known ? known : Shape(of(cast.getSource()));
      })
      .Case([&](UnrealizedConversionCastOp cast) -> Result {
        // Either side of an opaque operator may name its dims.
        for (Type type :
             {cast.getResult(0).getType(), cast.getOperand(0).getType()})
          if (Result known = declared(mlir::cast<RankedTensorType>(type)))
            return known;
        return std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

LogicalResult ShapeTable::readOp(Operation *op) {
  if (op->getNumResults() == 1 && op->getResult(0).getType().isIndex()) {
    if (IntExpr expr = indexOf(op)) {
      indices[op->getResult(0)] = expr;
      return success();
    }
    return op->emitError("is no expression of the function's symbols");
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    for (auto [result, init] :
         llvm::zip_equal(op->getResults(), linalgOp.getDpsInits()))
      set(result, Shape(of(init)));
    return success();
  }
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    std::optional<Shape> shape = shapeOf(op);
    if (!shape)
      shape = declared(type);
    if (!shape)
      return op->emitError("has dims that are no expression of the symbols");
    set(result, *shape);
  }
  return success();
}

LogicalResult ShapeTable::readArguments(func::FuncOp function) {
  ArrayRef<Attribute> names;
  if (auto symbols = function->getAttrOfType<ArrayAttr>("mlc.symbols"))
    names = symbols.getValue();
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (argument.getType().isIndex()) {
      if (names.empty())
        return function.emitError("has an index argument that mlc.symbols "
                                  "does not name");
      indices[argument] =
          IntExpr::symbol(context, cast<StringAttr>(names.front()).getValue());
      names = names.drop_front();
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    std::optional<Shape> shape;
    if (type)
      shape = declared(type, function.getArgAttr(i, "mlc.dims"));
    if (!shape)
      return function.emitError("argument ")
             << i << " must be a tensor whose dims are static or named by "
             << "mlc.dims";
    set(argument, *shape);
  }
  return success();
}

FailureOr<ShapeTable> ShapeTable::build(func::FuncOp function) {
  ShapeTable table(function.getContext());
  if (failed(table.readArguments(function)))
    return failure();
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(table.readOp(&op)))
      return failure();
  return table;
}

} // namespace mlc
