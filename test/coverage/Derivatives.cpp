//===- Derivatives.cpp - Questions about derivatives ----------------------===//

#include "test/coverage/Derivatives.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Derivative/Adjoint.h"
#include "dialects/Derivative/Tangent.h"
#include "dialects/Evaluator/Evaluator.h"
#include <cmath>
#include <random>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::coverage {

namespace {

constexpr unsigned numPoints = 20;

using Tensors = std::vector<EvalTensor>;

bool isFloat(const TensorShape &shape) {
  return isa<FloatType>(shape.elementType);
}

/// Nothing, and no error, where there is no value.
std::optional<Tensors> evaluated(const Definition &definition,
                                 ArrayRef<EvalTensor> inputs,
                                 const llvm::StringMap<int64_t> &symbols) {
  EvalOptions options;
  options.domain = EvalDomain::Float64;
  options.symbols = symbols;
  llvm::Expected<Tensors> values = evaluate(definition, inputs, options);
  if (values)
    return std::move(*values);
  llvm::consumeError(values.takeError());
  return std::nullopt;
}

/// A point: sizes, inputs, and a direction for each input of floats.
class Point {
public:
  Point(const Sample &sample, const Definition &definition, unsigned number,
        bool hasTies)
      : definition(definition), random(7919 * number + 1), hasTies(hasTies),
        isPositive(number % 2 == 0), symbols(sample.symbols) {
    // Others than those of the sample, where the operator takes them.
    if (number % 4 != 0)
      for (auto &entry : symbols)
        entry.second = 1 + 2 * static_cast<int64_t>(random() % 3);
  }

  bool draw() {
    for (const TensorShape &input : definition.inputs) {
      std::optional<EvalTensor> value = drawTensor(input, true);
      if (!value)
        return false;
      inputs.push_back(*value);
      if (isFloat(input))
        directions.push_back(*drawTensor(input, false));
    }
    return true;
  }

  /// Of the shape of an input or result.
  std::optional<EvalTensor> drawTensor(const TensorShape &shape, bool isValue) {
    llvm::Expected<SmallVector<int64_t>> sizes =
        evaluateDims(shape.dims, symbols);
    if (!sizes) {
      llvm::consumeError(sizes.takeError());
      return std::nullopt;
    }
    if (!isFloat(shape)) {
      auto numbers = EvalTensor::random(*sizes, shape.elementType,
                                        EvalDomain::Float64, random(), 1, 4);
      return llvm::cantFail(std::move(numbers));
    }
    EvalTensor tensor = llvm::cantFail(
        EvalTensor::allocate(*sizes, shape.elementType, EvalDomain::Float64));
    auto *elements = static_cast<double *>(tensor.getMutableData());
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      elements[i] = drawNumber(isValue);
    return tensor;
  }

  /// The inputs, `step` along the directions.
  Tensors at(double step) const {
    Tensors moved;
    size_t next = 0;
    for (const EvalTensor &input : inputs) {
      moved.push_back(input);
      if (!isa<FloatType>(input.getElementType()))
        continue;
      const EvalTensor &direction = directions[next++];
      moved.back() = llvm::cantFail(EvalTensor::allocate(
          input.getDims(), input.getElementType(), EvalDomain::Float64));
      auto *elements = static_cast<double *>(moved.back().getMutableData());
      for (int64_t i = 0; i < input.getNumElements(); ++i)
        elements[i] = input.getDouble(i) + step * direction.getDouble(i);
    }
    return moved;
  }

  /// Floats among the results of the definition, moved by `step`.
  std::optional<Tensors> valuesAt(double step) const {
    std::optional<Tensors> all = evaluated(definition, at(step), symbols);
    if (all)
      llvm::erase_if(*all, [](const EvalTensor &tensor) {
        return !isa<FloatType>(tensor.getElementType());
      });
    return all;
  }

  const Definition &definition;
  std::mt19937_64 random;
  bool hasTies, isPositive;
  llvm::StringMap<int64_t> symbols;
  Tensors inputs, directions;

private:
  double drawNumber(bool isValue) {
    if (hasTies && isValue)
      return isPositive ? static_cast<double>(random() % 3)
                        : static_cast<double>(random() % 3) - 1.0;
    double part = static_cast<double>(random() >> 11) * 0x1p-53;
    bool fromZero = isValue && isPositive;
    return fromZero ? 0.25 + 1.25 * part : 3.0 * part - 1.5;
  }
};

/// Floats that become narrower ones: numbers show steps there.
bool rounds(const Definition &definition) {
  bool found = false;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        auto to = dyn_cast<FloatType>(node.type);
        auto from = to && node.kind == Expr::Kind::Cast
                        ? dyn_cast<FloatType>(node.operands[0]->type)
                        : FloatType();
        found |= from && to.getWidth() < from.getWidth();
      });
  return found;
}

/// What a sample's derivatives are of; nothing for opaque operators, for those
/// without floats and for those that round.
std::optional<Definition> definitionOf(const Sample &sample) {
  auto defined = dyn_cast<DefinitionOpInterface>(sample.op);
  if (!defined)
    return std::nullopt;
  FailureOr<Definition> definition = getDefinition(defined);
  bool hasFloats = succeeded(definition) &&
                   llvm::any_of(definition->inputs, isFloat) &&
                   llvm::any_of(definition->results, [&](unsigned result) {
                     return isFloat(definition->shapeOf({true, result}));
                   });
  return hasFloats && !rounds(*definition)
             ? std::optional(std::move(*definition))
             : std::nullopt;
}

double dot(const EvalTensor &a, const EvalTensor &b) {
  double sum = 0;
  for (int64_t i = 0; i < a.getNumElements(); ++i)
    sum += a.getDouble(i) * b.getDouble(i);
  return sum;
}

/// Compares one element of a derivative with differences over h and 2 h.
std::string compareSlope(double slope, double fine, double coarse) {
  double better = (4 * fine - coarse) / 3;
  if (std::fabs(slope - better) <= 1e-6 * (1 + std::fabs(slope)))
    return "";
  return "the derivative gives " + std::to_string(slope) + ", differences " +
         std::to_string(better);
}

} // namespace

std::string agreesWithDifferences(const Sample &sample) {
  std::optional<Definition> definition = definitionOf(sample);
  if (!definition)
    return "";
  TangentDefinition forward =
      differentiateForward(*definition, sample.op->getContext());
  if (!forward.failure.empty())
    return forward.failure;
  constexpr double h = 0x1p-14;
  int64_t numCompared = 0, numSkipped = 0;
  for (unsigned number = 0; number < numPoints; ++number) {
    Point point(sample, *definition, number, /*hasTies=*/false);
    if (!point.draw())
      continue;
    Tensors inputs = point.inputs;
    llvm::append_range(inputs, point.directions);
    auto slopes = evaluated(forward.definition, inputs, point.symbols);
    auto up = point.valuesAt(h), down = point.valuesAt(-h),
         farUp = point.valuesAt(2 * h), farDown = point.valuesAt(-2 * h);
    if (!slopes || !up || !down || !farUp || !farDown)
      continue;
    for (size_t r = 0; r < slopes->size(); ++r)
      for (int64_t i = 0; i < (*slopes)[r].getNumElements(); ++i) {
        double fine = ((*up)[r].getDouble(i) - (*down)[r].getDouble(i)) / 2 / h;
        double coarse =
            ((*farUp)[r].getDouble(i) - (*farDown)[r].getDouble(i)) / 4 / h;
        // No value, a kink, a step or a pole.
        if (!(std::fabs(fine - coarse) <= 1e-4 * (1 + std::fabs(fine)))) {
          ++numSkipped;
          continue;
        }
        ++numCompared;
        std::string wrong =
            compareSlope((*slopes)[r].getDouble(i), fine, coarse);
        if (!wrong.empty())
          return wrong + " at point " + std::to_string(number);
      }
  }
  bool isEmpty = numCompared + numSkipped == 0;
  bool saysEmpty = sample.function->getAttrOfType<StringAttr>("sym_name")
                       .getValue()
                       .ends_with("_empty");
  if (isEmpty ? !saysEmpty : numCompared < numSkipped)
    return "hardly any element could be compared: " +
           std::to_string(numCompared) + " of " +
           std::to_string(numCompared + numSkipped);
  return "";
}

std::string derivativesAgree(const Sample &sample) {
  std::optional<Definition> definition = definitionOf(sample);
  if (!definition)
    return "";
  mlir::MLIRContext *context = sample.op->getContext();
  TangentDefinition forward = differentiateForward(*definition, context);
  AdjointDefinition reverse = differentiateReverse(
      *definition, Directions::all(*definition).varies, context);
  if (!forward.failure.empty() || !reverse.failure.empty())
    return forward.failure.empty() ? "reverse: " + reverse.failure
                                   : forward.failure;
  for (unsigned number = 0; number < numPoints; ++number) {
    Point point(sample, *definition, number, /*hasTies=*/true);
    std::optional<Tensors> values;
    if (point.draw())
      values = evaluated(*definition, point.inputs, point.symbols);
    if (!values)
      continue;
    Tensors given = point.inputs, moving = point.inputs, cotangents;
    llvm::append_range(given, *values);
    for (unsigned result : definition->results)
      if (TensorShape shape = definition->shapeOf({true, result});
          isFloat(shape))
        cotangents.push_back(*point.drawTensor(shape, false));
    llvm::append_range(given, cotangents);
    llvm::append_range(moving, point.directions);
    auto slopes = evaluated(forward.definition, moving, point.symbols);
    auto gradients = evaluated(reverse.definition, given, point.symbols);
    if (!slopes || !gradients)
      continue;
    double left = 0, right = 0;
    for (auto [dy, slope] : llvm::zip_equal(cotangents, *slopes))
      left += dot(dy, slope);
    for (auto [t, gradient] : llvm::zip_equal(point.directions, *gradients))
      right += dot(t, gradient);
    bool isNumber = std::isfinite(left) && std::isfinite(right);
    if (isNumber && std::fabs(left - right) > 1e-9 * (1 + std::fabs(left)))
      return "forward gives " + std::to_string(left) + ", reverse " +
             std::to_string(right) + " at point " + std::to_string(number);
  }
  return "";
}

} // namespace mlc::coverage
