//===- Counterexample.cpp - Sizes and values where functions differ -------===//
//
// Small sizes that satisfy the assumptions are drawn at random, then tensors;
// both functions are evaluated over intervals around the real values. What is
// reported differs by more than the intervals' width, so it is no rounding.
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Evaluator.h"
#include "dialects/Interfaces/EvaluatorScalar.h"
#include "verifier/Question.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <random>
#include <set>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::verifier {

namespace {

using Values = std::map<std::string, int64_t>;

std::optional<int64_t> lookup(const Values &values, StringRef name) {
  auto it = values.find(name.str());
  return it == values.end() ? std::nullopt : std::optional(it->second);
}

void collectSymbols(const Definition &definition, std::set<std::string> &out) {
  auto visit = [&](IntExpr expr) {
    expr.walkSymbols([&](StringRef name) { out.insert(name.str()); });
  };
  for (const TensorShape &input : definition.inputs)
    llvm::for_each(input.dims, visit);
  for (const Requirement &r : definition.requirements) {
    visit(r.lhs);
    visit(r.rhs);
  }
  for (const Stage &stage : definition.stages) {
    llvm::for_each(stage.dims, visit);
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.integer)
          visit(node.integer);
        for (const Loop &loop : node.loops)
          visit(loop.extent);
      });
  }
}

void collectParameters(const Definition &definition,
                       std::set<std::string> &out) {
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.kind == Expr::Kind::Param)
          out.insert(node.parameter);
      });
}

/// Numbers that the functions mention (tile sizes): something may happen there.
void collectConstants(IntExpr expr, std::set<int64_t> &out) {
  if (expr.isConstant() && expr.getConstant() > 7 && expr.getConstant() < 48)
    out.insert(expr.getConstant());
  for (IntExpr operand : expr.getOperands())
    collectConstants(operand, out);
}

void collectConstants(const Definition &definition, std::set<int64_t> &out) {
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.integer)
          collectConstants(node.integer, out);
        for (const Loop &loop : node.loops)
          collectConstants(loop.extent, out);
      });
}

bool holds(const Guard &guard, const Values &values) {
  std::optional<int64_t> value =
      guard.expr.evaluate([&](StringRef name) { return lookup(values, name); });
  if (!value)
    return false;
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

/// Values of one random instance, and both functions on them.
class Trial {
public:
  Trial(const Question &question, const Case &one,
        const Assumptions &assumptions, uint64_t seed)
      : question(question), one(one), assumptions(assumptions), random(seed) {}

  /// Draws symbols until the case's guards hold.
  bool drawSymbols(const std::set<std::string> &symbols) {
    // Few zeros and ones: coincidences live there.
    std::vector<int64_t> sizes{1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 0, 1, 2};
    std::set<int64_t> constants;
    collectConstants(question.before, constants);
    collectConstants(question.after, constants);
    for (int64_t constant : constants)
      sizes.insert(sizes.end(), {constant - 1, constant, constant + 1});
    for (unsigned attempt = 0; attempt < 400; ++attempt) {
      values.clear();
      for (const std::string &symbol : symbols)
        if (!one.solved.count(symbol))
          values[symbol] = sizes[random() % sizes.size()];
      if (llvm::all_of(one.guards,
                       [&](const Guard &g) { return holds(g, values); }))
        return solveRest();
    }
    return false;
  }

  bool drawTensors(EvalDomain domain) {
    inputs.clear();
    for (auto [i, shape] : llvm::enumerate(question.before.inputs)) {
      SmallVector<int64_t> sizes;
      for (IntExpr dim : shape.dims) {
        std::optional<int64_t> size =
            dim.evaluate([&](StringRef name) { return lookup(values, name); });
        if (!size || *size < 0)
          return false;
        sizes.push_back(*size);
      }
      llvm::Expected<EvalTensor> tensor = drawTensor(i, shape, sizes, domain);
      if (!tensor) {
        llvm::consumeError(tensor.takeError());
        return false;
      }
      inputs.push_back(std::move(*tensor));
    }
    return true;
  }

  void drawParameters() {
    std::set<std::string> names;
    collectParameters(question.before, names);
    collectParameters(question.after, names);
    for (const std::string &name : names) {
      double low = -2.0, high = 2.0;
      for (const RealAssumption &r : assumptions.reals) {
        if (r.parameter != name)
          continue;
        switch (r.predicate) {
        case ComparePredicate::GT:
        case ComparePredicate::GE:
          low = std::max(low, r.bound + 0.125);
          high = std::max(high, low + 1.0);
          break;
        case ComparePredicate::LT:
        case ComparePredicate::LE:
          high = std::min(high, r.bound - 0.125);
          low = std::min(low, high - 1.0);
          break;
        case ComparePredicate::EQ:
          low = high = r.bound;
          break;
        case ComparePredicate::NE:
          low = std::max(low, r.bound + 0.25);
          break;
        }
      }
      // Multiples of 1/16 are exact everywhere.
      double value = low + (high - low) * double(random() % 64) / 64.0;
      reals[name] = low == high ? low : std::round(value * 16.0) / 16.0;
    }
  }

  llvm::Expected<std::vector<EvalTensor>> run(const Definition &definition,
                                              EvalDomain domain) const {
    EvalOptions options;
    options.domain = domain;
    options.maxBytes = int64_t(1) << 26;
    options.maxSteps = int64_t(1) << 22;
    for (const auto &[name, value] : values)
      options.symbols[name] = value;
    for (const auto &[name, value] : reals)
      options.parameters[name] = value;
    return evaluate(definition, inputs, options);
  }

  Counterexample describe(unsigned result, int64_t element,
                          const EvalTensor &before, const EvalTensor &after);
  Counterexample describeUndefined(StringRef reason);

private:
  bool solveRest() {
    for (const auto &[name, expr] : one.solved) {
      std::optional<int64_t> value = expr.evaluate(
          [&](StringRef symbol) { return lookup(values, symbol); });
      if (!value || *value < 0)
        return false;
      values[name] = *value;
    }
    return true;
  }

  llvm::Expected<EvalTensor> drawTensor(unsigned i, const TensorShape &shape,
                                        ArrayRef<int64_t> sizes,
                                        EvalDomain domain) {
    uint64_t seed = random();
    if (i >= question.numArguments) {
      const auto &entry = question.shared.entries[i - question.numArguments];
      llvm::Expected<EvalTensor> tensor = EvalTensor::fromAttr(entry.constant);
      if (!tensor || domain == EvalDomain::Native)
        return tensor;
      return tensor->toDomain(domain);
    }
    double low = -2.0, high = 2.0;
    bool allEqual = false;
    if (mlir::isa<mlir::IntegerType>(shape.elementType)) {
      low = 0.0;
      high = shape.elementType.isInteger(1) ? 1.0 : 3.0;
    }
    for (const TensorAssumption &t : assumptions.tensors) {
      if (t.argument != i)
        continue;
      bool above = t.predicate == ElementPredicate::Positive ||
                   t.predicate == ElementPredicate::NonNegative ||
                   t.predicate == ElementPredicate::NonZero;
      if (above)
        low = 0.125;
      allEqual |= t.predicate == ElementPredicate::AllEqual;
    }
    if (!allEqual)
      return EvalTensor::random(sizes, shape.elementType, domain, seed, low,
                                high);
    llvm::Expected<EvalTensor> number =
        EvalTensor::random({}, shape.elementType, domain, seed, low, high);
    llvm::Expected<EvalTensor> splat =
        EvalTensor::allocate(sizes, shape.elementType, domain, true);
    if (!number) {
      if (!splat)
        llvm::consumeError(splat.takeError());
      return number.takeError();
    }
    if (splat)
      std::memcpy(splat->getMutableData(), number->getData(),
                  number->getNumBytes());
    return splat;
  }

  void printInstance(llvm::raw_ostream &os) const;

  const Question &question;
  const Case &one;
  const Assumptions &assumptions;
  std::mt19937_64 random;
  Values values;
  std::map<std::string, double> reals;
  std::vector<EvalTensor> inputs;
};

/// `[[1, 2], [3, 4]]` of what is small, else the sizes.
void printTensor(llvm::raw_ostream &os, const EvalTensor &tensor) {
  constexpr int64_t most = 24;
  os << '[';
  llvm::interleave(tensor.getDims(), os, "x");
  os << ']';
  if (tensor.getNumElements() > most)
    return;
  os << " =";
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    os << (i ? ", " : " ");
    os << llvm::format("%.4g", tensor.getDouble(i));
  }
}

void Trial::printInstance(llvm::raw_ostream &os) const {
  for (const auto &[name, value] : values)
    if (!StringRef(name).starts_with("quotient"))
      os << "  " << name << " = " << value << '\n';
  for (const auto &[name, value] : reals)
    os << "  " << name << " = " << value << '\n';
  for (auto [i, tensor] : llvm::enumerate(inputs)) {
    if (i >= question.numArguments)
      break;
    os << "  argument " << i << ' ';
    printTensor(os, tensor);
    os << '\n';
  }
}

Counterexample Trial::describe(unsigned result, int64_t element,
                               const EvalTensor &before,
                               const EvalTensor &after) {
  Counterexample example;
  example.integers = values;
  example.reals = reals;
  example.result = result;
  example.before = before.getDouble(element);
  example.after = after.getDouble(element);
  int64_t rest = element;
  for (int64_t size : llvm::reverse(before.getDims())) {
    example.element.insert(example.element.begin(), rest % size);
    rest /= size;
  }
  llvm::raw_string_ostream os(example.text);
  printInstance(os);
  os << "  element [";
  llvm::interleaveComma(example.element, os);
  os << "] of result " << result << ": " << llvm::format("%.9g", example.before)
     << " before, " << llvm::format("%.9g", example.after) << " after\n";
  return example;
}

Counterexample Trial::describeUndefined(StringRef reason) {
  Counterexample example;
  example.integers = values;
  example.reals = reals;
  example.after = std::nan("");
  llvm::raw_string_ostream os(example.text);
  printInstance(os);
  os << "  defined before, not after: " << reason << '\n';
  return example;
}

/// Why evaluation gave nothing, when that says something of the function and
/// not of the domain.
std::optional<std::string> meaningfulFailure(llvm::Error error) {
  std::optional<std::string> reason;
  llvm::handleAllErrors(
      std::move(error),
      [&](const EvalError &e) {
        if (e.getFailure() == EvalFailure::Requirement)
          reason = e.getText().str();
        if (e.getFailure() != EvalFailure::Undefined)
          return;
        bool isOfDomain = llvm::any_of(
            ArrayRef{Undefined::Ambiguous, Undefined::Overflow,
                     Undefined::NotANumber, Undefined::NoMeaning},
            [&](Undefined u) { return e.getText().contains(describe(u)); });
        if (!isOfDomain)
          reason = e.getText().str();
      },
      [](const llvm::ErrorInfoBase &) {});
  return reason;
}

/// Whether the two elements are surely different numbers.
bool surelyDiffer(const EvalTensor &a, const EvalTensor &b, int64_t i,
                  EvalDomain domain) {
  if (domain != EvalDomain::Interval ||
      !mlir::isa<mlir::FloatType>(a.getElementType()))
    return !a.sameElement(b, i);
  Interval x = a.getInterval(i), y = b.getInterval(i);
  double gap = std::max(x.low - y.high, y.low - x.high);
  double width = std::max(x.high - x.low, y.high - y.low);
  return gap > 0.0 && gap > width;
}

std::optional<Counterexample> runTrial(const Question &question, Trial &trial,
                                       EvalDomain domain, bool &sawInstance,
                                       bool &isConclusive) {
  isConclusive = false;
  if (!trial.drawTensors(domain))
    return std::nullopt;
  auto before = trial.run(question.before, domain);
  if (!before) {
    llvm::consumeError(before.takeError());
    return std::nullopt;
  }
  sawInstance = true;
  auto after = trial.run(question.after, domain);
  if (!after) {
    std::optional<std::string> reason = meaningfulFailure(after.takeError());
    isConclusive = reason.has_value();
    if (!reason)
      return std::nullopt;
    return trial.describeUndefined(*reason);
  }
  isConclusive = true;
  for (auto [r, pair] : llvm::enumerate(llvm::zip(*before, *after))) {
    auto &[a, b] = pair;
    if (a.getDims() != b.getDims()) {
      std::string reason;
      llvm::raw_string_ostream os(reason);
      os << "result " << r << " has dims ";
      llvm::interleave(a.getDims(), os, "x");
      os << " before and ";
      llvm::interleave(b.getDims(), os, "x");
      os << " after";
      return trial.describeUndefined(reason);
    }
    for (int64_t i = 0; i < a.getNumElements(); ++i)
      if (surelyDiffer(a, b, i, domain))
        return trial.describe(r, i, a, b);
  }
  return std::nullopt;
}

} // namespace

std::optional<Counterexample> findCounterexample(const Question &question,
                                                 const Assumptions &assumptions,
                                                 uint64_t seed, unsigned trials,
                                                 bool &sawInstance) {
  // What an opaque operator computes is not known here.
  if (llvm::any_of(question.shared.entries,
                   [](const auto &entry) { return !entry.constant; }))
    return std::nullopt;
  std::set<std::string> symbols;
  for (const Case &one : question.cases) {
    collectSymbols(one.before, symbols);
    collectSymbols(one.after, symbols);
    for (const Guard &guard : one.guards)
      guard.expr.walkSymbols(
          [&](StringRef name) { symbols.insert(name.str()); });
    for (const auto &entry : one.solved)
      entry.second.walkSymbols(
          [&](StringRef name) { symbols.insert(name.str()); });
  }
  for (unsigned t = 0; t < trials && !question.cases.empty(); ++t) {
    const Case &one = question.cases[t % question.cases.size()];
    Trial trial(question, one, assumptions, seed * 1000003 + t);
    if (!trial.drawSymbols(symbols))
      continue;
    trial.drawParameters();
    // Rationals where an interval cannot decide an order.
    for (EvalDomain domain : {EvalDomain::Interval, EvalDomain::Rational}) {
      if (domain == EvalDomain::Rational &&
          !(domainApplies(question.before, domain).isExact &&
            domainApplies(question.after, domain).isExact))
        break;
      bool isConclusive = false;
      std::optional<Counterexample> found =
          runTrial(question, trial, domain, sawInstance, isConclusive);
      if (found)
        return found;
      if (isConclusive)
        break;
    }
  }
  return std::nullopt;
}

} // namespace mlc::verifier
