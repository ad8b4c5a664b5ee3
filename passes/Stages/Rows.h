//===- Rows.h - Operators on slices of positions ----------------*- C++ -*-===//

#ifndef MLC_PASSES_STAGES_ROWS_H
#define MLC_PASSES_STAGES_ROWS_H

#include "mlir/IR/Builders.h"
#include "passes/Distribute/Factors.h"

namespace mlc {

/// How an operator has a slice of its result.
struct Rows {
  enum Kind : uint8_t {
    Own,   ///< the operand has no slices
    Part,  ///< the same slice of the operand
    Whole, ///< the operand has slices, and the result needs all
  };
  dist::Factor factor;
  llvm::SmallVector<Kind> kinds;
  /// For Part: along which dim.
  llvm::SmallVector<std::optional<dist::Place>> operands;
  dist::Place result;
};

/// `places` are the dims of positions of operands that have slices. Nothing if
/// no slice of the result is of the same slice of an operand; an operand that
/// needs others beside is Whole.
std::optional<Rows> findRows(const Definition &definition,
                             llvm::ArrayRef<std::optional<dist::Place>> places,
                             dist::AxisAttr axis);

/// The dim of the result that an operand's dim becomes, if it is one, of the
/// same size.
std::optional<unsigned> findDim(const Definition &definition, unsigned operand,
                                const dist::Place &place, dist::AxisAttr axis);

/// Whether the operator sums over a dim of one operand and a dim of another
/// together, as a matrix product does.
bool isContracted(const Definition &definition, unsigned a,
                  const dist::Place &alongA, unsigned b,
                  const dist::Place &alongB, dist::AxisAttr axis);

/// The operator on a slice of operands; null if that is not the same operator.
mlir::Operation *createRows(mlir::OpBuilder &builder, mlir::Operation *op,
                            const Definition &definition, const Rows &rows,
                            mlir::ValueRange operands, dist::AxisAttr axis);

} // namespace mlc

#endif // MLC_PASSES_STAGES_ROWS_H
