//===- Defined.cpp - Where elements have a value --------------------------===//
//
// An expression is walked with the stages that it reads, and with what masks
// it: guards on indices and a path of truth values. Each kind of expression has
// its case in each of three functions, and a new kind does not compile without:
// what the operation itself needs, what it masks, and whether it may need
// anything.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Defined.h"
#include "dialects/Definition/ExprMap.h"
#include "verifier/kernel/Unfolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include <cmath>

using llvm::ArrayRef;

namespace mlc::kernel {

namespace {

/// What an operation needs of one of its operands, or that it is defined
/// itself.
enum class Own { Nothing, Itself, Range, Divisor, Power };

Own ownNeedOf(BinaryFn function) {
  switch (function) {
  case BinaryFn::Div:
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
    return Own::Divisor;
  case BinaryFn::Pow:
    return Own::Power;
  case BinaryFn::Add:
  case BinaryFn::Sub:
  case BinaryFn::Mul:
  case BinaryFn::Max:
  case BinaryFn::Min:
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
  case BinaryFn::Threefry:
    return Own::Nothing;
  }
  llvm_unreachable("unknown function");
}

/// Whether a number of `from` may be beyond all of `to`: it has no value there.
/// Sums that overflow are another matter: floats are real numbers.
bool mayNotFit(mlir::Type from, mlir::Type to) {
  std::optional<NumberType> source = numberTypeOf(from),
                            target = numberTypeOf(to);
  if (!source || !target || isTruth(to) || isTruth(from) || isIndex(from))
    return isFloat(from) && !isFloat(to) && !isTruth(to);
  if (!target->isFloat())
    return source->isFloat();
  using llvm::APFloat;
  if (source->isFloat()) {
    // The largest float32 is beyond bfloat16, which has the same exponents.
    APFloat largest = APFloat::getLargest(*source->semantics);
    bool losesInfo = false;
    largest.convert(*target->semantics, APFloat::rmNearestTiesToEven,
                    &losesInfo);
    return APFloat::semanticsMaxExponent(*source->semantics) >
               APFloat::semanticsMaxExponent(*target->semantics) ||
           !largest.isFinite() ||
           !APFloat::semanticsHasZero(*target->semantics) ||
           !APFloat::semanticsHasSignedRepr(*target->semantics);
  }
  auto fits = [&](const llvm::DynamicAPInt &end) {
    return convertedNumber(mlir::presburger::Fraction(end), *source, *target)
        .has_value();
  };
  return !fits(source->least()) || !fits(source->largest());
}

/// Reads are asked about by what they read.
Own ownNeedOf(const ExprNode &node) {
  switch (node.kind) {
  case Expr::Kind::Loop:
  case Expr::Kind::Int:
  case Expr::Kind::Constant:
  case Expr::Kind::Read:
  case Expr::Kind::Compare:
  case Expr::Kind::Select:
  case Expr::Kind::Reduce:
    return Own::Nothing;
  case Expr::Kind::Param: // an element that nobody has written has no value
    return node.operands.empty() ? Own::Nothing : Own::Itself;
  case Expr::Kind::Unary:
    return isFloat(node.type) && !factsOf(node.unary).isDefinedEverywhere()
               ? Own::Range
               : Own::Nothing;
  case Expr::Kind::Binary:
    // Powers of integers are products. That sizes divide by no 0 is a condition
    // on sizes (verifier/read/WellFormed.h).
    if ((node.binary == BinaryFn::Pow && !isFloat(node.type)) ||
        (isIndex(node.type) && node.operands[1]->kind == Expr::Kind::Int))
      return Own::Nothing;
    return ownNeedOf(node.binary);
  case Expr::Kind::Cast:
    return mayNotFit(node.operands[0]->type, node.type) ? Own::Itself
                                                        : Own::Nothing;
  }
  llvm_unreachable("unknown expression");
}

/// Of two truth values, which one decides the result whatever the other is.
enum class Decides { None, Zero, One };

Decides deciderOf(const ExprNode &node) {
  if (!isTruth(node.type))
    return Decides::None;
  switch (node.binary) {
  case BinaryFn::And:
  case BinaryFn::Min:
  case BinaryFn::Mul:
    return Decides::Zero;
  case BinaryFn::Or:
  case BinaryFn::Max:
    return Decides::One;
  case BinaryFn::Add:
  case BinaryFn::Sub:
  case BinaryFn::Div:
  case BinaryFn::Pow:
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
  case BinaryFn::Xor:
  case BinaryFn::Threefry:
    return Decides::None;
  }
  llvm_unreachable("unknown function");
}

/// Whether anything at all may be undefined.
bool mayBeUndefined(TensorId tensor, const Assumptions &assumptions,
                    const std::vector<bool> &partial) {
  if (tensor.isStage)
    return partial[tensor.index];
  return tensor.index < assumptions.inputs.size() &&
         assumptions.inputs[tensor.index].isPartial;
}

/// Walks what an element is made of.
class Definer {
public:
  Definer(const Definition &definition, const Assumptions &assumptions,
          const std::vector<bool> &partial, Names &names)
      : definition(definition), assumptions(assumptions), partial(partial),
        names(names), values(definition, assumptions, names, effort) {}

  /// The element of a tensor at indices that are in range.
  void element(TensorId tensor, ArrayRef<Integer> indices, const Scope &scope);

  std::vector<Need> needs;
  const std::string &getFailure() const {
    return failure.empty() ? values.failure : failure;
  }

private:
  bool mayBe(const Expr &expr);
  bool mayBe(TensorId tensor) const {
    return mayBeUndefined(tensor, assumptions, partial);
  }
  void visit(const Expr &expr, const Scope &scope);
  void visitRead(const ExprNode &node, const Scope &scope);
  void visitAnywhere(const ExprNode &node, const Scope &scope);
  void visitBinary(const ExprNode &node, const Scope &scope);
  void visitSelect(const ExprNode &node, const Scope &scope);
  void visitReduce(const ExprNode &node, const Scope &scope);
  void requireOwn(const Expr &expr, const Scope &scope);
  bool isSurelyOfType(const ExprNode &cast, const Scope &scope);
  void requireRange(const ExprNode &node, const Scope &scope);
  void requirePower(const ExprNode &node, const Scope &scope);
  void require(Need::Kind kind, const Value &value, unsigned width,
               const Scope &scope, bool isOptional = false);
  void makeOptional(size_t first, size_t last) {
    for (size_t i = first; i < last; ++i)
      needs[i].isOptional = true;
  }

  /// An operand is unfolded once for each operation that needs something.
  static constexpr unsigned effort = 8;

  const Definition &definition;
  const Assumptions &assumptions;
  const std::vector<bool> &partial;
  Names &names;
  Unfolder values;
  std::vector<Sum> path;
  std::string failure;
  size_t numVisited = 0;
  unsigned depth = 0;
  ExprMap<bool> known;
};

//===----------------------------------------------------------------------===//
// What may be undefined at all
//===----------------------------------------------------------------------===//

bool Definer::mayBe(const Expr &expr) {
  const ExprNode &node = *expr;
  if (auto it = known.find(expr); it != known.end())
    return it->second;
  bool may = ownNeedOf(node) != Own::Nothing ||
             (node.kind == Expr::Kind::Read && mayBe(node.tensor)) ||
             llvm::any_of(node.operands,
                          [&](const Expr &operand) { return mayBe(operand); });
  return known[expr] = may;
}

//===----------------------------------------------------------------------===//
// What operations need
//===----------------------------------------------------------------------===//

void Definer::require(Need::Kind kind, const Value &value, unsigned width,
                      const Scope &scope, bool isOptional) {
  for (const Case &one : value) {
    Need need{kind,      scope.variables, scope.guards, path,
              one.value, width,           isOptional};
    llvm::append_range(need.guards, one.guards);
    needs.push_back(std::move(need));
  }
}

void Definer::requireRange(const ExprNode &node, const Scope &scope) {
  const ScalarFunction &facts = factsOf(node.unary);
  auto low =
      facts.where.isOpen ? Need::Kind::Positive : Need::Kind::NotNegative;
  Value x = values.unfold(node.operands[0], scope);
  auto shifted = [&](double by, int sign) {
    return values.apply({x}, [&](ArrayRef<Sum> s) {
      return add(scaled(s[0], Rational(sign)), constant(exactly(by)));
    });
  };
  if (facts.excludesZero)
    require(Need::Kind::NotZero, x, 0, scope);
  if (std::isfinite(facts.where.low))
    require(low, shifted(-facts.where.low, 1), 0, scope);
  if (std::isfinite(facts.where.high))
    require(low, shifted(facts.where.high, -1), 0, scope);
}

/// Of a power whose exponent is not known, a positive base is enough and not
/// necessary.
void Definer::requirePower(const ExprNode &node, const Scope &scope) {
  Value base = values.unfold(node.operands[0], scope);
  std::optional<Rational> exponent = values.exponentOf(node, scope);
  if (!exponent)
    return require(Need::Kind::Positive, base, 0, scope, /*isOptional=*/true);
  bool isWhole = exponent->den == llvm::DynamicAPInt(1),
       isNegative = *exponent < Rational(0);
  if (isWhole && isNegative)
    require(Need::Kind::NotZero, base, 0, scope);
  if (!isWhole)
    require(isNegative ? Need::Kind::Positive : Need::Kind::NotNegative, base,
            0, scope);
}

/// What comes back from a wider type, and a number that the type has.
bool Definer::isSurelyOfType(const ExprNode &cast, const Scope &scope) {
  if (values.isCastBack(cast, scope))
    return true;
  mlir::Type from = cast.operands[0]->type;
  if (assumptions.isLiteral)
    return false;
  std::optional<NumberType> source = numberTypeOf(from),
                            target = numberTypeOf(cast.type);
  Value x = values.unfold(cast.operands[0], scope);
  return source && target && llvm::all_of(x, [&](const Case &one) {
           std::optional<Rational> number = asConstant(one.value);
           return number &&
                  convertedNumber(*number, *source, *target).has_value();
         });
}

void Definer::requireOwn(const Expr &expr, const Scope &scope) {
  const ExprNode &node = *expr;
  switch (ownNeedOf(node)) {
  case Own::Nothing:
    return;
  case Own::Itself:
    if (node.kind != Expr::Kind::Cast || !isSurelyOfType(node, scope))
      require(Need::Kind::Defined, values.unfold(expr, scope),
              widthOf(node.type), scope);
    return;
  case Own::Range:
    return requireRange(node, scope);
  case Own::Divisor:
    // Of plain indices it is another condition on sizes.
    if (!values.integer(node, scope))
      require(Need::Kind::NotZero, values.unfold(node.operands[1], scope),
              widthOf(node.type), scope);
    return;
  case Own::Power:
    return requirePower(node, scope);
  }
}

//===----------------------------------------------------------------------===//
// What operations mask
//===----------------------------------------------------------------------===//

void Definer::visit(const Expr &expr, const Scope &scope) {
  constexpr size_t mostVisited = 200000;
  constexpr unsigned maxDepth = 1000;
  if (!mayBe(expr) || !getFailure().empty())
    return;
  if (++numVisited > mostVisited || depth >= maxDepth) {
    failure = "an element takes too many operations";
    return;
  }
  llvm::SaveAndRestore<unsigned> deeper(depth, depth + 1);
  switch (expr->kind) {
  case Expr::Kind::Loop:
  case Expr::Kind::Int:
  case Expr::Kind::Constant:
    return;
  case Expr::Kind::Param:
  case Expr::Kind::Unary:
  case Expr::Kind::Compare:
  case Expr::Kind::Cast:
    for (const Expr &operand : expr->operands)
      visit(operand, scope);
    break;
  case Expr::Kind::Read:
    visitRead(*expr, scope);
    break;
  case Expr::Kind::Binary:
    visitBinary(*expr, scope);
    break;
  case Expr::Kind::Select:
    visitSelect(*expr, scope);
    break;
  case Expr::Kind::Reduce:
    visitReduce(*expr, scope);
    break;
  }
  requireOwn(expr, scope);
}

/// Where one of two truth values decides, the other need not be defined; what
/// is given must not rely on it.
void Definer::visitBinary(const ExprNode &node, const Scope &scope) {
  size_t first = needs.size();
  visit(node.operands[0], scope);
  size_t second = needs.size();
  visit(node.operands[1], scope);
  Decides decides = deciderOf(node);
  if (decides == Decides::None)
    return;
  makeOptional(first, second);
  if (second == needs.size())
    return;
  Sum a = Unfolder::sumOf(values.unfold(node.operands[0], scope));
  for (size_t i = second; i < needs.size(); ++i)
    needs[i].path.push_back(decides == Decides::Zero ? a : inverse(a));
}

void Definer::visitSelect(const ExprNode &node, const Scope &scope) {
  visit(node.operands[0], scope);
  if (!mayBe(node.operands[1]) && !mayBe(node.operands[2]))
    return;
  for (const Case &one : values.unfold(node.operands[0], scope)) {
    Scope local = scope;
    llvm::append_range(local.guards, one.guards);
    if (std::optional<Rational> known = asConstant(one.value)) {
      visit(node.operands[*known == Rational(0) ? 2 : 1], local);
      continue;
    }
    path.push_back(one.value);
    visit(node.operands[1], local);
    path.back() = inverse(one.value);
    visit(node.operands[2], local);
    path.pop_back();
  }
}

void Definer::visitReduce(const ExprNode &node, const Scope &scope) {
  Scope local = scope;
  for (const Loop &loop : node.loops) {
    local.variables.push_back(names.fresh());
    Integer index = Integer::variable(local.variables.back());
    local.loops.insert_or_assign(loop.id, index);
    local.guards.push_back(Formula::inRange(index, integerOf(loop.extent)));
  }
  size_t first = needs.size();
  visit(node.operands[0], local);
  if (isTruth(node.type)) // one element may decide
    makeOptional(first, needs.size());
}

void Definer::visitRead(const ExprNode &node, const Scope &scope) {
  for (const Expr &index : node.indices())
    visit(index, scope);
  std::optional<std::vector<Unfolder::Way>> ways = values.waysOf(node, scope);
  if (!ways)
    return visitAnywhere(node, scope);
  for (const Unfolder::Way &way : *ways) {
    Scope where = scope;
    llvm::append_range(where.guards, way.guards);
    if (way.isElement)
      element(node.tensor, way.indices, where);
    else
      visit(node.operands.back(), where);
  }
}

/// An element whose place depends on values. Where that is out of range, it
/// counts as defined: no tensor has it, so that it is anything.
void Definer::visitAnywhere(const ExprNode &node, const Scope &scope) {
  Unfolder::Anywhere read = values.readAnywhere(node, scope);
  if (mayBe(node.tensor))
    require(Need::Kind::Defined, read.element, widthOf(node.type), scope);
  if (!read.within || !mayBe(node.operands.back()))
    return;
  path.push_back(inverse(Unfolder::sumOf(*read.within)));
  visit(node.operands.back(), scope);
  path.pop_back();
}

void Definer::element(TensorId tensor, ArrayRef<Integer> indices,
                      const Scope &scope) {
  if (!mayBe(tensor))
    return;
  if (!tensor.isStage)
    return require(Need::Kind::Defined, values.read(tensor, indices, scope),
                   widthOf(definition.inputs[tensor.index].elementType), scope);
  Unfolder::forEachPiece(definition.stages[tensor.index], indices, scope,
                         [&](const Piece &piece, const Scope &local) {
                           visit(piece.body, local);
                         });
}

} // namespace

Definedness::Definedness(const Definition &definition,
                         const Assumptions &assumptions, Names &names)
    : definition(definition), assumptions(assumptions), names(names) {
  for (const Stage &stage : definition.stages) {
    bool may = false;
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        may |= ownNeedOf(node) != Own::Nothing ||
               (node.kind == Expr::Kind::Read &&
                kernel::mayBeUndefined(node.tensor, assumptions, partial));
      });
    partial.push_back(may);
  }
}

Needs Definedness::needsOf(unsigned stage, ArrayRef<Integer> indices) {
  Definer definer(definition, assumptions, partial, names);
  definer.element({true, stage}, indices, {});
  return {std::move(definer.needs), definer.getFailure()};
}

} // namespace mlc::kernel
