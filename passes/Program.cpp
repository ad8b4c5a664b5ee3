//===- Program.cpp - exec.program as the runtime's data -------------------===//

#include "passes/Program.h"
#include "codegen/StateWrites.h"
#include "dialects/Definition/NumberChecks.h"
#include "dialects/Module/States.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/ConstantBytes.h"
#include "passes/Fuse/Views.h"
#include "passes/ProgramRanks.h"
#include "passes/ProgramStates.h"
#include "passes/ProgramSteps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace rt = mlc::runtime;

namespace mlc {

namespace {

/// Translates one program, op by op.
class Translator {
public:
  Translator(exec::ProgramOp op, const CompiledKernels &kernels,
             CompiledModel &model)
      : op(op), model(model), program(model.programs.entries.emplace_back()) {
    program.name = op.getSymName().str();
    for (const CompiledKernel &kernel : kernels.kernels)
      kernelOf[kernel.name] = &kernel;
    auto module = op->getParentOfType<ModuleOp>();
    for (auto function : module.getOps<mlir::FunctionOpInterface>())
      if (auto names = function->getAttrOfType<ArrayAttr>("mlc.symbols"))
        symbolsOf[function.getName()] = names;
  }

  LogicalResult run() {
    auto mesh = readMeshAxes(op->getParentOfType<ModuleOp>());
    if (failed(mesh))
      return failure();
    model.programs.mesh = std::move(*mesh);
    collectSplats();
    for (Operation &inner : op.getBody().front())
      if (failed(translate(&inner)))
        return failure();
    addStateWrites(program, writes);
    return success();
  }

private:
  LogicalResult translate(Operation *inner);
  LogicalResult addBuffer(Operation *inner);
  LogicalResult addConstant(exec::ConstantOp constant);
  LogicalResult addParameter(exec::ParameterOp parameter);
  LogicalResult addState(exec::StateOp state);
  rt::Step makeLaunch(exec::LaunchOp launch, const CompiledKernel &kernel,
                      llvm::function_ref<IntExpr(IntExpr)> atLaunch);
  LogicalResult addLaunch(exec::LaunchOp launch);
  LogicalResult addStep(exec::StepOpInterface op);
  void addCheck(exec::CheckOp check);
  LogicalResult addCoordinate(exec::CoordinateOp coordinate);
  LogicalResult addPort(Operation *port, StringRef name, rt::BufferId buffer,
                        ArrayAttr split, std::vector<rt::Port> &ports);
  void collectSplats();
  bool isFactor(exec::ConstantOp constant);
  FailureOr<ArrayRef<char>> getBytes(Operation *op, ElementsAttr value);

  /// Postfix code of `expr`.
  rt::Expr convert(IntExpr expr);
  rt::ExprId add(IntExpr expr) { return program.addExpr(convert(expr)); }
  std::vector<rt::ExprId> add(ArrayRef<IntExpr> exprs) {
    std::vector<rt::ExprId> ids;
    for (IntExpr expr : exprs)
      ids.push_back(add(expr));
    return ids;
  }
  std::vector<rt::BufferId> ids(ValueRange values) {
    std::vector<rt::BufferId> result;
    for (Value value : values)
      result.push_back(buffers.at(value));
    return result;
  }

  exec::ProgramOp op;
  CompiledModel &model;
  rt::Program &program;
  llvm::StringMap<const CompiledKernel *> kernelOf;
  llvm::StringMap<ArrayAttr> symbolsOf;
  llvm::StringMap<rt::SymbolId> symbols;
  DenseMap<Value, rt::BufferId> buffers;
  SmallVector<StateWrite> writes;
  /// All splats of a value share one range of memory, the longest.
  DenseMap<Attribute, uint64_t> splatBytes;
  DenseMap<Attribute, size_t> splatStorage;
};

rt::Expr Translator::convert(IntExpr expr) {
  using E = rt::Expr;
  auto fold = [&](E::Op operation) {
    E result;
    for (IntExpr operand : expr.getOperands()) {
      E next = convert(operand);
      result = result.code.empty() ? next : E::binary(operation, result, next);
    }
    return result;
  };
  switch (expr.getKind()) {
  case IntExpr::Kind::Constant:
    return E::constant(expr.getConstant());
  case IntExpr::Kind::Symbol:
    return E::symbol(symbols.at(expr.getSymbol()));
  case IntExpr::Kind::Add:
    return fold(E::Add);
  case IntExpr::Kind::Mul:
    return fold(E::Mul);
  case IntExpr::Kind::FloorDiv:
    return fold(E::FloorDiv);
  case IntExpr::Kind::Mod:
    return fold(E::Mod);
  case IntExpr::Kind::Min:
    return fold(E::Min);
  case IntExpr::Kind::Max:
    return fold(E::Max);
  }
  llvm_unreachable("unknown kind");
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static uint64_t bytesOf(ElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  return uint64_t(type.getNumElements()) * elementBytes(type.getElementType());
}

/// The key of a splat: its value as an attribute; null for other constants.
static Attribute getSplatKey(ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  return dense && dense.isSplat() ? dense.getSplatValue<Attribute>()
                                  : Attribute();
}

void Translator::collectSplats() {
  op.walk([&](Operation *inner) {
    if (!isa<exec::ConstantOp, exec::ParameterOp, exec::StateOp>(inner))
      return;
    auto value = inner->getAttrOfType<ElementsAttr>("value");
    if (!value || (isa<exec::StateOp>(inner) && isZeroSplat(value)))
      return;
    if (Attribute key = getSplatKey(value)) {
      uint64_t &bytes = splatBytes[key];
      bytes = std::max(bytes, bytesOf(value));
    }
  });
}

/// `count` copies of one element's bytes.
static std::vector<char> repeat(ArrayRef<char> element, uint64_t bytes) {
  std::vector<char> result(bytes);
  for (uint64_t i = 0; i < bytes; i += element.size())
    std::memcpy(result.data() + i, element.data(), element.size());
  return result;
}

FailureOr<ArrayRef<char>> Translator::getBytes(Operation *op,
                                               ElementsAttr value) {
  uint64_t size = bytesOf(value);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() < size)
      return op->emitError("a weight's data is missing");
    return blob->getData().take_front(size);
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return op->emitError("a weight of a kind that cannot be written");
  bool isBool = dense.getElementType().isInteger(1);
  if (Attribute key = getSplatKey(value)) {
    auto [it, isNew] = splatStorage.try_emplace(key, model.storage.size());
    if (isNew) {
      char bit = isBool && dense.getSplatValue<bool>();
      ArrayRef<char> element = isBool ? ArrayRef(bit) : dense.getRawData();
      model.storage.push_back(repeat(element, splatBytes[key]));
    }
    return ArrayRef(model.storage[it->second]).take_front(size);
  }
  if (!isBool)
    return dense.getRawData();
  std::vector<char> unpacked;
  for (bool bit : dense.getValues<bool>())
    unpacked.push_back(bit);
  model.storage.push_back(std::move(unpacked));
  return ArrayRef(model.storage.back());
}

/// Whether contractions multiply with the constant and nothing else reads it.
bool Translator::isFactor(exec::ConstantOp constant) {
  Value value = constant->getResult(0);
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    auto launch = dyn_cast<exec::LaunchOp>(use.getOwner());
    const CompiledKernel *kernel =
        launch ? kernelOf.lookup(launch.getKernel()) : nullptr;
    return kernel && llvm::any_of(kernel->factors, [&](unsigned input) {
             return launch.getInputs().getBeginOperandIndex() + input ==
                    use.getOperandNumber();
           });
  });
}

LogicalResult Translator::addConstant(exec::ConstantOp constant) {
  uint64_t size = bytesOf(constant.getValue());
  FailureOr<ArrayRef<char>> bytes = getBytes(constant, constant.getValue());
  std::optional<rt::DType> type = getDType(constant.getElement());
  if (failed(bytes) || !type)
    return failure();
  if (*type == rt::DType::F32 && isFactor(constant))
    if (std::optional<std::vector<char>> flushed = flushDenormals(*bytes)) {
      model.storage.push_back(std::move(*flushed));
      bytes = ArrayRef(model.storage.back());
    }
  uint64_t offset = model.weights.addConstant(*bytes);
  buffers[constant] = program.addBuffer(rt::Buffer::constant(
      offset, size, *type, add(constant.getDims().getDims()),
      constant.getName().value_or("").str()));
  return success();
}

LogicalResult Translator::addParameter(exec::ParameterOp parameter) {
  FailureOr<ArrayRef<char>> bytes = getBytes(parameter, parameter.getValue());
  std::optional<rt::DType> type = getDType(parameter.getElement());
  if (failed(bytes) || !type)
    return failure();
  std::string name = parameter.getName().value_or("").str();
  rt::BufferId id = program.addBuffer(rt::Buffer::parameter(
      model.weights.addConstant(*bytes), bytesOf(parameter.getValue()), *type,
      add(parameter.getDims().getDims()), name));
  buffers[parameter] = id;
  program.parameters.push_back({name, id});
  return success();
}

LogicalResult Translator::addState(exec::StateOp state) {
  std::optional<rt::DType> type = getDType(state.getElement());
  FailureOr<ArrayRef<char>> bytes = ArrayRef<char>();
  if (state.getValue() && !isZeroSplat(*state.getValue()))
    bytes = getBytes(state, *state.getValue());
  if (failed(bytes) || !type)
    return failure();
  FailureOr<uint32_t> index = mlc::addState(state, *type, *bytes, model);
  if (failed(index))
    return failure();
  buffers[state] = program.addBuffer(rt::Buffer::state(
      *index, *type, add(state.getDims().getDims()), state.getState().str()));
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers and steps
//===----------------------------------------------------------------------===//

LogicalResult Translator::addBuffer(Operation *inner) {
  Type element = inner->getAttrOfType<TypeAttr>("element").getValue();
  std::optional<rt::DType> type = getDType(element);
  if (!type)
    return inner->emitError("the runtime has no elements of type ") << element;
  if (auto constant = dyn_cast<exec::ConstantOp>(inner))
    return addConstant(constant);
  if (auto parameter = dyn_cast<exec::ParameterOp>(inner))
    return addParameter(parameter);
  if (auto state = dyn_cast<exec::StateOp>(inner))
    return addState(state);
  auto dims = inner->getAttrOfType<DimsAttr>("dims");
  std::string name;
  if (auto attr = inner->getAttrOfType<StringAttr>("name"))
    name = attr.str();
  IntExpr bytes =
      getNumElements(op.getContext(), dims.getDims()) * elementBytes(element);
  std::vector<rt::ExprId> dimIds = add(dims.getDims());
  rt::Buffer buffer;
  if (auto input = dyn_cast<exec::InputOp>(inner))
    buffer = rt::Buffer::input(input.getIndex(), *type, dimIds, name);
  else if (auto alias = dyn_cast<exec::AliasOp>(inner))
    buffer =
        rt::Buffer::alias(buffers.at(alias.getSource()), add(alias.getOffset()),
                          add(bytes), *type, dimIds, name);
  else
    buffer = rt::Buffer::arena(add(bytes), *type, dimIds, name);
  rt::BufferId id = program.addBuffer(std::move(buffer));
  buffers[inner->getResult(0)] = id;
  auto input = dyn_cast<exec::InputOp>(inner);
  if (!input)
    return success();
  if (failed(addPort(input, name, id, input.getSplitAttr(), program.inputs)))
    return failure();
  if (auto role = input->getAttrOfType<StringAttr>(kInputRoleAttr))
    program.inputs.back().role =
        rt::findInputRole(role.str()).value_or(rt::InputRole::Data);
  return success();
}

LogicalResult Translator::addPort(Operation *port, StringRef name,
                                  rt::BufferId buffer, ArrayAttr split,
                                  std::vector<rt::Port> &ports) {
  auto splits = readSplits(port, model.programs.mesh, split);
  if (failed(splits))
    return failure();
  ports.push_back({name.str(), buffer, std::move(*splits)});
  return success();
}

void Translator::addCheck(exec::CheckOp check) {
  rt::Check result;
  ComparePredicate predicate = check.getPredicate();
  result.kind = predicate == ComparePredicate::EQ   ? rt::Check::Equal
                : predicate == ComparePredicate::LT ? rt::Check::Less
                                                    : rt::Check::LessEqual;
  result.lhs = add(check.getLhs());
  result.rhs = add(check.getRhs());
  result.message = check.getMessage().str();
  program.checks.push_back(std::move(result));
}

static std::vector<std::string> toStrings(ArrayAttr attrs) {
  std::vector<std::string> result;
  for (Attribute attr : attrs)
    result.push_back(cast<StringAttr>(attr).str());
  return result;
}

/// The step of `launch`; `atLaunch` receives the kernel's sizes in the
/// program's symbols.
rt::Step Translator::makeLaunch(exec::LaunchOp launch,
                                const CompiledKernel &kernel,
                                llvm::function_ref<IntExpr(IntExpr)> atLaunch) {
  rt::KernelId id = program.addKernel(kernel.symbol);
  std::vector<rt::BufferId> inputs = ids(launch.getInputs());
  std::vector<rt::BufferId> outputs = ids(launch.getOutputs());
  std::vector<rt::ExprId> args = add(launch.getArgs().getDims());
  rt::ExprId tasks = add(atLaunch(kernel.tasks));
  std::optional<rt::ExprId> scratch;
  if (kernel.scratchBytes && !kernel.scratchBytes.isConstant(0))
    scratch = add(atLaunch(kernel.scratchBytes));
  auto constant = [&](int64_t value) {
    return add(IntExpr::constant(launch.getContext(), value));
  };
  std::optional<rt::ExprId> work, products;
  if (launch.getWork())
    work = add(*launch.getWork());
  if (kernel.products)
    products = add(atLaunch(kernel.products));
  if (kernel.blockThreads) {
    rt::Step step = rt::Step::gridLaunch(id, inputs, outputs, args, tasks,
                                         constant(kernel.blockThreads));
    auto &detail = step.as<rt::GridLaunchStep>();
    detail.scratch = scratch;
    if (kernel.sharedBytes)
      detail.shared = constant(kernel.sharedBytes);
    if (kernel.workspaceBytes)
      detail.workspace = add(atLaunch(kernel.workspaceBytes));
    detail.work = work;
    detail.products = products;
    for (const KernelMap &map : kernel.maps)
      detail.maps.push_back(
          makeMap(map, [&](IntExpr size) { return add(atLaunch(size)); }));
    return step;
  }
  rt::Step step = rt::Step::launch(id, inputs, outputs, args, tasks);
  auto &detail = step.as<rt::LaunchStep>();
  detail.scratch = scratch;
  detail.work = work;
  detail.products = products;
  return step;
}

LogicalResult Translator::addLaunch(exec::LaunchOp launch) {
  const CompiledKernel *kernel = kernelOf.lookup(launch.getKernel());
  if (!kernel)
    return launch.emitError("the kernel ")
           << launch.getKernel() << " has not been compiled";
  // The kernel's sizes use its own symbols.
  llvm::StringMap<IntExpr> values;
  if (ArrayAttr names = symbolsOf.lookup(launch.getKernel()))
    for (auto [name, value] : llvm::zip(names, launch.getArgs()))
      values[cast<StringAttr>(name).getValue()] = value;
  auto atLaunch = [&](IntExpr expr) {
    return expr.substitute([&](StringRef name) { return values.lookup(name); });
  };
  rt::Step step = makeLaunch(launch, *kernel, atLaunch);
  step.name = launch.getKernel().str();
  step.nodes = toStrings(launch.getNodes());
  for (auto [input, output] : kernel->inPlace)
    step.inPlace.push_back({output, input});
  program.steps.push_back(std::move(step));
  return success();
}

/// A step that follows from its op alone.
LogicalResult Translator::addStep(exec::StepOpInterface op) {
  FailureOr<rt::Step> step = readStep(op, model.programs.mesh,
                                      [&](IntExpr size) { return add(size); });
  if (failed(step))
    return failure();
  step->inputs = ids(op.getInputs());
  step->outputs = ids(op.getOutputs());
  program.steps.push_back(std::move(*step));
  return success();
}

LogicalResult Translator::addCoordinate(exec::CoordinateOp coordinate) {
  FailureOr<uint32_t> axis =
      findAxis(coordinate, model.programs.mesh, coordinate.getAxis());
  if (failed(axis))
    return failure();
  rt::Symbol symbol;
  symbol.name = coordinate.getName().str();
  symbol.kind = rt::Symbol::FromRank;
  symbol.source = *axis;
  symbol.max = model.programs.mesh[*axis].size - 1;
  symbols[coordinate.getName()] = program.addSymbol(std::move(symbol));
  return success();
}

LogicalResult Translator::translate(Operation *inner) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(inner)
      .Case([&](exec::SymbolOp symbol) {
        rt::Symbol result;
        result.name = symbol.getName().str();
        result.source = symbol.getInput();
        result.index = symbol.getDim();
        symbols[symbol.getName()] = program.addSymbol(std::move(result));
        return success();
      })
      .Case([&](exec::CoordinateOp coordinate) {
        return addCoordinate(coordinate);
      })
      .Case([&](exec::BindOp bind) {
        rt::Symbol result;
        result.name = bind.getName().str();
        result.kind = rt::Symbol::FromTensor;
        if (bind->hasAttr(kAnyNumberAttr))
          result.min = INT64_MIN;
        rt::SymbolId id = program.addSymbol(std::move(result));
        symbols[bind.getName()] = id;
        program.steps.push_back(rt::Step::bindSymbol(
            id, buffers.at(bind.getBuffer()), bind.getElement()));
        return success();
      })
      .Case([&](exec::CheckOp check) {
        addCheck(check);
        return success();
      })
      .Case<exec::InputOp, exec::ConstantOp, exec::ParameterOp, exec::StateOp,
            exec::AllocOp, exec::AliasOp>(
          [&](auto buffer) { return addBuffer(buffer); })
      .Case([&](exec::LaunchOp launch) { return addLaunch(launch); })
      .Case([&](exec::StepOpInterface step) { return addStep(step); })
      .Case([&](exec::AssignOp assign) {
        writes.push_back(
            {buffers.at(assign.getState()), buffers.at(assign.getValue())});
        return success();
      })
      .Case([&](exec::OutputOp output) {
        return addPort(output, output.getName(), buffers.at(output.getBuffer()),
                       output.getSplitAttr(), program.outputs);
      })
      .Default([](Operation *other) {
        return other->emitError("has no counterpart in the runtime");
      });
}

} // namespace

LogicalResult translateProgram(exec::ProgramOp program,
                               const CompiledKernels &kernels,
                               CompiledModel &model) {
  return Translator(program, kernels, model).run();
}

} // namespace mlc
