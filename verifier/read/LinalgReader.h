//===- LinalgReader.h - linalg and friends in index notation ----*- C++ -*-===//
//
// Reads operations of linalg, tensor, arith, math, affine and scf on tensors. A
// tensor is represented as a function from indices to its element, so that
// slices, loops that write slices and fused regions all become one expression.
//
// Indices are IntExprs; the symbol `%L<n>` is loop n of the definition that is
// being built. Element expressions are `Expr`s.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_LINALGREADER_H
#define MLC_VERIFIER_READ_LINALGREADER_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "verifier/read/Program.h"

namespace mlc::verifier {

class LinalgReader {
public:
  explicit LinalgReader(ProgramBuilder &builder)
      : builder(builder), context(builder.getContext()) {}

  /// Reads one operation; false, with the builder's failure set, if the
  /// verifier does not support it.
  bool read(mlir::Operation *op);
  /// A stage with the value's elements; nullopt if it is no tensor read here.
  std::optional<TensorId> materialize(mlir::Value value);
  /// Makes `value` a stage that later reads refer to.
  void keep(mlir::Value value);
  /// Whether the operation or one inside it divides integers or reads a tensor
  /// at a computed index; these may be undefined even if the value is unused.
  static bool mayBeUndefined(mlir::Operation *op);
  /// Whether the yielded values need every operation of a region that may be
  /// undefined, whatever is selected.
  static bool usesAll(mlir::Block &body);

private:
  using Indices = llvm::ArrayRef<IntExpr>;
  using Element = std::function<Expr(Indices)>;
  /// A tensor that is `base` except where all guards hold.
  struct Update {
    std::function<llvm::SmallVector<IntExpr>(Indices)> nonNegatives;
    Element value, base;
  };
  struct Tensor {
    llvm::SmallVector<IntExpr> dims;
    mlir::Type elementType;
    Element at;
    std::optional<Update> update;
  };
  Tensor updated(llvm::ArrayRef<IntExpr> dims, mlir::Type elementType,
                 Update update);

  // Values.
  std::optional<Tensor> tensorOf(mlir::Value value);
  std::optional<IntExpr> integerOf(mlir::Value value);
  std::optional<IntExpr> integerOf(mlir::OpFoldResult value);
  Expr scalarOf(mlir::Value value);
  IntExpr constant(int64_t value) const {
    return IntExpr::constant(context, value);
  }
  IntExpr freshLoop(unsigned &id);
  /// Whether an index or a variable of a loop occurs.
  static bool hasVariables(IntExpr expr);
  /// An upper bound of `extent` without variables of enclosing loops.
  static std::optional<IntExpr> boundOf(IntExpr extent);
  Expr toExpr(IntExpr expr);
  /// Whether all of these are >= 0.
  Expr allNonNegative(llvm::ArrayRef<IntExpr> exprs);
  bool fail(const llvm::Twine &reason) { return builder.fail(reason); }
  /// Any expression of the type, to continue with after a failure.
  Expr failExpr(const llvm::Twine &reason, mlir::Type type);
  /// Returns the expression if it is small enough for walks; otherwise fails.
  Expr limited(Expr expr);
  /// An element of a tensor, counted and bounded: tensors that share operands
  /// expand once per path through the graph.
  Expr elementOf(const Element &at, Indices indices, mlir::Type type);
  /// Requires a condition, in every iteration of the enclosing loops in which
  /// `given` holds, for the function to be well formed.
  void must(IntExpr lhs, ComparePredicate predicate, IntExpr rhs,
            const llvm::Twine &message, llvm::ArrayRef<Guard> given = {});
  /// Requires the sizes of the value's type.
  void mustHaveSizes(mlir::Value value, llvm::ArrayRef<IntExpr> dims);

  // LinalgScalar.cpp
  /// Code of a function and its loops always runs; the region of an operator
  /// may not.
  enum class Where { Function, Region };
  bool readInteger(mlir::Operation *op, Where where);
  std::optional<IntExpr> affineOf(mlir::Operation *op, Indices operands,
                                  Where where);
  std::optional<IntExpr> arithOf(mlir::Operation *op, Indices operands,
                                 Where where);
  bool canDivideBy(IntExpr divisor, Where where);
  bool readScalar(mlir::Operation *op, Where where);
  void keepScalar(mlir::Value value);
  bool readScalars(mlir::Block &block);
  std::optional<IntExpr> affine(mlir::AffineExpr expr, Indices dims,
                                Indices symbols, Where where);

  // LinalgTensor.cpp
  bool readTensor(mlir::Operation *op);
  bool readStructured(mlir::linalg::LinalgOp op);
  bool loopExtents(mlir::linalg::LinalgOp op,
                   llvm::SmallVectorImpl<IntExpr> &extents);
  void mustReadInside(mlir::linalg::LinalgOp op, Indices extents);
  Expr structuredElement(mlir::linalg::LinalgOp op, unsigned result,
                         Indices extents, Indices at);
  bool readBody(mlir::linalg::LinalgOp op, mlir::OpOperand *init,
                Indices loops);
  Expr reducedElement(mlir::linalg::LinalgOp op, unsigned result,
                      llvm::ArrayRef<Loop> reduced,
                      llvm::ArrayRef<IntExpr> conditions);

  // LinalgMovement.cpp
  void mustLieInside(Indices offsets, Indices sizes, Indices strides,
                     Indices dims);
  bool readSlice(mlir::tensor::ExtractSliceOp op);
  bool readInsert(mlir::Value result, mlir::Value source, mlir::Value dest,
                  mlir::OffsetSizeAndStrideOpInterface op,
                  mlir::RankedTensorType sourceType);
  bool readPad(mlir::tensor::PadOp op);
  bool readReshape(mlir::Value source, mlir::Value result,
                   llvm::ArrayRef<mlir::ReassociationIndices> groups,
                   bool isCollapse);
  bool readConcat(mlir::tensor::ConcatOp op);
  bool readGenerate(mlir::tensor::GenerateOp op);

  // LinalgLoops.cpp
  struct LoopRange {
    IntExpr lower, upper, step;
    mlir::Value variable;
  };
  bool readFor(mlir::scf::ForOp op);
  bool readForall(mlir::scf::ForallOp op);
  /// The value of a carried tensor after the loop: `next` in terms of the
  /// loop's variable and of the tensor before the iteration.
  std::optional<Tensor> afterLoop(const LoopRange &range, const Tensor &init,
                                  const Tensor &next,
                                  const std::string &marker);
  std::optional<Tensor> afterWrites(const LoopRange &range, const Tensor &init,
                                    const Tensor &next,
                                    const std::string &marker);
  Tensor markerTensor(const Tensor &like, const std::string &marker);
  Expr replaceMarker(const Expr &expr, const std::string &marker, Indices at,
                     const Expr &value);
  Expr addend(const Expr &expr, const std::string &marker, Indices at);
  Expr substituteSymbol(const Expr &expr, IntExpr symbol, IntExpr value);
  IntExpr bindVariable(mlir::Value variable);

  ProgramBuilder &builder;
  mlir::MLIRContext *context;
  /// Loops around the current operation.
  std::vector<LoopRange> around;
  llvm::DenseMap<mlir::Value, Tensor> tensors;
  llvm::DenseMap<mlir::Value, IntExpr> integers;
  llvm::DenseMap<mlir::Value, Expr> scalars;
  /// Numbers for the names of unknowns, such as a loop's iteration argument.
  unsigned numMarkers = 0, numVariables = 0, numUninitialized = 0;
  unsigned numElements = 0, depth = 0;
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_LINALGREADER_H
