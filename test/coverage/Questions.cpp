//===- Questions.cpp - What every operator must answer --------------------===//

#include "test/coverage/Questions.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Evaluator/Evaluator.h"
#include "mlir/IR/Matchers.h"
#include "runtime/Library.h"
#include "test/coverage/Derivatives.h"
#include <cmath>

using namespace mlir;
using llvm::Expected;
using llvm::SmallVector;

namespace mlc::coverage {

namespace {

/// Inputs that every operator accepts: positive floats, small integers.
Expected<std::vector<EvalTensor>> drawInputs(const Sample &sample,
                                             EvalDomain domain) {
  std::vector<EvalTensor> inputs;
  for (Value operand : sample.op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    Expected<SmallVector<int64_t>> sizes =
        evaluateDims(*getDims(type), sample.symbols);
    if (!sizes)
      return sizes.takeError();
    bool isFloat = isa<FloatType>(type.getElementType());
    EvalDomain drawn = isFloat && domain != EvalDomain::Modular &&
                               domain != EvalDomain::Rational
                           ? EvalDomain::Native
                           : domain;
    Expected<EvalTensor> tensor = EvalTensor::random(
        *sizes, type.getElementType(), drawn, inputs.size() + 1,
        isFloat ? 0.25 : 1, isFloat ? 1.5 : 4);
    if (!tensor)
      return tensor.takeError();
    // The same numbers in every domain that has them.
    Expected<EvalTensor> converted =
        drawn == domain ? *tensor : tensor->toDomain(domain);
    if (!converted)
      return converted.takeError();
    inputs.push_back(std::move(*converted));
  }
  return inputs;
}

Expected<std::vector<EvalTensor>> evaluateIn(const Sample &sample,
                                             EvalDomain domain) {
  Expected<std::vector<EvalTensor>> inputs = drawInputs(sample, domain);
  if (!inputs)
    return inputs.takeError();
  EvalOptions options;
  options.domain = domain;
  options.symbols = sample.symbols;
  return evaluateOp(sample.op, *inputs, options);
}

std::string isDefined(const Sample &sample) {
  if (isa<DefinitionOpInterface, OpaqueOpInterface>(sample.op) ||
      matchPattern(sample.op, m_Constant()))
    return "";
  return "states neither a definition nor that it is opaque";
}

std::string hasTypes(const Sample &sample) {
  if (matchPattern(sample.op, m_Constant()))
    return "";
  FailureOr<SmallVector<Type>> types = inferResultTypes(sample.op);
  if (failed(types))
    return "result types cannot be inferred";
  return llvm::equal(*types, sample.op->getResultTypes())
             ? ""
             : "inferred result types differ";
}

std::string hasNativeValue(const Sample &sample) {
  Expected<std::vector<EvalTensor>> results =
      evaluateIn(sample, EvalDomain::Native);
  if (!results)
    return llvm::toString(results.takeError());
  for (auto [result, tensor] : llvm::zip(sample.op->getResults(), *results)) {
    auto type = cast<RankedTensorType>(result.getType());
    Expected<SmallVector<int64_t>> sizes =
        evaluateDims(*getDims(type), sample.symbols);
    if (!sizes)
      return llvm::toString(sizes.takeError());
    if (tensor.getDims() != llvm::ArrayRef<int64_t>(*sizes) ||
        tensor.getElementType() != type.getElementType())
      return "value of another shape than the result's type";
  }
  return "";
}

/// Float32 near float64, and float64 inside the intervals.
std::string domainsAgree(const Sample &sample) {
  Expected<std::vector<EvalTensor>> native =
      evaluateIn(sample, EvalDomain::Native);
  Expected<std::vector<EvalTensor>> exact =
      evaluateIn(sample, EvalDomain::Float64);
  if (!native)
    return llvm::toString(native.takeError());
  if (!exact)
    return llvm::toString(exact.takeError());
  std::optional<std::vector<EvalTensor>> intervals;
  if (!isa<OpaqueOpInterface>(sample.op)) {
    Expected<std::vector<EvalTensor>> bounds =
        evaluateIn(sample, EvalDomain::Interval);
    if (!bounds)
      return "interval: " + llvm::toString(bounds.takeError());
    intervals = std::move(*bounds);
  }
  for (size_t r = 0; r < native->size(); ++r) {
    const EvalTensor &a = (*native)[r], &b = (*exact)[r];
    bool isHalf = a.getStorage() == ElementStorage::F16;
    for (int64_t i = 0; i < a.getNumElements(); ++i) {
      double x = a.getDouble(i), y = b.getDouble(i);
      if (std::fabs(x - y) > (isHalf ? 2e-3 : 1e-4) * (1 + std::fabs(y)))
        return "float32 gives " + std::to_string(x) + ", float64 " +
               std::to_string(y);
      if (!intervals)
        continue;
      Interval bounds = (*intervals)[r].getInterval(i);
      double margin = 1e-12 * (1 + std::fabs(y));
      if (!(bounds.low - margin <= y && y <= bounds.high + margin))
        return "float64 gives " + std::to_string(y) + ", outside [" +
               std::to_string(bounds.low) + ", " + std::to_string(bounds.high) +
               "]";
    }
  }
  return "";
}

/// Where a domain applies, it gives values (fractions may grow too large).
std::string exactDomainsWork(const Sample &sample) {
  auto defined = dyn_cast<DefinitionOpInterface>(sample.op);
  if (!defined)
    return "";
  FailureOr<Definition> definition = getDefinition(defined);
  if (failed(definition))
    return "definition cannot be built";
  for (EvalDomain domain : {EvalDomain::Modular, EvalDomain::Rational}) {
    DomainAnswer answer = domainApplies(*definition, domain);
    if (!answer.applies && answer.reason.empty())
      return "does not say why it has no value in a domain";
    Expected<std::vector<EvalTensor>> results = evaluateIn(sample, domain);
    if (results)
      continue;
    std::string text = llvm::toString(results.takeError());
    bool allowed =
        !answer.applies || text.find("too large") != std::string::npos;
    if (!allowed)
      return name(domain).str() + ": " + text;
  }
  return "";
}

std::string hasCost(const Sample &sample) {
  auto valueOf = [&](llvm::StringRef symbol) -> std::optional<int64_t> {
    auto it = sample.symbols.find(symbol);
    return it == sample.symbols.end() ? std::nullopt
                                      : std::optional(it->second);
  };
  auto answers = [&](IntExpr expr) {
    std::optional<int64_t> value = expr ? expr.evaluate(valueOf) : std::nullopt;
    return value && *value >= 0;
  };
  if (auto opaque = dyn_cast<OpaqueOpInterface>(sample.op)) {
    if (!runtime::findLibraryKernel(opaque.getLibraryKernel().str()))
      return "opaque without a kernel of the runtime's library";
    return answers(opaque.countOperations()) ? "" : "operations not countable";
  }
  auto defined = dyn_cast<DefinitionOpInterface>(sample.op);
  if (!defined)
    return "";
  FailureOr<Definition> definition = getDefinition(defined);
  if (failed(definition))
    return "definition cannot be built";
  DefinitionCost cost = getCost(sample.op->getContext(), *definition);
  for (IntExpr part : {cost.operations, cost.functions, cost.bytesRead,
                       cost.bytesWritten, cost.bytesBetween})
    if (!answers(part))
      return "cost cannot be evaluated";
  DefinitionKind kind = getKind(*definition);
  if (kind.isMovement && !cost.operations.isConstant(0))
    return "movement that computes";
  if (!kind.isMovement && !kind.isLeaf && cost.operations.isConstant(0) &&
      !cost.bytesRead.isConstant(0) &&
      sample.op->getName().stripDialect() != "cast")
    return "computes without operations";
  return "";
}

std::string hasLoops(const Sample &sample) {
  auto defined = dyn_cast<DefinitionOpInterface>(sample.op);
  if (!defined)
    return "";
  FailureOr<Definition> definition = getDefinition(defined);
  if (failed(definition))
    return "definition cannot be built";
  std::vector<LoopInfo> loops =
      getLoops(*definition, [](unsigned i) { return i > 0; });
  for (unsigned result : definition->results)
    for (const Piece &piece : definition->stages[result].pieces)
      for (const Loop &loop : piece.loops)
        if (llvm::none_of(loops, [&](const LoopInfo &info) {
              return info.loop.id == loop.id && info.resultDim;
            }))
          return "a loop of the result has no role";
  return "";
}

constexpr Question questions[] = {
    {"definition or opaque", isDefined},
    {"result types", hasTypes},
    {"value", hasNativeValue},
    {"float32, float64 and intervals agree", domainsAgree},
    {"exact domains", exactDomainsWork},
    {"cost", hasCost},
    {"loops", hasLoops},
    {"derivative", agreesWithDifferences},
    {"derivative, forward and reverse", derivativesAgree},
};

} // namespace

llvm::ArrayRef<Question> getQuestions() { return questions; }

} // namespace mlc::coverage
