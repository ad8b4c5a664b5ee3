//===- HoleText.cpp - A normal form as a definition -----------------------===//

#include "verifier/search/HoleText.h"
#include "dialects/Definition/DefinitionText.h"
#include "verifier/read/Program.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

namespace {

/// Inputs that a normal form reads, in order of their numbers.
void collectInputs(const Sum &sum, llvm::SmallVectorImpl<unsigned> &inputs);

void collectInputs(const Atom &atom, llvm::SmallVectorImpl<unsigned> &inputs) {
  if (atom.kind == Atom::Kind::Read && !llvm::is_contained(inputs, atom.tensor))
    inputs.push_back(atom.tensor);
  for (const Sum &argument : atom.arguments)
    collectInputs(argument, inputs);
  for (const Branch &branch : atom.branches)
    collectInputs(branch.value, inputs);
}

void collectInputs(const Sum &sum, llvm::SmallVectorImpl<unsigned> &inputs) {
  for (const Term &term : sum.terms)
    for (const Factor &factor : term.factors)
      collectInputs(*factor.atom, inputs);
}

class Writer {
public:
  Writer(const SolvedTensor &solved, DefinitionBuilder &builder,
         ArrayRef<unsigned> used)
      : solved(solved), b(builder), used(used) {}

  std::string failure;

  void run() {
    unsigned stage =
        b.stage("Y", solved.dims, solved.elementType, [&](ArrayRef<Expr> i) {
          Facts facts;
          for (auto [variable, dim, loop] :
               llvm::zip(solved.indices, solved.dims, i)) {
            bind(variable, loop, dim);
            facts.add(Guard::less(variable, dim));
          }
          return sum(solved.value, facts, /*mayBeZero=*/true);
        });
    b.result(stage);
  }

private:
  Expr fail(const llvm::Twine &reason) {
    if (failure.empty())
      failure = reason.str();
    return number(0);
  }
  Expr number(double value) { return b.constant(solved.elementType, value); }
  void bind(IntExpr variable, Expr loop, IntExpr extent) {
    variables[variable.getSymbol()] = loop;
    extents[loop->loop] = extent;
  }

  /// An expression without variables stays an IntExpr and prints as one.
  Expr index(IntExpr expr) {
    bool isFixed = true;
    expr.walkSymbols(
        [&](llvm::StringRef s) { isFixed &= !variables.count(s); });
    if (isFixed)
      return b.integer(expr);
    if (expr.getKind() == IntExpr::Kind::Symbol)
      return variables.lookup(expr.getSymbol());
    if (expr.getKind() == IntExpr::Kind::Add)
      return polynomial(expr);
    Expr result;
    for (IntExpr operand : expr.getOperands()) {
      Expr next = index(operand);
      result = result ? binary(functionOf(expr.getKind()), result, next) : next;
    }
    return result;
  }
  /// Terms with variables, positive ones first; then the terms without
  /// variables.
  Expr polynomial(IntExpr expr) {
    Expr result;
    IntExpr fixed = expr * 0;
    SmallVector<IntExpr> negative;
    for (IntExpr operand : expr.getOperands()) {
      bool hasVariable = false;
      operand.walkSymbols(
          [&](llvm::StringRef s) { hasVariable |= variables.count(s) > 0; });
      ArrayRef<IntExpr> factors = operand.getOperands();
      if (!hasVariable)
        fixed = fixed + operand;
      else if (operand.getKind() == IntExpr::Kind::Mul &&
               factors[0].isConstant() && factors[0].getConstant() < 0)
        negative.push_back(-operand);
      else
        result = result ? result + index(operand) : index(operand);
    }
    if (!result)
      result = b.integer(fixed);
    else if ((-fixed).isKnownNonNegative() && !fixed.isConstant(0))
      result = result - b.integer(-fixed);
    else
      result = result + b.integer(fixed);
    for (IntExpr term : negative)
      result = result - index(term);
    return result;
  }

  Expr condition(const Guard &guard) {
    // Positive terms on the left, negative ones on the right.
    IntExpr left = guard.expr * 0, right = left;
    for (const IndexMonomial &m : monomialsOf(guard.expr)) {
      IntExpr term = m.toExpr(guard.expr.getContext());
      (m.coefficient > 0 ? left : right) =
          m.coefficient > 0 ? left + term : right - term;
    }
    ComparePredicate predicate =
        guard.kind == Guard::Kind::NonNegative ? ComparePredicate::GE
        : guard.kind == Guard::Kind::Zero      ? ComparePredicate::EQ
                                               : ComparePredicate::NE;
    return compare(predicate, index(left), index(right));
  }

  /// `plain`: the element is 0 where the read is out of range. Otherwise it is
  /// 1 there, which is safe for divisors and roots; a select around it ensures
  /// that it is never used.
  Expr read(const Atom &atom, bool plain, Facts &known) {
    unsigned input = llvm::find(used, atom.tensor) - used.begin();
    SmallVector<Expr> indices;
    bool isInRange = true;
    for (auto [i, dim] : llvm::zip(atom.index, b.dims(input))) {
      indices.push_back(index(i));
      isInRange &= isEvidentlyInRange(indices.back(), dim, extents);
      if (plain) {
        known.add(Guard::nonNegative(i));
        known.add(Guard::less(i, dim));
      }
    }
    return isInRange ? b.read(input, indices)
                     : b.readOr(input, indices, number(plain ? 0 : 1));
  }

  Expr atom(const Atom &atom, bool plain, Facts &known) {
    switch (atom.kind) {
    case Atom::Kind::Read:
      if (b.elementType([&] {
            return llvm::find(used, atom.tensor) - used.begin();
          }()) != solved.elementType)
        return fail("the weights have different element types");
      return read(atom, plain, known);
    case Atom::Kind::Real:
      return b.real(solved.elementType,
                    RealAttr::getSymbolic(b.getContext(), atom.name));
    case Atom::Kind::Integer:
      return integer(atom.index[0]);
    case Atom::Kind::Call: {
      Facts inside = known;
      if (atom.head.is(UnaryFn::Reciprocal))
        return number(1) / sum(atom.arguments[0], inside);
      if (std::optional<UnaryFn> fn = atom.head.getFunction())
        return unary(*fn, sum(atom.arguments[0], inside));
      return fail("the weight would need the function '" + atom.head.getText() +
                  "'");
    }
    case Atom::Kind::Reduce:
      return fail("the weight would need the reduction '" +
                  atom.head.getText() + "'");
    }
    llvm_unreachable("unknown atom");
  }

  static Expr times(Expr a, Expr b) { return a ? a * b : b; }

  /// An integer as a number.
  Expr integer(IntExpr value) { return cast(index(value), solved.elementType); }

  /// The product of a term's factors; adds facts from its reads to `known`.
  /// Divisors are applied one by one, so that each is proved nonzero by itself.
  Expr product(const Term &term, bool isNegative, Facts &known) {
    llvm::DynamicAPInt num = abs(term.coefficient.num),
                       den = term.coefficient.den;
    IntExpr above = b.index(static_cast<int64_t>(num))->integer,
            below = b.index(static_cast<int64_t>(den))->integer;
    // Reads first: they show where the other factors are defined.
    SmallVector<const Factor *> factors;
    for (bool reads : {true, false})
      for (const Factor &f : term.factors)
        if ((f.atom->kind == Atom::Kind::Read && f.power > 0) == reads)
          factors.push_back(&f);
    Expr value;
    SmallVector<Expr> divisors;
    for (const Factor *f : factors)
      for (int i = 0; i < std::abs(f->power); ++i) {
        if (f->atom->kind == Atom::Kind::Integer)
          (f->power > 0 ? above : below) =
              (f->power > 0 ? above : below) * f->atom->index[0];
        else if (std::optional<IntExpr> divisor = integerDivisor(*f))
          below = below * *divisor;
        else if (f->power > 0)
          value = times(value, atom(*f->atom, !insideCall, known));
        else
          divisors.push_back(atom(*f->atom, false, known));
      }
    if (!value || !above.isConstant(1)) {
      Expr factor = above.isConstant()
                        ? number(static_cast<double>(above.getConstant()))
                        : integer(above);
      value = value ? factor * value : factor;
    }
    for (const Expr &divisor : divisors)
      value = value / divisor;
    if (!below.isConstant(1))
      value = value / (below.isConstant()
                           ? number(static_cast<double>(below.getConstant()))
                           : integer(below));
    return isNegative ? -value : value;
  }

  /// The integer that a reciprocal divides by.
  static std::optional<IntExpr> integerDivisor(const Factor &factor) {
    if (!factor.atom->head.is(UnaryFn::Reciprocal) || factor.power < 0)
      return std::nullopt;
    IntExpr result;
    for (const Term &term : factor.atom->arguments[0].terms) {
      if (term.coefficient.den != 1 || !term.domain.guards.empty() ||
          !term.domain.variables.empty() || term.factors.empty() ||
          abs(term.coefficient.num) > (int64_t(1) << 53))
        return std::nullopt;
      IntExpr product;
      for (const Factor &f : term.factors) {
        if (f.atom->kind != Atom::Kind::Integer || f.power < 0)
          return std::nullopt;
        for (int i = 0; i < f.power; ++i)
          product = product ? product * f.atom->index[0] : f.atom->index[0];
      }
      product = product * static_cast<int64_t>(term.coefficient.num);
      result = result ? result + product : product;
    }
    return result;
  }

  Expr termOf(const Term &term, bool isNegative, Facts facts) {
    for (const llvm::DynamicAPInt &part :
         {term.coefficient.num, term.coefficient.den})
      if (abs(part) > (int64_t(1) << 53))
        return fail("the weight would need numbers that are too large");
    SmallVector<IntExpr> ranges;
    for (IntExpr v : term.domain.variables) {
      IntExpr extent;
      for (const Guard &guard : term.domain.guards)
        if (guard.kind == Guard::Kind::NonNegative && mentions(guard, v) &&
            !mentions(guard.expr + v, v) && !mentionsOf(term, guard, v))
          extent = guard.expr + v + 1;
      if (!extent)
        return fail("the weight would need a sum without bounds");
      ranges.push_back(extent);
      facts.add(Guard::less(v, extent));
    }
    if (ranges.empty())
      return guardedTerm(term, isNegative, facts);
    return b.reduce(ReduceKind::Sum, ranges, [&](ArrayRef<Expr> loops) {
      for (auto [v, loop, extent] :
           llvm::zip(term.domain.variables, loops, ranges))
        bind(v, loop, extent);
      return guardedTerm(term, isNegative, facts);
    });
  }
  /// Whether a bound of `v` mentions another variable of the term.
  static bool mentionsOf(const Term &term, const Guard &guard, IntExpr v) {
    return llvm::any_of(term.domain.variables, [&](IntExpr other) {
      return other != v && mentions(guard, other);
    });
  }

  Expr guardedTerm(const Term &term, bool isNegative, const Facts &facts) {
    Facts known = facts;
    Expr value = product(term, isNegative, known);
    bool isPlain = llvm::all_of(term.factors, [](const Factor &f) {
      return f.power > 0 && f.atom->kind != Atom::Kind::Call;
    });
    Expr all;
    for (const Guard &guard : term.domain.guards) {
      if ((isPlain ? known : facts).implies(guard))
        continue;
      Expr one = condition(guard);
      all = all ? binary(BinaryFn::And, all, one) : one;
    }
    return all ? select(all, value, number(0)) : value;
  }

  Expr sum(const Sum &value, const Facts &facts, bool mayBeZero = false) {
    bool outer = insideCall;
    insideCall = !mayBeZero;
    Expr result;
    for (const Term &term : value.terms) {
      bool isNegative = term.coefficient.num < 0;
      Expr next = termOf(term, isNegative && !result, facts);
      result = !result ? next : isNegative ? result - next : result + next;
    }
    insideCall = outer;
    return result ? result : number(0);
  }

  const SolvedTensor &solved;
  DefinitionBuilder &b;
  ArrayRef<unsigned> used;
  llvm::StringMap<Expr> variables;
  llvm::DenseMap<unsigned, IntExpr> extents;
  bool insideCall = false;
};

} // namespace

std::string toDefinition(const SolvedTensor &solved,
                         ArrayRef<TensorShape> shapes, Definition &definition,
                         llvm::SmallVectorImpl<unsigned> &used) {
  used.clear();
  collectInputs(solved.value, used);
  llvm::sort(used);
  SmallVector<TensorShape> inputs;
  for (unsigned input : used)
    inputs.push_back(shapes[input]);
  DefinitionBuilder builder(solved.elementType.getContext(), inputs);
  Writer writer(solved, builder, used);
  writer.run();
  definition = builder.take();
  return writer.failure;
}

} // namespace mlc::verifier
