//===- Sum.cpp - Elements as the proof kernel sees them -------------------===//

#include "verifier/kernel/Sum.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

namespace mlc::kernel {

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static FactorRef make(Factor factor) {
  return std::make_shared<const Factor>(std::move(factor));
}

FactorRef makeRead(unsigned input, std::vector<Integer> index, bool isTruth) {
  return make({.kind = Factor::Kind::Read,
               .input = input,
               .index = std::move(index),
               .isTruth = isTruth});
}

FactorRef makeParameter(llvm::StringRef name) {
  return make({.kind = Factor::Kind::Parameter, .parameter = name.str()});
}

FactorRef makeNumber(Integer integer) {
  return make({.kind = Factor::Kind::Number, .index = {std::move(integer)}});
}

FactorRef makeCall(Head function, std::vector<Sum> arguments, bool isTruth) {
  return make({.kind = Factor::Kind::Call,
               .head = std::move(function),
               .arguments = std::move(arguments),
               .isTruth = isTruth});
}

FactorRef makeReduce(Head monoid, std::vector<Branch> branches, bool isTruth) {
  return make({.kind = Factor::Kind::Reduce,
               .head = std::move(monoid),
               .branches = std::move(branches),
               .isTruth = isTruth});
}

Sum constant(Rational value) {
  if (value == Rational(0))
    return {};
  return {Term{std::move(value), {}, {}, {}}};
}

Sum single(FactorRef factor) {
  return {Term{Rational(1), {}, {}, {std::move(factor)}}};
}

Sum scaled(Sum sum, const Rational &factor) {
  if (factor == Rational(0))
    return {};
  for (Term &term : sum)
    term.coefficient = term.coefficient * factor;
  return sum;
}

Sum add(Sum a, const Sum &b) {
  llvm::append_range(a, b);
  return a;
}

Sum difference(Sum a, const Sum &b) {
  for (Term &term : a)
    term.isAfter = false;
  for (Term term : scaled(b, Rational(-1))) {
    term.isAfter = true;
    a.push_back(std::move(term));
  }
  return a;
}

Sum guarded(Sum sum, llvm::ArrayRef<Formula> guards) {
  for (Term &term : sum)
    llvm::append_range(term.guards, guards);
  return sum;
}

std::optional<Rational> asConstant(const Sum &sum) {
  Rational total(0);
  for (const Term &term : sum) {
    if (!term.variables.empty() || !term.guards.empty() ||
        !term.factors.empty())
      return std::nullopt;
    total = total + term.coefficient;
  }
  return total;
}

std::optional<std::pair<NumberType, NumberType>> castOf(const Factor &factor) {
  if (factor.kind != Factor::Kind::Call || factor.arguments.size() != 1 ||
      factor.head.getKind() != Head::Kind::Cast)
    return std::nullopt;
  std::optional<NumberType> first = numberTypeOf(factor.head.getType()),
                            second = numberTypeOf(factor.head.getTarget());
  if (!first || !second)
    return std::nullopt;
  return std::pair(*first, *second);
}

bool isCall(const Factor &factor, const Head &function) {
  return factor.kind == Factor::Kind::Call && factor.head == function &&
         factor.arguments.size() == 1;
}

bool isReduce(const Factor &factor, const Head &monoid) {
  return factor.kind == Factor::Kind::Reduce && factor.head == monoid;
}

std::optional<UnaryFn> functionOf(const Factor &factor) {
  return factor.kind == Factor::Kind::Call && factor.arguments.size() == 1
             ? factor.head.getFunction()
             : std::nullopt;
}

const Factor *onlyFactor(const Sum &sum) {
  bool isOne = sum.size() == 1 && sum[0].variables.empty() &&
               sum[0].guards.empty() && sum[0].factors.size() == 1 &&
               sum[0].coefficient != Rational(0);
  return isOne ? sum[0].factors[0].get() : nullptr;
}

//===----------------------------------------------------------------------===//
// Substitution
//===----------------------------------------------------------------------===//

/// Renames what binds `variables`; returns `values` with the new names.
static Bindings bind(std::vector<Variable> &variables, Bindings values,
                     Names &names) {
  for (Variable &variable : variables) {
    Variable fresh = names.fresh();
    values.insert_or_assign(variable, Integer::variable(fresh));
    variable = fresh;
  }
  return values;
}

static Term substituteBound(Term term, const Bindings &values, Names &names) {
  Bindings inner = bind(term.variables, values, names);
  for (Formula &guard : term.guards)
    guard = substitute(guard, inner);
  for (FactorRef &factor : term.factors)
    factor = substitute(factor, inner, names);
  return term;
}

static Branch substituteBound(Branch branch, const Bindings &values,
                              Names &names) {
  Bindings inner = bind(branch.variables, values, names);
  for (Formula &guard : branch.guards)
    guard = substitute(guard, inner);
  branch.value = substitute(branch.value, inner, names);
  return branch;
}

FactorRef substitute(const FactorRef &factor, const Bindings &values,
                     Names &names) {
  Factor result = *factor;
  for (Integer &integer : result.index)
    integer = substitute(integer, values);
  for (Sum &argument : result.arguments)
    argument = substitute(argument, values, names);
  for (Branch &branch : result.branches)
    branch = substituteBound(std::move(branch), values, names);
  return make(std::move(result));
}

Sum substitute(const Sum &sum, const Bindings &values, Names &names) {
  Sum result;
  for (const Term &term : sum)
    result.push_back(substituteBound(term, values, names));
  return result;
}

Term renamed(const Term &term, Names &names) {
  return substituteBound(term, {}, names);
}

Branch renamed(const Branch &branch, Names &names) {
  return substituteBound(branch, {}, names);
}

static Integer replaced(const Integer &integer, const Integer &from,
                        const Integer &to) {
  if (integer == from)
    return to;
  if (integer.isLeaf())
    return integer;
  return Integer::apply(integer.kind(), replaced(integer.left(), from, to),
                        replaced(integer.right(), from, to));
}

static Sum replaced(Sum sum, const Integer &from, const Integer &to) {
  for (Term &term : sum) {
    for (Formula &guard : term.guards)
      guard = mapIntegers(
          guard, [&](const Integer &i) { return replaced(i, from, to); });
    for (FactorRef &factor : term.factors)
      factor = replaceInteger(factor, from, to);
  }
  return sum;
}

FactorRef replaceInteger(const FactorRef &factor, const Integer &from,
                         const Integer &to) {
  Factor result = *factor;
  for (Integer &integer : result.index)
    integer = replaced(integer, from, to);
  for (Sum &argument : result.arguments)
    argument = replaced(std::move(argument), from, to);
  for (Branch &branch : result.branches) {
    for (Formula &guard : branch.guards)
      guard = mapIntegers(
          guard, [&](const Integer &i) { return replaced(i, from, to); });
    branch.value = replaced(std::move(branch.value), from, to);
  }
  return make(std::move(result));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Sum multiply(const Sum &a, const Sum &b, Names &names) {
  Sum result;
  for (const Term &x : a)
    for (const Term &original : b) {
      // What b binds must not be what a mentions. What a binds keeps its name:
      // a factor may become a value that stands under the same binder.
      Term y = renamed(original, names);
      Term product = x;
      product.coefficient = product.coefficient * y.coefficient;
      llvm::append_range(product.variables, y.variables);
      llvm::append_range(product.guards, y.guards);
      for (const FactorRef &factor : y.factors) {
        bool isKnown = factor->isTruth &&
                       llvm::any_of(product.factors,
                                    [&](auto &f) { return same(*f, *factor); });
        if (!isKnown)
          product.factors.push_back(factor);
      }
      result.push_back(std::move(product));
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

namespace {

/// Renames what the left side binds to what the right side does.
class Comparison {
public:
  bool compare(const Sum &a, const Sum &b) {
    return llvm::equal(a, b, [&](const Term &x, const Term &y) {
      if (x.coefficient != y.coefficient ||
          x.factors.size() != y.factors.size())
        return false;
      return within(x, y, [&] {
        return llvm::equal(x.factors, y.factors,
                           [&](auto &f, auto &g) { return compare(*f, *g); });
      });
    });
  }

  bool compare(const Factor &a, const Factor &b) {
    if (&a == &b && names.empty())
      return true;
    if (a.kind != b.kind || a.input != b.input || a.parameter != b.parameter ||
        a.head != b.head)
      return false;
    return llvm::equal(a.index, b.index,
                       [&](const Integer &x, const Integer &y) {
                         return substitute(x, names) == y;
                       }) &&
           llvm::equal(
               a.arguments, b.arguments,
               [&](const Sum &x, const Sum &y) { return compare(x, y); }) &&
           llvm::equal(
               a.branches, b.branches, [&](const Branch &x, const Branch &y) {
                 return within(x, y, [&] { return compare(x.value, y.value); });
               });
  }

private:
  template <class Bound>
  bool within(const Bound &x, const Bound &y, llvm::function_ref<bool()> rest) {
    if (x.variables.size() != y.variables.size())
      return false;
    Bindings before = names;
    for (auto [v, w] : llvm::zip(x.variables, y.variables))
      names.insert_or_assign(v, Integer::variable(w));
    // What is free has a name that nothing binds: whoever opens a binder
    // renames it first (Check.cpp). So no free variable looks like a bound one
    // here.
    bool isSame = llvm::equal(x.guards, y.guards,
                              [&](const Formula &f, const Formula &g) {
                                return substitute(f, names) == g;
                              }) &&
                  rest();
    names = std::move(before);
    return isSame;
  }

  Bindings names;
};

} // namespace

bool same(const Sum &a, const Sum &b) { return Comparison().compare(a, b); }
bool same(const Factor &a, const Factor &b) {
  return Comparison().compare(a, b);
}

bool mentions(const Factor &factor, Variable variable) {
  auto inGuards = [&](llvm::ArrayRef<Formula> guards) {
    return llvm::any_of(guards,
                        [&](auto &guard) { return mentions(guard, variable); });
  };
  return llvm::any_of(factor.index,
                      [&](auto &i) { return mentions(i, variable); }) ||
         llvm::any_of(factor.arguments,
                      [&](auto &sum) { return mentions(sum, variable); }) ||
         llvm::any_of(factor.branches, [&](auto &branch) {
           return inGuards(branch.guards) || mentions(branch.value, variable);
         });
}

bool mentions(const Sum &sum, Variable variable) {
  return llvm::any_of(sum, [&](const Term &term) {
    return llvm::any_of(
               term.guards,
               [&](auto &guard) { return mentions(guard, variable); }) ||
           llvm::any_of(term.factors, [&](auto &factor) {
             return mentions(*factor, variable);
           });
  });
}

uint64_t largestIn(const Formula &formula) {
  uint64_t largest = formula.integer().treeSize();
  for (const Formula &part : formula.parts())
    largest = std::max(largest, largestIn(part));
  return largest;
}

static uint64_t largestIn(const Sum &sum) {
  uint64_t largest = 0;
  for (const Term &term : sum) {
    for (const Formula &guard : term.guards)
      largest = std::max(largest, largestIn(guard));
    for (const FactorRef &factor : term.factors)
      largest = std::max(largest, largestIn(*factor));
  }
  return largest;
}

uint64_t largestIn(const Factor &factor) {
  uint64_t largest = 0;
  for (const Integer &integer : factor.index)
    largest = std::max(largest, integer.treeSize());
  for (const Sum &argument : factor.arguments)
    largest = std::max(largest, largestIn(argument));
  for (const Branch &branch : factor.branches) {
    for (const Formula &guard : branch.guards)
      largest = std::max(largest, largestIn(guard));
    largest = std::max(largest, largestIn(branch.value));
  }
  return largest;
}

size_t sizeOf(const Sum &sum) {
  size_t size = 0;
  for (const Term &term : sum) {
    size += 1 + term.guards.size();
    for (const FactorRef &factor : term.factors) {
      size += 1 + factor->index.size();
      for (const Sum &argument : factor->arguments)
        size += sizeOf(argument);
      for (const Branch &branch : factor->branches)
        size += 1 + sizeOf(branch.value);
    }
  }
  return size;
}

static uint64_t nodesOf(llvm::ArrayRef<Formula> formulas) {
  uint64_t nodes = 0;
  for (const Formula &formula : formulas)
    nodes += 1 + formula.integer().treeSize() + nodesOf(formula.parts());
  return nodes;
}

uint64_t nodesOf(const Sum &sum) {
  uint64_t nodes = 0;
  for (const Term &term : sum) {
    nodes += 1 + nodesOf(term.guards);
    for (const FactorRef &factor : term.factors) {
      nodes += 1;
      for (const Integer &integer : factor->index)
        nodes += integer.treeSize();
      for (const Sum &argument : factor->arguments)
        nodes += nodesOf(argument);
      for (const Branch &branch : factor->branches)
        nodes += 1 + nodesOf(branch.guards) + nodesOf(branch.value);
    }
  }
  return nodes;
}

} // namespace mlc::kernel
