//===- Instance.cpp - A goal with numbers in it ---------------------------===//

#include "verifier/read/Instance.h"
#include "dialects/Definition/NumberTypes.h"
#include "dialects/Definition/ScalarArithmetic.h"
#include "dialects/Evaluator/Compare.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

bool isExactIn(const Goal &goal, EvalDomain domain) {
  return domainApplies(goal.before, domain).isExact &&
         domainApplies(goal.after, domain).isExact;
}

bool canEvaluate(const Goal &goal) {
  return llvm::all_of(goal.shared.entries, [](const auto &entry) {
    return entry.constant != nullptr;
  });
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

Instance::Instance(const Goal &goal, const Case &one,
                   const Assumptions &assumptions, uint64_t seed)
    : goal(goal), one(one), assumptions(assumptions), seed(seed), random(seed) {
}

bool Instance::fixSizes(int64_t mostElements) {
  sizes.clear();
  for (const TensorShape &shape :
       ArrayRef(goal.before.inputs).take_front(goal.numArguments)) {
    SmallVector<int64_t> own;
    for (IntExpr dim : shape.dims) {
      std::optional<int64_t> size = verifier::valueOf(dim, symbols);
      if (!size || *size < 0)
        return false;
      own.push_back(*size);
    }
    std::optional<int64_t> count = elementCount(own);
    if (!count || *count > mostElements)
      return false;
    sizes.push_back(std::move(own));
  }
  return true;
}

/// An integer of all that its type has: the ends, where a product wraps or a
/// square does, or anything.
static double drawEdge(unsigned width, std::mt19937_64 &random) {
  // What a double holds exactly.
  int64_t half = int64_t(1) << (width / 2), top = int64_t(1) << (width - 2);
  int64_t least = -top - top;
  switch (random() % 8) {
  case 0:
    return least;
  case 1:
    return width < 54 ? -(least + 1) : top;
  case 2:
    return half;
  case 3:
    return -half - int64_t(random() % 2);
  case 4:
    return top;
  case 5:
    return int64_t(random() % 7) - 3;
  default: {
    int64_t any = static_cast<int64_t>(random()) >> (64 - std::min(width, 53u));
    return any;
  }
  }
}

void Instance::drawNumbers(unsigned argument, Spread spread) {
  mlir::Type type = goal.before.inputs[argument].elementType;
  int64_t low = -32, high = 32; // sixteenths
  uint64_t kind = spread == Spread::Mixed ? random() % 4 : 0;
  if (spread == Spread::Positive || kind == 1)
    low = 1;
  if (kind >= 2)
    high = 24 * 16;
  if (kind == 3)
    low = -high;
  bool isInteger = mlir::isa<mlir::IntegerType>(type);
  unsigned width = isInteger ? type.getIntOrFloatBitWidth() : 0;
  bool atEdge = width > 1 && kind >= 2;
  if (isInteger) {
    low = width > 1 && kind == 1 ? -4 : 0;
    high = width == 1 ? 1 : 3;
  }
  bool allEqual = false;
  double least = -std::numeric_limits<double>::infinity(), other = least;
  for (const TensorAssumption &t : assumptions.tensors) {
    if (t.argument != argument)
      continue;
    bool isPositive = t.predicate == ElementPredicate::Positive;
    if (isPositive || t.predicate == ElementPredicate::NonNegative)
      least = std::max(least, isPositive ? 1.0 : 0.0);
    if (t.predicate == ElementPredicate::NonZero)
      other = 0.0;
    allEqual |= t.predicate == ElementPredicate::AllEqual;
  }
  low = std::max<double>(low, least);
  // What a narrower type rounds has more digits than it, as f32 does; of a
  // gradient, whose results have names, it is not said how it rounds.
  bool hasDigits =
      goal.roundsByCast && goal.resultNames.empty() && !isInteger &&
      holdsNumbersOf(type, mlir::Float32Type::get(type.getContext()));
  auto draw = [&]() -> double {
    if (atEdge)
      if (double edge = drawEdge(width, random); edge >= least && edge != other)
        return edge;
    int64_t number = low + int64_t(random() % (high - low + 1));
    if (number == other)
      number = high;
    double digits = hasDigits ? double(random() % 4096) / 4096.0 : 0.0;
    return isInteger ? double(number) : (double(number) + digits) / 16.0;
  };
  std::vector<double> own(*elementCount(sizes[argument]));
  double first = draw();
  for (double &number : own)
    number = allEqual ? first : draw();
  numbers.push_back(std::move(own));
}

bool Instance::drawTensors(Spread spread) {
  if (!fixSizes())
    return false;
  numbers.clear();
  for (unsigned i = 0; i < goal.numArguments; ++i)
    drawNumbers(i, spread);
  return true;
}

bool holds(const RealAssumption &assumption, double value) {
  return compareNumbers(value, assumption.predicate, assumption.bound);
}

bool holds(ElementPredicate predicate, ArrayRef<double> numbers) {
  return llvm::all_of(numbers, [&](double number) {
    switch (predicate) {
    case ElementPredicate::Positive:
      return number > 0.0;
    case ElementPredicate::NonNegative:
      return number >= 0.0;
    case ElementPredicate::NonZero:
      return number != 0.0;
    case ElementPredicate::AllEqual:
      return number == numbers.front();
    case ElementPredicate::Finite:
    case ElementPredicate::Constant:
      return true;
    }
    llvm_unreachable("unknown predicate");
  });
}

void Instance::assign(const Instance &other) {
  symbols = other.symbols;
  reals = other.reals;
  sizes = other.sizes;
  numbers = other.numbers;
}

bool Instance::isAdmitted() const {
  return llvm::all_of(reals,
                      [&](const auto &entry) {
                        return rangeOf(entry.first).contains(entry.second);
                      }) &&
         llvm::all_of(assumptions.tensors, [&](const TensorAssumption &t) {
           return t.argument >= numbers.size() ||
                  holds(t.predicate, numbers[t.argument]);
         });
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

template <typename T>
static llvm::Expected<EvalTensor>
integers(ArrayRef<int64_t> dims, mlir::Type type, ArrayRef<double> numbers) {
  std::vector<T> elements;
  for (double number : numbers)
    elements.push_back(static_cast<T>(static_cast<int64_t>(number)));
  return EvalTensor::of<T>(dims, type, elements);
}

static void storeNative(ElementStorage storage, void *data, size_t i,
                        double number) {
  switch (storage) {
  case ElementStorage::F16:
    static_cast<uint16_t *>(data)[i] = halfBits(static_cast<float>(number));
    return;
  case ElementStorage::BF16:
    static_cast<uint16_t *>(data)[i] =
        llvm::bit_cast<uint32_t>(roundToBFloat(static_cast<float>(number))) >>
        16;
    return;
  case ElementStorage::F32:
    static_cast<float *>(data)[i] = static_cast<float>(number);
    return;
  default:
    static_cast<double *>(data)[i] = number;
  }
}

/// Float elements in their domain. They are small multiples of 1/16, or what a
/// person would write, so that they are exact there.
static llvm::Expected<EvalTensor> floats(ArrayRef<int64_t> dims,
                                         mlir::Type type, EvalDomain domain,
                                         ArrayRef<double> numbers) {
  llvm::Expected<EvalTensor> tensor = EvalTensor::allocate(dims, type, domain);
  if (!tensor)
    return tensor.takeError();
  void *data = tensor->getMutableData();
  Undefined failure = Undefined::None;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    Undefined u = Undefined::None;
    if (tensor->getStorage() == ElementStorage::Interval)
      u = fromDouble(number, static_cast<Interval *>(data)[i]);
    else if (tensor->getStorage() == ElementStorage::Rational)
      u = fromDouble(number, static_cast<Rational *>(data)[i]);
    else
      storeNative(tensor->getStorage(), data, i, number);
    if (u != Undefined::None)
      failure = u;
  }
  if (failure != Undefined::None)
    return evalError(EvalFailure::Undefined, describe(failure));
  return tensor;
}

llvm::Expected<EvalTensor> Instance::makeTensor(unsigned i,
                                                EvalDomain domain) const {
  if (i >= goal.numArguments) {
    const auto &entry = goal.shared.entries[i - goal.numArguments];
    llvm::Expected<EvalTensor> tensor = EvalTensor::fromAttr(entry.constant);
    return tensor ? tensor->toDomain(domain) : std::move(tensor);
  }
  mlir::Type type = goal.before.inputs[i].elementType;
  if (mlir::isa<mlir::FloatType>(type)) {
    if (domain == EvalDomain::Modular)
      return EvalTensor::random(sizes[i], type, domain, seed * 31 + i);
    return floats(sizes[i], type, domain, numbers[i]);
  }
  std::optional<ElementStorage> storage = storageOf(type, EvalDomain::Native);
  if (!storage)
    return evalError(EvalFailure::Unsupported, "this element type");
  llvm::Expected<EvalTensor> native = [&]() -> llvm::Expected<EvalTensor> {
    switch (bytesOf(*storage)) {
    case 1:
      return integers<uint8_t>(sizes[i], type, numbers[i]);
    case 2:
      return integers<int16_t>(sizes[i], type, numbers[i]);
    case 4:
      return integers<int32_t>(sizes[i], type, numbers[i]);
    default:
      return integers<int64_t>(sizes[i], type, numbers[i]);
    }
  }();
  return native ? native->toDomain(domain) : std::move(native);
}

llvm::Expected<std::vector<EvalTensor>>
Instance::makeInputs(EvalDomain domain) const {
  std::vector<EvalTensor> inputs;
  for (size_t i = 0; i < goal.before.inputs.size(); ++i) {
    llvm::Expected<EvalTensor> tensor = makeTensor(i, domain);
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

llvm::Expected<std::vector<EvalTensor>>
Instance::run(const Definition &definition, ArrayRef<EvalTensor> inputs,
              EvalDomain domain) const {
  EvalOptions options;
  options.domain = domain;
  options.maxBytes = int64_t(1) << 26;
  options.maxSteps = int64_t(1) << 22;
  for (const auto &[name, value] : symbols)
    options.symbols[name] = value;
  for (const auto &[name, value] : reals)
    options.parameters[name] = value;
  return evaluate(definition, inputs, options);
}

/// Why evaluation gave nothing, when that says something of the function and
/// not of the domain.
static std::optional<std::string> meaningfulFailure(llvm::Error error) {
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

/// As far as can be told; what cannot be told refutes nothing.
bool Instance::isBeforeWellFormed() const {
  return llvm::all_of(goal.beforeNeeds, [&](const Need &need) {
    return holdsAt(need, symbols).value_or(false);
  });
}

/// Whether the two elements are surely different numbers.
static bool surelyDiffer(const EvalTensor &a, const EvalTensor &b, int64_t i,
                         EvalDomain domain) {
  if (domain != EvalDomain::Interval ||
      !mlir::isa<mlir::FloatType>(a.getElementType()))
    return !a.sameElement(b, i);
  Interval x = a.getInterval(i), y = b.getInterval(i);
  double gap = std::max(x.low - y.high, y.low - x.high);
  // An infinity is a point too, whose ends have no difference.
  auto widthOf = [](Interval i) {
    return i.low == i.high ? 0.0 : i.high - i.low;
  };
  return gap > 0.0 && gap > std::max(widthOf(x), widthOf(y));
}

static bool compareResult(unsigned r, const EvalTensor &a, const EvalTensor &b,
                          EvalDomain domain, Comparison &out) {
  if (a.getDims() != b.getDims()) {
    out.outcome = Comparison::Outcome::Different;
    llvm::raw_string_ostream os(out.reason);
    os << "result " << r << " has dims ";
    llvm::interleave(a.getDims(), os, "x");
    os << " before and ";
    llvm::interleave(b.getDims(), os, "x");
    os << " after";
    return false;
  }
  out.numElements += a.getNumElements();
  for (int64_t i = 0; i < a.getNumElements(); ++i) {
    if (!surelyDiffer(a, b, i, domain))
      continue;
    out.outcome = Comparison::Outcome::Different;
    out.result = r;
    out.before = a.getDouble(i);
    out.after = b.getDouble(i);
    int64_t rest = i;
    for (int64_t size : llvm::reverse(a.getDims())) {
      out.element.insert(out.element.begin(), rest % size);
      rest /= size;
    }
    return false;
  }
  return true;
}

Comparison Instance::compare(EvalDomain domain) const {
  Comparison result;
  if (!isBeforeWellFormed())
    return result;
  auto inputs = makeInputs(domain);
  if (!inputs) {
    llvm::consumeError(inputs.takeError());
    return result;
  }
  auto before = run(goal.before, *inputs, domain);
  if (!before) {
    llvm::consumeError(before.takeError());
    return result;
  }
  auto after = run(goal.after, *inputs, domain);
  if (!after) {
    std::optional<std::string> reason = meaningfulFailure(after.takeError());
    result.outcome =
        reason ? Comparison::Outcome::Different : Comparison::Outcome::Unclear;
    result.reason = reason.value_or("");
    return result;
  }
  result.outcome = Comparison::Outcome::Equal;
  for (auto [r, pair] : llvm::enumerate(llvm::zip(*before, *after)))
    if (!compareResult(r, std::get<0>(pair), std::get<1>(pair), domain, result))
      break;
  return result;
}

Comparison Instance::compareReals() const {
  Comparison result = compare(EvalDomain::Interval);
  bool isConclusive = result.outcome == Comparison::Outcome::Equal ||
                      result.outcome == Comparison::Outcome::Different;
  if (!isConclusive && isExactIn(goal, EvalDomain::Rational))
    result = compare(EvalDomain::Rational);
  if (result.outcome == Comparison::Outcome::Different && goal.roundsByCast &&
      compare(EvalDomain::Native).outcome == Comparison::Outcome::Equal)
    result.outcome = Comparison::Outcome::Unclear;
  return result;
}

} // namespace mlc::verifier
