//===- KernelLoad.cpp - Kernels of seam 3, compiled and loaded ------------===//

#include "codegen/Backends.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Symbolic/Attributes.h"
#include "dialects/Symbolic/IntExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tools/bench/KernelText.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace mlir;

namespace mlc::bench {

static void loadDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerKernelDialects(registry);
  registry.insert<MlcDialect, exec::ExecDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

[[noreturn]] static void die(const Twine &message) {
  llvm::errs() << "kernel text: " << message << "\n";
  std::abort();
}

static int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() *
         llvm::divideCeil(tensor.getElementType().getIntOrFloatBitWidth(), 8u);
}

/// Adds the kernel written in `text` if its sizes are fixed.
static void readKernel(const std::string &text, MLIRContext &context,
                       std::vector<ModuleKernel> &kernels) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    die("does not parse:\n" + text);
  auto function = *module->getOps<func::FuncOp>().begin();
  FunctionType type = function.getFunctionType();
  auto fixed = [](Type t) {
    auto tensor = dyn_cast<RankedTensorType>(t);
    return tensor && tensor.hasStaticShape();
  };
  if (!function->hasAttr("mlc.kernel") ||
      !llvm::all_of(type.getInputs(), fixed) ||
      !llvm::all_of(type.getResults(), fixed))
    return;
  ModuleKernel &kernel = kernels.emplace_back();
  kernel.name = function.getName().str();
  kernel.text = text;
  for (BlockArgument argument : function.getArguments())
    kernel.bytes.push_back(bytesOf(argument.getType()));
  for (Type result : type.getResults())
    kernel.bytes.push_back(bytesOf(result));
}

/// Counts the launch in `line` of the program.
static void countLaunch(StringRef line, std::vector<ModuleKernel> &kernels) {
  StringRef name = line.split('@').second.split('(').first;
  for (ModuleKernel &k : kernels)
    if (name == k.name) {
      ++k.launches;
      int64_t work = 0;
      line.split("work #mlc.int<")
          .second.split('>')
          .first.getAsInteger(10, work);
      k.flops = double(work);
    }
}

std::vector<ModuleKernel> readModule(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    die("cannot read " + path);
  MLIRContext context;
  loadDialects(context);
  std::vector<ModuleKernel> kernels;
  std::string aliases, function;
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    if (line.starts_with("#"))
      aliases += line.str() + "\n";
    if (line.starts_with("  func.func"))
      function = aliases;
    if (!function.empty())
      function += line.str() + "\n";
    if (line == "  }" && !function.empty()) {
      readKernel(function, context, kernels);
      function.clear();
    }
  }
  for (StringRef line : lines)
    if (line.trim().starts_with("exec.launch"))
      countLaunch(line, kernels);
  return kernels;
}

struct LoadedKernel::State {
  MLIRContext context;
  CompiledKernels compiled;
  std::vector<std::string> symbols;
  void *library = nullptr;
  mlc_kernel function = nullptr;
  void *scratch = nullptr;
  int64_t scratchSize = 0;

  int64_t value(IntExpr e, const std::vector<int64_t> &values) const {
    return *e.evaluate([&](StringRef name) -> std::optional<int64_t> {
      for (auto [i, s] : llvm::enumerate(symbols))
        if (s == name)
          return values[i];
      return std::nullopt;
    });
  }
};

LoadedKernel::LoadedKernel(const std::string &text, const Target &target,
                           const std::string &dumpDirectory)
    : state(new State) {
  loadDialects(state->context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, &state->context);
  if (!module)
    die("does not parse:\n" + text);
  auto function = *module->getOps<func::FuncOp>().begin();
  for (Attribute name : function->getAttrOfType<ArrayAttr>("mlc.symbols"))
    state->symbols.push_back(cast<StringAttr>(name).str());
  CodegenOptions options;
  options.threads = 1;
  options.dumpDirectory = dumpDirectory;
  auto compiled = findBackend(target)->compile(*module, target, options);
  if (failed(compiled))
    die("does not compile:\n" + text);
  state->compiled = *compiled;
  llvm::SmallString<128> path;
  int fd;
  if (llvm::sys::fs::createTemporaryFile("kernel", "so", fd, path))
    die("no temporary file");
  llvm::raw_fd_ostream(fd, true) << state->compiled.images.front().bytes;
  state->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path);
  if (!state->library)
    die(dlerror());
  state->function = reinterpret_cast<mlc_kernel>(
      dlsym(state->library, state->compiled.kernels[0].symbol.c_str()));
}

LoadedKernel::~LoadedKernel() {
  dlclose(state->library);
  free(state->scratch);
  delete state;
}

int64_t LoadedKernel::tasks(const std::vector<int64_t> &values) const {
  return state->value(state->compiled.kernels[0].tasks, values);
}

int64_t LoadedKernel::scratchBytes(const std::vector<int64_t> &values) const {
  return state->value(state->compiled.kernels[0].scratchBytes, values);
}

void LoadedKernel::run(const std::vector<void *> &buffers,
                       const std::vector<int64_t> &symbols, int64_t step) {
  int64_t bytes = scratchBytes(symbols);
  if (bytes > state->scratchSize) {
    free(state->scratch);
    state->scratch = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    state->scratchSize = bytes;
  }
  int64_t all = tasks(symbols);
  for (int64_t i = 0; i < all; i += step ? step : all)
    state->function(buffers.data(), symbols.data(), i,
                    std::min(all, i + (step ? step : all)), state->scratch);
}

} // namespace mlc::bench
