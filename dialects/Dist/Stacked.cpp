//===- Stacked.cpp - Definitions of collectives over all ranks ------------===//
//
// Y[r, i] is rank r's result, X[q, i] is rank q's operand. Sums are over q < N;
// i are the remaining dims.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Dist.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::dist;
using llvm::ArrayRef;
using llvm::SmallVector;

static ReduceKind kindOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
    return ReduceKind::Sum;
  case Reduction::Prod:
    return ReduceKind::Prod;
  case Reduction::Max:
    return ReduceKind::Max;
  case Reduction::Min:
    return ReduceKind::Min;
  case Reduction::Mean:
    break; // refused by the verifier of the operator
  }
  llvm_unreachable("ranks are not averaged over");
}

/// Element `i` of result i, with the dims of the operator's result type.
using Element = llvm::function_ref<Expr(unsigned, ArrayRef<Expr>)>;

static void defineResults(Operation *op, DefinitionBuilder &b,
                          Element element) {
  for (auto [k, value] : llvm::enumerate(op->getResults())) {
    unsigned input = k;
    SmallVector<IntExpr> dims = {b.dims(input)[0]};
    llvm::append_range(dims, *getDims(cast<RankedTensorType>(value.getType())));
    b.result(b.stage("y", dims, b.elementType(input),
                     [&](ArrayRef<Expr> i) { return element(input, i); }));
  }
}

/// `index` with some entries replaced.
static SmallVector<Expr>
replaced(ArrayRef<Expr> index,
         std::initializer_list<std::pair<unsigned, Expr>> others) {
  SmallVector<Expr> out(index);
  for (auto &[place, expr] : others)
    out[place] = expr;
  return out;
}

void AllReduceOp::defineStacked(DefinitionBuilder &b) {
  ReduceKind kind = kindOf(getReduction());
  defineResults(*this, b, [&](unsigned k, ArrayRef<Expr> i) {
    return b.reduce(kind, b.dims(k)[0], [&](ArrayRef<Expr> q) {
      return b.read(k, replaced(i, {{0, q[0]}}));
    });
  });
}

void ReduceScatterOp::defineStacked(DefinitionBuilder &b) {
  ReduceKind kind = kindOf(getReduction());
  defineResults(*this, b, [&](unsigned k, ArrayRef<Expr> i) {
    unsigned d = 1 + getDims()[k];
    IntExpr part = getAxis().getSize(getExtents()[k]) * getUnits()[k];
    Expr whole = i[0] * part + i[d];
    return b.reduce(kind, b.dims(k)[0], [&](ArrayRef<Expr> q) {
      return b.read(k, replaced(i, {{0, q[0]}, {d, whole}}));
    });
  });
}

void AllGatherOp::defineStacked(DefinitionBuilder &b) {
  defineResults(*this, b, [&](unsigned k, ArrayRef<Expr> i) {
    unsigned d = 1 + getDims()[k];
    IntExpr part = b.dims(k)[d];
    return b.read(
        k, replaced(i, {{0, floorDiv(i[d], part)}, {d, mod(i[d], part)}}));
  });
}

void AllToAllOp::defineStacked(DefinitionBuilder &b) {
  unsigned split = 1 + getSplit(), join = 1 + getJoin();
  IntExpr kept = getAxis().getSize(getSplitExtent());
  defineResults(*this, b, [&](unsigned k, ArrayRef<Expr> i) {
    IntExpr part = b.dims(k)[join];
    return b.read(k, replaced(i, {{0, floorDiv(i[join], part)},
                                  {join, mod(i[join], part)},
                                  {split, i[0] * kept + i[split]}}));
  });
}

void BroadcastOp::defineStacked(DefinitionBuilder &b) {
  b.require(getAxis().getSize(), ComparePredicate::GT,
            IntExpr::constant(getContext(), getRoot()),
            "the root must be one of the ranks");
  defineResults(*this, b, [&](unsigned k, ArrayRef<Expr> i) {
    return b.read(k, replaced(i, {{0, b.index(getRoot())}}));
  });
}

void ShiftOp::defineStacked(DefinitionBuilder &b) {
  IntExpr by = IntExpr::constant(getContext(), getBy());
  defineResults(*this, b, [&](unsigned k, ArrayRef<Expr> i) {
    return b.readOr(k, replaced(i, {{0, i[0] - by}}),
                    b.constant(b.elementType(k), 0));
  });
}

void HaloOp::defineStacked(DefinitionBuilder &b) {
  unsigned d = 1 + getDim();
  IntExpr reach =
      IntExpr::constant(getContext(), std::max<int64_t>(getLow(), getHigh()));
  defineResults(*this, b, [&](unsigned k, ArrayRef<Expr> i) {
    IntExpr part = b.dims(k)[d];
    b.require(part, ComparePredicate::GE, reach,
              "a rank must have what its neighbours ask for");
    Expr whole = i[0] * part + i[d] - IntExpr::constant(getContext(), getLow());
    return b.readOr(
        k, replaced(i, {{0, floorDiv(whole, part)}, {d, mod(whole, part)}}),
        b.constant(b.elementType(k), 0));
  });
}
