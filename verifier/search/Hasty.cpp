//===- Hasty.cpp - Answers for a search -----------------------------------===//

#include "verifier/search/Hasty.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <optional>
#include <set>

using namespace mlc::kernel;

namespace mlc::elaborate {

namespace {

/// The variables of an obligation in the order in which they occur.
class Variables {
public:
  explicit Variables(const Obligation &obligation) {
    for (const Formula &formula : obligation.given)
      add(formula);
    if (obligation.goal)
      add(*obligation.goal);
    for (const Weighted &part : obligation.sum) {
      add(part.formula);
      add(part.weight);
    }
  }
  std::vector<Variable> all;

private:
  void add(const Formula &formula) {
    add(formula.integer());
    for (const Formula &part : formula.parts())
      add(part);
  }
  void add(const Integer &integer) {
    if (!integer.isLeaf()) {
      add(integer.left());
      add(integer.right());
    } else if (integer.kind() == Integer::Kind::Variable &&
               isSeen.insert(integer.value()).second) {
      all.push_back(integer.value());
    }
  }
  std::set<Variable> isSeen;
};

/// Values at a place; nullopt if one is unknown or overflows.
class Evaluation {
public:
  Evaluation(const std::map<std::string, int64_t> &sizes,
             const std::map<Variable, int64_t> &variables)
      : sizes(sizes), variables(variables) {}

  std::optional<int64_t> value(const Integer &integer) const {
    if (integer.kind() == Integer::Kind::Constant)
      return integer.value();
    if (integer.kind() == Integer::Kind::Size) {
      auto it = sizes.find(integer.name().str());
      return it == sizes.end() ? std::nullopt : std::optional(it->second);
    }
    if (integer.kind() == Integer::Kind::Variable) {
      auto it = variables.find(integer.value());
      return it == variables.end() ? std::nullopt : std::optional(it->second);
    }
    if (integer.isLeaf())
      return std::nullopt;
    std::optional<int64_t> a = value(integer.left()),
                           b = value(integer.right());
    return a && b ? apply(integer.kind(), *a, *b) : std::nullopt;
  }

  std::optional<bool> holds(const Formula &formula) const {
    switch (formula.kind()) {
    case Formula::Kind::NotNegative:
    case Formula::Kind::Zero: {
      std::optional<int64_t> x = value(formula.integer());
      if (!x)
        return std::nullopt;
      return formula.kind() == Formula::Kind::Zero ? *x == 0 : *x >= 0;
    }
    case Formula::Kind::Not: {
      std::optional<bool> part = holds(formula.parts()[0]);
      return part ? std::optional(!*part) : std::nullopt;
    }
    case Formula::Kind::All:
    case Formula::Kind::Any: {
      bool all = formula.kind() == Formula::Kind::All;
      for (const Formula &part : formula.parts()) {
        std::optional<bool> one = holds(part);
        if (!one || *one != all)
          return one;
      }
      return all;
    }
    }
    llvm_unreachable("unknown formula");
  }

private:
  static std::optional<int64_t> apply(Integer::Kind kind, int64_t a,
                                      int64_t b) {
    int64_t result;
    switch (kind) {
    case Integer::Kind::Add:
      return llvm::AddOverflow(a, b, result) ? std::nullopt
                                             : std::optional(result);
    case Integer::Kind::Multiply:
      return llvm::MulOverflow(a, b, result) ? std::nullopt
                                             : std::optional(result);
    case Integer::Kind::FloorDivide:
      return b <= 0 ? std::nullopt
                    : std::optional(llvm::divideFloorSigned(a, b));
    case Integer::Kind::Modulo:
      return b <= 0 ? std::nullopt : std::optional(llvm::mod(a, b));
    case Integer::Kind::Minimum:
      return std::min(a, b);
    case Integer::Kind::Maximum:
      return std::max(a, b);
    default:
      return std::nullopt;
    }
  }

  const std::map<std::string, int64_t> &sizes;
  const std::map<Variable, int64_t> &variables;
};

} // namespace

bool HastyDecider::fails(const Obligation &obligation,
                         const std::vector<Variable> &variables,
                         const Place &place) const {
  if (variables.size() > place.variables.size())
    return false;
  std::map<Variable, int64_t> values;
  for (auto [variable, value] : llvm::zip(variables, place.variables))
    values[variable] = value;
  Evaluation at(place.sizes, values);
  for (const Formula &formula : obligation.given)
    if (at.holds(formula) != std::optional(true))
      return false;
  if (obligation.goal)
    return at.holds(*obligation.goal) == std::optional(false);
  int64_t total = 0;
  for (const Weighted &part : obligation.sum) {
    std::optional<bool> counts = at.holds(part.formula);
    std::optional<int64_t> weight = at.value(part.weight);
    if (!counts || !weight)
      return false;
    if (*counts && llvm::AddOverflow(total, *weight, total))
      return false;
  }
  if (obligation.width > 0 && obligation.width < 63)
    return total % (int64_t(1) << obligation.width) != 0;
  return obligation.width == 0 && total != 0;
}

bool HastyDecider::isKnownToFail(const Obligation &obligation) {
  std::vector<Variable> variables = Variables(obligation).all;
  return llvm::any_of(places, [&](const Place &place) {
    return fails(obligation, variables, place);
  });
}

void HastyDecider::learn(const Obligation &obligation, const Model &model) {
  constexpr size_t mostPlaces = 48;
  Place place;
  for (const auto &[key, value] : model)
    if (key[0] == 's')
      place.sizes[key.substr(1)] = value;
  for (Variable variable : Variables(obligation).all) {
    auto it = model.find("v" + std::to_string(variable));
    place.variables.push_back(it == model.end() ? 0 : it->second);
  }
  places.push_front(std::move(place));
  if (places.size() > mostPlaces)
    places.pop_back();
}

} // namespace mlc::elaborate
