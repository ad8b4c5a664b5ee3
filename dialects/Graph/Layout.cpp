//===- Layout.cpp - Definitions on stored tensors -------------------------===//

#include "dialects/Graph/LayoutOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

using Part = StoredDim::Part;

//===----------------------------------------------------------------------===//
// pack, unpack
//===----------------------------------------------------------------------===//

static SmallVector<IntExpr> dimsOf(Value value) {
  return *getDims(cast<RankedTensorType>(value.getType()));
}

LogicalResult PackOp::checkOperands() {
  if (getLayout().getStoredDims(dimsOf(getX())))
    return success();
  return emitOpError() << "requires an operand that fits " << getLayout()
                       << ", got " << getX().getType();
}

/// The element of operand 0 that is stored at `i`; zero in fills.
static Expr storedElement(DefinitionBuilder &b, LayoutAttr layout,
                          ArrayRef<Expr> i) {
  MLIRContext *context = b.getContext();
  auto number = [&](int64_t value) {
    return IntExpr::constant(context, value);
  };
  Type type = b.elementType(0);
  SmallVector<Expr> at(layout.getRank(), b.index(0)), blocks(at), lanes(at);
  for (auto [stored, index] : llvm::zip_equal(layout.getOrder(), i))
    (stored.part == Part::Whole   ? at
     : stored.part == Part::Block ? blocks
                                  : lanes)[stored.dim] = index;
  Expr isElement;
  for (const DimSplit &split : layout.getSplits()) {
    if (split.isLeftOut())
      continue;
    Expr block = blocks[split.dim], lane = lanes[split.dim];
    at[split.dim] = elementIndex(split, block, lane);
    if (split.groups == 1 || !split.isFilled())
      continue;
    // Past the end of its group a lane would hit the next group's element.
    Expr inGroup = mod(block, number(split.blocksPerGroup()));
    Expr inside =
        compare(ComparePredicate::LT, inGroup * number(split.block) + lane,
                b.index(split.perGroup()));
    isElement = isElement ? binary(BinaryFn::And, isElement, inside) : inside;
  }
  if (!layout.isFilled())
    return b.read(0, at);
  Expr zero = b.constant(type, 0), element = b.readOr(0, at, zero);
  return isElement ? mlc::select(isElement, element, zero) : element;
}

void PackOp::define(DefinitionBuilder &b) {
  LayoutAttr layout = getLayout();
  b.result(
      b.stage("y", *layout.getStoredDims(b.dims(0)), b.elementType(0),
              [&](ArrayRef<Expr> i) { return storedElement(b, layout, i); }));
}

LogicalResult UnpackOp::checkOperands() {
  if (getLayout().getDims(dimsOf(getX())))
    return success();
  return emitOpError() << "requires an operand stored as " << getLayout()
                       << " says, got " << getX().getType();
}

void UnpackOp::define(DefinitionBuilder &b) {
  LayoutAttr layout = getLayout();
  b.result(b.stage(
      "y", *layout.getDims(b.dims(0)), b.elementType(0),
      [&](ArrayRef<Expr> i) { return b.read(0, storedIndices(layout, i)); }));
}

//===----------------------------------------------------------------------===//
// laid_out
//===----------------------------------------------------------------------===//

/// The definition of the plain operator that `op` stands for; the operator is
/// created on placeholder operands. Fails, with an error at `op`, if there is
/// no such operator, or if the layouts do not fit its operands.
static FailureOr<Definition> getPlainDefinition(LaidOutOp op) {
  auto known =
      RegisteredOperationName::lookup(op.getPlainOp(), op.getContext());
  if (!known || !known->hasInterface<DefinitionOpInterface>() ||
      op.getPlainOp() == LaidOutOp::getOperationName())
    return op.emitOpError()
           << "requires the name of an operator with a definition, got '"
           << op.getPlainOp() << "'";
  for (NamedAttribute attribute : op.getPlainAttributes())
    if (!llvm::is_contained(known->getAttributeNames(), attribute.getName()))
      return op.emitOpError()
             << "gives " << op.getPlainOp() << " an attribute '"
             << attribute.getName().getValue() << "', which it does not have";
  Block block;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    auto type = cast<RankedTensorType>(operand.getType());
    auto layout = cast<LayoutAttr>(op.getLayouts()[i]);
    std::optional<SmallVector<IntExpr>> dims = layout.getDims(dimsOf(operand));
    if (!dims)
      return op.emitOpError() << "requires operand #" << i << " stored as "
                              << layout << " says, got " << type;
    block.addArgument(getTensorType(*dims, type.getElementType()), op.getLoc());
  }
  OpBuilder builder(op.getContext());
  builder.setInsertionPointToEnd(&block);
  FailureOr<Operation *> plain =
      createOp(builder, op.getLoc(), op.getPlainOp(), block.getArguments(),
               op.getPlainAttributes().getValue());
  if (failed(plain))
    return failure();
  return getDefinition(cast<DefinitionOpInterface>(*plain));
}

/// Builds the operator's definition on stored tensors; errors at `op`.
static LogicalResult layOut(LaidOutOp op, DefinitionBuilder &b) {
  FailureOr<Definition> plain = getPlainDefinition(op);
  if (failed(plain))
    return failure();
  SmallVector<LayoutAttr> layouts;
  for (Attribute layout : op.getLayouts())
    layouts.push_back(cast<LayoutAttr>(layout));
  llvm::Expected<bool> sumsFills =
      mlc::layOut(*plain, ArrayRef(layouts).drop_back(), layouts.back(), b);
  if (!sumsFills)
    return op.emitOpError() << "has no definition in these layouts: "
                            << llvm::toString(sumsFills.takeError());
  return success();
}

LogicalResult LaidOutOp::checkOperands() {
  if (getLayouts().size() != getOperands().size() + 1 ||
      !llvm::all_of(getLayouts(),
                    [](Attribute layout) { return isa<LayoutAttr>(layout); }))
    return emitOpError() << "requires one #mlc.layout for each operand and one "
                            "for the result";
  SmallVector<TensorShape> inputs;
  for (Value operand : getOperands())
    inputs.push_back({dimsOf(operand), getElementTypeOrSelf(operand)});
  DefinitionBuilder scratch(getContext(), inputs);
  return ::layOut(*this, scratch);
}

void LaidOutOp::define(DefinitionBuilder &b) {
  LogicalResult built = ::layOut(*this, b);
  assert(succeeded(built) && "checkOperands has built it");
  (void)built;
}
