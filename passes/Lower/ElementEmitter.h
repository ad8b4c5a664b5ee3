//===- ElementEmitter.h - Scalar expressions as arith and math --*- C++ -*-===//

#ifndef MLC_PASSES_LOWER_ELEMENTEMITTER_H
#define MLC_PASSES_LOWER_ELEMENTEMITTER_H

#include "dialects/Definition/ExprMap.h"
#include "passes/Lower/AffineIndex.h"
#include "passes/Lower/SizeValues.h"

namespace mlc {

/// Writes the body of a linalg op: the value of an expression for one point of
/// the loop nest. A shared subexpression is computed once.
class ElementEmitter {
public:
  /// `readElement` gives the value of a Read node; it may call `emit` for the
  /// node's indices.
  ElementEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                 const LoopNest &nest, SizeValues &sizes,
                 llvm::function_ref<mlir::Value(const Expr &)> readElement)
      : b(builder), loc(loc), nest(nest), sizes(sizes),
        readElement(readElement) {}

  mlir::Value emit(const Expr &expr);

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  mlir::Value build(const Expr &expr);
  mlir::Value constant(const ExprNode &node);
  mlir::Value unary(const ExprNode &node, mlir::Value a);
  mlir::Value binary(const ExprNode &node, mlir::Value a, mlir::Value b);
  mlir::Value floatBinary(BinaryFn fn, mlir::Value a, mlir::Value b);
  mlir::Value integerBinary(const ExprNode &node, mlir::Value a, mlir::Value b);
  mlir::Value indexDivision(const ExprNode &node, mlir::Value a, mlir::Value b);
  mlir::Value truncatingDivision(mlir::Type type, mlir::Value a, mlir::Value b);
  mlir::Value compare(const ExprNode &node, mlir::Value a, mlir::Value b);
  mlir::Value cast(mlir::Value value, mlir::Type from, mlir::Type to);
  mlir::Value toInteger(mlir::Value value, mlir::FloatType from, mlir::Type to);
  mlir::Value number(mlir::Type type, int64_t value);

  const LoopNest &nest;
  SizeValues &sizes;
  llvm::function_ref<mlir::Value(const Expr &)> readElement;
  ExprMap<mlir::Value> values;
};

/// `kind` of two elements of type `type` (the definition's, with its sign).
mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc,
                    ReduceKind kind, mlir::Type type, mlir::Value a,
                    mlir::Value b);

/// The value of `kind` over no elements.
mlir::TypedAttr getIdentity(ReduceKind kind, mlir::Type type);

} // namespace mlc

#endif // MLC_PASSES_LOWER_ELEMENTEMITTER_H
