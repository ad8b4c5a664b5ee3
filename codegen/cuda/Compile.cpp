//===- Compile.cpp - Kernels to the images of an artifact -----------------===//
//
// Each distinct kernel is a translation unit of its own. NVRTC compiles them on
// several threads; the bytes do not depend on how many.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Emit.h"
#include "codegen/cuda/Nvrtc.h"
#include "codegen/kernel/DistinctKernels.h"
#include "runtime/CodeBundle.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace mlc::cuda {

namespace {
struct Unit {
  func::FuncOp function;
  std::string symbol;
  KernelText text;
  IntExpr products;
  CompiledSource made;
  std::string error;
};
} // namespace

static void compileUnit(Unit &unit, const Target &target,
                        const CodegenOptions &options) {
  std::string prefix = options.dumpDirectory + "/" + unit.symbol;
  auto dump = [&](StringRef ending, StringRef text) {
    std::error_code error;
    if (!options.dumpDirectory.empty())
      llvm::raw_fd_ostream(prefix + ending.str(), error) << text;
  };
  dump(".cu", unit.text.source);
  llvm::Expected<CompiledSource> made =
      compileSource(unit.text.source, target.cpu);
  if (!made) {
    unit.error = llvm::toString(made.takeError());
    return;
  }
  unit.made = std::move(*made);
  dump(".ptx", unit.made.ptx);
  dump(".log", unit.made.log);
}

static LogicalResult compileUnits(std::vector<Unit> &units,
                                  const Target &target,
                                  const CodegenOptions &options) {
  if (options.threads < 2) {
    for (Unit &unit : units)
      compileUnit(unit, target, options);
  } else {
    llvm::DefaultThreadPool pool(
        llvm::heavyweight_hardware_concurrency(options.threads));
    for (Unit &unit : units)
      pool.async([&] { compileUnit(unit, target, options); });
    pool.wait();
  }
  for (Unit &unit : units)
    if (!unit.error.empty())
      return unit.function.emitError(unit.error);
  return success();
}

FailureOr<CompiledKernels> compileKernels(ModuleOp module, const Target &target,
                                          const CodegenOptions &options) {
  // Report a missing NVRTC before any work, whatever the model.
  if (llvm::Expected<std::string> version = nvrtcVersion(); !version)
    return module.emitError(llvm::toString(version.takeError()));
  DistinctKernels distinct(module);
  std::vector<Unit> units;
  for (const DistinctKernels::Unit &found : distinct.units) {
    FailureOr<Kernel> kernel = Kernel::read(found.function);
    if (failed(kernel))
      return failure();
    FailureOr<KernelText> text =
        emitKernel(*kernel, {target, options.precision, options.keepsRoundings},
                   found.symbol);
    if (failed(text))
      return failure();
    units.push_back({found.function,
                     found.symbol,
                     std::move(*text),
                     countProducts(*kernel),
                     {},
                     {}});
  }
  if (failed(compileUnits(units, target, options)))
    return failure();

  using Entries = std::vector<std::pair<std::string, std::string>>;
  Entries cubins, ptx, sources;
  CompiledKernels result;
  for (Unit &unit : units) {
    Resources used = readResources(unit.made.log);
    result.reports.push_back(
        {unit.symbol, unit.text.skeleton.str(), unit.text.block, used.registers,
         unit.text.sharedBytes, used.stack, used.spillStores, used.spillLoads});
    cubins.push_back({unit.symbol, std::move(unit.made.cubin)});
    ptx.push_back({unit.symbol, std::move(unit.made.ptx)});
    sources.push_back({unit.symbol, std::move(unit.text.source)});
  }
  if (!units.empty()) {
    std::string version = StringRef(target.cpu).drop_front(3).str();
    auto add = [&](runtime::ImageKind kind, std::string name,
                   const Entries &entries) {
      result.images.push_back(
          {kind, std::move(name), {}, runtime::writeBundle(entries)});
    };
    add(runtime::ImageKind::Cubin, target.cpu, cubins);
    add(runtime::ImageKind::Ptx, "compute_" + version, ptx);
    add(runtime::ImageKind::Source, "cuda", sources);
  }
  for (auto [function, index] : distinct.kernels) {
    const Unit &unit = units[index];
    CompiledKernel kernel{
        function.getName().str(), unit.symbol, unit.text.tasks,
        unit.text.scratchBytes,   {},          {}};
    kernel.blockThreads = unit.text.block;
    kernel.sharedBytes = unit.text.sharedBytes;
    kernel.workspaceBytes = unit.text.workspaceBytes;
    kernel.maps = unit.text.maps;
    kernel.products = unit.products;
    result.kernels.push_back(std::move(kernel));
  }
  return result;
}

} // namespace mlc::cuda
