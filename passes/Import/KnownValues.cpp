//===- KnownValues.cpp - Values known at import ---------------------------===//

#include "passes/Import/KnownValues.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Graph/RandomOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

/// Scalar steps of one operator.
constexpr int64_t maxSteps = int64_t(1) << 24;

/// Calls `visit` for the operators that `value` is computed from, producers
/// first; `isWanted` decides for each whether to follow its operands.
static void forEachProducer(Value value,
                            llvm::function_ref<bool(Operation *)> isWanted,
                            llvm::function_ref<void(Operation *)> visit) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<std::pair<Operation *, unsigned>> open;
  auto enter = [&](Value v) {
    Operation *op = v.getDefiningOp();
    if (op && seen.insert(op).second && isWanted(op))
      open.push_back({op, 0});
  };
  enter(value);
  while (!open.empty()) {
    auto &[op, next] = open.back();
    if (next < op->getNumOperands()) {
      enter(op->getOperand(next++));
      continue;
    }
    visit(op);
    open.pop_back();
  }
}

static std::optional<int64_t> countOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return std::nullopt;
  return elementCount(tensor.getShape());
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// Whether an operator on literals may be evaluated.
static bool isEvaluable(Operation *op) {
  // Random numbers get a new step per run if the graph runs in a loop.
  if (!isa<DefinitionOpInterface, OpaqueOpInterface>(op) ||
      isa<RandomUniformOp>(op) || op->getNumRegions())
    return false;
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    std::optional<int64_t> count = countOf(type);
    return count && *count <= maxLiteral &&
           storageOf(cast<RankedTensorType>(type).getElementType(),
                     EvalDomain::Native);
  });
}

bool KnownValues::isConstant(Value value) {
  auto isOpen = [&](Operation *op) {
    return !constants.contains(op->getResult(0));
  };
  forEachProducer(value, isOpen, [&](Operation *op) {
    bool is = matchPattern(op, m_Constant()) ||
              (isEvaluable(op) && llvm::all_of(op->getOperands(), [&](Value v) {
                 return constants.lookup(v);
               }));
    for (Value result : op->getResults())
      constants[result] = is;
  });
  return constants.lookup(value);
}

void KnownValues::evaluate(Operation *op) {
  SmallVector<EvalTensor> inputs;
  for (Value operand : op->getOperands()) {
    inputs.push_back(tensors.lookup(operand));
    if (!inputs.back())
      return;
  }
  if (auto defined = dyn_cast<DefinitionOpInterface>(op)) {
    FailureOr<Definition> definition = getDefinition(defined);
    if (failed(definition))
      return;
    DefinitionCost cost = getCost(op->getContext(), *definition);
    IntExpr all = cost.operations + cost.bytesWritten + cost.bytesBetween;
    if (!all.isConstant() || all.getConstant() > budget)
      return;
    budget -= all.getConstant();
  }
  EvalOptions limits;
  limits.maxSteps = maxSteps;
  limits.maxBytes = maxLiteral * 64;
  llvm::Expected<std::vector<EvalTensor>> results =
      evaluateOp(op, inputs, limits);
  if (!results) {
    // Undefined or too large: reported at run time.
    llvm::consumeError(results.takeError());
    return;
  }
  for (auto [result, tensor] : llvm::zip(op->getResults(), *results))
    tensors[result] = tensor;
}

ElementsAttr KnownValues::literalOf(Value value) {
  ElementsAttr literal;
  if (matchPattern(value, m_Constant(&literal)))
    return literal;
  if (!isConstant(value))
    return {};
  auto isOpen = [&](Operation *op) {
    return tensors.try_emplace(op->getResult(0)).second;
  };
  forEachProducer(value, isOpen, [&](Operation *op) { evaluate(op); });
  EvalTensor tensor = tensors.lookup(value);
  if (!tensor)
    return {};
  llvm::Expected<ElementsAttr> attr = tensor.toAttr();
  if (attr)
    return *attr;
  llvm::consumeError(attr.takeError());
  return {};
}

//===----------------------------------------------------------------------===//
// Symbolic elements
//===----------------------------------------------------------------------===//

/// Whether elements of a tensor are tracked.
static bool isSmall(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<int64_t> count = countOf(type);
  return count && *count <= maxNumbers &&
         isa<IntegerType, Float32Type, Float64Type>(tensor.getElementType());
}

void KnownValues::evaluateElements(Operation *op,
                                   llvm::function_ref<void(IntExpr)> assume) {
  ElementsAttr literal = literalOf(op->getResult(0));
  if (literal) {
    elements[op->getResult(0)] = mlc::elementsOf(literal, maxNumbers);
    return;
  }
  auto defined = dyn_cast<DefinitionOpInterface>(op);
  if (!defined)
    return;
  SmallVector<const Elements *> inputs;
  for (Value operand : op->getOperands()) {
    auto it = elements.find(operand);
    bool isKnown = it != elements.end() && it->second;
    inputs.push_back(isKnown ? &*it->second : nullptr);
  }
  if (!inputs.empty() && llvm::none_of(inputs, [](auto *e) { return e; }))
    return;
  FailureOr<Definition> definition = getDefinition(defined);
  if (failed(definition))
    return;
  SymbolicOptions options;
  options.maxElements = maxNumbers;
  options.assumeNonNegative = assume;
  options.stepsLeft = &symbolicSteps;
  std::optional<std::vector<Elements>> results =
      evaluateSymbolically(*definition, inputs, options);
  if (results)
    for (auto [result, known] : llvm::zip(op->getResults(), *results))
      elements[result] = std::move(known);
}

const Elements *
KnownValues::elementsOf(Value value, llvm::function_ref<void(IntExpr)> assume) {
  auto isOpen = [&](Operation *op) {
    return llvm::all_of(op->getResultTypes(), isSmall) &&
           elements.try_emplace(op->getResult(0)).second;
  };
  forEachProducer(value, isOpen,
                  [&](Operation *op) { evaluateElements(op, assume); });
  auto it = elements.find(value);
  return it != elements.end() && it->second ? &*it->second : nullptr;
}

} // namespace mlc
