//===- Machine.h - The state of a run ---------------------------*- C++ -*-===//

#ifndef MLC_VERIFIER_LINALG_MACHINE_H
#define MLC_VERIFIER_LINALG_MACHINE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "verifier/linalg/Interpreter.h"
#include "verifier/linalg/Scalars.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::interpret {

/// Runs operations one after the other. Functions return false if the run has
/// ended.
class Machine {
public:
  Machine(const RunOptions &options, Run &run) : options(options), run(run) {}

  /// All operations of a block but its terminator.
  bool runBlock(mlir::Block &block);
  void set(mlir::Value value, Tensor tensor) {
    tensors[value] = std::make_shared<const Tensor>(std::move(tensor));
  }
  void set(mlir::Value value, TensorRef tensor) {
    tensors[value] = std::move(tensor);
  }
  TensorRef tensorOf(mlir::Value value) const { return tensors.lookup(value); }

private:
  bool runOperation(mlir::Operation *op);
  bool checkSizes(mlir::Operation *op);
  bool runForeign(mlir::Operation *op);
  bool runTensor(mlir::Operation *op);

  // Values.
  std::optional<int64_t> indexOf(mlir::OpFoldResult value);
  bool indicesOf(llvm::ArrayRef<mlir::OpFoldResult> values,
                 llvm::SmallVectorImpl<int64_t> &out);
  bool setType(Tensor &tensor, mlir::RankedTensorType type,
               mlir::OperandRange dynamic);
  /// Ends the run as unknown if the value has no tensor.
  TensorRef operand(mlir::Value value);

  // Structured.cpp: regions that compute elements.
  struct Body {
    struct Instruction {
      ScalarFn function;
      llvm::SmallVector<unsigned, 3> operands;
      unsigned result;
    };
    std::vector<Instruction> code;
    std::vector<Scalar> slots;
    llvm::SmallVector<std::pair<unsigned, unsigned>> indices; // slot, loop
    llvm::SmallVector<unsigned> yields;
  };
  std::optional<Body> compile(mlir::Block &block);
  /// Requires that the slots of arguments are set.
  bool runBody(Body &body, llvm::ArrayRef<int64_t> at);
  struct Operand {
    TensorRef tensor; // null: a scalar, or a result that is being written
    mlir::AffineMap map;
    unsigned argument;
  };
  bool runStructured(mlir::linalg::LinalgOp op);
  bool extentsOf(mlir::linalg::LinalgOp op,
                 llvm::SmallVectorImpl<int64_t> &extents);
  std::optional<int64_t> placeAt(mlir::AffineMap map,
                                 llvm::ArrayRef<int64_t> dims,
                                 llvm::ArrayRef<int64_t> at);

  // Movement.cpp
  struct Box {
    llvm::SmallVector<int64_t> offsets, sizes, strides;
  };
  bool boxOf(mlir::OffsetSizeAndStrideOpInterface op,
             llvm::ArrayRef<int64_t> dims, Box &box);
  bool runEmpty(mlir::tensor::EmptyOp op);
  bool runSplat(mlir::tensor::SplatOp op);
  bool runSlice(mlir::tensor::ExtractSliceOp op);
  /// Writes `source` into `dest`; `written` records the elements and ensures
  /// that none is written twice.
  bool write(const Tensor &source, mlir::OffsetSizeAndStrideOpInterface op,
             Tensor &dest, std::vector<bool> *written);
  bool runInsert(mlir::tensor::InsertSliceOp op);
  bool runPad(mlir::tensor::PadOp op);
  bool runCollapse(mlir::tensor::CollapseShapeOp op);
  bool runExpand(mlir::tensor::ExpandShapeOp op);
  bool runConcat(mlir::tensor::ConcatOp op);
  bool runGenerate(mlir::tensor::GenerateOp op);

  // Loops.cpp
  bool runFor(mlir::scf::ForOp op);
  bool runForall(mlir::scf::ForallOp op);

  const RunOptions &options;
  Run &run;
  llvm::DenseMap<mlir::Value, Scalar> scalars;
  llvm::DenseMap<mlir::Value, TensorRef> tensors;
};

} // namespace mlc::interpret

#endif // MLC_VERIFIER_LINALG_MACHINE_H
