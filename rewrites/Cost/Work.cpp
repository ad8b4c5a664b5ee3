//===- Work.cpp - The work of an operator ---------------------------------===//

#include "rewrites/Cost/Work.h"
#include "dialects/Definition/Analysis.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;

double mlc::valueOf(IntExpr expr, const SymbolSizes &symbols) {
  std::optional<int64_t> value =
      expr.evaluate([&](StringRef name) -> std::optional<int64_t> {
        return symbols.of(name);
      });
  return value ? static_cast<double>(std::max<int64_t>(*value, 0)) : 1.0;
}

namespace {

/// How a factor of a contraction depends on a loop.
struct Dependence {
  bool exists = false;
  /// The loop occurs only divided by this constant (the group of a channel); 0:
  /// it occurs undivided.
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
  Counter(const Definition &definition, const SymbolSizes &symbols)
      : definition(definition), symbols(symbols) {}

  /// Adds the work of the stages to `work`, except for their bytes.
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
      points *= valueOf(loop.extent, symbols);
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
    if (a->type.isIntOrFloat())
      contraction.elementBytes = a->type.getIntOrFloatBitWidth() / 8.0;
    contraction.convolution = findConvolution(reduce, *a, *b, contraction);
    work.contractions.push_back(contraction);
    return true;
  }

  void classify(const Loop &loop, Dependence a, Dependence b,
                ContractionWork &contraction) {
    double extent = valueOf(loop.extent, symbols);
    if (a.exists && b.exists) {
      // A factor that depends only on the loop's group is shared within a
      // group.
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
      // An undivided loop in one index distinguishes all its values.
      bool isDivided = divisor > 0 && (!result.exists || result.divisor > 0);
      result.divisor = isDivided ? divisor : 0;
      result.exists = true;
      return;
    }
    if (node.kind == Expr::Kind::Binary && node.binary == BinaryFn::FloorDiv &&
        node.operands[1]->kind == Expr::Kind::Int)
      divisor = valueOf(node.operands[1]->integer, symbols);
    for (const Expr &operand : node.operands)
      find(operand, loop, divisor, result);
  }

  /// A loop of an index that is a sum, with its constant factor.
  struct Term {
    unsigned loop;
    int64_t factor;
  };

  /// Adds the terms of `factor` times `expr`; false if it is no sum of loops
  /// and integers.
  static bool addTerms(const Expr &expr, int64_t factor,
                       llvm::SmallVectorImpl<Term> &terms) {
    const ExprNode &node = *expr;
    if (node.kind == Expr::Kind::Int)
      return true;
    if (node.kind == Expr::Kind::Loop) {
      terms.push_back({node.loop, factor});
      return true;
    }
    if (node.kind != Expr::Kind::Binary)
      return false;
    const Expr &left = node.operands[0], &right = node.operands[1];
    if (node.binary == BinaryFn::Add || node.binary == BinaryFn::Sub)
      return addTerms(left, factor, terms) &&
             addTerms(right, node.binary == BinaryFn::Add ? factor : -factor,
                      terms);
    int64_t product;
    return node.binary == BinaryFn::Mul && right->kind == Expr::Kind::Int &&
           right->integer.isConstant() &&
           !llvm::MulOverflow(factor, right->integer.getConstant(), product) &&
           addTerms(left, product, terms);
  }

  /// One dim of a window.
  struct Slide {
    const Loop *position, *tap;
    int64_t stride, dilation;
  };

  static const Loop *loopOf(ArrayRef<Loop> loops, unsigned id) {
    auto it = llvm::find_if(loops, [&](const Loop &l) { return l.id == id; });
    return it == loops.end() ? nullptr : it;
  }

  /// The dims of `image` in which taps, loops of `reduce`, are added to
  /// positions, loops of the result.
  llvm::SmallVector<Slide, 2> findSlides(const ExprNode &reduce,
                                         const ExprNode &image) const {
    llvm::SmallVector<Slide, 2> slides;
    for (const Expr &index : image.indices()) {
      llvm::SmallVector<Term, 2> terms;
      if (!addTerms(index, 1, terms) || terms.size() != 2)
        continue;
      if (!loopOf(own, terms[0].loop))
        std::swap(terms[0], terms[1]);
      const Loop *position = loopOf(own, terms[0].loop);
      const Loop *tap = loopOf(reduce.loops, terms[1].loop);
      if (position && tap && terms[0].factor > 0 && terms[1].factor > 0)
        slides.push_back({position, tap, terms[0].factor, terms[1].factor});
    }
    return slides;
  }

  /// The shape of the convolution of `image` by `filter`, if the contraction is
  /// one.
  std::optional<ConvolutionShape>
  findConvolution(const ExprNode &reduce, const ExprNode &image,
                  const ExprNode &filter, const ContractionWork &contraction) {
    auto slides = findSlides(reduce, image);
    // Doubles are exact up to here.
    constexpr double most = int64_t(1) << 53;
    if (slides.size() != 2 || contraction.flops() == 0 ||
        contraction.batch * contraction.columns > most ||
        contraction.batch * contraction.depth > most)
      return std::nullopt;
    const Slide &rows = slides[0], &columns = slides[1];
    for (const Loop &loop : own)
      if (dependence(filter, loop.id).exists &&
          (!loop.extent.isConstant() || &loop == rows.position ||
           &loop == columns.position))
        return std::nullopt;
    for (const Loop &loop : reduce.loops)
      if (!loop.extent.isConstant() || !dependence(filter, loop.id).exists)
        return std::nullopt;
    auto size = [](const Loop &loop) {
      return loop.extent.asConstant().value_or(0);
    };
    ConvolutionShape shape;
    shape.kernelHeight = size(*rows.tap);
    shape.kernelWidth = size(*columns.tap);
    shape.groups = contraction.batch;
    shape.outputChannels = contraction.batch * contraction.columns;
    shape.inputChannels = contraction.batch * contraction.depth /
                          (shape.kernelHeight * shape.kernelWidth);
    shape.strideHeight = rows.stride;
    shape.strideWidth = columns.stride;
    shape.dilationHeight = rows.dilation;
    shape.dilationWidth = columns.dilation;
    shape.height = size(*rows.position);
    shape.width = size(*columns.position);
    Type type = reduce.type;
    shape.float32 = type.isF32() || type.isF16() || type.isBF16();
    return shape;
  }

  const Definition &definition;
  const SymbolSizes &symbols;
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
                    const SymbolSizes &symbols) {
  Work work;
  Counter(definition, symbols).run(work);
  DefinitionCost cost = getCost(context, definition);
  work.bytesRead = valueOf(cost.bytesRead, symbols);
  work.bytesWritten = valueOf(cost.bytesWritten, symbols);
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
