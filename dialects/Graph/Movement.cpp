//===- Movement.cpp - Definitions of data movement and leaves -------------===//

#include "dialects/Definition/NumberTypes.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include <cmath>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

static RankedTensorType inputType(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(0).getType());
}

static LogicalResult checkSize(Operation *op, StringRef name, size_t size,
                               size_t expected) {
  if (size == expected)
    return success();
  return op->emitOpError() << "requires " << expected << " " << name << ", got "
                           << size;
}

static LogicalResult checkNotNegative(Operation *op, StringRef name,
                                      DimsAttr list) {
  for (IntExpr value : list)
    if (value.isConstant() && value.getConstant() < 0)
      return op->emitOpError() << "requires " << name
                               << " that are not negative, got " << value.str();
  return success();
}

/// Checks that an integer type, or a float type without 0, sign or infinity,
/// has the value.
static LogicalResult checkElement(Operation *op, RealAttr element, Type type) {
  if (element.isSymbol())
    return success();
  auto integer = dyn_cast<IntegerType>(type);
  if (auto real = dyn_cast<FloatType>(type))
    if (hasNoNumberNear(real.getFloatSemantics(), element.getDouble()))
      return op->emitOpError()
             << "requires a value that " << type << " has, got " << element;
  if (!integer)
    return success();
  bool isSigned = !integer.isUnsigned() && integer.getWidth() > 1;
  double value = element.getDouble(),
         end = std::ldexp(1.0, integer.getWidth() - isSigned);
  if (value == std::trunc(value) && value < end &&
      value >= (isSigned ? -end : 0.0))
    return success();
  return op->emitOpError() << "requires a value that " << type << " has, got "
                           << element;
}

//===----------------------------------------------------------------------===//
// Reordering
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::checkOperands() {
  return checkNotNegative(*this, "dims", getDims());
}

void ReshapeOp::define(DefinitionBuilder &b) {
  ArrayRef<IntExpr> dims = getDims().getDims();
  b.require(getNumElements(b.getContext(), b.dims(0)), ComparePredicate::EQ,
            getNumElements(b.getContext(), dims),
            "numbers of elements must be equal");
  b.result(b.reinterpret("y", 0, dims));
}

LogicalResult TransposeOp::checkOperands() {
  ArrayRef<int64_t> permutation = getPermutation();
  size_t rank = inputType(*this).getRank();
  SmallVector<bool> seen(rank, false);
  bool valid = permutation.size() == rank;
  for (int64_t d : permutation) {
    valid &= d >= 0 && d < static_cast<int64_t>(rank) && !seen[d];
    if (valid)
      seen[d] = true;
  }
  if (!valid)
    return emitOpError() << "requires a permutation of " << rank << " dims";
  return success();
}

void TransposeOp::define(DefinitionBuilder &b) {
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<IntExpr> dims;
  for (int64_t d : permutation)
    dims.push_back(b.dims(0)[d]);
  b.result(b.stage("y", dims, b.elementType(0), [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at(i.size());
    for (auto [j, d] : llvm::enumerate(permutation))
      at[d] = i[j];
    return b.read(0, at);
  }));
}

LogicalResult BroadcastOp::checkOperands() {
  size_t rank = inputType(*this).getRank();
  if (failed(checkSize(*this, "dims", getDims().size(), rank)))
    return failure();
  SmallVector<IntExpr> from = *mlc::getDims(inputType(*this));
  for (auto [d, dim] : llvm::enumerate(from)) {
    IntExpr difference = dim - getDims()[d];
    if (dim.isConstant() && !dim.isConstant(1) && difference.isConstant() &&
        !difference.isConstant(0))
      return emitOpError() << "cannot broadcast dim " << d << " from "
                           << dim.str() << " to " << getDims()[d].str();
  }
  return checkNotNegative(*this, "dims", getDims());
}

void BroadcastOp::define(DefinitionBuilder &b) {
  ArrayRef<IntExpr> from = b.dims(0), dims = getDims().getDims();
  b.result(b.stage("y", dims, b.elementType(0), [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at;
    for (auto [d, dim] : llvm::enumerate(from)) {
      if (dim.isConstant(1))
        at.push_back(b.index(0));
      else if (dim == dims[d])
        at.push_back(i[d]);
      else // 1 or the result's dim, known at run time
        at.push_back(binary(BinaryFn::Min, i[d], b.integer(dim - 1)));
    }
    return b.read(0, at);
  }));
}

LogicalResult ReverseOp::checkOperands() {
  for (int64_t axis : getAxes())
    if (axis < 0 || axis >= inputType(*this).getRank())
      return emitOpError() << "requires axes in [0, "
                           << inputType(*this).getRank() << "), got " << axis;
  return success();
}

void ReverseOp::define(DefinitionBuilder &b) {
  b.result(b.stage("y", b.dims(0), b.elementType(0), [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at(i);
    for (int64_t axis : getAxes())
      at[axis] = b.integer(b.dims(0)[axis] - 1) - i[axis];
    return b.read(0, at);
  }));
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::checkOperands() {
  size_t rank = inputType(*this).getRank();
  if (failed(checkSize(*this, "starts", getStarts().size(), rank)) ||
      failed(checkSize(*this, "sizes", getSizes().size(), rank)) ||
      failed(checkSize(*this, "steps", getSteps().size(), rank)) ||
      failed(checkNotNegative(*this, "starts", getStarts())) ||
      failed(checkNotNegative(*this, "sizes", getSizes())))
    return failure();
  for (IntExpr step : getSteps())
    if (step.isConstant(0))
      return emitOpError() << "requires steps that are not 0";
  return success();
}

void SliceOp::define(DefinitionBuilder &b) {
  IntExpr zero = IntExpr::constant(b.getContext(), 0);
  SmallVector<IntExpr> sizes(getSizes().getDims());
  for (unsigned d = 0; d < sizes.size(); ++d) {
    if (sizes[d].isConstant(0))
      continue; // nothing is read
    IntExpr last = getStarts()[d] + (sizes[d] - 1) * getSteps()[d];
    bool backwards =
        getSteps()[d].isConstant() && getSteps()[d].getConstant() < 0;
    if (backwards)
      b.require(last, ComparePredicate::GE, zero,
                "the slice must end inside the operand");
    b.require(backwards ? getStarts()[d] : last, ComparePredicate::LT,
              b.dims(0)[d], "the slice must lie inside the operand");
  }
  b.result(b.stage("y", sizes, b.elementType(0), [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at;
    for (unsigned d = 0; d < sizes.size(); ++d)
      at.push_back(i[d] * getSteps()[d] + getStarts()[d]);
    return b.read(0, at);
  }));
}

LogicalResult ConcatOp::checkOperands() {
  if (getInputs().empty())
    return emitOpError() << "requires 1 or more operands, got none";
  auto first = inputType(*this);
  if (static_cast<int64_t>(getAxis()) < 0 ||
      static_cast<int64_t>(getAxis()) >= first.getRank())
    return emitOpError() << "requires an axis in [0, " << first.getRank()
                         << "), got " << static_cast<int64_t>(getAxis());
  for (Value input : getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getRank() != first.getRank() ||
        type.getElementType() != first.getElementType())
      return emitOpError()
             << "requires operands of one rank and element type, got " << first
             << " and " << type;
  }
  return success();
}

void ConcatOp::define(DefinitionBuilder &b) {
  unsigned axis = getAxis(), rank = b.rank(0);
  SmallVector<IntExpr> dims(b.dims(0));
  IntExpr zero = IntExpr::constant(b.getContext(), 0), total = zero;
  SmallVector<DefinitionBuilder::PieceSpec> pieces;
  for (unsigned k = 0; k < getInputs().size(); ++k) {
    for (unsigned d = 0; d < rank; ++d)
      if (d != axis)
        b.require(b.dims(k)[d], ComparePredicate::EQ, dims[d],
                  "dims other than the axis must be equal");
    SmallVector<IntExpr> offset(rank, zero), extents(dims);
    offset[axis] = total;
    extents[axis] = b.dims(k)[axis];
    total = total + b.dims(k)[axis];
    pieces.push_back(
        {offset, extents, [&b, k](ArrayRef<Expr> i) { return b.read(k, i); }});
  }
  dims[axis] = total;
  b.result(b.piecewiseStage("y", dims, b.elementType(0), pieces));
}

LogicalResult PadOp::checkOperands() {
  size_t rank = inputType(*this).getRank();
  if (failed(checkSize(*this, "low", getLow().size(), rank)) ||
      failed(checkSize(*this, "high", getHigh().size(), rank)) ||
      failed(checkNotNegative(*this, "paddings", getLow())) ||
      failed(checkNotNegative(*this, "paddings", getHigh())))
    return failure();
  return checkElement(*this, getValue(), inputType(*this).getElementType());
}

/// The operand's index for a border position `t` = result index - low.
static Expr borderIndex(DefinitionBuilder &b, PadMode mode, Expr t,
                        IntExpr dim) {
  Expr last = b.integer(dim - 1), zero = b.index(0);
  if (mode == PadMode::Edge)
    return binary(BinaryFn::Max, binary(BinaryFn::Min, t, last), zero);
  Expr folded = binary(BinaryFn::Max, t, zero - t);
  Expr beyond = last - folded;
  return last - binary(BinaryFn::Max, beyond, zero - beyond);
}

void PadOp::define(DefinitionBuilder &b) {
  PadMode mode = getMode();
  Type type = b.elementType(0);
  unsigned rank = b.rank(0);
  SmallVector<IntExpr> dims;
  for (unsigned d = 0; d < rank; ++d) {
    IntExpr low = getLow()[d], high = getHigh()[d], dim = b.dims(0)[d];
    dims.push_back(dim + low + high);
    bool bordered = !low.isConstant(0) || !high.isConstant(0);
    if (mode == PadMode::Constant || !bordered)
      continue;
    // An edge can be repeated only if the operand has one.
    IntExpr border = IntExpr::max(low, high),
            one = IntExpr::constant(b.getContext(), 1);
    if (mode == PadMode::Edge)
      b.require(dim, ComparePredicate::GE, IntExpr::min(border, one),
                "the operand must have an edge to repeat");
    else
      b.require(dim, ComparePredicate::GT, border,
                "the operand must be larger than its mirrored border");
  }
  b.result(b.stage("y", dims, type, [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at;
    bool bordered = false;
    for (unsigned d = 0; d < rank; ++d) {
      IntExpr low = getLow()[d];
      bool here = !low.isConstant(0) || !getHigh()[d].isConstant(0);
      bordered |= here;
      Expr t = i[d] - low;
      at.push_back(here && mode != PadMode::Constant
                       ? borderIndex(b, mode, t, b.dims(0)[d])
                       : t);
    }
    if (mode != PadMode::Constant || !bordered)
      return b.read(0, at);
    return b.readOr(0, at, b.real(type, getValue()));
  }));
}

LogicalResult GatherOp::checkOperands() {
  int64_t rank = inputType(*this).getRank();
  if (static_cast<int64_t>(getAxis()) < 0 ||
      static_cast<int64_t>(getAxis()) >= rank)
    return emitOpError() << "requires an axis in [0, " << rank << "), got "
                         << static_cast<int64_t>(getAxis());
  Type type = getIndices().getType().getElementType();
  if (!isa<IntegerType>(type) || type.isInteger(1))
    return emitOpError() << "requires integer indices, got " << type;
  return success();
}

void GatherOp::define(DefinitionBuilder &b) {
  unsigned axis = getAxis(), count = b.rank(1);
  ArrayRef<IntExpr> x = b.dims(0);
  SmallVector<IntExpr> dims(x.take_front(axis));
  llvm::append_range(dims, b.dims(1));
  llvm::append_range(dims, x.drop_front(axis + 1));
  Type type = b.elementType(0), index = IndexType::get(b.getContext());
  b.result(b.stage("y", dims, type, [&](ArrayRef<Expr> i) {
    Expr picked = mlc::cast(b.read(1, i.slice(axis, count)), index);
    Expr fromEnd = picked + b.integer(x[axis]);
    SmallVector<Expr> at(i.take_front(axis));
    at.push_back(mlc::select(compare(ComparePredicate::LT, picked, b.index(0)),
                             fromEnd, picked));
    llvm::append_range(at, i.drop_front(axis + count));
    return b.readOr(0, at, b.constant(type, 0));
  }));
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

LogicalResult FillOp::checkOperands() {
  if (!isa<FloatType, IntegerType>(getType()))
    return emitOpError() << "requires a float or integer type, got "
                         << getType();
  if (failed(checkElement(*this, getValue(), getType())))
    return failure();
  return checkNotNegative(*this, "dims", getDims());
}

void FillOp::define(DefinitionBuilder &b) {
  b.result(b.stage("y", getDims().getDims(), getType(), [&](ArrayRef<Expr>) {
    return b.real(getType(), getValue());
  }));
}

LogicalResult IotaOp::checkOperands() {
  if (static_cast<int64_t>(getAxis()) < 0 || getAxis() >= getDims().size())
    return emitOpError() << "requires an axis in [0, " << getDims().size()
                         << "), got " << static_cast<int64_t>(getAxis());
  return checkNotNegative(*this, "dims", getDims());
}

void IotaOp::define(DefinitionBuilder &b) {
  Type i64 = IntegerType::get(b.getContext(), 64);
  b.result(b.stage("y", getDims().getDims(), i64, [&](ArrayRef<Expr> i) {
    return mlc::cast(i[getAxis()] * getStep() + getStart(), i64);
  }));
}

LogicalResult IntTensorOp::checkOperands() {
  bool scalar = getDims().empty() && getValues().size() == 1;
  bool vector =
      getDims().size() == 1 && getDims()[0].isConstant(getValues().size());
  if (!scalar && !vector)
    return emitOpError() << "requires dims [] and 1 value, or dims [n] and n "
                            "values, got "
                         << getValues().size() << " values";
  return success();
}

void IntTensorOp::define(DefinitionBuilder &b) {
  MLIRContext *context = b.getContext();
  Type i64 = IntegerType::get(context, 64);
  SmallVector<DefinitionBuilder::PieceSpec> pieces;
  for (auto [k, value] : llvm::enumerate(getValues())) {
    DefinitionBuilder::PieceSpec piece;
    if (!getDims().empty()) {
      piece.offset.push_back(IntExpr::constant(context, k));
      piece.extents.push_back(IntExpr::constant(context, 1));
    }
    piece.body = [&b, i64, value = value](ArrayRef<Expr>) {
      return mlc::cast(b.integer(value), i64);
    };
    pieces.push_back(std::move(piece));
  }
  b.result(b.piecewiseStage("y", getDims().getDims(), i64, pieces));
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
