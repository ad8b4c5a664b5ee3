//===- IndexMath.h - Index arithmetic that folds constants ------*- C++ -*-===//
//
// A thin layer over arith on `index` for loop emitters: every quantity is an
// OpFoldResult (a constant or a value), and constants are folded while the code
// is built, so that no clean-up pass is needed.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_INDEXMATH_H
#define MLC_CODEGEN_CPU_INDEXMATH_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlc::cpu {

using Index = mlir::OpFoldResult;

class IndexMath {
public:
  IndexMath(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  Index constant(int64_t v) const { return b.getIndexAttr(v); }
  static std::optional<int64_t> fixed(Index v);
  static bool is(Index v, int64_t k) { return fixed(v) == k; }

  /// The quantity as an SSA value; a constant is materialized.
  mlir::Value value(Index v);

  Index add(Index a, Index c);
  Index sub(Index a, Index c);
  Index mul(Index a, Index c);
  Index min(Index a, Index c);
  Index max(Index a, Index c);
  /// Division of non-negative numbers.
  Index div(Index a, Index c);
  Index ceilDiv(Index a, Index c);
  Index rem(Index a, Index c);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_INDEXMATH_H
