//===- StepBindings.cpp - A rule's symbols in a step of a trail -----------===//

#include "rewrites/ProofLog/StepBindings.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Bounds the number of terms of an expression after its products of sums are
/// expanded, without parsing it.
class TermBound {
public:
  explicit TermBound(StringRef text) : rest(text) {}

  /// Whether no part of the expression has more than `most` terms, and its
  /// parentheses are not nested too deeply for the parser.
  bool isWithin(double most) {
    this->most = most;
    return sum(0) <= most && isModest;
  }

private:
  double sum(unsigned depth) {
    double terms = product(depth);
    while (isModest && (take('+') || take('-')))
      terms += product(depth);
    return note(terms);
  }
  double product(unsigned depth) {
    double terms = factor(depth);
    while (isModest && take('*'))
      terms *= factor(depth);
    return note(terms);
  }
  /// A sum in parentheses, or one term: a function call, a symbol or a number.
  double factor(unsigned depth) {
    while (take('-'))
      ;
    if (depth > 100)
      return note(most + 1);
    if (take('('))
      return arguments(depth);
    rest = rest.ltrim();
    if (rest.consume_front("\""))
      rest = rest.split('"').second;
    else
      rest = rest.drop_until(
          [](char c) { return StringRef(" +-*(),").contains(c); });
    if (take('('))
      arguments(depth);
    return 1;
  }
  double arguments(unsigned depth) {
    double terms = sum(depth + 1);
    while (isModest && take(','))
      terms = sum(depth + 1);
    take(')');
    return terms;
  }
  bool take(char c) {
    rest = rest.ltrim();
    return rest.consume_front(StringRef(&c, 1));
  }
  double note(double terms) {
    isModest &= terms <= most;
    return terms;
  }

  StringRef rest;
  double most = 0;
  bool isModest = true;
};

} // namespace

/// Whether it is safe to parse the text: the parser expands products of sums
/// and recurs on parentheses.
static bool isModest(StringRef text) {
  return text.size() <= 4096 && TermBound(text).isWithin(4096);
}

static IntExpr readInteger(StringRef text, MLIRContext *context) {
  if (!isModest(text))
    return {};
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  return dyn_cast_or_null<IntExpr>(
      parseAttribute(("#mlc.int<" + text + ">").str(), context));
}

/// The integer and real symbols of a rule's dims and attributes.
static std::pair<llvm::StringSet<>, llvm::StringSet<>> symbolsOf(Rule &rule) {
  llvm::StringSet<> integers, reals;
  auto note = [&](IntExpr expr) {
    expr.walkSymbols([&](StringRef symbol) { integers.insert(symbol); });
  };
  AttrTypeWalker walker;
  walker.addWalk([&](IntExpr expr) { note(expr); });
  walker.addWalk([&](DimsAttr dims) { llvm::for_each(dims, note); });
  walker.addWalk([&](RealAttr real) {
    if (real.isSymbol())
      reals.insert(real.getSymbol());
  });
  for (func::FuncOp side : {rule.getBefore(), rule.getAfter()}) {
    for (Type type : side.getArgumentTypes())
      walker.walk(type);
    side.getBody().walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getAttrs())
        walker.walk(attribute.getValue());
    });
  }
  for (const Condition &condition : rule.assumptions.integers)
    condition.walkSymbols([&](StringRef symbol) { integers.insert(symbol); });
  for (const RealAssumption &real : rule.assumptions.reals)
    reals.insert(real.parameter);
  return {std::move(integers), std::move(reals)};
}

/// Fails unless the names of `values` are exactly `symbols`.
static Error checkNames(const std::map<std::string, std::string> &values,
                        const llvm::StringSet<> &symbols) {
  for (const auto &[name, value] : values)
    if (!symbols.contains(name))
      return llvm::createStringError("the rule has no symbol " + name);
  for (const auto &entry : symbols)
    if (!values.count(entry.getKey().str()))
      return llvm::createStringError("the symbol " + entry.getKey() +
                                     " has no value");
  return Error::success();
}

Expected<StepBindings> StepBindings::read(Rule &rule, const TrailStep &step) {
  auto [integerNames, realNames] = symbolsOf(rule);
  if (Error error = checkNames(step.integers, integerNames))
    return error;
  if (Error error = checkNames(step.reals, realNames))
    return error;
  StepBindings bindings;
  MLIRContext *context = rule.def.getContext();
  for (const auto &[name, text] : step.integers) {
    IntExpr value = readInteger(text, context);
    if (!value)
      return llvm::createStringError("the value of " + name +
                                     " is no integer expression");
    if (!value.isKnownNonNegative())
      return llvm::createStringError(name + " = " + value.str() +
                                     " may be negative");
    bindings.integers[name] = value;
  }
  for (const auto &[name, text] : step.reals) {
    double value = 0;
    if (StringRef(text).getAsDouble(value, /*AllowInexact=*/true))
      return llvm::createStringError("the value of " + name + " is no number");
    if (!rule.admits(name, value))
      return llvm::createStringError(
          name + " = " + text +
          " is not what the proof assumes: a finite number of the type that it "
          "fills" +
          (rule.assumptions.reals.empty() ? std::string()
                                          : ", " + rule.conditionText()));
    bindings.reals[name] = RealAttr::get(context, value);
  }
  return bindings;
}

//===----------------------------------------------------------------------===//
// Using
//===----------------------------------------------------------------------===//

IntExpr StepBindings::substitute(IntExpr expr) const {
  return expr.substitute(
      [&](StringRef symbol) { return integers.lookup(symbol); });
}

SmallVector<IntExpr> StepBindings::substitute(ArrayRef<IntExpr> dims) const {
  return llvm::map_to_vector(dims,
                             [&](IntExpr dim) { return substitute(dim); });
}

Attribute StepBindings::substitute(Attribute attribute) const {
  MLIRContext *context = attribute.getContext();
  if (auto expr = dyn_cast<IntExpr>(attribute))
    return substitute(expr);
  if (auto dims = dyn_cast<DimsAttr>(attribute))
    return DimsAttr::get(context,
                         ArrayRef<IntExpr>(substitute(dims.getDims())));
  if (auto real = dyn_cast<RealAttr>(attribute))
    return real.isSymbol() ? reals.lookup(real.getSymbol()) : real;
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return ArrayAttr::get(context,
                          llvm::map_to_vector(array, [&](Attribute part) {
                            return substitute(part);
                          }));
  return attribute;
}

/// Decides a predicate on a difference for all values of its symbols.
static std::optional<bool> decideSign(ComparePredicate predicate,
                                      IntExpr difference) {
  std::optional<int64_t> low = difference.lowerBound(),
                         high = difference.upperBound();
  auto isAtLeast = [&](int64_t n) { return low && *low >= n; };
  auto isAtMost = [&](int64_t n) { return high && *high <= n; };
  auto decide = [](bool yes, bool no) -> std::optional<bool> {
    return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt;
  };
  bool isZero = difference.isConstant(0),
       isNonzero = isAtLeast(1) || isAtMost(-1);
  switch (predicate) {
  case ComparePredicate::EQ:
    return decide(isZero, isNonzero);
  case ComparePredicate::NE:
    return decide(isNonzero, isZero);
  case ComparePredicate::LT:
    return decide(isAtMost(-1), isAtLeast(0));
  case ComparePredicate::LE:
    return decide(isAtMost(0), isAtLeast(1));
  case ComparePredicate::GT:
    return decide(isAtLeast(1), isAtMost(0));
  case ComparePredicate::GE:
    return decide(isAtLeast(0), isAtMost(-1));
  }
  llvm_unreachable("unknown predicate");
}

std::optional<bool> StepBindings::decide(const Condition &condition) const {
  switch (condition.getKind()) {
  case Condition::Kind::Compare:
    return decideSign(condition.getPredicate(),
                      substitute(condition.getLhs()) -
                          substitute(condition.getRhs()));
  case Condition::Kind::Divides: {
    IntExpr divisor = substitute(condition.getLhs());
    if (!divisor.isKnownPositive())
      return std::nullopt;
    IntExpr rest = substitute(condition.getRhs()).mod(divisor);
    return rest.isConstant() ? std::optional(rest.isConstant(0)) : std::nullopt;
  }
  case Condition::Kind::Not: {
    std::optional<bool> part = decide(condition.getParts().front());
    return part ? std::optional(!*part) : std::nullopt;
  }
  case Condition::Kind::AllOf:
  case Condition::Kind::AnyOf: {
    // One part may decide it regardless of the others.
    bool settling = condition.getKind() == Condition::Kind::AnyOf;
    bool isOpen = false;
    for (const Condition &part : condition.getParts()) {
      std::optional<bool> truth = decide(part);
      if (truth == settling)
        return settling;
      isOpen |= !truth;
    }
    return isOpen ? std::nullopt : std::optional(!settling);
  }
  }
  llvm_unreachable("unknown condition");
}
