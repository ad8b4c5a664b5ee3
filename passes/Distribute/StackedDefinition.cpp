//===- StackedDefinition.cpp - Definitions over all ranks -----------------===//

#include "passes/Distribute/StackedDefinition.h"
#include "dialects/Definition/DefinitionForms.h"
#include "dialects/Definition/DefinitionText.h"
#include "dialects/Graph/MovementOps.h"
#include "passes/Differentiate/Emit.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

std::optional<unsigned> findRank(IntExpr expr, ArrayRef<dist::AxisAttr> mesh) {
  std::optional<unsigned> found;
  expr.walkSymbols([&](llvm::StringRef name) {
    for (auto [a, axis] : llvm::enumerate(mesh))
      if (!found && axis.getRank().getSymbol() == name)
        found = a;
  });
  return found;
}

bool dependsOnRank(const Definition &definition,
                   ArrayRef<dist::AxisAttr> mesh) {
  bool found = false;
  auto visit = [&](IntExpr integer) {
    found |= findRank(integer, mesh).has_value();
  };
  auto visitLoops = [&](ArrayRef<Loop> loops) {
    for (const Loop &loop : loops)
      visit(loop.extent);
  };
  for (const Stage &stage : definition.stages) {
    llvm::for_each(stage.dims, visit);
    for (const Piece &piece : stage.pieces) {
      llvm::for_each(piece.offset, visit);
      visitLoops(piece.loops);
      walk(piece.body, [&](const ExprNode &node) {
        if (node.integer)
          visit(node.integer);
        visitLoops(node.loops);
      });
    }
  }
  return found;
}

namespace {

class Stacking {
public:
  Stacking(const Definition &from, ArrayRef<dist::AxisAttr> mesh,
           ArrayRef<StackedAxes> inputs, std::optional<unsigned> exchanged)
      : context(from.stages.front().elementType.getContext()), from(from),
        mesh(mesh), inputs(inputs), exchanged(exchanged) {}

  FailureOr<StackedDefinition> run(std::string &problem) {
    addInputs();
    to().numLoops = from.numLoops;
    for (const Stage &stage : from.stages)
      addStage(stage);
    to().results = from.results;
    problem = this->problem;
    if (!problem.empty())
      return failure();
    return std::move(out);
  }

private:
  Definition &to() { return out.definition; }
  IndexType indexType() const { return IndexType::get(context); }

  const StackedAxes &axesOf(TensorId tensor) const {
    return tensor.isStage ? out.axes[tensor.index] : inputs[tensor.index];
  }

  bool fail(const llvm::Twine &what) {
    if (problem.empty())
      problem = what.str();
    return false;
  }

  void checkSize(IntExpr size) {
    if (std::optional<unsigned> axis = findRank(size, mesh))
      fail("has a size of " + size.str() + ", which differs between ranks; " +
           "choose sizes that '" + mesh[*axis].getName() +
           "' divides, or evaluate each rank by itself");
  }

  //===--- Dims ----------------------------------------------------------===//

  /// The ranks' dims, then those of one rank's tensor. A collective has the
  /// exchanged axis first.
  SmallVector<IntExpr> dims(const StackedAxes &axes,
                            ArrayRef<IntExpr> own) const {
    SmallVector<IntExpr> all;
    for (unsigned a : axes.set_bits())
      all.push_back(mesh[a].getSize());
    llvm::append_range(all, exchanged ? own.drop_front() : own);
    return all;
  }

  void addInputs() {
    for (auto [input, axes] : llvm::zip_equal(from.inputs, inputs))
      to().inputs.push_back({dims(axes, input.dims), input.elementType});
  }

  //===--- Stages --------------------------------------------------------===//

  StackedAxes readAxes(const Stage &stage) {
    StackedAxes axes(mesh.size());
    if (exchanged)
      axes.set(*exchanged);
    if (stage.reinterprets)
      return axes |= axesOf(*stage.reinterprets);
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        for (const Loop &loop : node.loops)
          checkSize(loop.extent);
        if (node.kind == Expr::Kind::Read)
          axes |= axesOf(node.tensor);
        if (!node.integer)
          return;
        for (auto [a, axis] : llvm::enumerate(mesh))
          if (findRank(node.integer, axis))
            axes.set(a);
      });
    return axes;
  }

  void addStage(const Stage &stage) {
    for (IntExpr dim : stage.dims)
      checkSize(dim);
    StackedAxes axes = readAxes(stage);
    Stage made = stage;
    made.pieces.clear();
    for (const Piece &piece : stage.pieces) {
      for (IntExpr offset : piece.offset)
        checkSize(offset);
      made.pieces.push_back(stackPiece(piece, axes));
    }
    if (exchanged && isSameOnAll(made.pieces, axes)) {
      unsigned place = placeOf(*exchanged, axes);
      for (Piece &piece : made.pieces) {
        piece.loops.erase(piece.loops.begin() + place);
        piece.offset.erase(piece.offset.begin() + place);
      }
      axes.reset(*exchanged);
    }
    made.dims = dims(axes, stage.dims);
    to().stages.push_back(std::move(made));
    out.axes.push_back(std::move(axes));
  }

  static unsigned placeOf(unsigned axis, const StackedAxes &axes) {
    unsigned place = 0;
    for (unsigned a : axes.set_bits())
      place += a < axis;
    return place;
  }

  /// Whether all ranks of the exchanged axis get the same result.
  bool isSameOnAll(ArrayRef<Piece> pieces, const StackedAxes &axes) const {
    unsigned place = placeOf(*exchanged, axes);
    return llvm::none_of(pieces, [&](const Piece &piece) {
      bool isUsed = false;
      walk(piece.body, [&](const ExprNode &node) {
        isUsed |=
            node.kind == Expr::Kind::Loop && node.loop == piece.loops[place].id;
      });
      return isUsed;
    });
  }

  Piece stackPiece(const Piece &piece, const StackedAxes &axes) {
    Piece made;
    ranks.assign(mesh.size(), Expr());
    extents.clear();
    IntExpr zero = IntExpr::constant(context, 0);
    ArrayRef<Loop> own = piece.loops;
    for (unsigned a : axes.set_bits()) {
      bool isOwn = exchanged == a;
      Loop loop =
          isOwn ? own.front() : Loop{to().numLoops++, mesh[a].getSize()};
      made.loops.push_back(loop);
      made.offset.push_back(zero);
      ExprNode node(Expr::Kind::Loop, indexType());
      node.loop = loop.id;
      ranks[a] = Expr(std::make_shared<const ExprNode>(std::move(node)));
    }
    llvm::append_range(made.loops, exchanged ? own.drop_front() : own);
    llvm::append_range(made.offset,
                       ArrayRef(piece.offset).drop_front(exchanged ? 1 : 0));
    for (const Loop &loop : made.loops) {
      checkSize(loop.extent);
      extents[loop.id] = loop.extent;
    }
    walk(piece.body, [&](const ExprNode &node) {
      for (const Loop &loop : node.loops)
        extents[loop.id] = loop.extent;
    });
    made.body = stack(piece.body);
    return made;
  }

  //===--- Expressions ---------------------------------------------------===//

  Expr stack(const Expr &expr) {
    if (expr->kind == Expr::Kind::Int)
      return stackInteger(expr->integer);
    ExprNode node = *expr;
    for (Expr &operand : node.operands)
      operand = stack(operand);
    if (node.kind == Expr::Kind::Read)
      stackRead(node);
    return Expr(std::make_shared<const ExprNode>(std::move(node)));
  }

  /// Integers that depend on the rank become expressions of the loop over
  /// ranks.
  Expr stackInteger(IntExpr integer) {
    if (!findRank(integer, mesh)) {
      ExprNode node(Expr::Kind::Int, indexType());
      node.integer = integer;
      return Expr(std::make_shared<const ExprNode>(std::move(node)));
    }
    if (integer.getKind() == IntExpr::Kind::Symbol)
      return ranks[*findRank(integer, mesh)];
    ArrayRef<IntExpr> operands = integer.getOperands();
    bool divides = integer.getKind() == IntExpr::Kind::FloorDiv ||
                   integer.getKind() == IntExpr::Kind::Mod;
    if (divides && findRank(operands[1], mesh))
      fail("divides by " + operands[1].str() +
           ", which differs between ranks; evaluate each rank by itself");
    Expr all = stackInteger(operands[0]);
    for (IntExpr operand : operands.drop_front())
      all = binary(functionOf(integer.getKind()), all, stackInteger(operand));
    return all;
  }

  void stackRead(ExprNode &node) {
    SmallVector<Expr> own(node.indices());
    SmallVector<Expr, 3> at;
    for (unsigned a : axesOf(node.tensor).set_bits())
      at.push_back(exchanged == a ? own.front() : ranks[a]);
    llvm::append_range(at, ArrayRef(own).drop_front(exchanged ? 1 : 0));
    ArrayRef<IntExpr> dims = node.tensor.isStage
                                 ? to().stages[node.tensor.index].dims
                                 : to().inputs[node.tensor.index].dims;
    bool isInRange = llvm::all_of(llvm::zip_equal(at, dims), [&](auto pair) {
      return isEvidentlyInRange(std::get<0>(pair), std::get<1>(pair), extents);
    });
    if (node.guarded) {
      at.push_back(node.operands.back());
    } else if (!isInRange) {
      ExprNode zero(Expr::Kind::Constant, node.type);
      at.push_back(Expr(std::make_shared<const ExprNode>(std::move(zero))));
      node.guarded = true;
    }
    node.operands = std::move(at);
  }

  MLIRContext *context;
  const Definition &from;
  ArrayRef<dist::AxisAttr> mesh;
  ArrayRef<StackedAxes> inputs;
  std::optional<unsigned> exchanged;
  StackedDefinition out;
  /// For the current piece: the ranks' coordinates, and the loops' extents.
  SmallVector<Expr> ranks;
  llvm::DenseMap<unsigned, IntExpr> extents;
  std::string problem;
};

} // namespace

FailureOr<StackedDefinition> stackDefinition(const Definition &definition,
                                             ArrayRef<dist::AxisAttr> mesh,
                                             ArrayRef<StackedAxes> inputs,
                                             std::optional<unsigned> exchanged,
                                             std::string &problem) {
  return Stacking(definition, mesh, inputs, exchanged).run(problem);
}

FailureOr<Value> emitPieces(OpBuilder &builder, Location loc,
                            const Definition &definition, const Stage &stage,
                            llvm::function_ref<Value(TensorId)> valueOf) {
  std::optional<unsigned> joined;
  for (const Piece &piece : stage.pieces)
    for (auto [d, offset] : llvm::enumerate(piece.offset))
      if (!offset.isConstant(0)) {
        if (joined && *joined != d)
          return emitError(loc) << "has pieces along two dims, which cannot be "
                                   "stacked; evaluate each rank by itself";
        joined = d;
      }
  SmallVector<Value> parts;
  for (const Piece &piece : stage.pieces) {
    Stage part = stage;
    part.dims.clear();
    for (const Loop &loop : piece.loops)
      part.dims.push_back(loop.extent);
    part.pieces = {piece};
    for (IntExpr &offset : part.pieces.front().offset)
      offset = IntExpr::constant(builder.getContext(), 0);
    FailureOr<Value> value = emitStage(builder, loc, definition, part, valueOf);
    if (failed(value))
      return failure();
    parts.push_back(*value);
  }
  FailureOr<ConcatOp> all =
      createOp<ConcatOp>(builder, loc, ValueRange(parts), joined.value_or(0));
  return failed(all) ? FailureOr<Value>(failure())
                     : FailureOr<Value>(all->getResult());
}

} // namespace mlc
