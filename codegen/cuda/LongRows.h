//===- LongRows.h - Rows that a block has -----------------------*- C++ -*-===//
//
// Rows of a known length that are too long for registers (Rows.h): a block has
// one. What several operations read is in shared memory if it fits; otherwise
// each reads it again. Threads have vectors that are aligned in memory,
// wherever a row begins (kernels/longrows.cuh). What is cheap, such as the
// exponentials of a softmax, is computed where it is read.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_LONGROWS_H
#define MLC_CODEGEN_CUDA_LONGROWS_H

#include "codegen/cuda/Rows.h"

namespace mlc::cuda {

/// The plan of a kernel whose rows blocks have; nullopt if they cannot.
std::optional<RowPlan> planLongRows(const Kernel &kernel,
                                    const EmitOptions &options);

class LongRowPrinter : public RowPrinter {
public:
  LongRowPrinter(KernelPrinter &to, RowPlan &plan) : RowPrinter(to, plan) {}
  KernelText print() override;

private:
  void loadKept() override;
  void forEach(
      mlir::Operation *op, mlir::ValueRange results,
      llvm::function_ref<llvm::SmallVector<std::string>()> compute) override;
  std::string ofValue(const std::string &name) const override;
  std::string ofKept(size_t number) const override;

  /// Some of the thread's elements: a vector, or an edge.
  struct Part {
    /// How many, and the texts of their place in the row and in shared memory.
    int64_t width;
    std::string at, slot;
  };
  void printPart(mlir::Operation *op, mlir::ValueRange results,
                 llvm::function_ref<llvm::SmallVector<std::string>()> compute,
                 const Part &part);
  void loadPart(mlir::Operation *op, const Part &part);
  void storePart(mlir::Value result, const std::string &name, const Part &part);
  bool isAligned(const RowRead &read) const;
  bool isAligned(mlir::Value output) const;
  /// A place in the kernel's shared memory as a pointer to elements.
  std::string pointerAt(mlir::Type element, int64_t bytes) const;

  int64_t exchangeBytes = 0;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_LONGROWS_H
