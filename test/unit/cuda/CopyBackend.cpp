//===- CopyBackend.cpp - Kernels that copy by tensor maps -----------------===//

#include "CopyBackend.h"
#include "codegen/cuda/Backend.h"
#include "codegen/cuda/KernelPrinter.h"
#include "codegen/cuda/Maps.h"
#include "codegen/cuda/Program.h"
#include "runtime/CodeBundle.h"

using namespace mlir;

namespace mlc {
namespace {

/// Rows that are copied at a time.
constexpr int64_t rowsOfTask = 8;

cuda::KernelText printKernel(const Kernel &kernel, const Target &target,
                             llvm::StringRef name) {
  cuda::KernelPrinter printer(kernel, {target}, name);
  printer.printer.head.line("float *rows = (float *)sharedMemory();");
  printer.printer.head.line("uint64_t *barrier = (uint64_t *)(rows + 512);");
  printer.printer.head.line("const int t = int(threadIdx.x);");
  printer.printer.head.line("int phase = 0;");
  printer.printer.head.line(
      "if (t == 0) { initBarrier(barrier, 1); fenceBarrierInit(); }");
  printer.printer.head.line("syncBlock();");
  printer.code.block("if (t == 0)", [&] {
    printer.code.line("arriveAndExpect(barrier, 1024);");
    printer.code.line("copyTensor(rows, &map0, barrier, 0, int(task) * 8);");
  });
  printer.code.line("waitForPhase(barrier, phase++);");
  printer.code.line(
      "for (int i = t; i < 256; i += 32) rows[256 + i] = 2 * rows[i];");
  printer.code.line("fenceAsyncProxy();");
  printer.code.line("syncBlock();");
  printer.code.block("if (t == 0)", [&] {
    printer.code.line("storeTensor(&map1, rows + 256, 0, int(task) * 8);");
    printer.code.line("commitStores();");
    printer.code.line("waitForStores<0>();");
  });
  printer.code.line("syncBlock();");

  cuda::KernelText text;
  IntExpr rows = kernel.shapeOf(kernel.inputs[0])[0];
  text.tasks = rows.ceilDiv(rowsOfTask);
  text.scratchBytes = rows.constant(kernel.context(), 0);
  text.block = 32;
  text.sharedBytes = 2 * 1024 + 8;
  text.skeleton = "copies";
  text.maps.resize(2);
  for (auto [operand, map] : llvm::enumerate(text.maps)) {
    map.operand = operand;
    map.element = runtime::MapElement::F32;
    map.dims = {rows.constant(kernel.context(), 32), rows};
    map.strides = {rows.constant(kernel.context(), 128)};
    map.box = {32, rowsOfTask};
    map.steps = {1, 1};
  }
  text.source = printer.finish(text);
  return text;
}

class CopyBackend final : public Backend {
public:
  llvm::StringRef getName() const override { return "copies"; }
  bool supports(const Target &) const override { return true; }
  void registerDialects(DialectRegistry &registry) const override {
    cuda::getBackend().registerDialects(registry);
  }
  bool canJoinLoopGroup(const Target &, llvm::ArrayRef<Operation *>,
                        Operation *) const override {
    return false;
  }
  llvm::Expected<SourceTree> printProgram(const runtime::Program &program,
                                          llvm::ArrayRef<KernelImage> images,
                                          uint64_t weightsSize,
                                          const Target &target) const override {
    return cuda::printProgram(program, images, weightsSize, target);
  }

  FailureOr<CompiledKernels> compile(ModuleOp module, const Target &target,
                                     const CodegenOptions &) const override {
    CompiledKernels result;
    std::vector<std::pair<std::string, std::string>> sources;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function->hasAttr("mlc.kernel"))
        continue;
      FailureOr<Kernel> kernel = Kernel::read(function);
      if (failed(kernel))
        return failure();
      std::string name = function.getName().str();
      cuda::KernelText text = printKernel(*kernel, target, name);
      for (const KernelMap &map : text.maps)
        if (std::string why = cuda::whyNotMappable(map); !why.empty())
          return function.emitError(why);
      sources.push_back({name, text.source});
      CompiledKernel made{name, name, text.tasks, text.scratchBytes, {}, {}};
      made.blockThreads = text.block;
      made.sharedBytes = text.sharedBytes;
      made.maps = text.maps;
      result.kernels.push_back(std::move(made));
    }
    result.images.push_back({runtime::ImageKind::Source,
                             "cuda",
                             {},
                             runtime::writeBundle(sources)});
    return result;
  }
};

} // namespace

const Backend &getCopyBackend() {
  static const CopyBackend backend;
  return backend;
}

} // namespace mlc
