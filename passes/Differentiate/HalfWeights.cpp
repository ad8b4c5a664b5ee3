//===- HalfWeights.cpp - Rounded weights as states ------------------------===//

#include "passes/Differentiate/HalfWeights.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Module/States.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Differentiate/Precision.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

/// Changes one entry.
class Halver {
public:
  Halver(func::FuncOp entry, const llvm::StringMap<Type> &types)
      : module(entry->getParentOfType<ModuleOp>()), entry(entry), types(types),
        end(entry.getBody().front().getTerminator()), builder(end) {}

  LogicalResult run() {
    for (unsigned i = 0, n = entry.getNumArguments(); i < n; ++i)
      if (auto state = entry.getArgAttrOfType<StringAttr>(i, kStateAttr))
        if (failed(changeArgument(i, state)))
          return failure();
    for (unsigned i = 0, n = entry.getNumResults(); i < n; ++i)
      if (auto state = entry.getResultAttrOfType<StringAttr>(i, kStateAttr))
        if (failed(changeResult(i, state)))
          return failure();
    eraseUnread();
    setTypes();
    return success();
  }

private:
  /// The 16-bit type of the weight whose master is `state`; null for others.
  Type typeOf(StringRef state) const {
    StateUse use = getStateUse(module, state);
    return use.role == runtime::StateRole::Weight ? types.lookup(use.owner)
                                                  : Type();
  }

  static RankedTensorType withElements(Value value, Type type) {
    return cast<RankedTensorType>(value.getType()).clone(type);
  }

  std::string roundedName(StringRef state) const {
    return findState(module, runtime::StateRole::Rounded,
                     getStateUse(module, state).owner)
        .str();
  }

  LogicalResult changeArgument(unsigned i, StringAttr state) {
    Value argument = entry.getArgument(i);
    Type type = typeOf(state);
    return type ? readRounded(argument, type, roundedName(state)) : success();
  }

  /// Reads the state `name` instead of rounding `master` to `type`.
  LogicalResult readRounded(Value master, Type type, const std::string &name) {
    SmallVector<CastOp> roundings;
    for (Operation *user : master.getUsers())
      if (auto cast = dyn_cast<CastOp>(user);
          cast && getElementTypeOrSelf(cast.getResult().getType()) == type)
        roundings.push_back(cast);
    if (roundings.empty())
      return success();
    unsigned last = entry.getNumArguments();
    auto attributes = builder.getDictionaryAttr(
        builder.getNamedAttr(kStateAttr, builder.getStringAttr(name)));
    if (failed(entry.insertArgument(last, withElements(master, type),
                                    attributes, master.getLoc())))
      return failure();
    for (CastOp cast : roundings) {
      cast.getResult().replaceAllUsesWith(entry.getArgument(last));
      cast.erase();
    }
    return success();
  }

  LogicalResult changeResult(unsigned i, StringAttr state) {
    Value value = end->getOperand(i);
    Type type = typeOf(state);
    if (!type)
      return success();
    auto rounded = createCast(builder, value.getLoc(), value, type);
    if (failed(rounded))
      return failure();
    added.push_back({*rounded, roundedName(state)});
    return success();
  }

  /// Erases masters if their rounded copies are enough.
  void eraseUnread() {
    for (unsigned i = entry.getNumArguments(); i-- > 0;) {
      auto state = entry.getArgAttrOfType<StringAttr>(i, kStateAttr);
      if (state && typeOf(state) && entry.getArgument(i).use_empty())
        (void)entry.eraseArgument(i);
    }
  }

  void setTypes() {
    SmallVector<DictionaryAttr> attributes;
    entry.getAllResultAttrs(attributes);
    for (const auto &[value, name] : added) {
      end->insertOperands(end->getNumOperands(), value);
      attributes.push_back(builder.getDictionaryAttr(
          builder.getNamedAttr(kStateAttr, builder.getStringAttr(name))));
    }
    entry.setType(builder.getFunctionType(
        entry.getBody().front().getArgumentTypes(), end->getOperandTypes()));
    entry.setAllResultAttrs(attributes);
  }

  ModuleOp module;
  func::FuncOp entry;
  const llvm::StringMap<Type> &types;
  Operation *end;
  OpBuilder builder;
  SmallVector<std::pair<Value, std::string>> added;
};

} // namespace

LogicalResult keepHalf(ModuleOp module, const llvm::StringMap<Type> &types) {
  for (auto entry : module.getOps<func::FuncOp>())
    if (entry.isPublic() && failed(Halver(entry, types).run()))
      return failure();
  return success();
}

} // namespace mlc
