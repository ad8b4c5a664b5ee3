//===- Work.cpp - What an operator does, in numbers -----------------------===//

#include "rewrites/Cost/Work.h"
#include "dialects/Interfaces/Analysis.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;

double mlc::valueOf(IntExpr expr, int64_t symbolValue) {
  std::optional<int64_t> value = expr.evaluate(
      [&](StringRef) -> std::optional<int64_t> { return symbolValue; });
  return value ? static_cast<double>(std::max<int64_t>(*value, 0)) : 1.0;
}

namespace {

/// How a factor of a contraction depends on a loop.
struct Dependence {
  bool exists = false;
  /// The loop stands under a division by this constant alone (the group of a
  /// channel); 0: it stands there as it is.
  double divisor = 0;
};

/// The read among the operands of a product, perhaps behind a cast.
const ExprNode *readOf(const Expr &factor) {
  const ExprNode *node = factor.get();
  while (node->kind == Expr::Kind::Cast)
    node = node->operands[0].get();
  return node->kind == Expr::Kind::Read ? node : nullptr;
}

class Counter {
public:
  Counter(const Definition &definition, int64_t symbolValue)
      : definition(definition), symbolValue(symbolValue) {}

  /// Adds to `work` what the stages do, apart from their bytes.
  void run(Work &work) {
    for (const Stage &stage : definition.stages)
      for (const Piece &piece : stage.pieces) {
        own = piece.loops;
        count(piece.body, pointsOf(own), work);
      }
  }

private:
  double pointsOf(ArrayRef<Loop> loops) {
    double points = 1;
    for (const Loop &loop : loops)
      points *= valueOf(loop.extent, symbolValue);
    return points;
  }

  void count(const Expr &expr, double times, Work &work) {
    const ExprNode &node = *expr;
    switch (node.kind) {
    case Expr::Kind::Loop:
    case Expr::Kind::Int:
    case Expr::Kind::Constant:
    case Expr::Kind::Param:
      return;
    case Expr::Kind::Read:
      return; // index arithmetic is strength-reduced
    case Expr::Kind::Reduce:
      if (addContraction(node, work))
        return;
      times *= pointsOf(node.loops);
      break;
    default:
      break;
    }
    if (!isa<IndexType>(node.type))
      work.operations += times * weight(node);
    for (const Expr &operand : node.operands)
      count(operand, times, work);
  }

  static double weight(const ExprNode &node) {
    if (node.kind == Expr::Kind::Binary)
      return factsOf(node.binary).operations;
    return node.kind == Expr::Kind::Unary ? factsOf(node.unary).operations : 1;
  }

  bool addContraction(const ExprNode &reduce, Work &work) {
    const ExprNode &body = *reduce.operands[0];
    if (reduce.reduce != ReduceKind::Sum || body.kind != Expr::Kind::Binary ||
        body.binary != BinaryFn::Mul)
      return false;
    const ExprNode *a = readOf(body.operands[0]);
    const ExprNode *b = readOf(body.operands[1]);
    if (!a || !b)
      return false;
    ContractionWork contraction;
    for (const Loop &loop : own)
      classify(loop, dependence(*a, loop.id), dependence(*b, loop.id),
               contraction);
    contraction.depth = pointsOf(reduce.loops);
    findWindow(reduce, *a, contraction);
    work.contractions.push_back(contraction);
    return true;
  }

  void classify(const Loop &loop, Dependence a, Dependence b,
                ContractionWork &contraction) {
    double extent = valueOf(loop.extent, symbolValue);
    if (a.exists && b.exists) {
      // A factor that knows only the loop's group shares it within a group.
      double shared = std::min(std::max(a.divisor, b.divisor), extent);
      double inGroup = shared > 1 ? shared : 1;
      contraction.batch *= extent / inGroup;
      (a.divisor > 0 ? contraction.columns : contraction.rows) *= inGroup;
    } else if (b.exists) {
      contraction.columns *= extent;
    } else {
      contraction.rows *= extent;
    }
  }

  Dependence dependence(const ExprNode &read, unsigned loop) {
    Dependence result;
    for (const Expr &index : read.indices())
      find(index, loop, 0, result);
    return result;
  }

  void find(const Expr &expr, unsigned loop, double divisor,
            Dependence &result) {
    const ExprNode &node = *expr;
    if (node.kind == Expr::Kind::Loop && node.loop == loop) {
      // As it is in one index: that tells it apart everywhere.
      bool isDivided = divisor > 0 && (!result.exists || result.divisor > 0);
      result.divisor = isDivided ? divisor : 0;
      result.exists = true;
      return;
    }
    if (node.kind == Expr::Kind::Binary && node.binary == BinaryFn::FloorDiv &&
        node.operands[1]->kind == Expr::Kind::Int)
      divisor = valueOf(node.operands[1]->integer, symbolValue);
    for (const Expr &operand : node.operands)
      find(operand, loop, divisor, result);
  }

  /// The loop of `own` that slides with step 1 in an index in which `offset`
  /// stands with step 1 too.
  const Loop *slides(const ExprNode &read, unsigned offset) {
    for (const Expr &index : read.indices()) {
      bool hasOffset = false;
      const Loop *sliding = nullptr;
      if (!isSumOfLoops(index, [&](unsigned loop) {
            hasOffset |= loop == offset;
            for (const Loop &mine : own)
              if (mine.id == loop)
                sliding = &mine;
          }))
        continue;
      if (hasOffset && sliding)
        return sliding;
    }
    return nullptr;
  }

  /// Whether `expr` adds and subtracts nothing but loops and integers; calls
  /// `callback` for each loop.
  static bool isSumOfLoops(const Expr &expr,
                           llvm::function_ref<void(unsigned)> callback) {
    const ExprNode &node = *expr;
    if (node.kind == Expr::Kind::Int)
      return true;
    if (node.kind == Expr::Kind::Loop) {
      callback(node.loop);
      return true;
    }
    return node.kind == Expr::Kind::Binary &&
           (node.binary == BinaryFn::Add || node.binary == BinaryFn::Sub) &&
           isSumOfLoops(node.operands[0], callback) &&
           isSumOfLoops(node.operands[1], callback);
  }

  void findWindow(const ExprNode &reduce, const ExprNode &read,
                  ContractionWork &contraction) {
    llvm::SmallVector<const Loop *, 2> sliding;
    for (const Loop &loop : reduce.loops)
      if (loop.extent.isConstant(3))
        if (const Loop *position = slides(read, loop.id))
          sliding.push_back(position);
    if (sliding.size() != 2)
      return;
    contraction.windowHeight = valueOf(sliding[0]->extent, symbolValue);
    contraction.windowWidth = valueOf(sliding[1]->extent, symbolValue);
  }

  const Definition &definition;
  int64_t symbolValue;
  ArrayRef<Loop> own;
};

/// Whether the only stage reads its operand at `loop * step + constant` in
/// every dim, in order.
bool isBox(const Definition &definition) {
  if (definition.inputs.size() != 1 || definition.stages.size() != 1 ||
      definition.stages[0].pieces.size() != 1)
    return false;
  const Piece &piece = definition.stages[0].pieces[0];
  const ExprNode &body = *piece.body;
  if (body.kind != Expr::Kind::Read || body.guarded ||
      body.indices().size() != piece.loops.size())
    return false;
  for (auto [index, loop] : llvm::zip(body.indices(), piece.loops)) {
    unsigned loops = 0;
    bool isOwn = true;
    walk(index, [&](const ExprNode &node) {
      if (node.kind == Expr::Kind::Loop) {
        ++loops;
        isOwn &= node.loop == loop.id;
      }
    });
    if (loops > 1 || !isOwn)
      return false;
  }
  return true;
}

/// Whether every read is at some of the piece's loops, in order.
bool isPointwise(const Piece &piece) {
  bool result = true;
  walk(piece.body, [&](const ExprNode &node) {
    if (node.kind == Expr::Kind::Reduce)
      result = false;
    if (node.kind != Expr::Kind::Read)
      return;
    result &= !node.guarded;
    size_t next = 0;
    for (const Expr &index : node.indices()) {
      if (index->kind == Expr::Kind::Int)
        continue;
      while (next < piece.loops.size() && (index->kind != Expr::Kind::Loop ||
                                           index->loop != piece.loops[next].id))
        ++next;
      result &= next++ < piece.loops.size();
    }
  });
  return result;
}

} // namespace

Work mlc::countWork(MLIRContext *context, const Definition &definition,
                    int64_t symbolValue) {
  Work work;
  Counter(definition, symbolValue).run(work);
  DefinitionCost cost = getCost(context, definition);
  work.bytesRead = valueOf(cost.bytesRead, symbolValue);
  work.bytesWritten = valueOf(cost.bytesWritten, symbolValue);
  work.isLeaf = definition.inputs.empty();
  work.isPointwise =
      !work.isLeaf && !definition.stages.empty() &&
      llvm::all_of(definition.stages, [](const Stage &stage) {
        return stage.pieces.size() == 1 && isPointwise(stage.pieces[0]);
      });
  work.isReinterpretation =
      !definition.stages.empty() &&
      llvm::all_of(definition.stages, [](const Stage &stage) {
        return stage.reinterprets.has_value();
      });
  work.isBox = isBox(definition);
  return work;
}
