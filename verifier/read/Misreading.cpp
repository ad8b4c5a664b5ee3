//===- Misreading.cpp - Does a definition do what its function does? ------===//

#include "verifier/read/Misreading.h"
#include "mlir/IR/Matchers.h"
#include "verifier/linalg/Interpreter.h"
#include "verifier/read/Instance.h"
#include "verifier/read/NeedsAtSizes.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::verifier {

/// Whether all is said by definitions of operators.
static bool isOfDefinitions(mlir::func::FuncOp function) {
  return llvm::all_of(
      function.getBody().front().without_terminator(), [](mlir::Operation &op) {
        bool isConstant =
            mlir::isa<mlir::RankedTensorType>(op.getNumResults() == 1
                                                  ? op.getResult(0).getType()
                                                  : mlir::Type()) &&
            mlir::matchPattern(&op, mlir::m_Constant());
        return isConstant ||
               mlir::isa<DefinitionOpInterface, OpaqueOpInterface>(op);
      });
}

namespace {

//===----------------------------------------------------------------------===//
// One instance
//===----------------------------------------------------------------------===//

/// What the reading makes of an instance.
struct Read {
  enum class Kind {
    Defined,
    Excluded,  // by a requirement or a need
    Undefined, // at an element
    Open,
  };
  Kind kind = Kind::Open;
  /// Whether needs have more values than were looked at.
  bool isPartial = false;
  std::string reason;
  std::vector<EvalTensor> results;
};

bool isOfDomain(StringRef reason) {
  return llvm::any_of(
      ArrayRef{Undefined::Ambiguous, Undefined::Overflow, Undefined::NotANumber,
               Undefined::NoMeaning},
      [&](Undefined u) { return reason.contains(describe(u)); });
}

Read evaluateReading(const Reading &reading, const Instance &instance,
                     ArrayRef<EvalTensor> inputs) {
  Read read;
  for (const Need &need : reading.needs) {
    std::optional<bool> holds = holdsAt(need, instance.getSymbols());
    read.isPartial |= !holds;
    if (holds.value_or(true))
      continue;
    read.kind = Read::Kind::Excluded;
    read.reason = need.message;
    return read;
  }
  auto results = instance.run(reading.definition, inputs, EvalDomain::Interval);
  if (results) {
    read.kind = Read::Kind::Defined;
    read.results = std::move(*results);
    return read;
  }
  llvm::handleAllErrors(
      results.takeError(),
      [&](const EvalError &e) {
        read.reason = e.getText().str();
        if (e.getFailure() == EvalFailure::Requirement)
          read.kind = Read::Kind::Excluded;
        else if (e.getFailure() == EvalFailure::Undefined &&
                 !isOfDomain(e.getText()))
          read.kind = Read::Kind::Undefined;
      },
      [](const llvm::ErrorInfoBase &) {});
  return read;
}

/// Whether both numbers are surely different.
bool differ(const EvalTensor &a, int64_t i, const interpret::Scalar &b) {
  if (!mlir::isa<mlir::FloatType>(a.getElementType())) {
    unsigned width = b.integer.getBitWidth();
    uint64_t mask = width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
    return (static_cast<uint64_t>(a.getInt(i)) & mask) !=
           b.integer.getZExtValue();
  }
  Interval x = a.getInterval(i), y = b.real;
  auto widthOf = [](Interval v) {
    return v.low == v.high ? 0.0 : v.high - v.low;
  };
  double gap = std::max(x.low - y.high, y.low - x.high);
  return gap > 0.0 && gap > std::max(widthOf(x), widthOf(y));
}

void printElement(llvm::raw_ostream &os, mlir::Type type,
                  const interpret::Scalar &element) {
  if (!element.isNumber())
    os << "no number";
  else if (mlir::isa<mlir::FloatType>(type))
    os << llvm::format("%.9g", (element.real.low + element.real.high) / 2);
  else
    os << element.integer.getSExtValue();
}

/// Where two results differ; empty where they do not.
std::string difference(unsigned r, const EvalTensor &read,
                       const interpret::Tensor &run, bool knowsUnwritten) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (read.getDims() != ArrayRef(run.dims)) {
    os << "result " << r << " has dims ";
    llvm::interleave(run.dims, os, "x");
    os << ", read as ";
    llvm::interleave(read.getDims(), os, "x");
    return text;
  }
  for (auto [i, element] : llvm::enumerate(run.elements)) {
    using State = interpret::Scalar::State;
    bool isWrong = false;
    if (element.isNumber())
      isWrong = differ(read, i, element);
    else if (element.state == State::Unwritten)
      isWrong = !knowsUnwritten;
    else
      isWrong = !isOfDomain(describe(element.why));
    if (!isWrong)
      continue;
    os << "element " << i << " of result " << r << " is ";
    printElement(os, run.elementType, element);
    os << ", read as ";
    read.printElement(os, i);
    return text;
  }
  return text;
}

/// Whether some element is that of a tensor that nobody has written.
bool mentionsUnwritten(const Definition &definition) {
  bool found = false;
  walkNames(
      definition, [](IntExpr) {},
      [&](StringRef name) { found |= name.starts_with(uninitializedPrefix); });
  return found;
}

//===----------------------------------------------------------------------===//
// All instances
//===----------------------------------------------------------------------===//

class Checker {
public:
  Checker(const Reading &reading, const Goal &goal)
      : reading(reading), name(mlir::func::FuncOp(reading.function).getName()) {
    sample.before = sample.after = reading.definition;
    sample.numArguments = goal.numArguments;
    sample.argumentNames = goal.argumentNames;
    sample.shared.entries = goal.shared.entries;
    sample.parameters = goal.parameters;
    knowsUnwritten = mentionsUnwritten(reading.definition);
  }

  ReadingCheck run();

private:
  std::vector<Guard> sizes() const;
  std::vector<Guard> conditions() const;
  void addCase(std::vector<Guard> guards);
  bool compare(Instance &instance, Spread spread, uint64_t maxSteps);
  void addCases();
  bool sampleOnce(unsigned number, uint64_t maxSteps);
  bool disagree(const Instance &instance, const llvm::Twine &what);
  bool judge(const Instance &instance, const Read &read,
             const interpret::RunResult &run);

  static constexpr unsigned numInstances = 12;
  /// Of the interpreter, for one instance; where all are larger, one may take
  /// more. As many as there are for all end the search.
  static constexpr uint64_t ordinarySteps = 30000, mostSteps = 1 << 20;
  static constexpr uint64_t allSteps = 60000;

  const Reading &reading;
  std::string name;
  Goal sample;
  std::optional<Unknowns> unknowns;
  Assumptions none;
  ReadingCheck check;
  uint64_t stepsLeft = allSteps;
  unsigned numQuotients = 0;
  bool knowsUnwritten = false;
};

std::vector<Guard> Checker::sizes() const {
  std::vector<Guard> guards;
  for (const TensorShape &input : sample.before.inputs)
    for (IntExpr dim : input.dims)
      if (!dim.isKnownNonNegative())
        guards.push_back(Guard::nonNegative(dim));
  return guards;
}

/// What the reading requires of sizes alone.
std::vector<Guard> Checker::conditions() const {
  std::vector<Guard> guards;
  auto add = [&](Guard guard) {
    if (!guard.expr.isConstant() && !llvm::is_contained(guards, guard))
      guards.push_back(guard);
  };
  for (const Requirement &r : reading.definition.requirements)
    add(guardOf(r.lhs, r.predicate, r.rhs));
  auto isBound = [](const Guard &guard) {
    bool found = false;
    guard.expr.walkSymbols([&](StringRef name) {
      found |= name.starts_with("%l") || name.starts_with(iterationPrefix);
    });
    return found;
  };
  for (const Need &need : reading.needs)
    if (need.given.empty() && need.anyOf.size() == 1 &&
        !isBound(need.anyOf.front()))
      add(need.anyOf.front());
  return guards;
}

void Checker::addCase(std::vector<Guard> guards) {
  Case one;
  one.argumentNames = sample.argumentNames;
  one.guards = std::move(guards);
  solveGuards(one, numQuotients);
  one.before = one.after = reading.definition;
  sample.cases.push_back(std::move(one));
}

bool Checker::disagree(const Instance &instance, const llvm::Twine &what) {
  llvm::raw_string_ostream os(check.misreading);
  os << "the reading of '" << name
     << "' disagrees with a run of it, which is an error of mlc: " << what;
  const char *separator = ", at ";
  for (const auto &[dims, argument] :
       llvm::zip(instance.getSizes(), sample.argumentNames)) {
    os << separator << argument << " [";
    llvm::interleave(dims, os, "x");
    os << ']';
    separator = ", ";
  }
  return false;
}

bool Checker::judge(const Instance &instance, const Read &read,
                    const interpret::RunResult &run) {
  using Kind = interpret::Stop::Kind;
  bool isOpen = read.kind == Read::Kind::Open;
  if (run.stop && run.stop->kind == Kind::Unknown) {
    check.misreading =
        "the reading of '" + name +
        "' cannot be held against a run of it: " + run.stop->reason;
    return false;
  }
  if (isOpen || (run.stop && run.stop->kind == Kind::Open)) {
    ++check.numOpen;
    return true;
  }
  if (run.stop) {
    if (read.kind == Read::Kind::Defined && !read.isPartial)
      return disagree(instance, run.stop->reason + "; it is read as defined");
    ++(read.kind == Read::Kind::Defined ? check.numOpen : check.numUndefined);
    return true;
  }
  if (read.kind == Read::Kind::Excluded)
    return disagree(instance, "it has results, and is read to require that " +
                                  read.reason);
  if (read.kind == Read::Kind::Undefined) {
    // What has no number may have been left unread.
    if (!run.sawNone)
      return disagree(instance, "it has results, and is read as undefined: " +
                                    read.reason);
    ++check.numOpen;
    return true;
  }
  for (auto [r, pair] : llvm::enumerate(llvm::zip(read.results, run.results)))
    if (std::string text =
            difference(r, std::get<0>(pair), std::get<1>(pair), knowsUnwritten);
        !text.empty())
      return disagree(instance, text);
  ++check.numEqual;
  return true;
}

/// Draws elements and compares; false where a misreading was seen.
bool Checker::compare(Instance &instance, Spread spread, uint64_t maxSteps) {
  uint64_t numElements = 0;
  for (const TensorShape &input : sample.before.inputs) {
    SmallVector<int64_t> dims;
    for (IntExpr dim : input.dims)
      dims.push_back(valueOf(dim, instance.getSymbols()).value_or(0));
    numElements += elementCount(dims).value_or(mostSteps);
  }
  if (numElements > maxSteps) {
    ++check.numOpen;
    return true;
  }
  if (!instance.drawTensors(spread))
    return true;
  auto inputs = instance.makeInputs(EvalDomain::Interval);
  if (!inputs) {
    llvm::consumeError(inputs.takeError());
    ++check.numOpen;
    return true;
  }
  interpret::RunOptions options;
  options.maxSteps = maxSteps;
  for (const auto &[name, value] : instance.getSymbols())
    options.symbols[name] = value;
  for (const auto &[name, value] : instance.getParameters())
    options.parameters[name] = value;
  interpret::RunResult run = interpret::run(
      reading.function, ArrayRef(*inputs).take_front(sample.numArguments),
      options);
  stepsLeft -= std::min(stepsLeft, run.steps);
  bool isOpen = run.stop && run.stop->kind == interpret::Stop::Kind::Open;
  Read read;
  if (!isOpen)
    read = evaluateReading(reading, instance, *inputs);
  return judge(instance, read, run);
}

/// Cases: sizes that are admitted, any, and ones that a condition excludes.
void Checker::addCases() {
  std::vector<Guard> all = conditions(), base = sizes();
  auto with = [&](std::vector<Guard> guards) {
    llvm::append_range(guards, base);
    return guards;
  };
  addCase(with(all));
  addCase(base);
  size_t numExcluded = std::min<size_t>(all.size(), numInstances / 4);
  for (size_t i = 0; i < numExcluded; ++i) {
    size_t excluded = i * all.size() / numExcluded; // spread over all of them
    std::vector<Guard> others = all;
    others[excluded] = all[excluded].negated();
    addCase(with(std::move(others)));
  }
}

bool Checker::sampleOnce(unsigned number, uint64_t maxSteps) {
  static constexpr SizeKind kinds[] = {SizeKind::Ordinary, SizeKind::Corner,
                                       SizeKind::Numbers};
  static constexpr Spread spreads[] = {Spread::Ordinary, Spread::Mixed,
                                       Spread::Positive, Spread::Mixed};
  // Half are admitted, the others any or excluded.
  size_t chosen = number % 4 == 3 ? 1 : 0;
  if (number % 4 == 1 && sample.cases.size() > 2)
    chosen = 2 + number / 4 % (sample.cases.size() - 2);
  Instance instance(sample, sample.cases[chosen], none, 7919 * (number + 1));
  Unknowns &own = *unknowns;
  if (!instance.drawSymbols(own, kinds[number % std::size(kinds)]) ||
      !instance.drawParameters(own))
    return true;
  return compare(instance, spreads[number / 2 % std::size(spreads)], maxSteps);
}

ReadingCheck Checker::run() {
  if (!canEvaluate(sample))
    return check;
  addCases();
  unknowns.emplace(sample);
  // Where no size is open, only elements differ, and none is smaller.
  bool isOpen = !unknowns->symbols.empty();
  for (unsigned i = 0; i < (isOpen ? numInstances : numInstances / 4); ++i)
    if (stepsLeft > 0 && !sampleOnce(i, isOpen ? ordinarySteps : mostSteps))
      return check;
  // All that were drawn are large: one of them has to do.
  if (check.numEqual == 0 && check.numOpen > 0)
    (void)sampleOnce(0, mostSteps);
  return check;
}

} // namespace

ReadingCheck checkReading(const Reading &reading, const Goal &goal) {
  if (isOfDefinitions(reading.function))
    return {};
  return Checker(reading, goal).run();
}

std::string whyMisread(const Reading &reading, const Goal &goal) {
  return checkReading(reading, goal).misreading;
}

} // namespace mlc::verifier
