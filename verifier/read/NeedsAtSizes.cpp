//===- NeedsAtSizes.cpp - Whether a need holds of numbers -----------------===//

#include "verifier/read/NeedsAtSizes.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace mlc::verifier {

std::optional<int64_t> valueOf(IntExpr expr, const SymbolValues &values) {
  return expr.evaluate([&](StringRef name) -> std::optional<int64_t> {
    auto it = values.find(name.str());
    return it == values.end() ? std::nullopt : std::optional(it->second);
  });
}

namespace {

/// Whether a need holds of all values of its loops and iterations.
class NeedCheck {
public:
  NeedCheck(const Need &need, const SymbolValues &symbols)
      : need(need), values(symbols) {
    auto collect = [&](StringRef name) {
      if (!values.count(name.str()) && !llvm::is_contained(free, name))
        free.push_back(name.str());
    };
    for (const auto *guards : {&need.given, &need.anyOf})
      for (const Guard &guard : *guards)
        guard.expr.walkSymbols(collect);
  }

  /// Nothing where there are too many values, or one cannot be computed.
  std::optional<bool> holds() {
    bool result = visit(0);
    return isOpen ? std::nullopt : std::optional(result);
  }

private:
  std::optional<bool> truthOf(const Guard &guard) {
    bool isKnown = true;
    guard.expr.walkSymbols(
        [&](StringRef name) { isKnown &= values.count(name.str()) != 0; });
    if (!isKnown)
      return std::nullopt;
    std::optional<int64_t> value = valueOf(guard.expr, values);
    if (!value) {
      isOpen = true;
      return false;
    }
    switch (guard.kind) {
    case Guard::Kind::NonNegative:
      return *value >= 0;
    case Guard::Kind::Zero:
      return *value == 0;
    case Guard::Kind::NonZero:
      return *value != 0;
    }
    llvm_unreachable("unknown guard");
  }

  /// What is given excludes these values, or none that are larger either.
  enum class Given { Holds, Fails, FailsBeyond };
  Given given(const std::string &last) {
    for (const Guard &guard : need.given) {
      std::optional<bool> holds = truthOf(guard);
      if (!holds || *holds)
        continue;
      // Ranges end: what falls with the variable does not hold again.
      int64_t &value = values[last];
      std::optional<int64_t> here = valueOf(guard.expr, values);
      ++value;
      std::optional<int64_t> next = valueOf(guard.expr, values);
      --value;
      bool falls = guard.kind == Guard::Kind::NonNegative && here && next &&
                   *next < *here;
      return falls ? Given::FailsBeyond : Given::Fails;
    }
    return Given::Holds;
  }

  bool visit(size_t position) {
    if (position == free.size()) {
      auto isTrue = [&](const Guard &guard) {
        return truthOf(guard).value_or(false);
      };
      return !llvm::all_of(need.given, isTrue) ||
             llvm::any_of(need.anyOf, isTrue);
    }
    const std::string &name = free[position];
    for (int64_t value = 0;; ++value) {
      if (value >= mostValues || --left < 0) {
        isOpen = true;
        break;
      }
      values[name] = value;
      Given now = given(name);
      if (now == Given::FailsBeyond || isOpen)
        break;
      if (now == Given::Holds && !visit(position + 1)) {
        values.erase(name);
        return false;
      }
    }
    values.erase(name);
    return true;
  }

  static constexpr int64_t mostValues = 2048;
  const Need &need;
  SymbolValues values;
  std::vector<std::string> free;
  int64_t left = 3000;
  bool isOpen = false;
};

} // namespace

std::optional<bool> holdsAt(const Need &need, const SymbolValues &sizes) {
  return NeedCheck(need, sizes).holds();
}

} // namespace mlc::verifier
