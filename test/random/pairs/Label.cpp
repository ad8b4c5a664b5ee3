//===- Label.cpp - What evaluation says of a pair -------------------------===//
//
// Graphs run operator by operator on the reference evaluator, in double; the
// scalars of linalg by upstream's own folders, element by element. Neither
// reads the functions as the verifier does.
//
//===----------------------------------------------------------------------===//

#include "Recipe.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using llvm::StringRef;

namespace mlc::test {

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace {

class GraphLabel {
public:
  GraphLabel(func::FuncOp before, func::FuncOp after,
             const Assumptions &assumptions, uint64_t seed)
      : before(before), after(after), assumptions(assumptions), random(seed) {
    auto collect = [&](StringRef name) { options.symbols[name] = 0; };
    for (Type type : before.getArgumentTypes()) {
      SmallVector<IntExpr> dims = *getDims(cast<RankedTensorType>(type));
      for (IntExpr dim : dims)
        dim.walkSymbols(collect);
    }
    for (func::FuncOp side : {before, after})
      side.walk([&](Operation *op) {
        for (NamedAttribute attribute : op->getAttrs()) {
          if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
            for (IntExpr dim : dims.getDims())
              dim.walkSymbols(collect);
          if (auto expr = dyn_cast<IntExpr>(attribute.getValue()))
            expr.walkSymbols(collect);
        }
      });
    for (const Condition &condition : assumptions.integers)
      condition.walkSymbols(collect);
    makeProbe();
    options.domain = EvalDomain::Float64;
    options.maxBytes = 1 << 22;
    options.maxSteps = 1 << 20;
  }

  ~GraphLabel() { probe.erase(); }

  Label run() {
    constexpr unsigned trials = 28;
    for (unsigned trial = 0; trial < trials; ++trial)
      if (drawSizes(trial) && drawInputs(trial) && differs())
        return label;
    if (label.instances >= 6)
      label.kind = Label::Kind::Equal;
    return label;
  }

private:
  /// The before side with every float on the way as a further result: where one
  /// is no number, there is nothing that a proof over the reals speaks of.
  void makeProbe() {
    probe = before.clone();
    probe.setName("probe");
    before->getParentOfType<ModuleOp>().push_back(probe);
    Operation *end = probe.getBody().front().getTerminator();
    SmallVector<Value> results(end->getOperands());
    probe.walk([&](Operation *op) {
      for (Value value : op->getResults())
        if (auto type = dyn_cast<RankedTensorType>(value.getType());
            type && isa<FloatType>(type.getElementType()))
          results.push_back(value);
    });
    end->setOperands(results);
    probe.setType(FunctionType::get(
        probe.getContext(), probe.getArgumentTypes(), end->getOperandTypes()));
  }

  std::optional<int64_t> valueOf(StringRef name) {
    auto it = options.symbols.find(name);
    return it == options.symbols.end() ? std::nullopt
                                       : std::optional(it->second);
  }
  bool isAdmitted() {
    return llvm::all_of(assumptions.integers, [&](const Condition &c) {
      return c.evaluate([&](StringRef name) { return valueOf(name); })
          .value_or(false);
    });
  }

  bool drawSizes(unsigned trial) {
    for (unsigned attempt = 0; attempt < 300; ++attempt) {
      for (auto &symbol : options.symbols) {
        bool isLarge = trial % 3 == 2 && random() % 2;
        symbol.second = isLarge             ? random() % 201
                        : random() % 4 == 0 ? random() % 2
                                            : random() % 12;
      }
      if (isAdmitted())
        return true;
    }
    return false;
  }

  bool isAssumed(unsigned argument, ElementPredicate predicate) {
    return llvm::any_of(assumptions.tensors, [&](const TensorAssumption &t) {
      return t.argument == argument && t.predicate == predicate;
    });
  }

  int64_t drawInteger(Type type, unsigned trial) {
    unsigned width = type.getIntOrFloatBitWidth();
    if (width == 1)
      return random() % 2;
    if (trial % 2)
      return int64_t(random() % 9) - 4;
    switch (random() % 5) {
    case 0:
      return -(int64_t(1) << (width - 2)) * 2;
    case 1:
      return int64_t(((uint64_t(1) << (width - 1)) - 1));
    case 2:
      return int64_t(1) << (width / 2);
    case 3:
      return int64_t(1) << (width - 2);
    default:
      return static_cast<int64_t>(random()) >> (64 - width);
    }
  }

  template <typename T>
  llvm::Expected<EvalTensor> integers(ArrayRef<int64_t> dims, Type type,
                                      int64_t count, unsigned argument,
                                      unsigned trial) {
    std::vector<T> elements;
    for (int64_t i = 0; i < count; ++i) {
      int64_t value = drawInteger(type, trial);
      if (isAssumed(argument, ElementPredicate::Positive) && value <= 0)
        value = 1;
      if (isAssumed(argument, ElementPredicate::NonNegative) && value < 0)
        value = 0;
      if (isAssumed(argument, ElementPredicate::NonZero) && value == 0)
        value = 3;
      if (isAssumed(argument, ElementPredicate::AllEqual) && i)
        value = elements[0];
      elements.push_back(static_cast<T>(value));
    }
    return EvalTensor::of<T>(dims, type, elements);
  }

  bool drawInputs(unsigned trial) {
    inputs.clear();
    int64_t total = 0;
    for (auto [i, type] : llvm::enumerate(before.getArgumentTypes())) {
      auto tensor = cast<RankedTensorType>(type);
      auto dims = evaluateDims(*getDims(tensor), options.symbols);
      if (!dims) {
        llvm::consumeError(dims.takeError());
        return false;
      }
      std::optional<int64_t> count = elementCount(*dims);
      if (!count || (total += *count) > 60000)
        return false;
      llvm::Expected<EvalTensor> made = draw(i, *dims, *count, tensor, trial);
      if (!made) {
        llvm::consumeError(made.takeError());
        return false;
      }
      inputs.push_back(std::move(*made));
    }
    return true;
  }

  llvm::Expected<EvalTensor> draw(unsigned argument, ArrayRef<int64_t> dims,
                                  int64_t count, RankedTensorType tensor,
                                  unsigned trial) {
    Type type = tensor.getElementType();
    if (!isa<FloatType>(type)) {
      llvm::Expected<EvalTensor> native =
          type.getIntOrFloatBitWidth() <= 8
              ? integers<uint8_t>(dims, type, count, argument, trial)
          : type.getIntOrFloatBitWidth() == 32
              ? integers<int32_t>(dims, type, count, argument, trial)
              : integers<int64_t>(dims, type, count, argument, trial);
      return native ? native->toDomain(options.domain) : std::move(native);
    }
    auto result = EvalTensor::allocate(dims, type, options.domain);
    if (!result)
      return result;
    auto *data = static_cast<double *>(result->getMutableData());
    for (int64_t i = 0; i < count; ++i) {
      double value = (int64_t(random() % 65) - 32) / (trial % 4 ? 16.0 : 2.0);
      if (isAssumed(argument, ElementPredicate::Positive) ||
          isAssumed(argument, ElementPredicate::NonNegative) || trial % 5 == 3)
        value = std::abs(value) + 1.0 / 16.0;
      if (isAssumed(argument, ElementPredicate::NonZero) && value == 0.0)
        value = 1.0;
      if (isAssumed(argument, ElementPredicate::AllEqual) && i)
        value = data[0];
      data[i] = value;
    }
    return result;
  }

  std::optional<std::vector<EvalTensor>> evaluate(func::FuncOp side,
                                                  bool &isUndefined) {
    auto results = evaluateFunction(side, inputs, options);
    isUndefined = false;
    if (results)
      return std::move(*results);
    llvm::handleAllErrors(
        results.takeError(),
        [&](const EvalError &e) {
          isUndefined = e.getFailure() == EvalFailure::Requirement ||
                        e.getFailure() == EvalFailure::Undefined;
        },
        [](const llvm::ErrorInfoBase &) {});
    return std::nullopt;
  }

  /// Sets the label where both differ.
  bool differs() {
    bool isUndefined = false;
    auto a = evaluate(probe, isUndefined);
    if (!a)
      return false;
    for (const EvalTensor &tensor : *a)
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        if (!std::isfinite(tensor.getDouble(i)))
          return false;
    auto b = evaluate(after, isUndefined);
    if (!b)
      return isUndefined && (*a)[0].getNumElements() > 0 &&
             found("after is undefined");
    if ((*a)[0].getDims() != (*b)[0].getDims())
      return found("other dims");
    for (int64_t i = 0; i < (*a)[0].getNumElements(); ++i) {
      if (!isa<FloatType>((*a)[0].getElementType())) {
        if ((*a)[0].getInt(i) != (*b)[0].getInt(i))
          return found("element " + std::to_string(i) + ": " +
                       std::to_string((*a)[0].getInt(i)) + ", " +
                       std::to_string((*b)[0].getInt(i)));
        continue;
      }
      double x = (*a)[0].getDouble(i), y = (*b)[0].getDouble(i);
      // What doubles may lose where terms cancel, and some more.
      if (!(std::abs(x - y) <= 1e-5 * (1.0 + std::abs(x))) &&
          std::abs(x) < 1e12)
        return found("element " + std::to_string(i) + ": " + std::to_string(x) +
                     ", " + std::to_string(y));
    }
    ++label.instances;
    return false;
  }

  bool found(const std::string &what) {
    label.kind = Label::Kind::Different;
    std::vector<std::string> sizes;
    for (auto &symbol : options.symbols)
      sizes.push_back(symbol.first().str() + " = " +
                      std::to_string(symbol.second));
    llvm::sort(sizes);
    label.where = llvm::join(sizes, ", ") + ": " + what;
    return true;
  }

  func::FuncOp before, after, probe;
  const Assumptions &assumptions;
  Random random;
  EvalOptions options;
  std::vector<EvalTensor> inputs;
  Label label;
};

} // namespace

Label labelGraphs(func::FuncOp before, func::FuncOp after,
                  const Assumptions &assumptions, uint64_t seed) {
  return GraphLabel(before, after, assumptions, seed).run();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

namespace {
using Environment = llvm::DenseMap<Value, Attribute>;

/// Runs the region by folding; null where something does not fold (a division
/// by zero, a shift too far).
Attribute foldRegion(Block &body, Environment values, int64_t index) {
  for (Operation &op : body.without_terminator()) {
    if (isa<linalg::IndexOp>(op)) {
      values[op.getResult(0)] =
          IntegerAttr::get(IndexType::get(op.getContext()), index);
      continue;
    }
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)))
      return {};
    // In place, or an operand.
    Attribute value = results.empty() ? Attribute()
                      : isa<Attribute>(results[0])
                          ? cast<Attribute>(results[0])
                          : values.lookup(cast<Value>(results[0]));
    if (!value || !isa<IntegerAttr, FloatAttr>(value))
      return {};
    // A proof over the reals says nothing where a number is none of them.
    auto number = dyn_cast<FloatAttr>(value);
    if (number && !number.getValue().isFinite())
      return {};
    values[op.getResult(0)] = value;
  }
  return values.lookup(body.getTerminator()->getOperand(0));
}

Attribute drawElement(Type type, Random &random) {
  if (isa<FloatType>(type)) {
    static constexpr double numbers[] = {0.0, 1.0,   -1.0, 0.5,
                                         2.0, -3.25, 100.0};
    return FloatAttr::get(type, oneOf(numbers, random));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value(width, random() % 5, false, true);
  switch (random() % 6) {
  case 0:
    value = APInt::getSignedMinValue(width);
    break;
  case 1:
    value = APInt::getSignedMaxValue(width);
    break;
  case 2:
    value = -value;
    break;
  case 3:
    value = APInt(width, random(), false, true);
    break;
  default:
    break;
  }
  return IntegerAttr::get(type, value);
}

bool sameNumber(Attribute a, Attribute b) {
  if (auto x = dyn_cast<IntegerAttr>(a))
    return x.getValue() == cast<IntegerAttr>(b).getValue();
  double x = cast<FloatAttr>(a).getValueAsDouble(),
         y = cast<FloatAttr>(b).getValueAsDouble();
  return std::abs(x - y) <= 1e-3 * (1.0 + std::abs(x));
}

bool isNumber(Attribute a) {
  auto number = dyn_cast<FloatAttr>(a);
  return !number || (number.getValue().isFinite() &&
                     std::abs(number.getValueAsDouble()) < 1e6);
}
} // namespace

Label labelScalars(func::FuncOp before, func::FuncOp after, uint64_t seed) {
  Random random(seed);
  auto bodyOf = [](func::FuncOp side) -> Block & {
    return *(*side.getOps<linalg::GenericOp>().begin()).getBlock();
  };
  Block &first = bodyOf(before), &second = bodyOf(after);
  Label label;
  for (unsigned trial = 0; trial < 200; ++trial) {
    int64_t index = trial % 4 == 3 ? random() % 201 : trial % 13;
    Environment a, b;
    std::string where = "index " + std::to_string(index);
    llvm::raw_string_ostream os(where);
    for (auto [x, y] : llvm::zip(first.getArguments().drop_back(),
                                 second.getArguments().drop_back())) {
      a[x] = b[y] = drawElement(x.getType(), random);
      os << ", " << a[x];
    }
    Attribute p = foldRegion(first, a, index), q = foldRegion(second, b, index);
    if (!p || !q || !isNumber(p))
      continue;
    if (!sameNumber(p, q)) {
      label.kind = Label::Kind::Different;
      os << ": " << p << ", " << q;
      label.where = where;
      return label;
    }
    ++label.instances;
  }
  if (label.instances >= 20)
    label.kind = Label::Kind::Equal;
  return label;
}

} // namespace mlc::test
