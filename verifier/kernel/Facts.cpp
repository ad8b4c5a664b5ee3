//===- Facts.cpp - Facts of functions and of maxima -----------------------===//
//
// Of the reals: each is a textbook's identity, with its condition.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Check.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace mlc::kernel {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The value of the step's one factor.
bool Checker::factOfOne(const Step &step, const Context &inside,
                        const Term &term, Sum &value) {
  const Factor &factor = *term.factors[step.factor];
  if (step.kind == Step::Kind::AtZero) {
    std::optional<UnaryFn> function = unaryNamed(factor.name);
    if (factor.kind != Factor::Kind::Call || factor.arguments.size() != 1 ||
        !factor.arguments[0].empty() || !function ||
        !factsOf(*function).hasZero())
      return fail("a function of 0 has no known value");
    value = constant(Rational(static_cast<int64_t>(factsOf(*function).atZero)));
    return true;
  }
  if (step.kind == Step::Kind::SplitReciprocal) {
    bool isProduct = isCall(factor, reciprocalName) &&
                     factor.arguments[0].size() == 1 &&
                     factor.arguments[0][0].variables.empty() &&
                     factor.arguments[0][0].guards.empty() &&
                     factor.arguments[0][0].coefficient != Rational(0);
    if (!isProduct)
      return fail("what is inverted is no product");
    const Term &product = factor.arguments[0][0];
    value = constant(Rational(1) / product.coefficient);
    for (const FactorRef &part : product.factors)
      value = multiply(value,
                       isCall(*part, reciprocalName)
                           ? part->arguments[0]
                           : single(makeCall(reciprocalName, {single(part)})),
                       names);
    return true;
  }
  if (step.kind == Step::Kind::LogOfExp) {
    const Factor *inner =
        isCall(factor, "log") ? onlyFactor(factor.arguments[0]) : nullptr;
    if (!inner || factor.arguments[0][0].coefficient != Rational(1) ||
        !isCall(*inner, "exp"))
      return fail("a function is not applied to its inverse");
    value = inner->arguments[0];
    return true;
  }
  return factOfFunction(step, inside, term, value);
}

static Sum call(llvm::StringRef function, Sum argument) {
  return single(makeCall(function, {std::move(argument)}));
}

/// exp(y + log(x)) and exp(y - log(x)).
static bool splitExponential(const Factor &factor, unsigned place, Sum &inner,
                             Sum &value, Names &names) {
  if (!isCall(factor, "exp") || place >= factor.arguments[0].size())
    return false;
  Sum rest = factor.arguments[0];
  Term term = rest[place];
  rest.erase(rest.begin() + place);
  const Factor *log = onlyFactor({term});
  bool isPlus = term.coefficient == Rational(1);
  if (!log || !isCall(*log, "log") ||
      (!isPlus && term.coefficient != Rational(-1)))
    return false;
  inner = log->arguments[0];
  value = isPlus ? inner : call(reciprocalName, inner);
  if (!rest.empty())
    value = multiply(value, call("exp", std::move(rest)), names);
  return true;
}

/// sqrt(x y), into sqrt(x) and sqrt(y).
static bool splitRoot(const Factor &factor, unsigned place, Sum &first,
                      Sum &second) {
  if (!isCall(factor, "sqrt") || factor.arguments[0].size() != 1)
    return false;
  Term rest = factor.arguments[0][0];
  if (!rest.variables.empty() || !rest.guards.empty() ||
      place >= rest.factors.size())
    return false;
  first = single(rest.factors[place]);
  rest.factors.erase(rest.factors.begin() + place);
  second = {rest};
  return true;
}

/// f(-x), turned around.
static bool mirror(const Factor &factor, Sum &value) {
  std::optional<UnaryFn> function = unaryNamed(factor.name);
  if (factor.kind != Factor::Kind::Call || factor.arguments.size() != 1 ||
      !function)
    return false;
  const ScalarFunction &facts = factsOf(*function);
  // 1/0 is 0, so that this needs no condition.
  if (facts.parity == Parity::None ||
      (!facts.isDefinedEverywhere() && factor.name != reciprocalName))
    return false;
  value = scaled(call(factor.name, scaled(factor.arguments[0], Rational(-1))),
                 Rational(facts.parity == Parity::Odd ? -1 : 1));
  return true;
}

/// What a number is cast to, or whether it is 0.
static bool ofNumber(const Factor &factor, Sum &value) {
  llvm::StringRef name = factor.name;
  std::optional<Rational> number =
      factor.kind == Factor::Kind::Call && factor.arguments.size() == 1
          ? asConstant(factor.arguments[0])
          : std::nullopt;
  if (name == "zero" && number) {
    value = constant(Rational(*number == Rational(0) ? 1 : 0));
    return true;
  }
  bool isCast = widthOfCast(factor) > 0;
  unsigned width = isCast                        ? widthOfCast(factor)
                   : name.consume_front("zero:") ? widthNamed(name)
                                                 : 0;
  if (width == 0 || !number || number->den != llvm::DynamicAPInt(1))
    return false;
  llvm::DynamicAPInt modulus(1), zero(0);
  for (unsigned i = 0; i < width; ++i)
    modulus = modulus * llvm::DynamicAPInt(2);
  bool isZero = mod(number->num, modulus) == zero;
  value = isCast ? constant(*number) : constant(Rational(isZero ? 1 : 0));
  // With a sign and without one, residues have the numbers of the lower half.
  return !isCast ||
         (zero <= number->num && number->num + number->num < modulus);
}

/// [x = 0] by the signs of x.
static bool signsOfZero(const Factor &factor, Sum &value) {
  if (!isCall(factor, "zero") || mentionsInfinity(factor.arguments[0]))
    return false;
  value = constant(Rational(1));
  for (int sign : {1, -1}) {
    Sum side = scaled(factor.arguments[0], Rational(sign));
    value.push_back(
        {Rational(-1), {}, {}, {makeCall("positive", {side}, true)}});
  }
  return true;
}

/// The value of one function.
bool Checker::factOfFunction(const Step &step, const Context &inside,
                             const Term &term, Sum &value) {
  const Factor &factor = *term.factors[step.factor];
  std::vector<Sum> path = pathOf(term, step.factor, step.factor);
  auto isNeeded = [&](size_t i, Need::Kind kind, const Sum &x) {
    return i < step.need.size() &&
           isShown(kind, 0, inside, x, path, step.need[i]);
  };
  auto argumentOf = [&](llvm::StringRef function) {
    return isCall(factor, function) ? &factor.arguments[0] : nullptr;
  };
  Sum first, second;
  switch (step.kind) {
  case Step::Kind::ExpOfLog:
    return splitExponential(factor, step.other, first, value, names) &&
           isNeeded(0, Need::Kind::Positive, first);
  case Step::Kind::RootOfProduct:
    if (!splitRoot(factor, step.other, first, second) ||
        !isNeeded(0, Need::Kind::NotNegative, first) ||
        !isNeeded(1, Need::Kind::NotNegative, second))
      return false;
    value = multiply(call("sqrt", first), call("sqrt", second), names);
    return true;
  case Step::Kind::RootOfSquare:
    if (!splitRoot(factor, 0, first, second) || !same(first, second))
      return false;
    value = call("abs", first);
    return true;
  case Step::Kind::InvertExponential: {
    const Sum *inverted = argumentOf(reciprocalName);
    const Factor *exp = inverted ? onlyFactor(*inverted) : nullptr;
    if (!exp || !isCall(*exp, "exp"))
      return false;
    value = scaled(call("exp", scaled(exp->arguments[0], Rational(-1))),
                   Rational(1) / (*inverted)[0].coefficient);
    return true;
  }
  case Step::Kind::UnfoldTanh:
    if (const Sum *x = argumentOf("tanh")) {
      Sum one = constant(Rational(1));
      value = add(scaled(call(reciprocalName,
                              add(one, call("exp", scaled(*x, Rational(-2))))),
                         Rational(2)),
                  scaled(one, Rational(-1)));
      return true;
    }
    return false;
  case Step::Kind::Mirror:
    return mirror(factor, value);
  case Step::Kind::Magnitude:
    if (const Sum *x = argumentOf("abs")) {
      value = single(makeReduce(
          "max", {{{}, {}, *x}, {{}, {}, scaled(*x, Rational(-1))}}));
      return true;
    }
    return false;
  case Step::Kind::Choose:
    return choose(step, inside, factor, value);
  case Step::Kind::SignsOfZero:
    return signsOfZero(factor, value);
  case Step::Kind::Decide:
    if (const Sum *x = argumentOf("positive"); x && !mentionsInfinity(*x)) {
      value = constant(Rational(step.part ? 1 : 0));
      return step.part ? isNeeded(0, Need::Kind::Positive, *x)
                       : isNeeded(0, Need::Kind::NotNegative,
                                  scaled(*x, Rational(-1)));
    }
    return false;
  case Step::Kind::OfNumber:
    return ofNumber(factor, value);
  default:
    return fail("an unknown step");
  }
}

/// max(x, y, ...) is max(y, ...) where x < y, else max(x, ...).
bool Checker::choose(const Step &step, const Context &inside,
                     const Factor &factor, Sum &value) {
  bool isOfReals = factor.name == "max",
       isMinimum = llvm::StringRef(factor.name).starts_with("min:"),
       isMaximum =
           isOfReals || llvm::StringRef(factor.name).starts_with("max:");
  llvm::StringRef type =
      llvm::StringRef(factor.name)
          .drop_front(std::min<size_t>(4, factor.name.size()));
  ArrayRef<Branch> branches = factor.branches;
  auto isPoint = [&](unsigned b) {
    return b < branches.size() && branches[b].variables.empty() &&
           !mentionsInfinity(branches[b].value) &&
           decider.holds(inside.known, Formula::all(branches[b].guards));
  };
  bool isWellFormed =
      factor.kind == Factor::Kind::Reduce && (isMinimum || isMaximum) &&
      (isOfReals || widthNamed(type) > 0) && step.part != step.other &&
      isPoint(step.part) && isPoint(step.other);
  if (!isWellFormed)
    return fail("there is no order of two values");
  const Sum &x = branches[isMinimum ? step.other : step.part].value,
            &y = branches[isMinimum ? step.part : step.other].value;
  Sum order = isOfReals
                  ? single(makeCall("positive",
                                    {add(y, scaled(x, Rational(-1)))}, true))
                  : single(makeCall("less:" + type.str(), {x, y}, true));
  auto without = [&](unsigned b) {
    std::vector<Branch> rest = branches.vec();
    rest.erase(rest.begin() + b);
    return rest.size() == 1 ? rest[0].value
                            : single(makeReduce(factor.name, std::move(rest)));
  };
  Sum reversed = add(constant(Rational(1)), scaled(order, Rational(-1)));
  value = add(multiply(order, without(step.part), names),
              multiply(reversed, without(step.other), names));
  return true;
}

/// The value of the product of the step's two factors.
bool Checker::factOfTwo(const Step &step, const Context &inside,
                        const Term &term, Sum &value) {
  if (step.other >= term.factors.size() || step.other == step.factor)
    return fail("a step has no second factor");
  const FactorRef &first = term.factors[step.factor],
                  &second = term.factors[step.other];
  std::vector<Sum> path = pathOf(term, step.factor, step.other);
  if (step.kind == Step::Kind::JoinExponentials) {
    if (!isCall(*first, "exp") || !isCall(*second, "exp"))
      return fail("a factor is no exponential");
    value = single(
        makeCall("exp", {add(first->arguments[0], second->arguments[0])}));
    return true;
  }
  if (step.kind == Step::Kind::SquareOfRoot) {
    if (!isCall(*first, "sqrt") || !same(*first, *second))
      return fail("a factor is no root");
    value = first->arguments[0];
    return step.need.size() == 1 && isShown(Need::Kind::NotNegative, 0, inside,
                                            value, path, step.need[0]);
  }
  const Factor *inverted = isCall(*second, reciprocalName)
                               ? onlyFactor(second->arguments[0])
                               : nullptr;
  bool areNumbers = inverted && inverted->kind == Factor::Kind::Number &&
                    first->kind == Factor::Kind::Number;
  bool isInverse =
      areNumbers
          ? decider.holds(inside.known,
                          Formula::equal(inverted->index[0], first->index[0]))
          : inverted && same(*inverted, *first);
  if (!isInverse)
    return fail("a factor is not the other's inverse");
  value = constant(Rational(1) / second->arguments[0][0].coefficient);
  return step.need.size() == 1 && isShown(Need::Kind::NotZero, 0, inside,
                                          single(first), path, step.need[0]);
}

bool Checker::applyFact(const Step &step, const Context &context, Sum &sum) {
  Term term = sum[step.term];
  if (step.factor >= term.factors.size())
    return fail("a step has no factor");
  Context inside = opened(context, term);
  bool isOfTwo = step.kind == Step::Kind::Cancel ||
                 step.kind == Step::Kind::JoinExponentials ||
                 step.kind == Step::Kind::SquareOfRoot;
  Sum value;
  if (!(isOfTwo ? factOfTwo(step, inside, term, value)
                : factOfOne(step, inside, term, value)))
    return fail("a fact does not apply");
  std::vector<FactorRef> rest;
  for (auto [i, factor] : llvm::enumerate(term.factors))
    if (i != step.factor && !(isOfTwo && i == step.other))
      rest.push_back(factor);
  term.factors = std::move(rest);
  Sum product = multiply({term}, value, names);
  sum.erase(sum.begin() + step.term);
  sum.insert(sum.begin() + step.term, product.begin(), product.end());
  return true;
}

//===----------------------------------------------------------------------===//
// Maxima
//===----------------------------------------------------------------------===//

static bool varies(const Sum &sum, ArrayRef<Variable> variables) {
  return llvm::any_of(
      variables, [&](Variable variable) { return mentions(sum, variable); });
}

/// Takes a term that all branches have; it is `taken`.
bool Checker::takeTerm(const Step &step, std::vector<Branch> &branches,
                       Sum &taken) {
  if (branches.empty() || step.other >= branches[0].value.size())
    return fail("a step has no term");
  taken = {branches[0].value[step.other]};
  for (Branch &branch : branches) {
    auto it = llvm::find_if(
        branch.value, [&](const Term &term) { return same(Sum{term}, taken); });
    if (it == branch.value.end() || varies({*it}, branch.variables))
      return fail("a branch has no such term");
    branch.value.erase(it);
  }
  return true;
}

/// Takes a factor, not negative, that all terms of all branches have.
bool Checker::takeFactor(const Step &step, const Context &inside,
                         std::vector<Branch> &branches, Sum &taken) {
  if (branches.empty() || branches[0].value.empty() ||
      step.other >= branches[0].value[0].factors.size())
    return fail("a step has no factor");
  taken = single(branches[0].value[0].factors[step.other]);
  for (Branch &branch : branches)
    for (Term &term : branch.value) {
      auto it = llvm::find_if(term.factors, [&](const FactorRef &factor) {
        return same(*factor, *taken[0].factors[0]);
      });
      if (it == term.factors.end() || varies(taken, branch.variables) ||
          varies(taken, term.variables))
        return fail("a term has no such factor");
      term.factors.erase(it);
    }
  return isNotNegative(inside, taken) || fail("a factor may be negative");
}

bool Checker::take(const Step &step, const Context &context, Sum &sum) {
  Term term = sum[step.term];
  FactorRef factor = term.factors[step.factor];
  if (factor->name != "max" || step.part >= factor->branches.size())
    return fail("a step needs a maximum");
  Context inside = opened(context, term);
  // A maximum of nothing is less than all that may be added to it.
  const Branch &point = factor->branches[step.part];
  ArrayRef<Integer> integers = step.integers;
  Integer over, under;
  if (step.kind == Step::Kind::TakeNumber) {
    if (integers.size() < 2)
      return fail("a step has no number");
    over = integers[0];
    under = integers[1];
    integers = integers.drop_front(2);
  }
  Bindings values;
  bool isWellFormed = integers.size() == point.variables.size();
  for (auto [variable, integer] : llvm::zip(point.variables, integers)) {
    Integer value = integer;
    isWellFormed = isWellFormed && fillSlots(value, inside.scope);
    values.insert({variable, value});
  }
  std::vector<Formula> guards;
  for (const Formula &guard : point.guards)
    guards.push_back(substitute(guard, values));
  if (!isWellFormed ||
      !decider.holds(inside.known, Formula::all(std::move(guards))))
    return fail("a maximum may be of nothing");
  std::vector<Branch> branches = factor->branches;
  term.factors.erase(term.factors.begin() + step.factor);
  Sum value, taken;
  if (step.kind == Step::Kind::TakeNumber) {
    bool isPositive = over.kind() == Integer::Kind::Constant &&
                      under.kind() == Integer::Kind::Constant &&
                      over.value() > 0 && under.value() > 0;
    if (!isPositive)
      return fail("a number is not positive");
    Rational number(over.value(), under.value());
    for (Branch &branch : branches)
      branch.value = scaled(branch.value, Rational(1) / number);
    value = scaled(single(makeReduce("max", std::move(branches))), number);
  } else if (step.kind == Step::Kind::TakeTerm) {
    if (!takeTerm(step, branches, taken))
      return false;
    value = add(single(makeReduce("max", std::move(branches))), taken);
  } else {
    if (!takeFactor(step, inside, branches, taken))
      return false;
    value =
        multiply(single(makeReduce("max", std::move(branches))), taken, names);
  }
  Sum product = multiply({term}, value, names);
  sum.erase(sum.begin() + step.term);
  sum.insert(sum.begin() + step.term, product.begin(), product.end());
  return true;
}

} // namespace mlc::kernel
