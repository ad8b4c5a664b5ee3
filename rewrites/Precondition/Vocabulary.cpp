//===- Vocabulary.cpp - Literals of conditions ----------------------------===//

#include "rewrites/Precondition/Vocabulary.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlc::verifier;
using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::precondition {

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

static std::optional<int64_t> lookup(const Sample &sample, StringRef name) {
  auto it = sample.symbols.find(name.str());
  return it == sample.symbols.end() ? std::nullopt : std::optional(it->second);
}

bool Literal::holds(const Sample &sample) const {
  switch (kind) {
  case Kind::Integer:
    return condition
        .evaluate([&](StringRef name) { return lookup(sample, name); })
        .value_or(false);
  case Kind::Real: {
    auto it = sample.reals.find(real.parameter);
    return it != sample.reals.end() && verifier::holds(real, it->second);
  }
  case Kind::Elements:
    return tensor.argument < sample.arguments.size() &&
           sample.arguments[tensor.argument].holds(tensor.predicate);
  }
  llvm_unreachable("unknown kind");
}

void Literal::addTo(Assumptions &assumptions) const {
  switch (kind) {
  case Kind::Integer:
    return assumptions.integers.push_back(condition);
  case Kind::Real:
    return assumptions.reals.push_back(real);
  case Kind::Elements:
    return assumptions.tensors.push_back(tensor);
  }
}

/// Symbols, operations and constants other than 0.
static unsigned readingCost(IntExpr expr) {
  if (expr.isConstant())
    return expr.isConstant(0) ? 0 : 1;
  unsigned cost = expr.getKind() == IntExpr::Kind::Symbol ? 1 : 0;
  for (IntExpr operand : expr.getOperands())
    cost += readingCost(operand);
  switch (expr.getKind()) {
  case IntExpr::Kind::FloorDiv:
  case IntExpr::Kind::Mod:
  case IntExpr::Kind::Min:
  case IntExpr::Kind::Max:
    return cost + 2;
  default:
    return cost;
  }
}

/// lhs predicate rhs without negative terms on either side, in the usual form:
/// `p + 1 >= k` rather than `p - k + 1 >= 0`.
static Condition readable(IntExpr lhs, ComparePredicate predicate,
                          IntExpr rhs) {
  mlir::MLIRContext *context = lhs.getContext();
  IntExpr left = IntExpr::constant(context, 0), right = left;
  for (const IndexMonomial &m : monomialsOf(lhs - rhs)) {
    IntExpr term = m.toExpr(context);
    if (m.coefficient >= 0)
      left = left + term;
    else
      right = right - term;
  }
  if (left.isConstant() && !right.isConstant()) {
    std::swap(left, right);
    switch (predicate) {
    case ComparePredicate::LT:
      predicate = ComparePredicate::GT;
      break;
    case ComparePredicate::LE:
      predicate = ComparePredicate::GE;
      break;
    case ComparePredicate::GT:
      predicate = ComparePredicate::LT;
      break;
    case ComparePredicate::GE:
      predicate = ComparePredicate::LE;
      break;
    default:
      break;
    }
  }
  // a + 1 <= b becomes a < b if b is no constant.
  auto dropOne = [&](IntExpr &larger, IntExpr smaller, ComparePredicate loose,
                     ComparePredicate strict) {
    if (predicate != loose || smaller.isConstant() || larger.isConstant())
      return;
    llvm::SmallVector<IndexMonomial, 4> monomials = monomialsOf(larger);
    if (llvm::any_of(monomials, [](const IndexMonomial &m) {
          return m.atoms.empty() && m.coefficient == 1;
        })) {
      larger = larger - 1;
      predicate = strict;
    }
  };
  dropOne(left, right, ComparePredicate::LE, ComparePredicate::LT);
  dropOne(right, left, ComparePredicate::GE, ComparePredicate::GT);
  return Condition::compare(left, predicate, right);
}

//===----------------------------------------------------------------------===//
// Quantities
//===----------------------------------------------------------------------===//

void Vocabulary::addQuantity(IntExpr expr) {
  constexpr size_t most = 40;
  bool isOwnName = false; // a symbol that only the verifier knows
  expr.walkSymbols(
      [&](StringRef name) { isOwnName |= verifier::isOwnName(name); });
  if (expr.isConstant() || isOwnName || quantities.size() >= most ||
      llvm::is_contained(quantities, expr))
    return;
  quantities.push_back(expr);
}

void Vocabulary::addDerived(IntExpr expr) {
  for (IntExpr operand : expr.getOperands())
    addDerived(operand);
  switch (expr.getKind()) {
  case IntExpr::Kind::FloorDiv: {
    IntExpr dividend = expr.getOperands()[0], divisor = expr.getOperands()[1];
    addQuantity(dividend.mod(divisor));
    addQuantity(dividend);
    addQuantity(expr);
    return;
  }
  case IntExpr::Kind::Max:
  case IntExpr::Kind::Min:
    // Which of the two operands it is.
    addQuantity(expr.getOperands()[0] - expr.getOperands()[1]);
    addQuantity(expr);
    return;
  case IntExpr::Kind::Mod:
    addQuantity(expr);
    return;
  default:
    return;
  }
}

void Vocabulary::addDerived(const Definition &definition) {
  for (const Requirement &r : definition.requirements) {
    addDerived(r.lhs);
    addDerived(r.rhs);
  }
  for (const Stage &stage : definition.stages) {
    for (IntExpr dim : stage.dims)
      addDerived(dim);
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.integer)
          addDerived(node.integer);
        for (const Loop &loop : node.loops)
          addDerived(loop.extent);
      });
  }
}

Vocabulary::Vocabulary(const Goal &goal, const Unknowns &unknowns,
                       ArrayRef<unsigned> arguments)
    : parameters(unknowns.parameters.begin(), unknowns.parameters.end()),
      arguments(arguments) {
  for (const TensorShape &input : goal.before.inputs)
    if (!context && !input.dims.empty())
      context = input.dims.front().getContext();
  for (const Stage &stage : goal.before.stages)
    if (!context && !stage.dims.empty())
      context = stage.dims.front().getContext();
  if (!context)
    return; // scalars only
  for (const std::string &name : unknowns.symbols)
    addQuantity(IntExpr::symbol(context, name));
  numSymbols = quantities.size();
  for (auto [a, b] : llvm::zip(goal.before.results, goal.after.results))
    for (auto [x, y] : llvm::zip(goal.before.shapeOf({true, a}).dims,
                                 goal.after.shapeOf({true, b}).dims))
      if (x != y) {
        addQuantity(x);
        addQuantity(y);
        addQuantity(x - y);
      }
  addDerived(goal.before);
  addDerived(goal.after);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace {

/// Builds literals from columns of numbers, one number for each sample.
class Classifier {
public:
  Classifier(ArrayRef<Sample> samples) : samples(samples) {}

  using Column = std::vector<int64_t>;
  struct Quantity {
    IntExpr expr;
    Column column;
    unsigned cost;
    bool isNonNegative;
  };

  void addIntegers(ArrayRef<IntExpr> exprs, unsigned numSymbols) {
    for (auto [i, expr] : llvm::enumerate(exprs)) {
      Quantity quantity{expr, {}, readingCost(expr), expr.isKnownNonNegative()};
      if (fill(quantity))
        (i < numSymbols ? symbols : derived).push_back(std::move(quantity));
    }
    std::vector<Quantity> all = symbols;
    llvm::append_range(all, derived);
    for (const Quantity &q : all)
      unaryLiterals(q);
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = 0; j < all.size(); ++j)
        if (i != j)
          binaryLiterals(all[i], all[j], i < j);
    if (symbols.size() <= 12)
      ternaryLiterals();
  }

  void addReals(ArrayRef<std::string> names) {
    using P = ComparePredicate;
    for (const std::string &name : names) {
      for (P predicate : {P::GE, P::GT, P::EQ, P::NE, P::LE, P::LT})
        addReal({name, predicate, 0.0}, 2);
      addReal({name, P::EQ, 1.0}, 3);
    }
  }

  void addElements(ArrayRef<unsigned> arguments) {
    using E = ElementPredicate;
    for (unsigned argument : arguments)
      for (E predicate :
           {E::NonNegative, E::Positive, E::NonZero, E::AllEqual}) {
        Literal literal;
        literal.kind = Literal::Kind::Elements;
        literal.tensor = {argument, predicate};
        literal.cost = 4;
        addSlow(std::move(literal));
      }
  }

  std::vector<LiteralClass> take() {
    std::vector<LiteralClass> result;
    for (auto &entry : classes) {
      llvm::stable_sort(
          entry.second.literals,
          [](const Literal &a, const Literal &b) { return a.cost < b.cost; });
      result.push_back(std::move(entry.second));
    }
    llvm::stable_sort(result, [](const LiteralClass &a, const LiteralClass &b) {
      return a.cost() < b.cost();
    });
    return result;
  }

private:
  bool fill(Quantity &quantity) const {
    for (const Sample &sample : samples) {
      std::optional<int64_t> value = quantity.expr.evaluate(
          [&](StringRef name) { return lookup(sample, name); });
      if (!value || std::abs(*value) > (int64_t(1) << 40))
        return false;
      quantity.column.push_back(*value);
    }
    return true;
  }

  /// Adds a literal whose truth on sample i is holds(i). `make` is called only
  /// when the literal is worth keeping.
  void add(unsigned cost, llvm::function_ref<bool(size_t)> holds,
           llvm::function_ref<Literal()> make) {
    constexpr size_t mostAlike = 4;
    llvm::BitVector truth(samples.size());
    for (size_t i = 0; i < samples.size(); ++i)
      if (holds(i))
        truth.set(i);
    if (truth.none() || truth.all())
      return;
    std::vector<uint64_t> key(truth.getData().begin(), truth.getData().end());
    LiteralClass &own = classes[key];
    if (own.literals.size() >= mostAlike &&
        llvm::all_of(own.literals,
                     [&](const Literal &l) { return l.cost <= cost; }))
      return;
    Literal literal = make();
    literal.cost = cost;
    own.truth = std::move(truth);
    own.literals.push_back(std::move(literal));
    if (own.literals.size() <= mostAlike)
      return;
    auto dearest = std::max_element(
        own.literals.begin(), own.literals.end(),
        [](const Literal &a, const Literal &b) { return a.cost < b.cost; });
    own.literals.erase(dearest);
  }

  void addSlow(Literal literal) {
    add(
        literal.cost, [&](size_t i) { return literal.holds(samples[i]); },
        [&] { return literal; });
  }
  void addReal(RealAssumption real, unsigned cost) {
    Literal literal;
    literal.kind = Literal::Kind::Real;
    literal.real = std::move(real);
    literal.cost = cost;
    addSlow(std::move(literal));
  }

  /// compare(value(i), predicate, 0), written as lhs predicate rhs.
  void addCompare(unsigned cost, llvm::function_ref<int64_t(size_t)> value,
                  ComparePredicate predicate,
                  llvm::function_ref<IntExpr()> difference) {
    add(
        cost,
        [&](size_t i) {
          int64_t x = value(i);
          return predicate == ComparePredicate::EQ   ? x == 0
                 : predicate == ComparePredicate::GE ? x >= 0
                                                     : x <= 0;
        },
        [&] {
          IntExpr expr = difference();
          Literal literal;
          literal.condition = readable(expr, predicate,
                                       IntExpr::constant(expr.getContext(), 0));
          return literal;
        });
  }

  void unaryLiterals(const Quantity &q) {
    using P = ComparePredicate;
    for (int64_t c : {0, 1, 2, 3}) {
      auto value = [&](size_t i) { return q.column[i] - c; };
      auto difference = [&] { return q.expr - c; };
      unsigned cost = q.cost + 1 + (c > 1);
      if (c == 0 && q.expr.getKind() == IntExpr::Kind::Mod)
        addDivides(cost - 1, value, q.expr.getOperands()[1],
                   q.expr.getOperands()[0]);
      else
        addCompare(cost, value, P::EQ, difference);
      if (c > 0 || !q.isNonNegative)
        addCompare(cost + 1, value, P::GE, difference);
      if (c < 3)
        addCompare(cost + 1, value, P::LE, difference);
    }
    IntExpr two = IntExpr::constant(q.expr.getContext(), 2);
    for (int64_t odd : {0, 1})
      addDivides(
          q.cost + 3 + odd, [&](size_t i) { return (q.column[i] + odd) % 2; },
          two, q.expr + odd);
  }

  /// divisor divides dividend; rest(i) is the remainder.
  void addDivides(unsigned cost, llvm::function_ref<int64_t(size_t)> rest,
                  IntExpr divisor, IntExpr dividend) {
    add(
        cost, [&](size_t i) { return rest(i) == 0; },
        [&] {
          Literal literal;
          literal.condition = Condition::divides(divisor, dividend);
          return literal;
        });
  }

  void binaryLiterals(const Quantity &a, const Quantity &b, bool isFirst) {
    using P = ComparePredicate;
    unsigned cost = a.cost + b.cost + 1;
    auto linear = [&](int64_t factor, int64_t constant, P predicate,
                      unsigned extra) {
      addCompare(
          cost + extra,
          [&](size_t i) {
            return factor * a.column[i] - b.column[i] + constant;
          },
          predicate, [&] { return a.expr * factor - b.expr + constant; });
    };
    if (isFirst)
      linear(1, 0, P::EQ, 0);
    linear(1, 0, P::LE, 1);
    linear(1, 1, P::LE, 2); // a < b
    linear(1, 1, P::EQ, 2);
    linear(2, 0, P::EQ, 2);
    for (int64_t c : {0, 1}) {
      linear(2, c, P::LE, 3 + c);
      linear(2, c, P::GE, 3 + c);
    }
    linear(2, 1, P::EQ, 3);
    if (llvm::all_of(a.column, [](int64_t x) { return x > 0; }))
      addDivides(
          cost + 2, [&](size_t i) { return b.column[i] % a.column[i]; }, a.expr,
          b.expr);
  }

  /// Sums and products of two symbols against a third.
  void ternaryLiterals() {
    using P = ComparePredicate;
    for (size_t a = 0; a < symbols.size(); ++a)
      for (size_t b = a + 1; b < symbols.size(); ++b)
        for (size_t c = 0; c < symbols.size(); ++c) {
          if (c == a || c == b)
            continue;
          const Quantity &x = symbols[a], &y = symbols[b], &z = symbols[c];
          auto sum = [&](size_t i) {
            return x.column[i] + y.column[i] - z.column[i];
          };
          auto sumExpr = [&] { return x.expr + y.expr - z.expr; };
          addCompare(5, sum, P::EQ, sumExpr);
          addCompare(6, sum, P::LE, sumExpr);
          addCompare(6, sum, P::GE, sumExpr);
          addCompare(
              6,
              [&](size_t i) { return x.column[i] * y.column[i] - z.column[i]; },
              P::EQ, [&] { return x.expr * y.expr - z.expr; });
        }
  }

  ArrayRef<Sample> samples;
  std::vector<Quantity> symbols, derived;
  std::map<std::vector<uint64_t>, LiteralClass> classes;
};

} // namespace

std::vector<LiteralClass> Vocabulary::classify(ArrayRef<Sample> samples) const {
  Classifier classifier(samples);
  classifier.addIntegers(quantities, numSymbols);
  classifier.addReals(parameters);
  classifier.addElements(arguments);
  return classifier.take();
}

} // namespace mlc::precondition
