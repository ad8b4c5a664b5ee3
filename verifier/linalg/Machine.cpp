//===- Machine.cpp - An interpreter of linalg functions -------------------===//

#include "verifier/linalg/Machine.h"
#include "dialects/Definition/OpInterfaces.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::APInt;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::interpret {

//===----------------------------------------------------------------------===//
// The evaluator's tensors
//===----------------------------------------------------------------------===//

static Tensor fromEvaluator(const EvalTensor &from) {
  Tensor tensor;
  tensor.dims = SmallVector<int64_t>(from.getDims());
  tensor.elementType = from.getElementType();
  bool isFloat = isa<FloatType>(tensor.elementType);
  for (int64_t i = 0; i < from.getNumElements(); ++i) {
    if (isFloat) {
      tensor.elements.push_back(Scalar::of(from.getInterval(i)));
      continue;
    }
    APInt wide(64, static_cast<uint64_t>(from.getInt(i)));
    tensor.elements.push_back(
        Scalar::of(wide.trunc(widthOf(tensor.elementType))));
  }
  return tensor;
}

template <typename T> static void store(const Tensor &from, void *to) {
  for (auto [i, element] : llvm::enumerate(from.elements))
    static_cast<T *>(to)[i] = static_cast<T>(
        element.integer.getBitWidth() == 1
            ? element.integer.getZExtValue()
            : static_cast<uint64_t>(element.integer.getSExtValue()));
}

static llvm::Expected<EvalTensor> toEvaluator(const Tensor &from) {
  llvm::Expected<EvalTensor> to =
      EvalTensor::allocate(from.dims, from.elementType, EvalDomain::Interval);
  if (!to)
    return to.takeError();
  void *data = to->getMutableData();
  if (to->getStorage() == ElementStorage::Interval) {
    for (auto [i, element] : llvm::enumerate(from.elements))
      static_cast<Interval *>(data)[i] = element.real;
    return to;
  }
  switch (bytesOf(to->getStorage())) {
  case 1:
    store<uint8_t>(from, data);
    break;
  case 2:
    store<uint16_t>(from, data);
    break;
  case 4:
    store<uint32_t>(from, data);
    break;
  default:
    store<uint64_t>(from, data);
  }
  return to;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<int64_t> Machine::indexOf(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attribute).getInt();
  auto it = scalars.find(cast<Value>(value));
  if (it == scalars.end()) {
    run.unknown("an index that no known operation gives");
    return std::nullopt;
  }
  if (it->second.isNumber())
    return it->second.integer.getSExtValue();
  run.open("an index or a divisor is no number");
  return std::nullopt;
}

bool Machine::indicesOf(ArrayRef<OpFoldResult> values,
                        llvm::SmallVectorImpl<int64_t> &out) {
  for (OpFoldResult value : values) {
    std::optional<int64_t> index = indexOf(value);
    if (!index)
      return false;
    out.push_back(*index);
  }
  return true;
}

TensorRef Machine::operand(Value value) {
  TensorRef tensor = tensorOf(value);
  if (!tensor)
    run.unknown("a tensor that no known operation gives");
  return tensor;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Checks that results have the sizes of their types.
bool Machine::checkSizes(Operation *op) {
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    TensorRef tensor = tensorOf(result);
    if (!tensor || tensor->dims.size() != static_cast<size_t>(type.getRank()))
      return run.unknown("'" + op->getName().getStringRef() + "'");
    for (auto [size, own] : llvm::zip(type.getShape(), tensor->dims))
      if (!ShapedType::isDynamic(size) && size != own)
        return run.undefined("'" + op->getName().getStringRef() +
                             "' has not the size that its type says");
  }
  return true;
}

/// Runs constants and operators with their own definition.
bool Machine::runForeign(Operation *op) {
  if (isa<OpaqueOpInterface>(op))
    return run.open("what '" + op->getName().getStringRef() +
                    "' computes is not known");
  ElementsAttr constant;
  bool isConstant = op->getNumResults() == 1 &&
                    isa<RankedTensorType>(op->getResult(0).getType()) &&
                    matchPattern(op, m_Constant(&constant));
  if (!isConstant && !isa<DefinitionOpInterface>(op))
    return run.unknown("'" + op->getName().getStringRef() + "'");
  if (isConstant && !run.spendElements(constant.getShapedType().getShape()))
    return false;
  std::vector<EvalTensor> inputs;
  for (Value value : op->getOperands()) {
    TensorRef tensor = operand(value);
    if (!tensor)
      return false;
    if (!llvm::all_of(tensor->elements,
                      [](const Scalar &s) { return s.isNumber(); }))
      return run.open("an operator reads what is no number");
    llvm::Expected<EvalTensor> input = toEvaluator(*tensor);
    if (!input)
      return run.open(llvm::toString(input.takeError()));
    inputs.push_back(std::move(*input));
  }
  EvalOptions evaluation;
  evaluation.domain = EvalDomain::Interval;
  evaluation.symbols = options.symbols;
  evaluation.parameters = options.parameters;
  evaluation.maxBytes = evaluation.maxSteps = static_cast<int64_t>(
      std::min<uint64_t>(run.stepsLeft, uint64_t(1) << 26) * 16);
  auto results = evaluateOp(op, inputs, evaluation);
  if (!results)
    return run.open(llvm::toString(results.takeError()));
  for (auto [value, tensor] : llvm::zip(op->getResults(), *results)) {
    if (!run.spendElements(tensor.getDims()))
      return false;
    set(value, fromEvaluator(tensor));
  }
  return true;
}

bool Machine::runTensor(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](linalg::LinalgOp o) { return runStructured(o); })
      .Case([&](scf::ForOp o) { return runFor(o); })
      .Case([&](scf::ForallOp o) { return runForall(o); })
      .Case([&](tensor::EmptyOp o) { return runEmpty(o); })
      .Case([&](tensor::SplatOp o) { return runSplat(o); })
      .Case([&](tensor::CastOp o) {
        TensorRef source = operand(o.getSource());
        if (source)
          set(o.getResult(), source);
        return source != nullptr;
      })
      .Case([&](tensor::ExtractSliceOp o) { return runSlice(o); })
      .Case([&](tensor::InsertSliceOp o) { return runInsert(o); })
      .Case([&](tensor::PadOp o) { return runPad(o); })
      .Case([&](tensor::CollapseShapeOp o) { return runCollapse(o); })
      .Case([&](tensor::ExpandShapeOp o) { return runExpand(o); })
      .Case([&](tensor::ConcatOp o) { return runConcat(o); })
      .Case([&](tensor::GenerateOp o) { return runGenerate(o); })
      .Default([&](Operation *) { return runForeign(op); });
}

bool Machine::runOperation(Operation *op) {
  if (!run.spend(1))
    return false;
  ScalarFn function =
      scalarFunction(op, [&](Value value) { return tensorOf(value); }, run);
  if (!function)
    return runTensor(op) && checkSizes(op);
  SmallVector<Scalar, 3> operands;
  for (Value value : op->getOperands()) {
    if (isa<RankedTensorType>(value.getType()))
      continue;
    auto it = scalars.find(value);
    if (it == scalars.end())
      return run.unknown("a number that no known operation gives");
    operands.push_back(it->second);
  }
  Scalar result = function(operands);
  scalars[op->getResult(0)] = std::move(result);
  return !run.stop;
}

bool Machine::runBlock(Block &block) {
  return llvm::all_of(block.without_terminator(),
                      [&](Operation &op) { return runOperation(&op); });
}

RunResult run(func::FuncOp function, ArrayRef<EvalTensor> arguments,
              const RunOptions &options) {
  Run state;
  state.stepsLeft = options.maxSteps;
  Machine machine(options, state);
  RunResult result;
  auto finish = [&]() -> RunResult & {
    result.stop = state.stop;
    result.sawNone = state.sawNone;
    result.steps = options.maxSteps - state.stepsLeft;
    return result;
  };
  if (!function.getBody().hasOneBlock() ||
      function.getNumArguments() != arguments.size()) {
    state.unknown("a function of several blocks or other arguments");
    return finish();
  }
  for (auto [value, argument] : llvm::zip(function.getArguments(), arguments)) {
    if (argument.getDomain() != EvalDomain::Interval ||
        getElementTypeOrSelf(value.getType()) != argument.getElementType())
      state.unknown("an argument of another type");
    else if (state.spendElements(argument.getDims()))
      machine.set(value, fromEvaluator(argument));
  }
  Block &block = function.getBody().front();
  if (state.stop || !machine.runBlock(block))
    return finish();
  for (Value value : block.getTerminator()->getOperands()) {
    TensorRef tensor = machine.tensorOf(value);
    if (!tensor) {
      state.unknown("a result that is no tensor");
      return finish();
    }
    result.results.push_back(*tensor);
  }
  return finish();
}

} // namespace mlc::interpret
