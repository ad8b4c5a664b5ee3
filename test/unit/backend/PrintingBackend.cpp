//===- PrintingBackend.cpp - A back end that prints kernels ---------------===//

#include "PrintingBackend.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace mlc {
namespace {

class PrintingBackend final : public Backend {
public:
  llvm::StringRef getName() const override { return "printing"; }
  bool supports(const Target &) const override { return true; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect,
                    func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                    tensor::TensorDialect>();
  }

  bool canJoinLoopGroup(const Target &, llvm::ArrayRef<Operation *> group,
                        Operation *) const override {
    return llvm::count_if(group, llvm::IsaPred<linalg::LinalgOp>) < 2;
  }

  FailureOr<CompiledKernels> compile(ModuleOp module, const Target &,
                                     const CodegenOptions &) const override {
    CompiledKernels result;
    result.images.push_back({runtime::ImageKind::Source, "text", {}, ""});
    llvm::raw_string_ostream os(result.images.front().bytes);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function->hasAttr("mlc.kernel"))
        continue;
      FailureOr<Kernel> kernel = Kernel::read(function);
      if (failed(kernel))
        return failure();
      function.print(os);
      os << '\n';
      std::string name = function.getName().str();
      IntExpr one = IntExpr::constant(module.getContext(), 1);
      result.kernels.push_back({name, name, one, one, {}, {}});
    }
    return result;
  }
};

} // namespace

const Backend &getPrintingBackend() {
  static const PrintingBackend backend;
  return backend;
}

} // namespace mlc
