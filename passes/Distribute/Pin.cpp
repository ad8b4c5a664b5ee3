//===- Pin.cpp - Shardings of tensors inside a model ----------------------===//

#include "passes/Distribute/Pin.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Distribute/Shard.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace dist {

std::optional<Place> pinnedPlace(Operation *op, AxisAttr axis) {
  auto pin = op->getAttrOfType<ShardingAttr>(kPinAttr);
  auto leaves = op->getAttrOfType<StringAttr>(kPinLeavesAttr);
  if (!pin || (leaves && leaves == axis.getName()))
    return std::nullopt;
  return placeOf(pin, dimsOf(op->getResult(0)), axis);
}

StringRef nodeOf(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : StringRef();
}

} // namespace dist

/// The names of arguments and results.
static llvm::StringSet<> portsOf(func::FuncOp main) {
  llvm::StringSet<> names;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto name = main.getArgAttrOfType<StringAttr>(i, "mlc.name"))
      names.insert(name.getValue());
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (auto name = main.getResultAttrOfType<StringAttr>(i, "mlc.name"))
      names.insert(name.getValue());
  return names;
}

LogicalResult pinByName(func::FuncOp main,
                        ArrayRef<runtime::TensorSharding> shardings,
                        StringRef leaves) {
  const llvm::StringSet<> ports = portsOf(main);
  llvm::StringMap<Operation *> last;
  for (Operation &op : main.getBody().front().without_terminator())
    if (StringRef node = dist::nodeOf(&op);
        !node.empty() && op.getNumResults() == 1)
      last[node] = &op;
  for (const runtime::TensorSharding &sharding : shardings) {
    auto it = last.find(sharding.pattern);
    if (it == last.end() || ports.contains(sharding.pattern))
      continue;
    Operation *op = it->second;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    const size_t rank = type ? type.getRank() : 0;
    size_t needed = sharding.axes.size();
    while (needed > 0 && sharding.axes[needed - 1].empty())
      --needed;
    if (needed > rank)
      return main.emitError()
             << "the result of '" << sharding.pattern << "' has " << rank
             << " dims, and its sharding says how " << needed << " are split";
    dist::ShardingAttr::Axes dims(rank);
    for (auto [dim, axes] : llvm::zip(dims, sharding.axes))
      dim.assign(axes.begin(), axes.end());
    op->setAttr(dist::kPinAttr,
                dist::ShardingAttr::get(main.getContext(), dims));
    if (!leaves.empty())
      op->setAttr(dist::kPinLeavesAttr,
                  StringAttr::get(main.getContext(), leaves));
  }
  return success();
}

#define GEN_PASS_DEF_PINPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct PinPass : impl::PinPassBase<PinPass> {
  using PinPassBase::PinPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    runtime::Plan plan;
    if (failed(requireForm(*this, module, Form::Graph)) ||
        failed(readAxes(module, mesh, plan)) ||
        failed(readShardings(module, shardings, plan)))
      return signalPassFailure();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (main && failed(pinByName(main, plan.shardings, leaves)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createPinPass(ArrayRef<runtime::MeshAxis> mesh,
                                    ArrayRef<runtime::TensorSharding> shardings,
                                    StringRef leaves) {
  PinPassOptions options;
  for (const runtime::MeshAxis &axis : mesh)
    options.mesh.push_back(textOf(axis));
  for (const runtime::TensorSharding &sharding : shardings)
    options.shardings.push_back(textOf(sharding));
  options.leaves = leaves.str();
  return createPinPass(std::move(options));
}

} // namespace mlc
