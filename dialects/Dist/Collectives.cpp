//===- Collectives.cpp - Shapes of collectives ----------------------------===//

#include "dialects/Dist/Dist.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::dist;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

using Types = FailureOr<SmallVector<Type>>;
/// Changes the dims of one operand; emits the error.
using ChangeDims =
    llvm::function_ref<LogicalResult(unsigned, SmallVectorImpl<IntExpr> &)>;

/// Checks that all operands have one element type, and that each has a result.
static LogicalResult checkElements(Operation *op) {
  if (op->getNumOperands() == 0)
    return op->emitOpError("requires an operand");
  if (op->getNumResults() != op->getNumOperands())
    return op->emitOpError("requires a result for each of ")
           << op->getNumOperands() << " operands, got " << op->getNumResults();
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  for (Value operand : op->getOperands())
    if (getElementTypeOrSelf(operand.getType()) != element)
      return op->emitOpError("requires operands of one element type, got ")
             << element << " and " << getElementTypeOrSelf(operand.getType());
  return success();
}

/// Checks for the engine's algorithm, or one of the runtime's programs.
static LogicalResult checkAlgorithm(Operation *op) {
  static constexpr llvm::StringLiteral known[] = {
      "own",
#define MLC_ALGORITHM(ID, NAME, MEANING) NAME,
#include "runtime/transport/Algorithms.def"
  };
  auto algorithm = op->getAttrOfType<StringAttr>("algorithm");
  if (!algorithm || llvm::is_contained(known, algorithm.getValue()))
    return success();
  return op->emitOpError("has the algorithm '")
         << algorithm.getValue() << "', which there is not; there are "
         << llvm::join(ArrayRef(known), ", ");
}

static Types inferTypes(Operation *op, ChangeDims change) {
  if (failed(checkElements(op)) || failed(checkAlgorithm(op)))
    return failure();
  SmallVector<Type> types;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto type = cast<RankedTensorType>(operand.getType());
    std::optional<SmallVector<IntExpr>> dims = getDims(type);
    if (!dims)
      return op->emitOpError("requires operands with named dims, got ") << type;
    if (failed(change(i, *dims)))
      return failure();
    types.push_back(getTensorType(*dims, type.getElementType()));
  }
  return types;
}

static LogicalResult keepDims(unsigned, SmallVectorImpl<IntExpr> &) {
  return success();
}

static LogicalResult checkReduction(Operation *op) {
  auto reduction = op->getAttrOfType<StringAttr>("reduction");
  if (reduction.getValue() == stringifyReduction(Reduction::Mean))
    return op->emitOpError("requires sum, prod, max or min, got mean");
  return success();
}

static LogicalResult checkDim(Operation *op, int64_t dim, size_t rank) {
  if (dim < 0 || dim >= int64_t(rank))
    return op->emitOpError("requires a dim in [0, ")
           << rank << "), got " << dim;
  return success();
}

static LogicalResult checkIs(Operation *op, IntExpr dim, IntExpr expected,
                             StringRef what) {
  if (dim == expected)
    return success();
  return op->emitOpError("requires ")
         << what << " of " << expected.str() << ", got " << dim.str();
}

IntExpr dist::countExchanged(Operation *op) {
  IntExpr count = IntExpr::constant(op->getContext(), 0);
  for (Value operand : op->getOperands())
    count = count +
            getNumElements(op->getContext(),
                           *getDims(cast<RankedTensorType>(operand.getType())));
  return count;
}

/// A dim that is split in the operands is whole in the results, or vice versa.
static Types inferParts(Operation *op, bool splits) {
  auto splitDims = op->getAttrOfType<DenseI64ArrayAttr>("dims").asArrayRef();
  ArrayRef<IntExpr> extents = op->getAttrOfType<DimsAttr>("extents").getDims(),
                    units = op->getAttrOfType<DimsAttr>("units").getDims();
  auto axis = op->getAttrOfType<AxisAttr>("axis");
  size_t count = op->getNumOperands();
  if (splitDims.size() != count || extents.size() != count ||
      units.size() != count)
    return op->emitOpError("requires a dim, an extent and a unit for each of ")
           << count << " operands";
  return inferTypes(
      op, [&](unsigned i, SmallVectorImpl<IntExpr> &dims) -> LogicalResult {
        int64_t d = splitDims[i];
        if (failed(checkDim(op, d, dims.size())))
          return failure();
        if (IntExpr unit = units[i];
            unit.isConstant() && unit.getConstant() < 1)
          return op->emitOpError("requires units of at least 1, got ")
                 << unit.str();
        IntExpr whole = extents[i] * units[i];
        IntExpr part = axis.getSize(extents[i]) * units[i];
        if (failed(checkIs(op, dims[d], splits ? whole : part, "a dim")))
          return failure();
        dims[d] = splits ? part : whole;
        return success();
      });
}

static Types inferBlocks(AllToAllOp op) {
  int64_t split = op.getSplit(), join = op.getJoin();
  return inferTypes(
      op, [&](unsigned, SmallVectorImpl<IntExpr> &dims) -> LogicalResult {
        if (failed(checkDim(op, split, dims.size())) ||
            failed(checkDim(op, join, dims.size())))
          return failure();
        if (split == join)
          return op.emitOpError("requires two dims, got ") << split << " twice";
        if (failed(checkIs(op, dims[split], op.getSplitExtent(),
                           "a whole dim to split")) ||
            failed(checkIs(op, dims[join],
                           op.getAxis().getSize(op.getJoinExtent()),
                           "a part to join")))
          return failure();
        dims[split] = op.getAxis().getSize(op.getSplitExtent());
        dims[join] = op.getJoinExtent();
        return success();
      });
}

static Types inferHalo(HaloOp op) {
  int64_t low = op.getLow(), high = op.getHigh();
  if (low < 0 || high < 0)
    return op.emitOpError("requires halos that are not negative, got ")
           << low << " and " << high;
  return inferTypes(
      op, [&](unsigned, SmallVectorImpl<IntExpr> &dims) -> LogicalResult {
        if (failed(checkDim(op, op.getDim(), dims.size())))
          return failure();
        std::optional<int64_t> part = dims[op.getDim()].asConstant();
        if (part && *part < std::max(low, high))
          return op.emitOpError("requires parts of ")
                 << std::max(low, high)
                 << " elements, which neighbours ask for, got " << *part;
        dims[op.getDim()] = dims[op.getDim()] + low + high;
        return success();
      });
}

static LogicalResult checkRoot(Operation *op) {
  int64_t root = op->getAttrOfType<IntegerAttr>("root").getInt();
  std::optional<int64_t> ranks =
      op->getAttrOfType<AxisAttr>("axis").getSize().asConstant();
  if (root < 0 || (ranks && root >= *ranks))
    return op->emitOpError("requires a root among the ranks of the axis, got ")
           << root;
  return success();
}

const runtime::rows::Row *dist::findRow(Operation *op) {
  if (!op || !isa_and_nonnull<DistDialect>(op->getDialect()))
    return nullptr;
  auto kind = runtime::collectiveNamed(op->getName().stripDialect());
  return kind ? &runtime::rowOf(*kind) : nullptr;
}

Types dist::inferCollectiveTypes(Operation *op) {
  const runtime::rows::Row *row = findRow(op);
  if (!row)
    return inferHalo(cast<HaloOp>(op));
  if (row->reduces() && failed(checkReduction(op)))
    return failure();
  if (row->hasRoot() && failed(checkRoot(op)))
    return failure();
  switch (row->message) {
  case runtime::rows::Elements:
    return inferTypes(op, keepDims);
  case runtime::rows::Units:
    return inferParts(op, /*splits=*/row->input == runtime::rows::Whole);
  case runtime::rows::Blocks:
    return inferBlocks(cast<AllToAllOp>(op));
  }
  llvm_unreachable("a message of another kind");
}
