//===- Build.cpp - Functions from recipes ---------------------------------===//

#include "Recipe.h"
#include "dialects/Definition/OpInterfaces.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace mlc::test {

namespace {
class Builder {
public:
  Builder(const Recipe &recipe, OpBuilder &builder, std::vector<Value> &values)
      : recipe(recipe), b(builder), values(values) {
    values.resize(recipe.arguments.size() + recipe.steps.size());
  }

  /// Builds the value and what it needs; false when that is not possible.
  bool make(unsigned number, unsigned depth = 0) {
    if (number >= values.size() || depth > 64)
      return false;
    if (values[number])
      return true;
    const Step &step = *recipe.stepOf(number);
    SmallVector<Value> operands;
    for (unsigned operand : step.operands) {
      if (!make(operand, depth + 1))
        return false;
      operands.push_back(values[operand]);
    }
    if (!recipe.isScalar) {
      FailureOr<Operation *> op =
          createOp(b, b.getUnknownLoc(), step.op, operands, step.attributes);
      if (failed(op))
        return false;
      values[number] = (*op)->getResult(0);
      return true;
    }
    OperationState state(b.getUnknownLoc(), step.op, operands, step.type,
                         step.attributes);
    if (!RegisteredOperationName::lookup(step.op, b.getContext()))
      return false;
    Operation *op = b.create(state);
    values[number] = op->getResult(0);
    // The region has no parent yet, which an index asks for.
    return step.op == "linalg.index" || succeeded(verify(op));
  }

private:
  const Recipe &recipe;
  OpBuilder &b;
  std::vector<Value> &values;
};
} // namespace

/// The body is one linalg.generic over vectors; the last argument is written.
static bool buildScalars(const Recipe &recipe, func::FuncOp function,
                         std::vector<Value> &values, Type resultType) {
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  Location loc = b.getUnknownLoc();
  AffineMap identity = b.getMultiDimIdentityMap(1);
  ValueRange arguments = function.getArguments();
  SmallVector<AffineMap> maps(arguments.size(), identity);
  bool fits = true;
  auto generic = linalg::GenericOp::create(
      b, loc, arguments.back().getType(), arguments.drop_back(),
      arguments.back(), maps, {utils::IteratorType::parallel},
      [&](OpBuilder &inner, Location, ValueRange elements) {
        ValueRange inputs = elements.drop_back();
        values.assign(inputs.begin(), inputs.end());
        Builder builder(recipe, inner, values);
        fits = builder.make(recipe.result) &&
               values[recipe.result].getType() == resultType;
        linalg::YieldOp::create(inner, loc,
                                fits ? values[recipe.result] : elements.back());
      });
  func::ReturnOp::create(b, loc, generic.getResults());
  return fits;
}

func::FuncOp build(const Recipe &recipe, ModuleOp module, StringRef name,
                   std::vector<Value> *values) {
  MLIRContext *context = module.getContext();
  // What does not fit together is no error of anybody's.
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> types(recipe.arguments.begin(), recipe.arguments.end());
  Type resultType;
  if (recipe.isScalar) {
    const Step *step = recipe.stepOf(recipe.result);
    resultType = step ? step->type : recipe.arguments[recipe.result];
    types.push_back(resultType);
    for (Type &type : types)
      type = RankedTensorType::get({ShapedType::kDynamic}, type);
  }
  auto function = func::FuncOp::create(b, b.getUnknownLoc(), name,
                                       b.getFunctionType(types, {}));
  Block *body = function.addEntryBlock();
  std::vector<Value> own;
  bool fits;
  if (recipe.isScalar) {
    fits = buildScalars(recipe, function, own, resultType);
  } else {
    own.assign(body->args_begin(), body->args_end());
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    fits = Builder(recipe, inner, own).make(recipe.result);
    if (fits)
      func::ReturnOp::create(inner, b.getUnknownLoc(), own[recipe.result]);
  }
  if (!fits) {
    function.erase();
    return {};
  }
  function.setType(
      b.getFunctionType(types, body->getTerminator()->getOperandTypes()));
  if (failed(verify(function))) {
    function.erase();
    return {};
  }
  if (!recipe.conditions.empty()) {
    SmallVector<StringRef> texts(recipe.conditions.begin(),
                                 recipe.conditions.end());
    function->setAttr("mlc.assume", b.getStrArrayAttr(texts));
  }
  for (const auto &[argument, predicate] : recipe.predicates)
    function.setArgAttr(argument, "mlc.assume", b.getStrArrayAttr({predicate}));
  if (values)
    *values = std::move(own);
  return function;
}

} // namespace mlc::test
