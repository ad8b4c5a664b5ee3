//===- StoredOperators.cpp - Other operators on stored tensors ------------===//
//
// An operator works on stored tensors if its definition can be transformed to
// them (dialects/Definition/Layout.h): each channel of its result depends on
// the same channel of its operands. No operator is known by name here.
//
//===----------------------------------------------------------------------===//

#include "dialects/Definition/Analysis.h"
#include "passes/Layout/StoredForms.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// Whether the divisor is evidently positive for any operands: a number, a
/// count, 1 + exp(..).
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

/// Whether finite operands can give an infinity or NaN, except by overflow.
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

/// Whether each element depends on elements of the same channel, image and, but
/// for windows, pixel: the index along each dim of an operand is one along the
/// result's, or of a reduction. So nothing but the order of dims changes.
/// Blocks need no such check: their substitution fails otherwise.
bool keepsDims(const Definition &definition) {
  bool keeps = true;
  for (const Piece &piece : definition.stages.front().pieces) {
    auto indexes = [&](const Expr &index, size_t d) {
      walk(index, [&](const ExprNode &node) {
        const Loop *loop = llvm::find_if(piece.loops, [&](const Loop &loop) {
          return node.kind == Expr::Kind::Loop && loop.id == node.loop;
        });
        if (loop != piece.loops.end())
          keeps &= size_t(loop - piece.loops.begin()) == d;
        keeps &= node.kind != Expr::Kind::Read;
      });
    };
    walk(piece.body, [&](const ExprNode &node) {
      // Operands of fewer dims stay plain.
      if (node.kind == Expr::Kind::Read &&
          node.indices().size() == piece.loops.size())
        for (auto [d, index] : llvm::enumerate(node.indices()))
          indexes(index, d);
    });
  }
  return keeps && !definition.stages.front().reinterprets;
}

class OperatorLayouter {
public:
  OperatorLayouter(StoredForms &forms, Operation *op)
      : forms(forms), op(op), loc(op->getLoc()) {}

  StoredForm run() {
    auto defined = dyn_cast<DefinitionOpInterface>(op);
    if (!defined || op->getNumResults() != 1)
      return {};
    SmallVector<IntExpr> to = sizesOf(op->getResult(0));
    StoredForm like = findForm();
    if (!like || to.size() < 3 || !to[1].isConstant())
      return {};
    FailureOr<Definition> definition = getDefinition(defined);
    // Intermediate stages would be tensors without a layout, and contractions
    // gain more than a pack costs.
    if (failed(definition) || definition->stages.size() != 1 ||
        getKind(*definition).isContraction ||
        (forms.areChannelsLast() && !keepsDims(*definition)))
      return {};
    int64_t groups = like.groups();
    if (to[1].getConstant() % groups != 0)
      return {};
    result = forms.layoutOf(to, groups);
    SmallVector<Value> operands;
    SmallVector<LayoutAttr> layouts;
    for (Value operand : op->getOperands()) {
      StoredForm form = operandBeside(operand, to, groups);
      operands.push_back(form.value);
      layouts.push_back(form.layout);
    }
    if (!isExpressible(*definition, operands, layouts))
      return {};
    StoredForm form{build(*definition, operands, layouts), result, false};
    if (form && result.isFilled())
      form.isDirty = isAnyDirty || canLeaveFinite(*definition);
    return form;
  }

private:
  /// Whether it has one number per channel, which blocks store unchanged.
  static bool isVector(Value value) {
    SmallVector<IntExpr> dims = sizesOf(value);
    return dims.size() > 2 &&
           llvm::all_of(ArrayRef(dims).drop_front(2),
                        [](IntExpr dim) { return dim.isConstant(1); });
  }

  /// The stored form that the operator's result should have: that of an
  /// operand. For compile-time values and one number per channel, such as a
  /// bias, it is the form of another operand of a reader.
  StoredForm findForm() {
    for (Value operand : op->getOperands())
      if (StoredForm form = forms.lookup(operand))
        return form;
    if (!llvm::all_of(op->getOperands(), [](Value operand) {
          return isCompileTime(operand) || isVector(operand);
        }))
      return {};
    for (Operation *user : op->getUsers())
      for (Value operand : user->getOperands())
        if (StoredForm form = forms.lookup(operand))
          return form;
    return {};
  }

  /// The form in which an operand is read. It is stored if it has a stored
  /// form, and packed if it is known at compile time or has one number per
  /// channel, and has the result's channels. Otherwise it is plain.
  StoredForm operandBeside(Value operand, ArrayRef<IntExpr> to,
                           int64_t groups) {
    SmallVector<IntExpr> dims = sizesOf(operand);
    StoredForm plain{operand,
                     LayoutAttr::getPlain(forms.getContext(), dims.size())};
    bool hasChannels = dims.size() >= 2 && dims[1] == to[1];
    if (StoredForm form = forms.lookup(operand)) {
      // A single channel is read in place.
      if (!hasChannels && dims[1].isConstant(1))
        return plain;
      isAnyDirty |= form.isDirty;
      return form;
    }
    // Beside channels that are last, others would be read with gaps.
    bool isImage = forms.areChannelsLast() && dims.size() == to.size() &&
                   !isVector(operand);
    if (!isImage && (dims.size() != to.size() || !hasChannels ||
                     !(isCompileTime(operand) || isVector(operand))))
      return plain;
    StoredForm packed = forms.get(loc, operand, groups, /*clean=*/true);
    return packed ? packed : plain;
  }

  /// Whether the definition can be transformed to stored tensors, and computes
  /// the same there.
  bool isExpressible(const Definition &definition, ArrayRef<Value> operands,
                     ArrayRef<LayoutAttr> layouts) {
    SmallVector<TensorShape> stored;
    for (auto [operand, input] : llvm::zip_equal(operands, definition.inputs))
      stored.push_back({sizesOf(operand), input.elementType});
    DefinitionBuilder scratch(forms.getContext(), stored);
    llvm::Expected<bool> sumsFills =
        mlc::layOut(definition, layouts, result, scratch);
    if (sumsFills)
      return !*sumsFills;
    llvm::consumeError(sumsFills.takeError());
    return false;
  }

  /// Element-wise operators work on stored tensors unchanged, unless their
  /// attributes have dims.
  Value build(const Definition &definition, ArrayRef<Value> operands,
              ArrayRef<LayoutAttr> layouts) {
    auto isAlike = [&](LayoutAttr layout) { return layout == result; };
    if (getKind(definition).isElementwise && llvm::all_of(layouts, isAlike))
      if (Value like = forms.createLike(op, operands))
        return like;
    SmallVector<LayoutAttr> all(layouts);
    all.push_back(result);
    return forms.layOut(loc, op->getName().getStringRef(), operands,
                        op->getAttrDictionary(), all);
  }

  StoredForms &forms;
  Operation *op;
  Location loc;
  LayoutAttr result;
  bool isAnyDirty = false;
};

} // namespace

StoredForm mlc::layOutOperator(StoredForms &forms, Operation *op) {
  return OperatorLayouter(forms, op).run();
}
