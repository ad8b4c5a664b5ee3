//===- Contraction.cpp - Definitions of matrix products -------------------===//

#include "dialects/Graph/ContractionOps.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

LogicalResult MatMulOp::checkOperands() {
  auto lhs = getLhs().getType(), rhs = getRhs().getType();
  if (lhs.getRank() < 2 || lhs.getRank() != rhs.getRank())
    return emitOpError() << "requires operands of one rank, 2 or more, got "
                         << lhs.getRank() << " and " << rhs.getRank();
  if (lhs.getElementType() != rhs.getElementType())
    return emitOpError() << "requires operands of one element type, got "
                         << lhs.getElementType() << " and "
                         << rhs.getElementType();
  return success();
}

void MatMulOp::define(DefinitionBuilder &b) {
  ArrayRef<IntExpr> lhs = b.dims(0), rhs = b.dims(1);
  unsigned rank = lhs.size();
  for (unsigned d = 0; d + 2 < rank; ++d)
    b.require(lhs[d], ComparePredicate::EQ, rhs[d],
              "batch dims of both operands must be equal");
  b.require(lhs[rank - 1], ComparePredicate::EQ, rhs[rank - 2],
            "columns of the left must equal rows of the right operand");
  SmallVector<IntExpr> dims(lhs.drop_back());
  dims.push_back(rhs[rank - 1]);
  b.result(b.stage("y", dims, b.elementType(0), [&](ArrayRef<Expr> i) {
    return b.reduce(ReduceKind::Sum, {lhs[rank - 1]}, [&](ArrayRef<Expr> r) {
      SmallVector<Expr> left(i.drop_back()), right(i.drop_back(2));
      left.push_back(r[0]);
      right.push_back(r[0]);
      right.push_back(i[rank - 1]);
      return b.read(0, left) * b.read(1, right);
    });
  }));
}
