//===- Analysis.cpp - Cost, kind and loops of a definition ----------------===//

#include "dialects/Definition/Analysis.h"
#include "dialects/Definition/ExprMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

int64_t getElementBytes(Type elementType) {
  return elementType.isIndex() ? 8
                               : (elementType.getIntOrFloatBitWidth() + 7) / 8;
}

namespace {

bool isFunction(const ExprNode &node) {
  if (node.kind == Expr::Kind::Binary)
    return factsOf(node.binary).isFunction;
  return node.kind == Expr::Kind::Unary && factsOf(node.unary).isFunction;
}

IntExpr pointsOf(ArrayRef<Loop> loops, IntExpr one) {
  IntExpr points = one;
  for (const Loop &loop : loops)
    points = points * loop.extent;
  return points;
}

/// Counts a body once per node and scope; records reads with the number of
/// points that reach them.
struct Counter {
  IntExpr one;
  IntExpr operations, functions;
  llvm::MapVector<unsigned, IntExpr> readPoints; // by operand

  /// `places`: the expression is part of an index, whose arithmetic is free.
  void count(const Expr &expr, IntExpr points, ExprSet &seen,
             bool places = false) {
    if (!seen.insert(expr).second)
      return;
    const ExprNode &node = *expr;
    if (node.kind == Expr::Kind::Read && !node.tensor.isStage) {
      auto it = readPoints.insert({node.tensor.index, points});
      if (!it.second)
        it.first->second = it.first->second + points;
    }
    if (node.kind == Expr::Kind::Reduce) {
      IntExpr inner = points * pointsOf(node.loops, one);
      operations = operations + inner;
      ExprSet own;
      count(node.operands[0], inner, own);
      return;
    }
    Type type =
        node.kind == Expr::Kind::Compare ? node.operands[0]->type : node.type;
    bool computes =
        node.kind == Expr::Kind::Unary || node.kind == Expr::Kind::Binary ||
        node.kind == Expr::Kind::Compare || node.kind == Expr::Kind::Select;
    if (computes && !places && !isa<IndexType>(type))
      operations = operations + points;
    if (isFunction(node) && !places)
      functions = functions + points;
    size_t indices = node.kind == Expr::Kind::Read ? node.indices().size() : 0;
    for (auto [i, operand] : llvm::enumerate(node.operands))
      count(operand, points, seen, places || i < indices);
  }
};

IntExpr bytesOf(MLIRContext *context, ArrayRef<IntExpr> dims, Type type) {
  return getNumElements(context, dims) * getElementBytes(type);
}

} // namespace

DefinitionCost getCost(MLIRContext *context, const Definition &definition) {
  IntExpr zero = IntExpr::constant(context, 0);
  Counter counter;
  counter.one = IntExpr::constant(context, 1);
  counter.operations = counter.functions = zero;
  DefinitionCost cost{zero, zero, zero, zero, zero};
  for (auto [i, stage] : llvm::enumerate(definition.stages)) {
    for (const Piece &piece : stage.pieces) {
      ExprSet seen;
      counter.count(piece.body, pointsOf(piece.loops, counter.one), seen);
    }
    IntExpr bytes = bytesOf(context, stage.dims, stage.elementType);
    IntExpr &sum = llvm::is_contained(definition.results, i)
                       ? cost.bytesWritten
                       : cost.bytesBetween;
    sum = sum + bytes;
  }
  for (auto [input, points] : counter.readPoints) {
    const TensorShape &shape = definition.inputs[input];
    cost.bytesRead =
        cost.bytesRead +
        IntExpr::min(bytesOf(context, shape.dims, shape.elementType),
                     points * getElementBytes(shape.elementType));
  }
  cost.operations = counter.operations;
  cost.functions = counter.functions;
  return cost;
}

std::optional<double> DefinitionCost::intensity(
    llvm::function_ref<std::optional<int64_t>(StringRef)> valueOf) const {
  std::optional<int64_t> count = operations.evaluate(valueOf);
  std::optional<int64_t> bytes = (bytesRead + bytesWritten).evaluate(valueOf);
  if (!count || !bytes)
    return std::nullopt;
  return *bytes ? double(*count) / double(*bytes) : 0.0;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

namespace {

bool isLoop(const Expr &expr, unsigned id) {
  return expr->kind == Expr::Kind::Loop && expr->loop == id;
}

bool readsOwnPlace(const ExprNode &read, ArrayRef<Loop> loops) {
  if (read.guarded || read.indices().size() != loops.size())
    return false;
  for (auto [index, loop] : llvm::zip(read.indices(), loops))
    if (!isLoop(index, loop.id))
      return false;
  return true;
}

/// Whether all reads are at the loops' own position, with no other use of
/// loops.
bool isPointwise(const Expr &expr, ArrayRef<Loop> loops) {
  if (expr->kind == Expr::Kind::Read)
    return readsOwnPlace(*expr, loops);
  if (expr->kind == Expr::Kind::Loop || expr->kind == Expr::Kind::Reduce)
    return false;
  return llvm::all_of(expr->operands,
                      [&](const Expr &e) { return isPointwise(e, loops); });
}

/// A single element, or a number where there is none.
bool isMove(const Expr &body) {
  if (body->kind != Expr::Kind::Read)
    return false;
  return !body->guarded ||
         body->operands.back()->kind == Expr::Kind::Constant ||
         body->operands.back()->kind == Expr::Kind::Param;
}

bool mentionsLoop(const Expr &expr, unsigned id) {
  bool found = false;
  walk(expr, [&](const ExprNode &node) {
    found |= node.kind == Expr::Kind::Loop && node.loop == id;
  });
  return found;
}

bool repeats(const Piece &piece) {
  return llvm::any_of(piece.loops, [&](const Loop &loop) {
    return !loop.extent.isConstant(1) && !mentionsLoop(piece.body, loop.id);
  });
}

/// Sum of a product of reads of two tensors, each indexed by a loop of the sum.
bool isProductSum(const ExprNode &node) {
  if (node.kind != Expr::Kind::Reduce || node.reduce != ReduceKind::Sum)
    return false;
  const Expr &product = node.operands[0];
  if (product->kind != Expr::Kind::Binary || product->binary != BinaryFn::Mul)
    return false;
  const Expr &a = product->operands[0], &b = product->operands[1];
  // Elements under a select count only at some points (conv_transpose).
  auto isElement = [](const Expr &e) {
    return e->kind == Expr::Kind::Read ||
           (e->kind == Expr::Kind::Select &&
            e->operands[1]->kind == Expr::Kind::Read);
  };
  if (!isElement(a) || !isElement(b) || a == b)
    return false;
  auto isIndexed = [&](const Expr &read) {
    return llvm::any_of(node.loops, [&](const Loop &loop) {
      return mentionsLoop(read, loop.id);
    });
  };
  return isIndexed(a) && isIndexed(b);
}

} // namespace

DefinitionKind getKind(const Definition &definition) {
  DefinitionKind kind;
  kind.isLeaf = definition.inputs.empty();
  kind.isElementwise = kind.isMovement = !kind.isLeaf;
  for (const Stage &stage : definition.stages) {
    kind.isElementwise &= stage.pieces.size() == 1;
    for (const Piece &piece : stage.pieces) {
      kind.isElementwise &= isPointwise(piece.body, piece.loops);
      kind.isMovement &= isMove(piece.body);
      kind.isReplicating |= repeats(piece);
      walk(piece.body, [&](const ExprNode &node) {
        kind.hasReduction |= node.kind == Expr::Kind::Reduce;
        kind.isContraction |= isProductSum(node);
      });
    }
  }
  kind.isReplicating &= kind.isMovement;
  return kind;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

StringRef name(LoopRole role) {
  static constexpr const char *names[] = {"sample", "attribute", "parameter",
                                          "parallel", "reduction"};
  return names[static_cast<unsigned>(role)];
}

bool LoopAccess::hasHalo() const {
  if (!isLinear)
    return false;
  // Exactly its part: [stride * loop, stride * loop + stride).
  return !low.isKnownNonNegative() || !(stride - 1 - high).isKnownNonNegative();
}

namespace {

/// constant + sum of coefficient * loop, with symbolic numbers.
struct SymbolicForm {
  IntExpr constant;
  SmallVector<std::pair<unsigned, IntExpr>, 4> terms;
};

struct LoopCollector {
  const Definition &definition;
  llvm::function_ref<bool(unsigned)> isParameter;
  std::vector<LoopInfo> loops = {};
  llvm::DenseMap<unsigned, IntExpr> extents =
      llvm::DenseMap<unsigned, IntExpr>();

  std::optional<SymbolicForm> formOf(const Expr &expr) {
    MLIRContext *context = expr->type.getContext();
    if (expr->kind == Expr::Kind::Loop)
      return SymbolicForm{IntExpr::constant(context, 0),
                          {{expr->loop, IntExpr::constant(context, 1)}}};
    if (expr->kind == Expr::Kind::Int)
      return SymbolicForm{expr->integer, {}};
    if (expr->kind != Expr::Kind::Binary)
      return std::nullopt;
    std::optional<SymbolicForm> a = formOf(expr->operands[0]);
    std::optional<SymbolicForm> b =
        a ? formOf(expr->operands[1]) : std::nullopt;
    if (!b)
      return std::nullopt;
    switch (expr->binary) {
    case BinaryFn::Add:
    case BinaryFn::Sub: {
      int64_t sign = expr->binary == BinaryFn::Add ? 1 : -1;
      a->constant = a->constant + b->constant * sign;
      for (auto [loop, coefficient] : b->terms)
        addTerm(*a, loop, coefficient * sign);
      return a;
    }
    case BinaryFn::Mul: {
      if (!b->terms.empty())
        std::swap(a, b);
      if (!b->terms.empty())
        return std::nullopt;
      a->constant = a->constant * b->constant;
      for (auto &term : a->terms)
        term.second = term.second * b->constant;
      return a;
    }
    default:
      return std::nullopt;
    }
  }

  static void addTerm(SymbolicForm &form, unsigned loop, IntExpr coefficient) {
    for (auto &term : form.terms)
      if (term.first == loop) {
        term.second = term.second + coefficient;
        return;
      }
    form.terms.push_back({loop, coefficient});
  }

  /// The range of a form without one loop; nothing if a sign is unknown.
  std::optional<std::pair<IntExpr, IntExpr>> restOf(const SymbolicForm &form,
                                                    unsigned without) {
    IntExpr low = form.constant, high = form.constant;
    for (auto [loop, coefficient] : form.terms) {
      if (loop == without)
        continue;
      IntExpr most = coefficient * (extents[loop] - 1);
      if (coefficient.isKnownNonNegative())
        high = high + most;
      else if ((-coefficient).isKnownNonNegative())
        low = low + most;
      else
        return std::nullopt;
    }
    return std::make_pair(low, high);
  }

  LoopAccess accessOf(LoopInfo &info, const ExprNode &read, unsigned dim,
                      const Expr &index) {
    LoopAccess access{read.tensor, dim, false, {}, {}, {}};
    std::optional<SymbolicForm> form = formOf(index);
    if (!form)
      return access;
    auto *term = llvm::find_if(
        form->terms, [&](const auto &t) { return t.first == info.loop.id; });
    auto rest = restOf(*form, info.loop.id);
    if (term == form->terms.end() || !rest)
      return access;
    access.isLinear = true;
    access.stride = term->second;
    access.low = rest->first;
    access.high = rest->second;
    return access;
  }

  void collectAccesses(LoopInfo &info, const Expr &body) {
    walk(body, [&](const ExprNode &node) {
      if (node.kind != Expr::Kind::Read)
        return;
      for (auto [dim, index] : llvm::enumerate(node.indices()))
        if (mentionsLoop(index, info.loop.id))
          info.accesses.push_back(accessOf(info, node, dim, index));
    });
    for (const LoopAccess &access : info.accesses) {
      info.isSplittable &= access.isLinear;
      info.hasHalo |= access.hasHalo();
    }
  }

  LoopRole roleOf(const LoopInfo &info) {
    if (!info.resultDim)
      return LoopRole::Reduction;
    bool activations = false, parameters = false, first = true;
    for (const LoopAccess &access : info.accesses) {
      bool isWeight =
          !access.tensor.isStage && isParameter(access.tensor.index);
      (isWeight ? parameters : activations) = true;
      if (!isWeight)
        first &= access.dim == 0 && access.isLinear && !access.hasHalo();
    }
    if (parameters)
      return activations ? LoopRole::Parallel : LoopRole::Parameter;
    if (!activations)
      return LoopRole::Parallel;
    return *info.resultDim == 0 && first ? LoopRole::Sample
                                         : LoopRole::Attribute;
  }

  void add(const Loop &loop, unsigned stage, unsigned piece,
           std::optional<unsigned> dim, const Expr &body) {
    LoopInfo info;
    info.loop = loop;
    info.stage = stage;
    info.piece = piece;
    info.resultDim = dim;
    collectAccesses(info, body);
    info.role = roleOf(info);
    loops.push_back(std::move(info));
  }

  void collect() {
    for (const Stage &stage : definition.stages)
      for (const Piece &piece : stage.pieces) {
        for (const Loop &loop : piece.loops)
          extents[loop.id] = loop.extent;
        walk(piece.body, [&](const ExprNode &node) {
          for (const Loop &loop : node.loops)
            extents[loop.id] = loop.extent;
        });
      }
    for (auto [s, stage] : llvm::enumerate(definition.stages))
      for (auto [p, piece] : llvm::enumerate(stage.pieces)) {
        for (auto [d, loop] : llvm::enumerate(piece.loops))
          add(loop, s, p, d, piece.body);
        ExprSet seen;
        walkExprs(piece.body, [&, s = s, p = p](const Expr &expr) {
          if (expr->kind == Expr::Kind::Reduce && seen.insert(expr).second)
            for (const Loop &loop : expr->loops)
              add(loop, s, p, std::nullopt, expr->operands[0]);
        });
      }
  }
};

} // namespace

std::vector<LoopInfo> getLoops(const Definition &definition,
                               llvm::function_ref<bool(unsigned)> isParameter) {
  LoopCollector collector{definition, isParameter};
  collector.collect();
  return std::move(collector.loops);
}

} // namespace mlc
