//===- Group.h - Kernels without a contraction as CUDA C++ ------*- C++ -*-===//
//
// Four skeletons run a loop group (codegen/kernel/LoopGroup.h):
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
//   sums         blocks share the long sums of a group that has one reduction,
//                and one of them computes what follows from each (Sums.cpp)
//
// Intermediates that are stored lie in shared memory where all of them fit,
// else in scratch memory of the block.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_GROUP_H
#define MLC_CODEGEN_CUDA_GROUP_H

#include "codegen/cuda/KernelPrinter.h"
#include "codegen/kernel/LoopGroup.h"

namespace mlc::cuda {

/// Threads that share a task, or that have one each.
constexpr int64_t threads = 256;
/// Stored intermediates of a block beyond this lie in scratch memory, or are
/// computed again where they can be.
constexpr int64_t sharedLimit = 32 << 10;

/// The operations that reduce, in order.
llvm::SmallVector<mlir::linalg::LinalgOp> reductionsOf(const Kernel &kernel);
/// Whether a reduction has so few steps that one thread may go through them.
bool isShort(const Kernel &kernel, mlir::linalg::LinalgOp op);

/// For each result of `op` the operation that combines it with what was there,
/// and has a value that changes nothing; empty where one is combined in another
/// way.
llvm::SmallVector<mlir::Operation *> combinersOf(mlir::linalg::LinalgOp op);
/// How warps exchange a value called `name`: small integers and truths as int.
std::string exchanged(mlir::Type type, const std::string &name);

bool acceptsElementwise(const Kernel &kernel, const EmitOptions &options);
bool acceptsColumns(const Kernel &kernel, const EmitOptions &options);
bool acceptsSums(const Kernel &kernel, const EmitOptions &options);

// Each emits an error and fails where it cannot.
mlir::FailureOr<KernelText> emitElementwise(KernelPrinter &to);
mlir::FailureOr<KernelText> emitSums(KernelPrinter &to);
mlir::FailureOr<KernelText> emitRows(KernelPrinter &to);
mlir::FailureOr<KernelText> emitColumns(KernelPrinter &to);

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
  bool needsSync(mlir::Operation *op) const;
  bool reads(mlir::Operation *op,
             llvm::function_ref<bool(mlir::Value)> isSought) const;
  bool isOneElement(mlir::Operation *op) const;
  bool isTeamReduction(mlir::Operation *op) const;

  const Kernel &kernel;
  ElementPrinter &printer;
  Code &code;
  bool perThread;
  Indices shared;
  /// What was written since the last barrier; and whether warps have handed
  /// over anything since.
  llvm::SetVector<mlir::Value> written;
  bool hasExchanged = false;
  /// Bytes of shared memory for what warps hand over to each other.
  int64_t exchangeBytes = 0;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_GROUP_H
