//===- ElaborateBounds.cpp - Bounds by sums of known values ---------------===//
//
// Shows that a value is positive or not negative, as a sum of multiples of
// known values and of products of two of these. Eliminates monomials one after
// another from contradictory inequalities (Fourier and Motzkin) and records the
// combinations.
//
//===----------------------------------------------------------------------===//

#include "verifier/search/Elaborate.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using namespace mlc::kernel;

namespace mlc::elaborate {

namespace {

/// Coefficients by monomial; "" is the constant term.
using Linear = std::map<std::string, Rational>;

Linear linearOf(const Sum &sum) {
  Linear result;
  for (const Term &term : sum) {
    std::string name;
    if (term.variables.empty() && term.guards.empty()) {
      std::vector<std::string> factors;
      for (const FactorRef &factor : term.factors)
        factors.push_back(str(single(factor)));
      llvm::sort(factors);
      for (const std::string &factor : factors)
        name += factor + ";";
    } else {
      Term one = term;
      one.coefficient = Rational(1);
      name = str(Sum{one});
    }
    auto it = result.insert({name, Rational(0)}).first;
    it->second = it->second + term.coefficient;
    if (it->second == Rational(0))
      result.erase(it);
  }
  return result;
}

/// `form` is positive, or not negative; it is the combination `parts` of the
/// original rows.
struct Row {
  Linear form;
  bool isStrict;
  std::vector<Rational> parts;
};

/// a p + b q, for positive numbers a and b.
Row combined(const Rational &a, const Row &p, const Rational &b, const Row &q) {
  Row result{{}, p.isStrict || q.isStrict, {}};
  for (const auto &[scale, row] : {std::pair(a, &p), std::pair(b, &q)})
    for (const auto &[name, value] : row->form) {
      auto it = result.form.insert({name, Rational(0)}).first;
      it->second = it->second + scale * value;
      if (it->second == Rational(0))
        result.form.erase(it);
    }
  for (auto [x, y] : llvm::zip(p.parts, q.parts))
    result.parts.push_back(a * x + b * y);
  return result;
}

bool isAbsurd(const Row &row) {
  if (row.form.empty())
    return row.isStrict;
  return row.form.size() == 1 && row.form.begin()->first.empty() &&
         row.form.begin()->second < Rational(0);
}

/// Multiples of the rows, including row 0, that contradict each other; nullopt
/// if there are none or the search needs too many rows.
std::optional<std::vector<Rational>> contradiction(std::vector<Row> rows) {
  constexpr size_t mostRows = 160;
  for (;;) {
    for (const Row &row : rows)
      if (isAbsurd(row) && row.parts[0] > Rational(0))
        return row.parts;
    std::map<std::string, std::pair<size_t, size_t>> counts;
    for (const Row &row : rows)
      for (const auto &[name, value] : row.form)
        if (!name.empty())
          ++(value > Rational(0) ? counts[name].first : counts[name].second);
    auto best = counts.end();
    for (auto it = counts.begin(); it != counts.end(); ++it)
      if (best == counts.end() || it->second.first * it->second.second <
                                      best->second.first * best->second.second)
        best = it;
    if (best == counts.end() || rows.size() > mostRows)
      return std::nullopt;
    std::vector<Row> next, above, below;
    for (Row &row : rows) {
      auto it = row.form.find(best->first);
      (it == row.form.end()       ? next
       : it->second > Rational(0) ? above
                                  : below)
          .push_back(std::move(row));
    }
    for (const Row &p : above)
      for (const Row &q : below)
        next.push_back(combined(Rational(0) - q.form.at(best->first), p,
                                p.form.at(best->first), q));
    rows = std::move(next);
  }
}

bool isProduct(const Sum &sum) {
  return llvm::any_of(sum,
                      [](const Term &term) { return term.factors.size() > 1; });
}

} // namespace

std::optional<Shown> Elaborator::showBound(Need::Kind kind,
                                           const Context &context,
                                           const Sum &value) {
  if (context.values.empty() || kind == Need::Kind::Defined)
    return std::nullopt;
  if (kind == Need::Kind::NotZero) {
    for (bool isNegative : {false, true})
      if (auto shown =
              showBound(Need::Kind::Positive, context,
                        scaled(value, Rational(isNegative ? -1 : 1)))) {
        shown->isNegative = isNegative;
        return shown;
      }
    return std::nullopt;
  }
  // The rows: the negated claim, the known values, and 1 > 0.
  std::vector<Multiple> known{{1, 1, {}}};
  for (unsigned i = 0; i < context.values.size(); ++i)
    known.push_back({1, 1, {i}});
  constexpr unsigned mostPaired = 6;
  if (isProduct(value) && context.values.size() <= mostPaired)
    for (unsigned i = 0; i < context.values.size(); ++i)
      for (unsigned j = i; j < context.values.size(); ++j)
        known.push_back({1, 1, {i, j}});
  std::vector<Sum> sums;
  std::vector<Row> rows{{linearOf(scaled(value, Rational(-1))),
                         kind == Need::Kind::NotNegative,
                         {}}};
  for (const Multiple &multiple : known) {
    Sum product = constant(Rational(1));
    bool isPositive = true;
    for (unsigned i : multiple.known) {
      product = multiply(product, context.values[i].value, names);
      isPositive = isPositive && context.values[i].isPositive;
    }
    rows.push_back({linearOf(product), isPositive, {}});
    sums.push_back(std::move(product));
  }
  for (unsigned i = 0; i < rows.size(); ++i) {
    rows[i].parts.assign(rows.size(), Rational(0));
    rows[i].parts[i] = Rational(1);
  }
  std::vector<Row> original = rows;
  std::optional<std::vector<Rational>> parts = contradiction(std::move(rows));
  if (!parts)
    return std::nullopt;
  // The remainder is a negative number, the slack of the bound.
  Rational left(0);
  for (auto [row, part] : llvm::zip(original, *parts))
    if (auto it = row.form.find(""); it != row.form.end())
      left = left + part * it->second;
  (*parts)[1] = (*parts)[1] + (Rational(0) - left);
  Shown shown{.kind = Shown::Kind::Bound};
  Sum total;
  for (auto [i, multiple] : llvm::enumerate(known)) {
    Rational weight = (*parts)[i + 1] / (*parts)[0];
    llvm::DynamicAPInt most(std::numeric_limits<int32_t>::max());
    if (weight == Rational(0))
      continue;
    if (weight.num > most || weight.den > most)
      return std::nullopt;
    multiple.over = static_cast<unsigned>(static_cast<int64_t>(weight.num));
    multiple.under = static_cast<unsigned>(static_cast<int64_t>(weight.den));
    shown.bounds.push_back(multiple);
    llvm::append_range(total, scaled(sums[i], weight));
  }
  std::optional<Zero> proof =
      zero(context, add(value, scaled(total, Rational(-1))), 0);
  if (!proof)
    return std::nullopt;
  shown.value = std::make_shared<const Zero>(std::move(*proof));
  return shown;
}

std::optional<Shown> Elaborator::showPoint(Need::Kind kind,
                                           const Context &context,
                                           const Sum &value) {
  if (kind != Need::Kind::Positive && kind != Need::Kind::NotZero)
    return std::nullopt;
  for (auto [i, original] : llvm::enumerate(value)) {
    if (original.variables.empty() && original.guards.empty())
      continue;
    Term term = renamed(original, names);
    Shown shown{.kind = Shown::Kind::Point, .need = static_cast<unsigned>(i)};
    if (auto point = pointOf(context, term.variables, term.guards))
      shown.map = std::move(*point);
    else
      continue;
    if (checker.isShown(kind, 0, context, value, {}, shown))
      return shown;
  }
  return std::nullopt;
}

} // namespace mlc::elaborate
