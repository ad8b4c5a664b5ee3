//===- Problem.h - Functions of a contraction's struct ----------*- C++ -*-===//
//
// `struct Problem`, which is printed for each contraction, has functions of
// three kinds: sizes and places of factors (Problem.cpp), and the epilogue
// (Finish.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_PROBLEM_H
#define MLC_CODEGEN_CUDA_PROBLEM_H

#include "codegen/cuda/Contraction.h"

namespace mlc::cuda {

/// Prints functions of `struct Problem` one after another.
class ProblemText {
public:
  ProblemText(KernelPrinter &to, const Contraction &c, const Roles &roles)
      : to(to), kernel(to.kernel), c(c), roles(roles) {}

protected:
  using Fill = llvm::function_ref<std::string(ElementPrinter &, Code &)>;
  /// A function of the problem that returns what `fill` prints.
  void method(llvm::StringRef type, llvm::StringRef name,
              llvm::StringRef parameters, Fill fill);
  /// The indices along `dims` of the flat index `flat`.
  Indices placesOf(ElementPrinter &printer, llvm::StringRef flat,
                   llvm::ArrayRef<unsigned> dims);
  std::string pointerOf(mlir::Value input) const;

  KernelPrinter &to;
  const Kernel &kernel;
  const Contraction &c;
  const Roles &roles;
  std::string text;
};

/// The epilogue of an element: `finish(batch, m, n, sum)`.
std::string printFinish(KernelPrinter &to, const Contraction &c,
                        const Roles &roles);

/// The epilogue of neighbouring columns together, as kernels/finish.cuh wants
/// it.
std::string printFinishOfRuns(KernelPrinter &to, const Contraction &c,
                              const Roles &roles);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_PROBLEM_H
