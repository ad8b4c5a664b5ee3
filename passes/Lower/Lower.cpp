//===- Lower.cpp - From the graph to linalg on tensors --------------------===//

#include "passes/Lower/Lower.h"
#include "dialects/Definition/DefinitionForms.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/States.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Lower/DefinitionLowering.h"
#include "passes/Lower/ElementTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

#define GEN_PASS_DEF_LOWERPASS
#include "passes/Base/Passes.h.inc"

namespace {

RankedTensorType getLoweredType(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(),
                               lowerElementType(type.getElementType()));
}

/// The model's node of an operator, for messages.
StringRef getNodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  return "?";
}

/// Records the type's dims and sign as attributes.
void describeType(MLIRContext *context, RankedTensorType type,
                  SmallVectorImpl<NamedAttribute> &attributes) {
  if (isa_and_nonnull<DimsAttr>(type.getEncoding()))
    attributes.emplace_back(StringAttr::get(context, "mlc.dims"),
                            type.getEncoding());
  Type element = type.getElementType();
  if (lowerElementType(element) != element)
    attributes.emplace_back(StringAttr::get(context, "mlc.type"),
                            TypeAttr::get(element));
}

/// The module's conditions on symbols, each once.
class Checks {
public:
  explicit Checks(ModuleOp module) : module(module) {
    for (auto check : llvm::make_early_inc_range(module.getOps<CheckOp>())) {
      if (seen.insert(key(check)).second)
        last = check;
      else
        check.erase();
    }
  }

  void add(const Requirement &r, StringRef node) {
    IntExpr difference = r.lhs - r.rhs;
    if (difference.isConstant() || isKnown(r.predicate, difference))
      return;
    if (!seen.insert({r.lhs, r.predicate, r.rhs}).second)
      return;
    // Before the functions, which are being replaced.
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    if (last)
      builder.setInsertionPointAfter(last);
    last = CheckOp::create(builder, module.getLoc(), r.lhs, r.predicate, r.rhs,
                           (node + ": " + r.message).str());
  }

private:
  /// A check is one condition, whichever operator states it first.
  using Key = std::tuple<IntExpr, ComparePredicate, IntExpr>;
  static Key key(CheckOp check) {
    return {check.getLhs(), check.getPredicate(), check.getRhs()};
  }

  /// Symbols are not negative, which decides most bounds.
  static bool isKnown(ComparePredicate predicate, IntExpr difference) {
    switch (predicate) {
    case ComparePredicate::GE:
      return difference.isKnownNonNegative();
    case ComparePredicate::GT:
      return difference.isKnownPositive();
    case ComparePredicate::LE:
      return (-difference).isKnownNonNegative();
    case ComparePredicate::LT:
      return (-difference).isKnownPositive();
    default:
      return false;
    }
  }

  ModuleOp module;
  CheckOp last;
  DenseSet<Key> seen;
};

/// Rewrites one function.
class FunctionLowering {
public:
  FunctionLowering(func::FuncOp function, Checks &checks)
      : function(function), context(function.getContext()), checks(checks) {}

  LogicalResult run();

private:
  LogicalResult collectNames();
  func::FuncOp createFunction();
  LogicalResult lower(Operation &op);
  LogicalResult lowerDefined(DefinitionOpInterface op);
  void lowerOpaque(Operation &op);
  Value lowerConstant(mlc::ConstantOp constant);

  func::FuncOp function;
  MLIRContext *context;
  Checks &checks;
  SmallVector<std::string> symbols;
  IRMapping mapping;
  std::optional<OpBuilder> builder;
  std::optional<SizeValues> sizes;
};

LogicalResult FunctionLowering::collectNames() {
  LogicalResult result = success();
  auto collect = [&](Value value, Operation *where) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::optional<SmallVector<IntExpr>> dims;
    if (type)
      dims = getDims(type);
    if (!dims) {
      where->emitError("cannot lower a value of type ") << value.getType();
      result = failure();
      return;
    }
    collectSymbols(*dims, symbols);
  };
  for (Value argument : function.getArguments())
    collect(argument, function);
  function.walk([&](Operation *op) {
    for (Value value : op->getResults())
      collect(value, op);
    // An opaque operator's attributes may have symbols that no type has.
    op->getAttrDictionary().walk(
        [&](IntExpr integer) { collectSymbols(integer, symbols); });
  });
  return result;
}

func::FuncOp FunctionLowering::createFunction() {
  SmallVector<Type> arguments, results;
  for (Type type : function.getArgumentTypes())
    arguments.push_back(getLoweredType(cast<RankedTensorType>(type)));
  arguments.append(symbols.size(), IndexType::get(context));
  for (Type type : function.getResultTypes())
    results.push_back(getLoweredType(cast<RankedTensorType>(type)));
  OpBuilder b(function);
  auto lowered =
      func::FuncOp::create(b, function.getLoc(), function.getName(),
                           FunctionType::get(context, arguments, results));
  lowered.setVisibility(function.getVisibility());
  for (NamedAttribute attr : function->getDiscardableAttrs())
    lowered->setAttr(attr.getName(), attr.getValue());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    SmallVector<NamedAttribute> attrs(
        mlir::function_interface_impl::getArgAttrs(function, i));
    describeType(context,
                 cast<RankedTensorType>(function.getArgumentTypes()[i]), attrs);
    for (NamedAttribute &attr : attrs)
      if (attr.getName() == kParameterAttr || attr.getName() == kInitialAttr)
        if (auto elements = dyn_cast<ElementsAttr>(attr.getValue()))
          attr.setValue(lowerElements(elements));
    lowered.setArgAttrs(i, attrs);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    SmallVector<NamedAttribute> attrs(
        mlir::function_interface_impl::getResultAttrs(function, i));
    describeType(context, cast<RankedTensorType>(function.getResultTypes()[i]),
                 attrs);
    lowered.setResultAttrs(i, attrs);
  }
  SmallVector<StringRef> names(symbols.begin(), symbols.end());
  lowered->setAttr(kSymbolsAttr, b.getStrArrayAttr(names));
  lowered.addEntryBlock();
  return lowered;
}

/// Rejects symbolic numbers, which rules and statements may have: a program
/// must know them.
static LogicalResult checkNumbers(Operation *op, const Definition &definition) {
  StringRef unknown;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.kind == Expr::Kind::Param)
          unknown = node.parameter;
      });
  if (unknown.empty())
    return success();
  return op->emitError("has the parameter '")
         << unknown << "', which has no value; write a number in its place";
}

LogicalResult FunctionLowering::lowerDefined(DefinitionOpInterface op) {
  FailureOr<Definition> definition = getDefinition(op);
  if (failed(definition) || failed(checkNumbers(op, *definition)))
    return failure();
  for (const Requirement &requirement : definition->requirements)
    checks.add(requirement, getNodeName(op.getLoc()));
  SmallVector<Value> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value v) { return mapping.lookup(v); });
  DefinitionLowering lowering(*builder, op.getLoc(), *sizes,
                              widenSmallFloats(std::move(*definition)),
                              operands);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), lowering.run()))
    mapping.map(result, value);
  return success();
}

void FunctionLowering::lowerOpaque(Operation &op) {
  Location loc = op.getLoc();
  for (const Requirement &requirement :
       cast<OpaqueOpInterface>(op).getRequirements())
    checks.add(requirement, getNodeName(loc));
  IRMapping casts;
  for (Value operand : op.getOperands()) {
    Value value = mapping.lookup(operand);
    if (value.getType() != operand.getType())
      value = UnrealizedConversionCastOp::create(*builder, loc,
                                                 operand.getType(), value)
                  .getResult(0);
    casts.map(operand, value);
  }
  Operation *copy = builder->clone(op, casts);
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), copy->getResults())) {
    RankedTensorType type =
        getLoweredType(cast<RankedTensorType>(result.getType()));
    Value lowered = value;
    if (type != value.getType())
      lowered = UnrealizedConversionCastOp::create(*builder, loc, type, value)
                    .getResult(0);
    mapping.map(result, lowered);
  }
}

/// A large splat constant becomes a linalg.generic of one number: it is written
/// at run time if it is needed in memory, and is not stored in an artifact. Not
/// a linalg.fill, which is the initial value of a reduction and not a step.
Value FunctionLowering::lowerConstant(mlc::ConstantOp constant) {
  constexpr int64_t largeBits = int64_t(8) << 20; // 1 MB
  Location loc = constant.getLoc();
  ElementsAttr value = lowerElements(constant.getValue());
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !dense.isSplat() ||
      value.getNumElements() <
          largeBits / value.getElementType().getIntOrFloatBitWidth())
    return arith::ConstantOp::create(*builder, loc, cast<TypedAttr>(value));
  Value number = arith::ConstantOp::create(*builder, loc,
                                           dense.getSplatValue<TypedAttr>());
  Value init = tensor::EmptyOp::create(
      *builder, loc, dense.getType().getShape(), dense.getElementType());
  int64_t rank = dense.getType().getRank();
  auto fill = [&](OpBuilder &b, Location where, ValueRange) {
    linalg::YieldOp::create(b, where, number);
  };
  return linalg::GenericOp::create(*builder, loc, TypeRange{init.getType()},
                                   ValueRange(), ValueRange{init},
                                   builder->getMultiDimIdentityMap(rank),
                                   SmallVector<utils::IteratorType>(
                                       rank, utils::IteratorType::parallel),
                                   fill)
      .getResult(0);
}

LogicalResult FunctionLowering::lower(Operation &op) {
  if (auto constant = dyn_cast<mlc::ConstantOp>(op)) {
    mapping.map(op.getResult(0), lowerConstant(constant));
    return success();
  }
  // An operator that is both has a kernel that does less work.
  if (isa<OpaqueOpInterface>(op)) {
    lowerOpaque(op);
    return success();
  }
  if (auto defined = dyn_cast<DefinitionOpInterface>(op))
    return lowerDefined(defined);
  if (isa<func::ReturnOp>(op)) {
    SmallVector<Value> results;
    for (auto [operand, type] :
         llvm::zip_equal(op.getOperands(), function.getResultTypes())) {
      Value value = mapping.lookup(operand);
      RankedTensorType lowered = getLoweredType(cast<RankedTensorType>(type));
      if (value.getType() != lowered)
        value = tensor::CastOp::create(*builder, op.getLoc(), lowered, value);
      results.push_back(value);
    }
    func::ReturnOp::create(*builder, op.getLoc(), results);
    return success();
  }
  return op.emitError("has no definition and is not opaque, so it cannot be "
                      "lowered");
}

LogicalResult FunctionLowering::run() {
  if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
    return function.emitError("must have one block to be lowered");
  if (failed(collectNames()))
    return failure();
  func::FuncOp lowered = createFunction();
  for (auto [from, to] :
       llvm::zip(function.getArguments(), lowered.getArguments()))
    mapping.map(from, to);
  builder.emplace(OpBuilder::atBlockEnd(&lowered.getBody().front()));
  sizes.emplace(lowered, symbols, function.getNumArguments());
  for (Operation &op : function.getBody().front())
    if (failed(lower(op))) {
      lowered.erase();
      return failure();
    }
  function.erase();
  return success();
}

struct LowerPass : impl::LowerPassBase<LowerPass> {
  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(lowerToLinalg(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult lowerToLinalg(ModuleOp module) {
  Checks checks(module);
  for (func::FuncOp function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (failed(FunctionLowering(function, checks).run()))
      return failure();
  return success();
}

} // namespace mlc
