//===- Group.h - Kernels without a contraction as CUDA C++ ------*- C++ -*-===//
//
// Three skeletons run a loop group (codegen/kernel/LoopGroup.h):
//
//   elementwise  a thread computes one element of each output, from the inputs
//                alone
//   columns      a thread runs the whole group for one place of the shared
//                dims, the last of which is the outputs' last: neighbours read
//                and write neighbours
//   rows         a block runs the whole group for one place of the shared dims:
//                its threads share the work of each operation, with a barrier
//                between operations
//
// Intermediates that are stored lie in shared memory where all of them fit,
// else in scratch memory of the block.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_GROUP_H
#define MLC_CODEGEN_CUDA_GROUP_H

#include "codegen/cuda/Emit.h"
#include "codegen/kernel/LoopGroup.h"

namespace mlc::cuda {

/// Threads that share a task, or that have one each.
constexpr int64_t threads = 256;

/// The operations that reduce, in order.
llvm::SmallVector<mlir::linalg::LinalgOp> reductionsOf(const Kernel &kernel);
/// Whether a reduction has so few steps that one thread may go through them.
bool isShort(const Kernel &kernel, mlir::linalg::LinalgOp op);

bool acceptsElementwise(const Kernel &kernel, const EmitOptions &options);
bool acceptsColumns(const Kernel &kernel, const EmitOptions &options);

/// Prints a loop group, operation by operation, for one task.
class GroupPrinter {
public:
  /// `perThread`: each thread has stored intermediates of its own.
  GroupPrinter(KernelPrinter &to, bool perThread);

  /// Views of outputs and of stored intermediates; what they take of scratch.
  void place(KernelText &text);
  /// All operations whose results are stored, at `shared`.
  void printGroup(llvm::ArrayRef<Index> shared);

  LoopGroup plan;

private:
  void print(mlir::Operation *op);
  void printCopy(mlir::Value value, const View &to, const Binding &binding);
  void printLinalg(mlir::linalg::LinalgOp op);
  void printReduction(mlir::linalg::LinalgOp op, Indices loops,
                      llvm::ArrayRef<unsigned> free);
  void reduceByTeam(mlir::linalg::LinalgOp op, Indices loops,
                    llvm::StringRef rank, llvm::StringRef team);
  void combineAcross(mlir::linalg::LinalgOp op,
                     llvm::ArrayRef<std::string> partials, bool byBlock);
  void storeResults(mlir::linalg::LinalgOp op, llvm::ArrayRef<Index> loops,
                    llvm::ArrayRef<std::string> values);
  /// For every place of the dims with these extents, shared out among the
  /// threads (or one after another, where each thread has its own).
  void forEach(llvm::ArrayRef<IntExpr> extents,
               llvm::function_ref<void(llvm::ArrayRef<Index>)> inside);
  void sync();

  const Kernel &kernel;
  ElementPrinter &printer;
  Code &code;
  bool perThread;
  Indices shared;
  /// Bytes of shared memory for what warps hand over to each other.
  int64_t exchangeBytes = 0;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_GROUP_H
