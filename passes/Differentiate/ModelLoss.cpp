//===- ModelLoss.cpp - The loss of a model --------------------------------===//

#include "passes/Differentiate/ModelLoss.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/States.h"
#include "dialects/Module/TrainingFacts.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Base/Remedy.h"
#include "passes/Differentiate/Loss.h"
#include "passes/Differentiate/Precision.h"

using namespace mlir;
using llvm::StringRef;

namespace mlc {

StringRef nameOf(Attribute attribute) {
  auto name = llvm::dyn_cast_or_null<StringAttr>(attribute);
  return name ? name.getValue() : StringRef();
}

DictionaryAttr named(Builder &b, StringRef name) {
  return b.getDictionaryAttr(b.getNamedAttr("mlc.name", b.getStringAttr(name)));
}

unsigned endOfInputs(func::FuncOp main) {
  unsigned end = main.getNumArguments();
  while (end > 0 && main.getArgAttr(end - 1, kParameterAttr))
    --end;
  return end;
}

Value findOutput(func::FuncOp main, StringRef wanted) {
  Operation *end = main.getBody().front().getTerminator();
  std::string have;
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    if (main.getResultAttr(i, kUpdatesAttr))
      continue;
    StringRef name = nameOf(main.getResultAttr(i, "mlc.name"));
    if (wanted.empty() || name == wanted)
      return value;
    have += (have.empty() ? "'" : ", '") + name.str() + "'";
  }
  main.emitError() << "no output '" << wanted << "' to take the loss of; "
                   << "it has " << (have.empty() ? "none" : have);
  return {};
}

DictionaryAttr inputAttributes(Builder &b, StringRef name,
                               runtime::InputRole role) {
  NamedAttrList attributes(named(b, name));
  if (role != runtime::InputRole::Data)
    attributes.set(kInputRoleAttr, b.getStringAttr(runtime::name(role)));
  return attributes.getDictionary(b.getContext());
}

FailureOr<Value> addArgument(func::FuncOp main, unsigned place, Type type,
                             StringRef name, runtime::InputRole role) {
  Builder b(main.getContext());
  if (failed(main.insertArgument(place, type, inputAttributes(b, name, role),
                                 main.getLoc())))
    return failure();
  return Value(main.getArgument(place));
}

/// Adds the target after the inputs, before the parameters.
static FailureOr<Value> addTarget(func::FuncOp main, Type type,
                                  const LossOptions &options) {
  unsigned place = 0;
  for (; place < main.getNumArguments() &&
         !main.getArgAttr(place, kParameterAttr);
       ++place)
    if (nameOf(main.getArgAttr(place, "mlc.name")) == options.target)
      return main.emitError()
             << "has an input '" << options.target << "' already"
             << Remedy{Remedy::Kind::RenameTarget};
  return addArgument(main, place, type, options.target);
}

/// Marks an argument as samples; `classes` is the number of classes if it holds
/// labels.
static void markSample(func::FuncOp main, unsigned argument,
                       std::optional<int64_t> classes = std::nullopt) {
  Builder b(main.getContext());
  main.setArgAttr(argument, kSampleAttr, b.getUnitAttr());
  if (classes)
    main.setArgAttr(argument, kClassesAttr, b.getI64IntegerAttr(*classes));
}

FailureOr<Value> addLoss(func::FuncOp main, OpBuilder &builder,
                         const LossOptions &options, Value *right) {
  Value output = findOutput(main, options.output);
  if (!output)
    return failure();
  Location loc = output.getLoc();
  auto wide = createCast(builder, loc, output,
                         widenedType(getElementTypeOrSelf(output.getType())));
  if (failed(wide))
    return failure();
  output = *wide;
  auto type = cast<RankedTensorType>(output.getType());
  int64_t axis = options.classAxis, rank = type.getRank();
  if (options.kind == LossKind::CrossEntropy && (axis < -rank || axis >= rank))
    return emitError(loc) << "the axis " << axis
                          << " of the classes is none of an output of " << rank
                          << " dims" << Remedy{Remedy::Kind::ChooseClassAxis};
  if (axis < 0)
    axis += rank;
  auto targetType = targetTypeOf(options.kind, loc, type, axis);
  if (failed(targetType))
    return failure();
  for (unsigned i = 0, end = endOfInputs(main); i < end; ++i)
    markSample(main, i);
  FailureOr<Value> target = Value();
  if (*targetType)
    target = addTarget(main, *targetType, options);
  if (*targetType && succeeded(target))
    markSample(main, cast<BlockArgument>(*target).getArgNumber(),
               options.kind == LossKind::CrossEntropy
                   ? (*getDims(type))[axis].asConstant()
                   : std::nullopt);
  FailureOr<Value> count = Value();
  if (succeeded(target) && options.givenCount &&
      options.kind == LossKind::CrossEntropy)
    count = addArgument(main, endOfInputs(main),
                        getTensorType({}, type.getElementType()), "count",
                        runtime::InputRole::LabelCount);
  if (failed(target) || failed(count))
    return failure();
  if (right) {
    auto counted = createRightCount(builder, loc, output, *target, axis);
    if (failed(counted))
      return failure();
    *right = *counted;
  }
  return createLoss(builder, loc, options.kind, output, *target, axis, *count);
}

} // namespace mlc
