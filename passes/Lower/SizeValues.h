//===- SizeValues.h - IntExprs as index values ------------------*- C++ -*-===//

#ifndef MLC_PASSES_LOWER_SIZEVALUES_H
#define MLC_PASSES_LOWER_SIZEVALUES_H

#include "dialects/Symbolic/IntExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

/// On a lowered function: the names of the symbols in its last arguments.
inline constexpr llvm::StringLiteral kSymbolsAttr = "mlc.symbols";

/// Computes sizes from the trailing index arguments of a function, at its
/// entry, each distinct expression once. A symbol without an argument gets one,
/// so that definitions and attributes need not be searched for symbols first.
class SizeValues {
public:
  /// `function` has one index argument per name, in order, from argument
  /// `firstArgument` on, and lists the names (kSymbolsAttr).
  SizeValues(mlir::func::FuncOp function, llvm::ArrayRef<std::string> names,
             unsigned firstArgument);

  /// The value of `expr`.
  mlir::Value get(IntExpr expr);
  /// An attribute if `expr` is constant, else the value.
  mlir::OpFoldResult getMixed(IntExpr expr);
  llvm::SmallVector<mlir::OpFoldResult> getMixed(llvm::ArrayRef<IntExpr> exprs);

private:
  mlir::Value build(IntExpr expr);
  mlir::Value symbol(llvm::StringRef name);
  /// `expr` over the symbols that `operands` collects.
  mlir::AffineExpr affine(IntExpr expr,
                          llvm::SmallVectorImpl<mlir::Value> &operands);

  /// Continues after the last size computed, before everything else.
  void place();

  mlir::func::FuncOp function;
  mlir::Operation *last = nullptr;
  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::StringMap<mlir::Value> symbols;
  llvm::DenseMap<mlir::Attribute, mlir::Value> values;
};

/// Names of all symbols of `exprs` that are not in `names` yet are appended to
/// it, in order of appearance.
void collectSymbols(llvm::ArrayRef<IntExpr> exprs,
                    llvm::SmallVectorImpl<std::string> &names);

} // namespace mlc

#endif // MLC_PASSES_LOWER_SIZEVALUES_H
