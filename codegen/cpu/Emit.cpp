//===- Emit.cpp - From kernels to a shared object -------------------------===//
//
// Kernels that differ only in their names are compiled once. The distinct ones
// are dealt, in order, to modules of a fixed size, which threads compile
// independently; so the bytes do not depend on threads or names.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Emit.h"
#include "codegen/cpu/Body.h"
#include "codegen/cpu/ContractionPlan.h"
#include "codegen/cpu/GroupEmitter.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/Winograd.h"
#include "codegen/kernel/DistinctKernels.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/ThreadPool.h"
#include <mutex>

using namespace mlir;

namespace mlc::cpu {

/// In order of preference.
static ArrayRef<Emitter> emitters() {
  static const Emitter table[] = {
      {"winograd", acceptsWinograd, emitWinogradKernel},
      {"contraction", acceptsContraction, emitContractionKernel},
      {"loop-group", [](const Kernel &, const Target &) { return true; },
       emitLoopGroup},
  };
  return table;
}

static FailureOr<EmittedKernel> emitKernel(KernelBody &body) {
  for (const Emitter &emitter : emitters())
    if (emitter.accepts(body.kernel, body.target))
      return emitter.emit(body);
  return const_cast<func::FuncOp &>(body.kernel.function)
      .emitError("no emitter for this kernel");
}

namespace {
/// One distinct kernel.
struct Unit {
  func::FuncOp function;
  std::string symbol;
  EmittedKernel emitted;
  IntExpr products = {};
};

/// The kernels of one LLVM module.
struct Shard {
  MutableArrayRef<Unit> units;
  OwningOpRef<ModuleOp> module;
  std::string object, error;
};
} // namespace

/// Emits the kernels of `shard` as functions of its module.
static LogicalResult emitShard(Shard &shard, const Target &target) {
  MLIRContext *ctx = shard.units.front().function.getContext();
  shard.module = ModuleOp::create(UnknownLoc::get(ctx));
  OpBuilder b(ctx);
  for (Unit &unit : shard.units) {
    FailureOr<Kernel> kernel = Kernel::read(unit.function);
    if (failed(kernel))
      return failure();
    if (kernel->repeats > 1)
      return unit.function.emitError("code generation for CPUs does not repeat "
                                     "kernels");
    unit.products = countProducts(*kernel);
    b.setInsertionPointToEnd(shard.module->getBody());
    FailureOr<EmittedKernel> emitted =
        emitFunction(b, *kernel, target, unit.symbol, emitKernel);
    if (failed(emitted))
      return failure();
    unit.emitted = *emitted;
  }
  return success();
}

static void compileShard(Shard &shard, size_t index, const Target &target,
                         const CodegenOptions &options) {
  std::string prefix;
  if (!options.dumpDirectory.empty()) {
    prefix = options.dumpDirectory + "/kernels" + std::to_string(index);
    std::error_code error;
    llvm::raw_fd_ostream(prefix + ".mlir", error) << *shard.module;
  }
  if (failed(lowerToLLVMDialect(*shard.module))) {
    shard.error = "lowering to the LLVM dialect failed";
    return;
  }
  llvm::Expected<std::string> object =
      makeObject(*shard.module, target, prefix);
  if (object)
    shard.object = std::move(*object);
  else
    shard.error = llvm::toString(object.takeError());
  shard.module = nullptr;
}

/// Compiles all shards; false when one failed (its `error` says why).
static bool compileShards(MutableArrayRef<Shard> shards, MLIRContext *ctx,
                          const Target &target, const CodegenOptions &options) {
  // Passes load dialects, which must not happen on several threads at once.
  OwningOpRef<ModuleOp> empty = ModuleOp::create(UnknownLoc::get(ctx));
  if (failed(lowerToLLVMDialect(*empty)))
    return false;
  if (options.threads < 2 || !ctx->isMultithreadingEnabled()) {
    for (auto [index, shard] : llvm::enumerate(shards))
      compileShard(shard, index, target, options);
  } else {
    llvm::DefaultThreadPool pool(
        llvm::heavyweight_hardware_concurrency(options.threads));
    for (size_t i = 0; i < shards.size(); ++i)
      pool.async([&, i] { compileShard(shards[i], i, target, options); });
    pool.wait();
  }
  return llvm::all_of(shards,
                      [](const Shard &shard) { return shard.error.empty(); });
}

static std::vector<Unit> unitsOf(const DistinctKernels &distinct) {
  std::vector<Unit> units;
  for (const DistinctKernels::Unit &unit : distinct.units)
    units.push_back({unit.function, unit.symbol, {}});
  return units;
}

static void addKernels(const DistinctKernels &distinct, ArrayRef<Unit> units,
                       CompiledKernels &result) {
  for (auto [function, index] : distinct.kernels) {
    const Unit &unit = units[index];
    result.kernels.push_back(
        {const_cast<func::FuncOp &>(function).getName().str(), unit.symbol,
         unit.emitted.tasks, unit.emitted.scratchBytes, unit.emitted.inPlace,
         unit.emitted.factors});
    result.kernels.back().products = unit.products;
  }
}

FailureOr<CompiledKernels> previewKernels(ModuleOp module,
                                          const Target &target) {
  DistinctKernels distinct(module);
  std::vector<Unit> units = unitsOf(distinct);
  Shard shard;
  shard.units = units;
  if (!units.empty() && failed(emitShard(shard, target)))
    return failure();
  CompiledKernels result;
  addKernels(distinct, units, result);
  return result;
}

FailureOr<CompiledKernels> compileKernels(ModuleOp module, const Target &target,
                                          const CodegenOptions &options) {
  MLIRContext *ctx = module.getContext();
  DistinctKernels distinct(module);
  std::vector<Unit> units = unitsOf(distinct);

  std::vector<Shard> shards;
  size_t perShard = std::max(1u, options.kernelsPerModule);
  for (size_t i = 0; i < units.size(); i += perShard) {
    Shard &shard = shards.emplace_back();
    shard.units =
        MutableArrayRef(units).slice(i, std::min(perShard, units.size() - i));
    if (failed(emitShard(shard, target)))
      return failure();
  }
  if (!compileShards(shards, ctx, target, options)) {
    for (const Shard &shard : shards)
      if (!shard.error.empty())
        module.emitError(shard.error);
    return failure();
  }

  CompiledKernels result;
  std::vector<std::string> objects;
  for (Shard &shard : shards)
    objects.push_back(std::move(shard.object));
  if (!objects.empty()) {
    llvm::Expected<std::string> object = linkSharedObject(objects);
    if (!object)
      return module.emitError(llvm::toString(object.takeError()));
    result.images.push_back({runtime::ImageKind::Elf,
                             target.cpu,
                             {target.cpu},
                             std::move(*object)});
  }
  addKernels(distinct, units, result);
  return result;
}

} // namespace mlc::cpu
