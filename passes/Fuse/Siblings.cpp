//===- Siblings.cpp - Launches that read the same tensor ------------------===//

#include "passes/Fuse/Siblings.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Base/Form.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

#define GEN_PASS_DEF_JOINSIBLINGSPASS
#include "passes/Base/Passes.h.inc"

namespace {

using Launches = SmallVector<exec::LaunchOp>;

class Joiner {
public:
  Joiner(ModuleOp module, const CodeTarget &target, Precision precision)
      : module(module), target(target), precision(precision), symbols(module) {}

  LogicalResult run();

private:
  Launches siblingsFrom(exec::LaunchOp first);
  bool canJoin(ArrayRef<exec::LaunchOp> launches);
  const Kernel *kernelOf(exec::LaunchOp launch);
  func::FuncOp joined(ArrayRef<exec::LaunchOp> launches,
                      const llvm::SetVector<Value> &inputs);
  func::FuncOp build(ArrayRef<exec::LaunchOp> launches,
                     const llvm::SetVector<Value> &inputs);
  void merge(ArrayRef<exec::LaunchOp> launches);

  ModuleOp module;
  const CodeTarget &target;
  Precision precision;
  SymbolTable symbols;
  bool isInvalid = false;
  /// Kernels that were read; none where that failed.
  std::map<Operation *, std::optional<Kernel>> kernels;
  /// Functions made, by kernels and the numbers of their inputs.
  std::map<std::vector<std::pair<Operation *, size_t>>, func::FuncOp> made;
};

} // namespace

const Kernel *Joiner::kernelOf(exec::LaunchOp launch) {
  auto function = symbols.lookup<func::FuncOp>(launch.getKernel());
  if (!function)
    return nullptr;
  auto [it, isNew] = kernels.try_emplace(function);
  if (isNew) {
    if (FailureOr<Kernel> kernel = Kernel::read(function); succeeded(kernel))
      it->second = std::move(*kernel);
    else
      isInvalid = true;
  }
  return it->second ? &*it->second : nullptr;
}

bool Joiner::canJoin(ArrayRef<exec::LaunchOp> launches) {
  SmallVector<const Kernel *> all;
  for (exec::LaunchOp launch : launches) {
    const Kernel *kernel = kernelOf(launch);
    if (!kernel || kernel->repeats > 1 || !kernel->siblings.empty() ||
        kernel->symbols != kernelOf(launches.front())->symbols ||
        launch.getArgs() != exec::LaunchOp(launches.front()).getArgs())
      return false;
    all.push_back(kernel);
  }
  return target.backend->canJoin(all, target.target, precision);
}

/// Whether both read a tensor that the program computes or is given.
static bool shareTensor(exec::LaunchOp a, exec::LaunchOp b) {
  return llvm::any_of(a.getInputs(), [&](Value input) {
    return !input.getDefiningOp<exec::ConstantOp>() &&
           llvm::is_contained(b.getInputs(), input);
  });
}

/// `first` and the launches that can be joined with it.
Launches Joiner::siblingsFrom(exec::LaunchOp first) {
  constexpr size_t most = 8;
  Launches found = {first};
  llvm::DenseSet<Value> results(first.getOutputs().begin(),
                                first.getOutputs().end());
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    if (isa<exec::AllocOp, exec::ConstantOp>(op))
      continue;
    if (auto alias = dyn_cast<exec::AliasOp>(op)) {
      if (llvm::any_of(op->getOperands(),
                       [&](Value source) { return results.contains(source); }))
        results.insert(op->getResults().begin(), op->getResults().end());
      continue;
    }
    auto launch = dyn_cast<exec::LaunchOp>(op);
    if (!launch || !shareTensor(first, launch) ||
        llvm::any_of(launch.getInputs(),
                     [&](Value input) { return results.contains(input); }))
      break;
    found.push_back(launch);
    results.insert(launch.getOutputs().begin(), launch.getOutputs().end());
    if (found.size() == most)
      break;
  }
  // Many may pay where two do not.
  while (found.size() > 1 && !canJoin(found))
    found.pop_back();
  return found;
}

/// A function with the bodies of all, one after another.
func::FuncOp Joiner::build(ArrayRef<exec::LaunchOp> launches,
                           const llvm::SetVector<Value> &inputs) {
  SmallVector<Type> types(inputs.size()), results;
  SmallVector<DictionaryAttr> attributes(inputs.size());
  SmallVector<int64_t> counts;
  SmallVector<func::FuncOp> functions;
  for (exec::LaunchOp launch : launches) {
    auto function = symbols.lookup<func::FuncOp>(launch.getKernel());
    functions.push_back(function);
    for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
      size_t at = llvm::find(inputs, input) - inputs.begin();
      types[at] = function.getArgumentTypes()[i];
      attributes[at] = function.getArgAttrDict(i);
    }
    llvm::append_range(results, function.getResultTypes());
    counts.push_back(int64_t(function.getNumResults()));
  }
  size_t numSymbols = kernelOf(launches.front())->symbols.size();
  OpBuilder b(module.getContext());
  types.append(numSymbols, b.getIndexType());
  attributes.append(numSymbols, b.getDictionaryAttr({}));
  auto function = func::FuncOp::create(module.getLoc(), "joined",
                                       b.getFunctionType(types, results));
  function.setPrivate();
  function.setAllArgAttrs(attributes);
  function->setAttr("mlc.kernel", b.getUnitAttr());
  function->setAttr("mlc.symbols", functions.front()->getAttr("mlc.symbols"));
  function->setAttr("mlc.siblings", b.getDenseI64ArrayAttr(counts));
  b.setInsertionPointToStart(function.addEntryBlock());
  SmallVector<Value> returned;
  for (auto [i, own] : llvm::enumerate(functions)) {
    exec::LaunchOp launch = launches[i];
    IRMapping map;
    Block &body = own.getBody().front();
    for (auto [i, input] : llvm::enumerate(launch.getInputs()))
      map.map(body.getArgument(i),
              function.getArgument(llvm::find(inputs, input) - inputs.begin()));
    for (size_t i = 0; i < numSymbols; ++i)
      map.map(body.getArgument(launch.getInputs().size() + i),
              function.getArgument(inputs.size() + i));
    for (Operation &op : body.without_terminator())
      b.clone(op, map);
    for (Value value : body.getTerminator()->getOperands())
      returned.push_back(map.lookup(value));
  }
  func::ReturnOp::create(b, module.getLoc(), returned);
  return function;
}

func::FuncOp Joiner::joined(ArrayRef<exec::LaunchOp> launches,
                            const llvm::SetVector<Value> &inputs) {
  std::vector<std::pair<Operation *, size_t>> key;
  for (exec::LaunchOp launch : launches)
    for (Value input : launch.getInputs())
      key.push_back({symbols.lookup(launch.getKernel()),
                     size_t(llvm::find(inputs, input) - inputs.begin())});
  func::FuncOp &known = made[key];
  if (!known) {
    known = build(launches, inputs);
    symbols.insert(known, module.getBody()->end());
  }
  return known;
}

/// Replaces the launches by one, in the place of the last.
void Joiner::merge(ArrayRef<exec::LaunchOp> launches) {
  llvm::SetVector<Value> inputs;
  llvm::SetVector<Attribute> nodes;
  SmallVector<Value> outputs;
  IntExpr work = IntExpr::constant(module.getContext(), 0);
  for (exec::LaunchOp launch : launches) {
    inputs.insert_range(launch.getInputs());
    nodes.insert_range(launch.getNodes());
    llvm::append_range(outputs, launch.getOutputs());
    work = work && launch.getWork() ? work + *launch.getWork() : IntExpr();
  }
  func::FuncOp function = joined(launches, inputs);
  exec::LaunchOp last = launches.back();
  OpBuilder b(last);
  exec::LaunchOp::create(b, last.getLoc(),
                         FlatSymbolRefAttr::get(function.getNameAttr()),
                         inputs.getArrayRef(), outputs, last.getArgsAttr(),
                         work, b.getArrayAttr(nodes.getArrayRef()));
  for (exec::LaunchOp launch : launches)
    launch.erase();
}

LogicalResult Joiner::run() {
  SmallVector<Launches> groups;
  llvm::DenseSet<Operation *> taken;
  module.walk([&](exec::LaunchOp launch) {
    if (taken.contains(launch))
      return;
    Launches group = siblingsFrom(launch);
    if (group.size() < 2)
      return;
    taken.insert(group.begin(), group.end());
    groups.push_back(std::move(group));
  });
  if (isInvalid)
    return failure();
  for (const Launches &group : groups)
    merge(group);
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (function->hasAttr("mlc.kernel") && !groups.empty() &&
        SymbolTable::symbolKnownUseEmpty(function, module))
      symbols.erase(function);
  return success();
}

LogicalResult joinSiblings(ModuleOp module, const CodeTarget &target,
                           Precision precision) {
  return Joiner(module, target, precision).run();
}

namespace {
struct JoinSiblingsPass : impl::JoinSiblingsPassBase<JoinSiblingsPass> {
  using JoinSiblingsPassBase::JoinSiblingsPassBase;
  JoinSiblingsPass(const CodeTarget &target, Precision precision)
      : given(target), precision(precision) {}

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Kernels)))
      return signalPassFailure();
    FailureOr<CodeTarget> target =
        findCodeTarget(getOperation(), given, targetName);
    if (failed(target) ||
        failed(joinSiblings(getOperation(), *target, precision)))
      signalPassFailure();
  }

  std::optional<CodeTarget> given;
  Precision precision = Precision::TF32;
};
} // namespace

std::unique_ptr<Pass> createJoinSiblingsPass(const CodeTarget &target,
                                             Precision precision) {
  return std::make_unique<JoinSiblingsPass>(target, precision);
}

} // namespace mlc
