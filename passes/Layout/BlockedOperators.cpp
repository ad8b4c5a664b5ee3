//===- BlockedOperators.cpp - What else works on blocked channels ---------===//
//
// Blocked tensors are [n, blocks, s..., lane]: dims 0 and those from 2 on
// keep their place. So an operator that treats channels alike works on the
// blocks as it does on the channels.
//
//===----------------------------------------------------------------------===//

#include "passes/Layout/Blocking.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// Whether every element depends on the operands' elements of its own place.
bool isElementwise(const Definition &definition) {
  if (definition.stages.size() != 1 ||
      definition.stages.front().pieces.size() != 1 || definition.inputs.empty())
    return false;
  const Piece &piece = definition.stages.front().pieces.front();
  bool elementwise = true;
  walk(piece.body, [&](const ExprNode &node) {
    elementwise &= node.kind != Expr::Kind::Reduce;
    if (node.kind != Expr::Kind::Read)
      return;
    elementwise &= node.indices().size() == piece.loops.size();
    for (auto [index, loop] : llvm::zip(node.indices(), piece.loops))
      elementwise &= index->kind == Expr::Kind::Loop && index->loop == loop.id;
  });
  return elementwise;
}

/// Whether the divisor is positive whatever the operands are, as far as this
/// can be seen: a number, a count, 1 + exp(..).
bool isPositive(const Expr &expr) {
  const ExprNode &node = *expr;
  switch (node.kind) {
  case Expr::Kind::Constant:
    return node.number > 0;
  case Expr::Kind::Cast:
    return isa<IndexType>(node.operands[0]->type);
  case Expr::Kind::Unary:
    return factsOf(node.unary).isAlwaysPositive();
  case Expr::Kind::Binary:
    return node.binary == BinaryFn::Add && isPositive(node.operands[0]) &&
           isPositive(node.operands[1]);
  default:
    return false;
  }
}

/// Whether finite operands can give an infinity or NaN (overflow aside).
bool canLeaveFinite(const Definition &definition) {
  bool unsafe = false;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.kind == Expr::Kind::Binary) {
          unsafe |= node.binary == BinaryFn::Pow;
          unsafe |=
              node.binary == BinaryFn::Div && !isPositive(node.operands[1]);
        }
        if (node.kind != Expr::Kind::Unary)
          return;
        bool isDivision = node.unary == UnaryFn::Reciprocal;
        unsafe |= !factsOf(node.unary).isDefinedEverywhere() &&
                  !(isDivision && isPositive(node.operands[0]));
      });
  return unsafe;
}

class OperatorBlocker {
public:
  OperatorBlocker(Blocking &blocking, Operation *op)
      : blocking(blocking), op(op), loc(op->getLoc()) {}

  Blocked run() {
    if (op->getNumResults() != 1)
      return {};
    return llvm::TypeSwitch<Operation *, Blocked>(op)
        .Case<BroadcastOp>([&](auto o) { return broadcast(o); })
        .Case<MaxPoolOp, AvgPoolOp>([&](auto) { return same(); })
        .Case<ReduceOp>([&](ReduceOp o) {
          bool pixels =
              llvm::all_of(o.getAxes(), [](int64_t axis) { return axis >= 2; });
          return pixels ? same() : Blocked();
        })
        .Case<ConcatOp>([&](auto o) { return concat(o); })
        .Case<SliceOp>([&](auto o) { return slice(o); })
        .Case<ResizeOp>([&](auto o) { return resize(o); })
        .Default([&](Operation *) { return elementwise(); });
  }

private:
  Blocked blockedOperand(unsigned i) {
    return blocking.lookup(op->getOperand(i));
  }

  /// The same operator, attributes and all, on the blocked form.
  Blocked same() {
    Blocked form = blockedOperand(0);
    if (!form)
      return {};
    Value value = blocking.create(loc, op->getName().getStringRef(), form.value,
                                  op->getAttrs());
    return finish(value, form);
  }

  Blocked finish(Value value, Blocked like) {
    if (!value)
      return {};
    like.value = value;
    bool filled = like.channels % (like.groups * blocking.getBlock()) != 0;
    if (!filled) {
      like.isDirty = false;
      return like;
    }
    if (auto defined = dyn_cast<DefinitionOpInterface>(value.getDefiningOp()))
      if (FailureOr<Definition> definition = getDefinition(defined);
          succeeded(definition))
        like.isDirty |= canLeaveFinite(*definition);
    return like;
  }

  /// A constant or pixel-sized operand next to `like`, blocked.
  Value blockBeside(Value operand, const Blocked &like) {
    if (Blocked form = blocking.lookup(operand))
      return form.groups == like.groups && form.channels == like.channels
                 ? form.value
                 : Value();
    if (!isCompileTime(operand))
      return {};
    Blocked packed = blocking.get(loc, operand, like.groups, /*clean=*/true);
    return packed && packed.groups == like.groups ? packed.value : Value();
  }

  Blocked elementwise() {
    auto defined = dyn_cast<DefinitionOpInterface>(op);
    if (!defined)
      return {};
    Blocked like;
    bool dirty = false;
    for (Value operand : op->getOperands())
      if (Blocked form = blocking.lookup(operand)) {
        dirty |= form.isDirty;
        if (!like)
          like = form;
      }
    if (!like)
      return {};
    FailureOr<Definition> definition = getDefinition(defined);
    if (failed(definition) || !isElementwise(*definition))
      return {};
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(blockBeside(operand, like));
      if (!operands.back())
        return {};
    }
    like.isDirty = dirty;
    return finish(blocking.create(loc, op->getName().getStringRef(), operands,
                                  op->getAttrs()),
                  like);
  }

  /// Result dims with blocks for channels.
  SmallVector<IntExpr> blockDims(ArrayRef<IntExpr> plain, int64_t blocks) {
    SmallVector<IntExpr> dims(plain);
    dims[1] = blocking.integer(blocks);
    dims.push_back(blocking.integer(blocking.getBlock()));
    return dims;
  }

  /// A broadcast is blocked when its operand has a blocked form, or for a
  /// constant when somebody beside it has one.
  Blocked broadcast(BroadcastOp o) {
    SmallVector<IntExpr> from = sizesOf(o.getX()), to = sizesOf(o.getResult());
    if (to.size() < 3 || !to[1].isConstant())
      return {};
    int64_t channels = to[1].getConstant(), groups = 1;
    Blocked form = blockedOperand(0);
    if (!form && !(isCompileTime(o.getX()) && isUsedBesideBlocked(o, groups)))
      return {};
    if (form)
      groups = form.groups;
    int64_t per = channels / groups, block = blocking.getBlock();
    int64_t blocks = llvm::divideCeil(per, block) * groups;
    Value operand;
    if (from[1].isConstant(1) && channels != 1) {
      // One channel for all: lanes repeat it.
      SmallVector<IntExpr> pixel(from);
      pixel.push_back(blocking.integer(1));
      operand = blocking.reshape(loc, o.getX(), pixel);
    } else {
      Blocked packed = blocking.get(loc, o.getX(), groups, /*clean=*/true);
      if (!packed || packed.groups != groups)
        return {};
      operand = packed.value;
    }
    Value value = blocking.create<BroadcastOp>(
        loc, operand, blocking.dims("dims", blockDims(to, blocks)));
    return finish(value, Blocked{value, channels, groups, false});
  }

  /// Whether a user of the broadcast has another operand with a blocked form;
  /// says its groups.
  bool isUsedBesideBlocked(BroadcastOp o, int64_t &groups) {
    for (Operation *user : o->getUsers())
      for (Value operand : user->getOperands())
        if (Blocked form = blocking.lookup(operand)) {
          groups = form.groups;
          return true;
        }
    return false;
  }

  Blocked concat(ConcatOp o) {
    int64_t axis = o.getAxis();
    if (axis == 0)
      return {};
    SmallVector<Value> operands;
    int64_t channels = 0;
    Blocked like;
    bool dirty = false;
    for (auto [i, input] : llvm::enumerate(o.getInputs())) {
      Blocked form = blocking.lookup(input);
      bool last = i + 1 == o.getInputs().size();
      if (!form || form.groups != 1 ||
          (axis == 1 && !last && form.channels % blocking.getBlock() != 0))
        return {};
      if (axis != 1 && like && form.channels != like.channels)
        return {};
      channels = axis == 1 ? channels + form.channels : form.channels;
      dirty |= form.isDirty;
      like = form;
      operands.push_back(form.value);
    }
    Value value =
        blocking.create<ConcatOp>(loc, operands, blocking.i64("axis", axis));
    return finish(value, Blocked{value, channels, 1, dirty});
  }

  Blocked slice(SliceOp o) {
    Blocked form = blockedOperand(0);
    if (!form || form.groups != 1)
      return {};
    SmallVector<IntExpr> starts(o.getStarts().getDims()),
        sizes(o.getSizes().getDims()), steps(o.getSteps().getDims());
    int64_t block = blocking.getBlock(), channels = form.channels;
    bool all = starts[1].isConstant(0) && sizes[1].isConstant(channels);
    if (!all) {
      if (!starts[1].isConstant() || !sizes[1].isConstant() ||
          !steps[1].isConstant(1) || starts[1].getConstant() % block != 0)
        return {};
      channels = sizes[1].getConstant();
      bool toTheEnd = starts[1].getConstant() + channels == form.channels;
      if (channels % block != 0 && !toTheEnd)
        return {};
    }
    starts[1] = starts[1].floorDiv(block);
    sizes[1] = blocking.integer(llvm::divideCeil(channels, block));
    steps[1] = blocking.integer(1);
    starts.push_back(blocking.integer(0));
    sizes.push_back(blocking.integer(block));
    steps.push_back(blocking.integer(1));
    Value value = blocking.create<SliceOp>(loc, form.value,
                                           {blocking.dims("starts", starts),
                                            blocking.dims("sizes", sizes),
                                            blocking.dims("steps", steps)});
    form.channels = channels;
    return finish(value, form);
  }

  Blocked resize(ResizeOp o) {
    Blocked form = blockedOperand(0);
    SmallVector<IntExpr> to(o.getDims().getDims());
    if (!form || !to[1].isConstant(form.channels))
      return {};
    SmallVector<NamedAttribute> attributes;
    for (NamedAttribute attribute : op->getAttrs()) {
      if (attribute.getName() == "dims") {
        SmallVector<IntExpr> dims = sizesOf(form.value);
        for (unsigned d = 2; d < to.size(); ++d)
          dims[d] = to[d];
        dims[0] = to[0];
        attributes.push_back(blocking.dims("dims", dims));
      } else if (attribute.getName() == "scales" && !o.getScales().empty()) {
        SmallVector<Attribute> scales(o.getScales().begin(),
                                      o.getScales().end());
        if (cast<RealAttr>(scales[1]).getDouble() != 1.0)
          return {};
        scales.push_back(RealAttr::get(blocking.getContext(), 1.0));
        attributes.push_back({attribute.getName(),
                              ArrayAttr::get(blocking.getContext(), scales)});
      } else {
        attributes.push_back(attribute);
      }
    }
    return finish(blocking.create<ResizeOp>(loc, form.value, attributes), form);
  }

  Blocking &blocking;
  Operation *op;
  Location loc;
};

} // namespace

Blocked mlc::blockOther(Blocking &blocking, Operation *op) {
  return OperatorBlocker(blocking, op).run();
}
