//===- Repeats.cpp - Chains of equal launches -----------------------------===//

#include "passes/Fuse/Repeats.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

namespace {

/// Launches of one kernel, each of which reads the result of the one before.
struct Chain {
  SmallVector<exec::LaunchOp> launches;
  /// The operand that is that result.
  unsigned input = 0;
};

class Repeater {
public:
  Repeater(ModuleOp module, const CodeTarget &target)
      : module(module), target(target), symbols(module) {}

  void run();

private:
  /// The launch that continues a chain behind `launch`, with the operand by
  /// which it does; null if there is none.
  std::pair<exec::LaunchOp, unsigned> next(exec::LaunchOp launch) const;
  bool canRepeat(func::FuncOp kernel, unsigned input);
  func::FuncOp repeated(func::FuncOp kernel, int64_t count, unsigned input);
  void merge(const Chain &chain);

  ModuleOp module;
  const CodeTarget &target;
  SymbolTable symbols;
  /// What the back end said of kernels and inputs, and the kernels made.
  std::map<std::pair<Operation *, unsigned>, bool> answers;
  std::map<std::tuple<Operation *, int64_t, unsigned>, func::FuncOp> made;
};

} // namespace

std::pair<exec::LaunchOp, unsigned>
Repeater::next(exec::LaunchOp launch) const {
  if (launch.getOutputs().size() != 1)
    return {};
  Value result = launch.getOutputs()[0];
  auto buffer = result.getDefiningOp<exec::AllocOp>();
  // The launch itself and one reader.
  if (!buffer || !result.hasNUses(2))
    return {};
  exec::LaunchOp reader;
  for (Operation *user : result.getUsers())
    if (user != launch)
      reader = dyn_cast<exec::LaunchOp>(user);
  if (!reader || reader.getKernelAttr() != launch.getKernelAttr() ||
      reader.getArgs() != launch.getArgs())
    return {};
  unsigned input =
      llvm::find(reader.getInputs(), result) - reader.getInputs().begin();
  for (auto [i, own, other] :
       llvm::enumerate(launch.getInputs(), reader.getInputs()))
    if (i != input && own != other)
      return {};
  return {reader, input};
}

bool Repeater::canRepeat(func::FuncOp function, unsigned input) {
  auto [it, isNew] = answers.try_emplace({function, input}, false);
  if (isNew && !function->hasAttr("mlc.repeat"))
    if (FailureOr<Kernel> kernel = Kernel::read(function); succeeded(kernel))
      it->second = target.backend->canRepeat(*kernel, input, target.target);
  return it->second;
}

func::FuncOp Repeater::repeated(func::FuncOp kernel, int64_t count,
                                unsigned input) {
  func::FuncOp &known = made[{kernel, count, input}];
  if (!known) {
    known = kernel.clone();
    known->setAttr("mlc.repeat",
                   DenseI64ArrayAttr::get(module.getContext(), {count, input}));
    symbols.insert(known, module.getBody()->end());
  }
  return known;
}

/// Replaces the launches by one, in the place of the last.
void Repeater::merge(const Chain &chain) {
  exec::LaunchOp first = chain.launches.front(), last = chain.launches.back();
  auto kernel = symbols.lookup<func::FuncOp>(first.getKernel());
  int64_t count = chain.launches.size();
  func::FuncOp function = repeated(kernel, count, chain.input);
  OpBuilder b(last);
  llvm::SetVector<Attribute> nodes;
  IntExpr work = IntExpr::constant(module.getContext(), 0);
  for (exec::LaunchOp launch : chain.launches) {
    nodes.insert_range(launch.getNodes());
    work = work && launch.getWork() ? work + *launch.getWork() : IntExpr();
  }
  exec::LaunchOp::create(
      b, last.getLoc(), FlatSymbolRefAttr::get(function.getNameAttr()),
      SmallVector<Value>(first.getInputs()),
      SmallVector<Value>(last.getOutputs()), last.getArgsAttr(), work,
      b.getArrayAttr(nodes.getArrayRef()));
  for (exec::LaunchOp old : llvm::reverse(chain.launches)) {
    Operation *buffer = old.getOutputs()[0].getDefiningOp();
    bool isBetween = old != last;
    old.erase();
    if (isBetween)
      buffer->erase();
  }
  if (SymbolTable::symbolKnownUseEmpty(kernel, module))
    symbols.erase(kernel);
}

void Repeater::run() {
  SmallVector<Chain> chains;
  llvm::DenseSet<Operation *> chained;
  module.walk([&](exec::LaunchOp launch) {
    if (!chained.insert(launch).second)
      return;
    Chain chain{{launch}};
    for (;;) {
      auto [follower, input] = next(chain.launches.back());
      bool isFirst = chain.launches.size() == 1;
      if (!follower || chained.contains(follower) ||
          (!isFirst && input != chain.input))
        break;
      chain.input = input;
      chained.insert(follower);
      chain.launches.push_back(follower);
    }
    auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
    if (chain.launches.size() > 1 && kernel && canRepeat(kernel, chain.input))
      chains.push_back(std::move(chain));
  });
  for (const Chain &chain : chains)
    merge(chain);
}

void repeatLaunches(ModuleOp module, const CodeTarget &target) {
  Repeater(module, target).run();
}

} // namespace mlc
