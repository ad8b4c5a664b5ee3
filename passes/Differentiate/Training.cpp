//===- Training.cpp - A model's loss and its gradients --------------------===//

#include "passes/Differentiate/Training.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Interfaces/CompileTime.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Differentiate/Differentiate.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

static StringRef nameOf(Attribute attribute) {
  auto name = llvm::dyn_cast_or_null<StringAttr>(attribute);
  return name ? name.getValue() : StringRef();
}

/// The output that the loss is of; null, with an error, where there is none.
static Value findOutput(func::FuncOp main, StringRef wanted) {
  Operation *end = main.getBody().front().getTerminator();
  std::string have;
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    StringRef name = nameOf(main.getResultAttr(i, "mlc.name"));
    if (wanted.empty() || name == wanted)
      return value;
    have += (have.empty() ? "'" : ", '") + name.str() + "'";
  }
  main.emitError() << "no output '" << wanted << "' to take the loss of; "
                   << "it has " << (have.empty() ? "none" : have);
  return {};
}

static DictionaryAttr named(Builder &b, StringRef name) {
  return b.getDictionaryAttr(b.getNamedAttr("mlc.name", b.getStringAttr(name)));
}

/// Behind the inputs, before the parameters.
static FailureOr<Value> addTarget(func::FuncOp main, Type type,
                                  const LossOptions &options) {
  unsigned place = 0;
  for (; place < main.getNumArguments() &&
         !main.getArgAttr(place, kParameterAttr);
       ++place)
    if (nameOf(main.getArgAttr(place, "mlc.name")) == options.target)
      return main.emitError()
             << "has an input '" << options.target
             << "' already; give another name with --target-input";
  Builder b(main.getContext());
  if (failed(main.insertArgument(place, type, named(b, options.target),
                                 main.getLoc())))
    return failure();
  return Value(main.getArgument(place));
}

static void eraseDead(Block &body) {
  SmallVector<Operation *> operators;
  for (Operation &op : body.without_terminator())
    operators.push_back(&op);
  for (Operation *op : llvm::reverse(operators))
    if (isOpTriviallyDead(op))
      op->erase();
}

static FailureOr<Value> addLoss(func::FuncOp main, OpBuilder &builder,
                                const LossOptions &options) {
  Value output = findOutput(main, options.output);
  if (!output)
    return failure();
  auto type = cast<RankedTensorType>(output.getType());
  int64_t axis = options.classAxis, rank = type.getRank();
  Location loc = output.getLoc();
  if (options.kind == LossKind::CrossEntropy && (axis < -rank || axis >= rank))
    return emitError(loc) << "the axis " << axis
                          << " of the classes is none of an output of " << rank
                          << " dims; give another with --class-axis";
  if (axis < 0)
    axis += rank;
  auto targetType = targetTypeOf(options.kind, loc, type, axis);
  if (failed(targetType))
    return failure();
  FailureOr<Value> target = Value();
  if (*targetType)
    target = addTarget(main, *targetType, options);
  if (failed(target))
    return failure();
  return createLoss(builder, loc, options.kind, output, *target, axis);
}

LogicalResult addLossAndGradients(func::FuncOp main,
                                  const LossOptions &options) {
  Block &body = main.getBody().front();
  OpBuilder builder(body.getTerminator());
  FailureOr<Value> loss = addLoss(main, builder, options);
  if (failed(loss))
    return failure();
  SmallVector<Value> wanted;
  SmallVector<DictionaryAttr> attributes{named(builder, "loss")};
  for (BlockArgument argument : body.getArguments())
    if (unsigned i = argument.getArgNumber();
        main.getArgAttr(i, kParameterAttr)) {
      wanted.push_back(argument);
      attributes.push_back(
          named(builder, nameOf(main.getArgAttr(i, "mlc.name"))));
    }
  auto type = cast<RankedTensorType>(loss->getType());
  auto one = createOp<FillOp>(
      builder, loss->getLoc(),
      DimsAttr::get(builder.getContext(), llvm::ArrayRef<IntExpr>()),
      RealAttr::get(builder.getContext(), 1.0), type.getElementType());
  if (failed(one))
    return failure();
  auto gradients = differentiate(builder, {{*loss, one->getResult()}}, wanted);
  if (failed(gradients))
    return failure();
  SmallVector<Value> results{*loss};
  llvm::append_range(results, *gradients);
  main.setAllResultAttrs(SmallVector<DictionaryAttr>(
      main.getNumResults(), DictionaryAttr::get(main.getContext())));
  body.getTerminator()->setOperands(results);
  main.setType(FunctionType::get(main.getContext(), body.getArgumentTypes(),
                                 ValueRange(results).getTypes()));
  main.setAllResultAttrs(attributes);
  eraseDead(body);
  return success();
}

} // namespace mlc
