//===- Polynomial.cpp - What needs no solver ------------------------------===//

#include "verifier/kernel/Polynomial.h"
#include "verifier/kernel/Sum.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace mlc::kernel {

namespace {

/// Products of what is no sum and no product, as texts in order, with their
/// coefficients; none is 0.
using Polynomial = std::map<std::vector<std::string>, int64_t>;
/// Nothing where a coefficient or the number of terms is too large.
using Maybe = std::optional<Polynomial>;

constexpr size_t mostTerms = 64;

/// What begins with this is a size; other texts begin otherwise.
constexpr char sizeMark = '$';

bool addTo(Polynomial &sum, const std::vector<std::string> &product,
           int64_t coefficient) {
  int64_t &own = sum[product];
  if (llvm::AddOverflow(own, coefficient, own))
    return false;
  if (own == 0)
    sum.erase(product);
  return sum.size() <= mostTerms;
}

/// a + factor * b.
Maybe combined(Maybe a, const Maybe &b, int64_t factor) {
  if (!a || !b)
    return std::nullopt;
  for (const auto &[product, coefficient] : *b) {
    int64_t scaled;
    if (llvm::MulOverflow(coefficient, factor, scaled) ||
        !addTo(*a, product, scaled))
      return std::nullopt;
  }
  return a;
}

Maybe product(const Maybe &a, const Maybe &b) {
  if (!a || !b)
    return std::nullopt;
  Polynomial result;
  for (const auto &[x, m] : *a)
    for (const auto &[y, n] : *b) {
      std::vector<std::string> both = x;
      llvm::append_range(both, y);
      llvm::sort(both);
      int64_t coefficient;
      if (llvm::MulOverflow(m, n, coefficient) ||
          !addTo(result, both, coefficient))
        return std::nullopt;
    }
  return result;
}

/// A text of its own for every integer, whatever names hold.
std::string unambiguous(const Integer &integer) {
  std::string kind = std::to_string(static_cast<int>(integer.kind()));
  if (!integer.isLeaf())
    return "(" + kind + " " + unambiguous(integer.left()) + " " +
           unambiguous(integer.right()) + ")";
  return kind + ":" + std::to_string(integer.value()) + ":" +
         std::to_string(integer.name().size()) + ":" + integer.name().str();
}

Maybe polynomialOf(const Integer &integer) {
  switch (integer.kind()) {
  case Integer::Kind::Constant:
    return integer.value() == 0 ? Polynomial()
                                : Polynomial{{{}, integer.value()}};
  case Integer::Kind::Size:
    return Polynomial{{{sizeMark + integer.name().str()}, 1}};
  case Integer::Kind::Add:
    return combined(polynomialOf(integer.left()), polynomialOf(integer.right()),
                    1);
  case Integer::Kind::Multiply:
    return product(polynomialOf(integer.left()), polynomialOf(integer.right()));
  case Integer::Kind::Slot:
    return std::nullopt;
  default:
    return Polynomial{{{"@" + unambiguous(integer)}, 1}};
  }
}

/// Whether it is a sum of products of sizes: never negative.
bool isPlain(const Maybe &sum) {
  return sum && llvm::all_of(*sum, [](const auto &term) {
           return term.second > 0 &&
                  llvm::all_of(term.first, [](const std::string &factor) {
                    return factor[0] == sizeMark;
                  });
         });
}

/// What is given: not negative, or 0.
struct Given {
  Maybe value;
  bool isZero;
};

void collect(const Formula &formula, bool isNegated, std::vector<Given> &out) {
  switch (formula.kind()) {
  case Formula::Kind::NotNegative: {
    Maybe value = polynomialOf(formula.integer());
    if (isNegated) // -value - 1
      value = combined(Polynomial{{{}, -1}}, value, -1);
    out.push_back({std::move(value), false});
    return;
  }
  case Formula::Kind::Zero:
    if (!isNegated)
      out.push_back({polynomialOf(formula.integer()), true});
    return;
  case Formula::Kind::Not:
    collect(formula.parts()[0], !isNegated, out);
    return;
  case Formula::Kind::All:
    if (!isNegated)
      for (const Formula &part : formula.parts())
        collect(part, false, out);
    return;
  case Formula::Kind::Any:
    return;
  }
}

bool isNotNegative(const Maybe &value, llvm::ArrayRef<Given> given) {
  if (!value)
    return false;
  if (isPlain(value))
    return true;
  auto without = [](const Maybe &sum, const Given &one, auto next) {
    return next(combined(sum, one.value, -1)) ||
           (one.isZero && next(combined(sum, one.value, 1)));
  };
  for (size_t i = 0; i < given.size(); ++i)
    if (without(value, given[i], [&](const Maybe &rest) {
          if (!rest || rest->size() > value->size() + 2)
            return false;
          if (isPlain(rest))
            return true;
          return llvm::any_of(given.drop_front(i), [&](const Given &other) {
            return without(rest, other, isPlain);
          });
        }))
      return true;
  return false;
}

bool isPlainly(const Formula &goal, bool isNegated,
               llvm::ArrayRef<Given> given) {
  auto parts = [&](bool all) {
    auto holds = [&](const Formula &part) {
      return isPlainly(part, isNegated, given);
    };
    return all ? llvm::all_of(goal.parts(), holds)
               : llvm::any_of(goal.parts(), holds);
  };
  switch (goal.kind()) {
  case Formula::Kind::All:
    return parts(!isNegated);
  case Formula::Kind::Any:
    return parts(isNegated);
  case Formula::Kind::Not:
    return isPlainly(goal.parts()[0], !isNegated, given);
  case Formula::Kind::NotNegative: {
    Maybe value = polynomialOf(goal.integer());
    return isNotNegative(
        isNegated ? combined(Polynomial{{{}, -1}}, value, -1) : value, given);
  }
  case Formula::Kind::Zero: {
    Maybe value = polynomialOf(goal.integer());
    Maybe below = combined(value, Polynomial{{{}, 1}}, -1),
          above = combined(Polynomial{{{}, -1}}, value, -1);
    if (isNegated) // at least 1, or at most -1
      return isNotNegative(below, given) || isNotNegative(above, given);
    return value &&
           (value->empty() || llvm::any_of(given, [&](const Given &one) {
              Maybe less = combined(value, one.value, -1),
                    more = combined(value, one.value, 1);
              return one.isZero &&
                     ((less && less->empty()) || (more && more->empty()));
            }));
  }
  }
  llvm_unreachable("unknown formula");
}

} // namespace

bool plainlyHolds(llvm::ArrayRef<Formula> formulas, const Formula &goal) {
  std::vector<Given> given;
  for (const Formula &formula : formulas)
    collect(formula, /*isNegated=*/false, given);
  return isPlainly(goal, /*isNegated=*/false, given);
}

} // namespace mlc::kernel
