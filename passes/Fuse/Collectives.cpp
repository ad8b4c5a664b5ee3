//===- Collectives.cpp - Collectives in programs --------------------------===//

#include "passes/Fuse/Collectives.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

bool isCollective(Operation *op) {
  return op && isa_and_nonnull<dist::DistDialect>(op->getDialect());
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Whether `value` has its own memory and a single use.
static bool isOwned(Value value) {
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!op || !value.hasOneUse())
      return false;
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             UnrealizedConversionCastOp>(op))
      return isa<linalg::LinalgOp, tensor::PadOp, tensor::InsertSliceOp>(op);
    value = op->getOperand(0);
  }
}

/// Copies the operand below its cast, so that a kernel makes the copy.
static void copyOperand(OpOperand &operand) {
  OpBuilder b(operand.getOwner());
  Location loc = operand.getOwner()->getLoc();
  Value value = operand.get();
  auto cast = value.getDefiningOp<UnrealizedConversionCastOp>();
  if (cast)
    value = cast.getOperand(0);
  auto type = llvm::cast<RankedTensorType>(value.getType());
  Value init = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, value), type.getElementType());
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  Value copy = linalg::GenericOp::create(
                   b, loc, TypeRange{init.getType()}, ValueRange{value},
                   ValueRange{init}, ArrayRef<AffineMap>{map, map}, parallel,
                   [](OpBuilder &body, Location loc, ValueRange args) {
                     linalg::YieldOp::create(body, loc, args[0]);
                   })
                   .getResult(0);
  if (cast)
    copy = UnrealizedConversionCastOp::create(b, loc, operand.get().getType(),
                                              copy)
               .getResult(0);
  operand.set(copy);
}

void copySharedOperands(func::FuncOp function) {
  for (Operation &op : function.getBody().front())
    if (const auto *row = dist::findRow(&op); row && row->writesInput())
      for (OpOperand &operand : op.getOpOperands())
        if (!isOwned(operand.get()))
          copyOperand(operand);
}

FailureOr<int64_t> getPrefetchLimit(ModuleOp module) {
  Attribute said = module->getAttr(dist::kPrefetchLimitAttr);
  if (!said)
    return dist::kPrefetchLimit;
  auto bytes = dyn_cast<IntegerAttr>(said);
  if (!bytes || !bytes.getType().isInteger(64) || bytes.getInt() < 0)
    return module.emitError(dist::kPrefetchLimitAttr)
           << " is a number of bytes, an i64 from 0 on, and not " << said;
  return bytes.getInt();
}

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

dist::AxisAttr findAxis(ModuleOp module, StringRef name) {
  auto mesh = module->getAttrOfType<ArrayAttr>(dist::kMeshAttr);
  if (mesh)
    for (Attribute axis : mesh)
      if (auto found = dyn_cast<dist::AxisAttr>(axis))
        if (found.getName() == name)
          return found;
  return {};
}

dist::AxisAttr findAxisOfRank(ModuleOp module, StringRef symbol) {
  return symbol.consume_front("rank.") ? findAxis(module, symbol)
                                       : dist::AxisAttr();
}

/// The sum of the parts of all ranks of the axes.
static std::optional<int64_t> sumParts(ArrayRef<dist::AxisAttr> axes,
                                       IntExpr part) {
  if (axes.empty())
    return part.asConstant();
  std::optional<int64_t> ranks = axes.front().getSize().asConstant();
  std::string symbol = axes.front().getRank().getSymbol().str();
  int64_t sum = 0;
  for (int64_t rank = 0; ranks && rank < *ranks; ++rank) {
    IntExpr size = part.substitute([&](StringRef name) {
      return name == symbol ? IntExpr::constant(part.getContext(), rank)
                            : IntExpr();
    });
    std::optional<int64_t> all = sumParts(axes.drop_front(), size);
    if (!all)
      return std::nullopt;
    sum += *all;
  }
  return ranks ? std::optional(sum) : std::nullopt;
}

FailureOr<SmallVector<int64_t>> getWholeDims(ModuleOp module,
                                             dist::ShardingAttr sharding,
                                             ArrayRef<IntExpr> part,
                                             const llvm::Twine &what) {
  // A term of a sum has the dims of the sum.
  if (sharding.getDims().size() != part.size())
    return module.emitError(what) << " has the sharding " << sharding
                                  << ", which is not one of its dims";
  SmallVector<int64_t> whole;
  for (auto [names, dim] : llvm::zip_equal(sharding.getDims(), part)) {
    SmallVector<dist::AxisAttr> axes;
    for (auto name : names.getAsRange<StringAttr>()) {
      axes.push_back(findAxis(module, name));
      if (!axes.back())
        return module.emitError(what) << " is split over " << name
                                      << ", which is no axis of dist.mesh";
    }
    std::optional<int64_t> size = sumParts(axes, dim);
    if (size && !axes.empty()) {
      IntExpr own = IntExpr::constant(module.getContext(), *size);
      for (dist::AxisAttr axis : axes)
        own = axis.getSize(own);
      if (own != dim)
        size = std::nullopt;
    }
    if (!size)
      return module.emitError(what)
             << " has a dim of " << dim.str()
             << ", which is no fixed size, or not a rank's part of one";
    whole.push_back(*size);
  }
  return whole;
}

} // namespace mlc
