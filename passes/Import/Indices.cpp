//===- Indices.cpp - Tensors whose elements are indices -------------------===//

#include "dialects/Definition/NumberChecks.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Symbolic/TypeText.h"
#include "passes/Import/GraphImporter.h"
#include "passes/Import/Handlers.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using llvm::Twine;

namespace mlc {

/// The argument with the elements of `value`, perhaps in another order.
static BlockArgument argumentBehind(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<CastOp, ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

/// The largest or smallest element, of rank 0.
static Value extreme(Node &n, Reduction kind, Value value) {
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < int64_t(dimsOf(value).size()); ++d)
    axes.push_back(d);
  Value one = n.reduce(kind, value, axes);
  return one ? n.reshape(one, llvm::ArrayRef<IntExpr>()) : Value();
}

void useAsIndices(Node &n, Value indices, unsigned input, IntExpr extent,
                  IndexKind kind) {
  if (!indices || !isa<IntegerType>(elementTypeOf(indices)))
    return;
  ImportState &state = n.getState();
  BlockArgument argument = argumentBehind(indices);
  if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
    auto [known, isNew] = state.indexInputs.try_emplace(argument, extent);
    if (!isNew)
      known->second = IntExpr::min(known->second, extent);
  }
  if (!state.checked)
    return;
  indices = n.cast(indices, n.builder().getI64Type());
  IntExpr low =
      kind == IndexKind::AlsoFromEnd ? n.integer(0) - extent : n.integer(0);
  IntExpr high = extent - 1;
  std::string range = "[" + dimText(low) + ", " + dimText(high) + "]";
  std::string start = cast<NameLoc>(n.location()).getName().str() + ": index {",
              end =
                  "} of '" + n.getProto().input(input) + "' is not in " + range;
  auto add = [&](Reduction reduction, IntExpr low, IntExpr high,
                 const Twine &message) {
    if (Value value = extreme(n, reduction, indices))
      state.indexChecks.push_back({value, low, high, message.str()});
  };
  // The message includes bounds known at compile time.
  add(Reduction::Min, low, {},
      start + "1" + end + (low.isConstant() ? "" : "; the least is {0}"));
  add(Reduction::Max, {}, high,
      start + "0" + end + (high.isConstant() ? "" : "; the largest is {1}"));
}

DictionaryAttr attributesOf(const IndexCheck &check, MLIRContext *context) {
  NamedAttrList list;
  list.set(kCheckAttr, StringAttr::get(context, check.message));
  if (check.low)
    list.set(kLowAttr, check.low);
  if (check.high)
    list.set(kHighAttr, check.high);
  return list.getDictionary(context);
}

DictionaryAttr listIndexInputs(const ImportState &state, func::FuncOp main) {
  MLIRContext *context = main.getContext();
  NamedAttrList list;
  for (const auto &[input, extent] : state.indexInputs) {
    auto name = main.getArgAttrOfType<StringAttr>(
        cast<BlockArgument>(input).getArgNumber(), "mlc.name");
    // Texts become JSON, which is UTF-8.
    list.set(StringAttr::get(context, llvm::json::fixUTF8(name.getValue())),
             StringAttr::get(context, llvm::json::fixUTF8(dimText(extent))));
  }
  return list.empty() ? DictionaryAttr() : list.getDictionary(context);
}

} // namespace mlc
