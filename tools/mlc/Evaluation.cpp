//===- Evaluation.cpp - Values by the reference evaluator -----------------===//

#include "tools/mlc/Evaluation.h"
#include "dialects/Definition/NumberChecks.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Module/CompileTime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Progress.h"
#include "tools/mlc/Reference.h"
#include <cstring>

using namespace mlc;
using namespace mlc::cli;

/// The error with the fitting exit code.
static llvm::Error evaluationFailure(llvm::StringRef file, llvm::Error error) {
  return llvm::handleErrors(
      std::move(error), [&](const EvalError &failure) -> llvm::Error {
        Exit code = failure.getFailure() == EvalFailure::Limit
                        ? Exit::Resources
                        : Exit::Unsupported;
        return fail(code, file + ": the reference evaluator cannot run it: " +
                              failure.getText() +
                              "; install onnxruntime to compare with that");
      });
}

static llvm::Expected<EvalTensor> toEval(const HostTensor &tensor,
                                         mlir::Type elementType) {
  auto result =
      EvalTensor::allocate(tensor.dims, elementType, EvalDomain::Native);
  if (result && tensor.bytes)
    std::memcpy(result->getMutableData(), tensor.data.get(), tensor.bytes);
  return result;
}

static llvm::Expected<HostTensor> fromEval(const EvalTensor &tensor,
                                           mlc_dtype type) {
  auto dense = tensor.expanded();
  if (!dense)
    return dense.takeError();
  auto result = makeZeros(type, std::vector<int64_t>(tensor.getDims().begin(),
                                                     tensor.getDims().end()));
  if (result && result->bytes)
    std::memcpy(result->data.get(), dense->getData(), result->bytes);
  return result;
}

/// The C ABI's type with the evaluator's storage.
static mlc_dtype typeOf(ElementStorage storage) {
  switch (storage) {
  case ElementStorage::Bool:
    return MLC_BOOL;
  case ElementStorage::I8:
    return MLC_I8;
  case ElementStorage::I16:
    return MLC_I16;
  case ElementStorage::I32:
    return MLC_I32;
  case ElementStorage::I64:
    return MLC_I64;
  case ElementStorage::U8:
    return MLC_U8;
  case ElementStorage::U16:
    return MLC_U16;
  case ElementStorage::U32:
    return MLC_U32;
  case ElementStorage::U64:
    return MLC_U64;
  case ElementStorage::F16:
    return MLC_F16;
  case ElementStorage::BF16:
    return MLC_BF16;
  case ElementStorage::F64:
    return MLC_F64;
  default:
    return MLC_F32;
  }
}

llvm::Expected<HostTensor> mlc::cli::toHost(mlir::ElementsAttr value) {
  auto tensor = EvalTensor::fromAttr(value);
  if (!tensor)
    return tensor.takeError();
  return fromEval(*tensor, typeOf(tensor->getStorage()));
}

/// The arguments of `function`: inputs, then parameters.
static llvm::Expected<std::vector<EvalTensor>>
argumentsOf(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs) {
  std::vector<EvalTensor> arguments;
  for (auto [input, type] : llvm::zip(inputs, function.getArgumentTypes())) {
    auto tensor = toEval(
        input, llvm::cast<mlir::RankedTensorType>(type).getElementType());
    if (!tensor)
      return tensor.takeError();
    arguments.push_back(std::move(*tensor));
  }
  for (unsigned i = inputs.size(); i < function.getNumArguments(); ++i) {
    auto value =
        function.getArgAttrOfType<mlir::ElementsAttr>(i, kParameterAttr);
    auto tensor = value ? EvalTensor::fromAttr(value)
                        : llvm::Expected<EvalTensor>(llvm::createStringError(
                              "an argument has no value"));
    if (!tensor)
      return tensor.takeError();
    arguments.push_back(std::move(*tensor));
  }
  return arguments;
}

llvm::Expected<std::vector<HostTensor>>
mlc::cli::evaluateInDouble(llvm::StringRef file, mlir::func::FuncOp function,
                           llvm::ArrayRef<HostTensor> inputs) {
  Progress progress("evaluating " + file.str() + " in double precision");
  auto arguments = argumentsOf(function, inputs);
  if (!arguments)
    return evaluationFailure(file, arguments.takeError());
  EvalOptions options;
  options.domain = EvalDomain::Float64;
  for (EvalTensor &argument : *arguments) {
    auto wide = argument.toDomain(options.domain);
    if (!wide)
      return evaluationFailure(file, wide.takeError());
    argument = std::move(*wide);
  }
  auto values = evaluateFunction(function, *arguments, options);
  if (!values)
    return evaluationFailure(file, values.takeError());
  std::vector<HostTensor> results;
  for (const EvalTensor &value : *values) {
    auto tensor = fromEval(value, typeOf(value.getStorage()));
    if (!tensor)
      return tensor.takeError();
    results.push_back(std::move(*tensor));
  }
  return results;
}

llvm::Expected<ReferenceResults>
mlc::cli::runEvaluator(const ModelOptions &options,
                       llvm::ArrayRef<NamedTensor> inputs) {
  auto compilation = Compilation::import(options);
  if (!compilation)
    return compilation.takeError();
  Progress progress("evaluating " + options.model);
  auto function =
      (*compilation)->getModule().lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<HostTensor> given;
  for (const NamedTensor &input : inputs)
    given.push_back(input.tensor);
  auto arguments = argumentsOf(function, given);
  if (!arguments)
    return evaluationFailure(options.model, arguments.takeError());
  auto values = evaluateFunction(function, *arguments);
  if (!values)
    return evaluationFailure(options.model, values.takeError());
  ReferenceResults results;
  results.by = "the reference evaluator";
  for (auto [index, value] : llvm::enumerate(*values)) {
    // Results for --checked indices are not outputs.
    if (function.getResultAttr(index, kCheckAttr))
      continue;
    auto name =
        function.getResultAttrOfType<mlir::StringAttr>(index, "mlc.name");
    auto tensor = fromEval(value, typeOf(value.getStorage()));
    if (!tensor)
      return tensor.takeError();
    results.outputs.push_back(
        {name ? name.str() : std::to_string(index), std::move(*tensor)});
  }
  return results;
}
