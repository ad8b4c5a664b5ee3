//===- Shard.cpp - A mesh, and shardings by name --------------------------===//

#include "passes/Distribute/Shard.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/States.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

/// Writes the shardings of a plan to a function.
class Sharder {
public:
  Sharder(func::FuncOp main, const runtime::Plan &plan)
      : main(main), plan(plan), b(main.getContext()) {}

  LogicalResult run() {
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (failed(shardArgument(i)))
        return failure();
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      if (failed(shardResult(i)))
        return failure();
    return success();
  }

private:
  /// Sets `attr` if the plan names this tensor.
  LogicalResult find(StringAttr name, Type type, dist::ShardingAttr &attr) {
    const runtime::TensorSharding *sharding =
        name ? plan.find(name.getValue()) : nullptr;
    if (!sharding)
      return success();
    size_t rank = cast<RankedTensorType>(type).getRank();
    if (sharding->axes.size() > rank)
      return main.emitError()
             << "'" << name.getValue() << "' has " << rank
             << " dims, and the sharding of '" << sharding->pattern
             << "' says how " << sharding->axes.size() << " are split";
    dist::ShardingAttr::Axes dims(rank);
    for (auto [dim, axes] : llvm::zip(dims, sharding->axes))
      dim.assign(axes.begin(), axes.end());
    attr = dist::ShardingAttr::get(b.getContext(), dims);
    return success();
  }

  LogicalResult shardArgument(unsigned i) {
    auto name = main.getArgAttrOfType<StringAttr>(i, "mlc.name");
    dist::ShardingAttr attr;
    if (failed(find(name, main.getArgument(i).getType(), attr)))
      return failure();
    if (!attr)
      return success();
    main.setArgAttr(i, dist::kShardingAttr, attr);
    // A replicated parameter becomes a state.
    if (Attribute value = main.removeArgAttr(i, kParameterAttr)) {
      main.setArgAttr(i, kStateAttr, name);
      main.setArgAttr(i, kInitialAttr, value);
    }
    return success();
  }

  LogicalResult shardResult(unsigned i) {
    Type type = main.getResultTypes()[i];
    auto name = main.getResultAttrOfType<StringAttr>(i, "mlc.name");
    // Outputs that the plan does not name are replicated for all callers.
    dist::ShardingAttr attr = dist::ShardingAttr::getReplicated(
        b.getContext(), cast<RankedTensorType>(type).getRank());
    if (failed(find(name, type, attr)))
      return failure();
    main.setResultAttr(i, dist::kShardingAttr, attr);
    return success();
  }

  func::FuncOp main;
  const runtime::Plan &plan;
  Builder b;
};

} // namespace

LogicalResult shardByName(ModuleOp module, const runtime::Plan &plan) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError("has no function @main to be split over ranks");
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> axes;
  for (const runtime::MeshAxis &axis : plan.mesh)
    axes.push_back(dist::AxisAttr::get(context, axis.name,
                                       IntExpr::constant(context, axis.size)));
  module->setAttr(dist::kMeshAttr, ArrayAttr::get(context, axes));
  return Sharder(main, plan).run();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

std::string textOf(const runtime::MeshAxis &axis) {
  return axis.name + "=" + std::to_string(axis.size);
}

std::string textOf(const runtime::TensorSharding &sharding) {
  std::string text = sharding.text();
  std::replace(text.begin(), text.end(), ',', ':');
  return sharding.pattern + "=" + text;
}

LogicalResult readAxes(ModuleOp module, llvm::ArrayRef<std::string> texts,
                       runtime::Plan &plan) {
  for (StringRef text : texts) {
    auto [name, size] = text.split('=');
    int64_t ranks;
    if (name.empty() || size.getAsInteger(10, ranks) || ranks < 1)
      return module.emitError()
             << "the axis '" << text << "' of a mesh is not AXIS=N, N >= 1";
    if (auto status = plan.addAxis(name, ranks); !status.ok())
      return module.emitError() << "the mesh " << status.message;
  }
  return success();
}

LogicalResult readShardings(ModuleOp module, llvm::ArrayRef<std::string> texts,
                            runtime::Plan &plan) {
  for (StringRef text : texts) {
    // Names of tensors may have any character, including `=`.
    auto [pattern, list] = text.rsplit('=');
    if (pattern.size() == text.size() || list.empty())
      return module.emitError()
             << "the sharding '" << text << "' is not NAME=AXIS:...";
    auto status = plan.addSharding(pattern, runtime::splitDims(list, ':'));
    if (!status.ok())
      return module.emitError()
             << "the sharding '" << text << "': " << status.message;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

#define GEN_PASS_DEF_SHARDPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct ShardPass : impl::ShardPassBase<ShardPass> {
  using ShardPassBase::ShardPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    runtime::Plan plan;
    if (failed(requireForm(*this, module, Form::Graph)) ||
        failed(readAxes(module, mesh, plan)) ||
        failed(readShardings(module, shardings, plan)) ||
        failed(shardByName(module, plan)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createShardPass(const runtime::Plan &plan) {
  ShardPassOptions options;
  for (const runtime::MeshAxis &axis : plan.mesh)
    options.mesh.push_back(textOf(axis));
  for (const runtime::TensorSharding &sharding : plan.shardings)
    options.shardings.push_back(textOf(sharding));
  return createShardPass(std::move(options));
}

} // namespace mlc
