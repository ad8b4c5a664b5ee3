//===- Hoist.cpp - Sums as stages of their own ----------------------------===//

#include "passes/Distribute/Hoist.h"
#include "passes/Distribute/MakeExpr.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

namespace {

class Hoister {
public:
  explicit Hoister(const Definition &from) : from(from) {
    to.inputs = from.inputs;
    to.numLoops = from.numLoops;
  }

  std::optional<Definition> run() {
    for (const Stage &stage : from.stages) {
      Stage copy = stage;
      for (Piece &piece : copy.pieces)
        piece.body = rewrite(piece.body, piece.loops, /*isRoot=*/true);
      places.push_back(to.stages.size());
      to.stages.push_back(std::move(copy));
    }
    if (to.stages.size() == from.stages.size())
      return std::nullopt;
    for (unsigned result : from.results)
      to.results.push_back(places[result]);
    return std::move(to);
  }

private:
  Expr rewrite(const Expr &expr, ArrayRef<Loop> outer, bool isRoot) {
    if (expr->kind == Expr::Kind::Reduce) {
      Expr whole = renumber(expr);
      return isRoot ? whole : hoist(whole, outer);
    }
    if (expr->operands.empty() && expr->kind != Expr::Kind::Read)
      return expr;
    ExprNode node = *expr;
    for (Expr &operand : node.operands)
      operand = rewrite(operand, outer, /*isRoot=*/false);
    return make(moved(std::move(node)));
  }

  ExprNode moved(ExprNode node) const {
    if (node.kind == Expr::Kind::Read && node.tensor.isStage)
      node.tensor.index = places[node.tensor.index];
    return node;
  }

  Expr renumber(const Expr &expr) const {
    ExprNode node = *expr;
    for (Expr &operand : node.operands)
      operand = renumber(operand);
    return make(moved(std::move(node)));
  }

  /// A stage with new loops for those of `outer` that the reduction depends on.
  Expr hoist(const Expr &reduction, ArrayRef<Loop> outer) {
    llvm::DenseMap<unsigned, unsigned> own;
    Stage stage;
    stage.name = "sum";
    stage.elementType = reduction->type;
    Piece piece;
    ExprNode read(Expr::Kind::Read, reduction->type);
    for (const Loop &loop : outer) {
      bool isUsed = false;
      walk(reduction, [&](const ExprNode &node) {
        isUsed |= node.kind == Expr::Kind::Loop && node.loop == loop.id;
      });
      if (!isUsed)
        continue;
      own[loop.id] = to.numLoops;
      piece.loops.push_back({to.numLoops++, loop.extent});
      piece.offset.push_back(loop.extent * 0);
      stage.dims.push_back(loop.extent);
      ExprNode index(Expr::Kind::Loop, IndexType::get(context()));
      index.loop = loop.id;
      read.operands.push_back(make(std::move(index)));
    }
    piece.body = mlc::rewrite(reduction, [&](const ExprNode &node) {
      auto it = node.kind == Expr::Kind::Loop ? own.find(node.loop) : own.end();
      if (it == own.end())
        return Expr();
      ExprNode loop = node;
      loop.loop = it->second;
      return make(std::move(loop));
    });
    stage.pieces.push_back(std::move(piece));
    read.tensor = {true, unsigned(to.stages.size())};
    to.stages.push_back(std::move(stage));
    return make(std::move(read));
  }

  MLIRContext *context() const {
    return from.stages.front().elementType.getContext();
  }

  const Definition &from;
  Definition to;
  /// The new numbers of the stages of `from`.
  SmallVector<unsigned> places;
};

} // namespace

std::optional<Definition> hoistReductions(const Definition &definition) {
  return Hoister(definition).run();
}

} // namespace mlc::dist
