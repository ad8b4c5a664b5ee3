//===- WindowMatcher.h - Which kernels reduce windows -----------*- C++ -*-===//
//
// Internals of matchWindows: WindowMatch.cpp finds the reduction, its windows
// and groups; WindowOthers.cpp its other operands.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_WINDOWMATCHER_H
#define MLC_CODEGEN_CUDA_WINDOWMATCHER_H

#include "codegen/cuda/WindowReads.h"
#include "codegen/cuda/Windows.h"

namespace mlc::cuda {

class WindowMatcher {
public:
  WindowMatcher(const Kernel &kernel, const EmitOptions &options,
                WindowForm form)
      : kernel(kernel), options(options), form(form), ctx(kernel.context()) {}

  std::optional<Windows> run();

private:
  bool findReduction();
  bool followResult();
  bool findOperand();
  bool traceOperand(mlir::OpOperand &operand, ReadTracer &tracer);
  bool matchDims();
  std::optional<WindowDim> matchDim(const Place &place, const Linear &linear,
                                    unsigned out);
  bool matchChannels(const TracedRead &read,
                     llvm::ArrayRef<Linear> linear) const;
  bool matchGroups(llvm::ArrayRef<Linear> leading);

  bool takeChannels(llvm::MapVector<mlir::AffineExpr, IntExpr> &terms);
  bool hasWindows() const;
  bool keepsOrder();

  bool checkOthers();
  std::optional<WindowWeights> denseWeights(const TracedRead &read);
  bool isSpatial(const TracedRead &read, bool inRows) const;

  const Kernel &kernel;
  const EmitOptions &options;
  WindowForm form;
  mlir::MLIRContext *ctx;
  Windows w;
  llvm::SmallVector<IntExpr> extents;
  /// Reads of the window operand; the first is the one that is matched.
  llvm::SmallVector<TracedRead> reads;
  /// The operand's indices, without loops of one step.
  llvm::SmallVector<mlir::AffineExpr> operandIndices;
};

/// Whether a loop of `op` reduces.
inline bool isReduction(mlir::linalg::LinalgOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] ==
         mlir::utils::IteratorType::reduction;
}

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_WINDOWMATCHER_H
