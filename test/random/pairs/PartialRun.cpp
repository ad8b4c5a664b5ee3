//===- PartialRun.cpp - Elements that may have no value -------------------===//

#include "Partial.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>

using llvm::StringRef;

namespace mlc::test {

namespace {

/// Integers and truth values exactly.
struct Element {
  double real = 0;
  int64_t integer = 0;
};
using Elements = std::vector<std::vector<Element>>; // of each argument

class Run {
public:
  Run(const Elements &arguments, int64_t size)
      : arguments(arguments), size(size) {}

  /// Nothing where it is undefined. `isUnclear` says that rounding may have
  /// decided something.
  std::optional<Element> element(const TermRef &term, int64_t at) {
    auto key = std::pair(term.get(), at);
    if (auto it = known.find(key); it != known.end())
      return it->second;
    std::optional<Element> value = evaluate(*term, at);
    if (value && term->type == 'f' &&
        !(std::abs(value->real) < 1e9)) { // sums would lose digits
      isUnclear = true;
      value->real = 1e9;
    }
    return known[key] = value;
  }
  bool isUnclear = false;

private:
  using Value = std::optional<Element>;

  static Element truth(bool value) { return {0, value}; }
  static Element real(double value) { return {value, 0}; }
  static Element whole(uint64_t value) {
    return {0, static_cast<int64_t>(value)};
  }
  /// Whether a number that is nearly `border` is on it.
  bool isAt(double value, double border) {
    bool isNear = std::abs(value - border) < 1e-7 * (1 + std::abs(border));
    isUnclear |= isNear && value != border;
    return value == border;
  }

  Value evaluate(const Term &term, int64_t at) {
    StringRef name = term.name;
    if (name == "argument")
      return arguments[unsigned(term.number)][at];
    if (name == "number")
      return term.type == 'f' ? real(term.number) : whole(int64_t(term.number));
    if (name == "select") { // the other branch is masked
      Value c = element(term.operands[0], at);
      return c ? element(term.operands[c->integer ? 1 : 2], at) : c;
    }
    if (name == "and" || name == "or")
      return junction(term, at, name == "or");
    if (name == "gather" || name == "pick") {
      Value place = element(term.operands[1], at);
      if (!place)
        return place;
      int64_t i = place->integer;
      if (i < 0 && name == "gather")
        i += size;
      return i >= 0 && i < size ? element(term.operands[0], i) : real(0);
    }
    if (name == "reverse")
      return element(term.operands[0], size - 1 - at);
    if (name == "sum")
      return sum(term.operands[0]);
    if (name.starts_with("top_k"))
      return topK(term.operands[0], at, name == "top_k");
    std::vector<Element> operands;
    for (const TermRef &operand : term.operands) {
      Value value = element(operand, at);
      if (!value)
        return value;
      operands.push_back(*value);
    }
    if (name == "cast" || name.starts_with("through:"))
      return cast(term, operands[0]);
    if (name.consume_front("compare:"))
      return compare(name, term.operands[0]->type, operands[0], operands[1]);
    if (term.type == 'b')
      return truth(name == "not" ? !operands[0].integer
                                 : operands[0].integer != operands[1].integer);
    if (term.type == 'i')
      return integers(name, operands);
    return reals(name, operands);
  }

  /// One of both may decide.
  Value junction(const Term &term, int64_t at, bool decider) {
    Value a = element(term.operands[0], at), b = element(term.operands[1], at);
    for (const Value &one : {a, b})
      if (one && (one->integer != 0) == decider)
        return truth(decider);
    return a && b ? Value(truth(!decider)) : std::nullopt;
  }

  Value sum(const TermRef &of) {
    double total = 0;
    for (int64_t i = 0; i < size; ++i) {
      Value value = element(of, i);
      if (!value)
        return value;
      total += value->real;
    }
    return real(total);
  }

  /// Nothing is known of what it makes of an element without a value.
  Value topK(const TermRef &of, int64_t at, bool isValue) {
    std::vector<std::pair<double, int64_t>> all;
    for (int64_t i = 0; i < size; ++i) {
      Value value = element(of, i);
      if (!value)
        return value;
      all.push_back({-value->real, i});
    }
    llvm::sort(all);
    for (int64_t i = 1; i < size; ++i)
      (void)isAt(all[i - 1].first, all[i].first);
    return isValue ? real(-all[at].first) : whole(all[at].second);
  }

  Value cast(const Term &term, const Element &x) {
    char from = term.operands[0]->type;
    double value = from == 'f' ? x.real : static_cast<double>(x.integer);
    if (term.type == 'f' && term.name == "cast")
      return real(value);
    if (term.type == 'i') {
      if (from != 'f')
        return x;
      (void)isAt(value, std::round(value));
      return std::abs(value) < 9e18 ? Value(whole(int64_t(value)))
                                    : std::nullopt;
    }
    if (term.type == 'b')
      return truth(from == 'f' ? !isAt(value, 0) : x.integer != 0);
    double low = rounded(term.name, value * (1 - 1e-9)),
           high = rounded(term.name, value * (1 + 1e-9));
    isUnclear |= low != high;
    return std::isfinite(high) ? Value(real(rounded(term.name, value)))
                               : std::nullopt;
  }

  static double rounded(StringRef name, double value) {
    llvm::APFloat number(value);
    bool losesInfo;
    number.convert(name.ends_with("bf16") ? llvm::APFloat::BFloat()
                                          : llvm::APFloat::IEEEhalf(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    number.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }

  Value compare(StringRef predicate, char type, const Element &a,
                const Element &b) {
    bool isEqual = type == 'f' ? isAt(a.real, b.real) : a.integer == b.integer,
         isLess = type == 'f' ? a.real < b.real : a.integer < b.integer;
    return truth(predicate == "eq"   ? isEqual
                 : predicate == "ne" ? !isEqual
                 : predicate == "lt" ? isLess
                 : predicate == "le" ? isLess || isEqual
                 : predicate == "gt" ? !isLess && !isEqual
                                     : !isLess);
  }

  static Value integers(StringRef name, llvm::ArrayRef<Element> x) {
    uint64_t a = x[0].integer, b = x.size() > 1 ? x[1].integer : 0;
    if (name == "add")
      return whole(a + b);
    if (name == "sub")
      return whole(a - b);
    if (name == "mul")
      return whole(a * b);
    return whole(0 - a); // neg
  }

  Value reals(StringRef name, llvm::ArrayRef<Element> x) {
    double a = x[0].real, b = x.size() > 1 ? x[1].real : 0;
    if (name == "neg")
      return real(-a);
    if (name == "exp")
      return real(std::exp(a));
    if (name == "abs")
      return real(std::abs(a));
    if (name == "tanh")
      return real(std::tanh(a));
    if (name == "add")
      return real(a + b);
    if (name == "sub")
      return real(a - b);
    if (name == "mul")
      return real(a * b);
    if (name == "min")
      return real(std::min(a, b));
    if (name == "max")
      return real(std::max(a, b));
    if (name == "pow")
      return power(a, b);
    bool isZero = isAt(name == "div" ? b : a, 0);
    if (name == "div")
      return isZero ? std::nullopt : Value(real(a / b));
    if (name == "reciprocal")
      return isZero ? std::nullopt : Value(real(1 / a));
    if (name == "log")
      return a > 0 ? Value(real(std::log(a))) : std::nullopt;
    return a >= 0 ? Value(real(std::sqrt(a))) : std::nullopt;
  }

  Value power(double a, double b) {
    bool isZero = isAt(a, 0), isWhole = b == std::round(b);
    if ((isZero && b < 0) || (a < 0 && !isWhole))
      return std::nullopt;
    return real(std::pow(a, b));
  }

  const Elements &arguments;
  int64_t size;
  std::map<std::pair<const Term *, int64_t>, Value> known;
};

Element draw(char type, unsigned trial, Random &random) {
  if (type == 'b')
    return {0, int64_t(random() % 2)};
  if (type == 'i')
    return {0, int64_t(random() % 9) - 3};
  static constexpr double numbers[] = {0, 1, -1, 0.25, 2, -0.5, 3, 7.5};
  double value = trial % 4 == 3 ? (int64_t(random() % 65) - 32) / 8.0
                                : oneOf(numbers, random);
  return {trial % 3 == 0 ? std::abs(value) + 0.125 : value, 0};
}

std::string show(const PartialPair &pair, const Elements &arguments) {
  std::vector<std::string> texts;
  for (auto [type, elements] : llvm::zip(pair.arguments, arguments)) {
    std::vector<std::string> one;
    for (const Element &element : elements)
      one.push_back(type == 'f' ? llvm::formatv("{0}", element.real).str()
                                : std::to_string(element.integer));
    texts.push_back("[" + llvm::join(one, ", ") + "]");
  }
  return llvm::join(texts, " ");
}

} // namespace

Label labelPartial(const PartialPair &pair, uint64_t seed) {
  Random random(seed);
  Label label;
  for (unsigned trial = 0; trial < 120; ++trial) {
    int64_t size = trial % 10 == 9 ? 0 : 1 + int64_t(random() % 4);
    Elements arguments;
    for (char type : pair.arguments) {
      arguments.emplace_back();
      for (int64_t i = 0; i < size; ++i)
        arguments.back().push_back(draw(type, trial, random));
    }
    Run run(arguments, size);
    // There is no derivative where the function has no value.
    bool isDefined = true;
    for (int64_t i = 0; i < size; ++i)
      isDefined = isDefined && run.element(pair.before, i) &&
                  (!pair.function || run.element(pair.function, i));
    if (!isDefined || run.isUnclear)
      continue;
    for (int64_t i = 0; i < size; ++i) {
      Element a = *run.element(pair.before, i);
      std::optional<Element> b = run.element(pair.after, i);
      if (run.isUnclear)
        break;
      bool isEqual =
          b && a.integer == b->integer &&
          std::abs(a.real - b->real) <= 1e-5 * (1 + std::abs(a.real));
      if (isEqual)
        continue;
      label.kind = Label::Kind::Different;
      label.where = llvm::formatv(
          "element {0} is {1}, {2} at {3}", i,
          a.real + static_cast<double>(a.integer),
          b ? std::to_string(b->real + static_cast<double>(b->integer))
            : "undefined",
          show(pair, arguments));
      return label;
    }
    label.instances += !run.isUnclear && size > 0;
  }
  if (label.instances >= 6)
    label.kind = Label::Kind::Equal;
  return label;
}

} // namespace mlc::test
