//===- Optimizers.cpp - ONNX's steps of training --------------------------===//
//
// Each operator takes a learning rate, a step count and lists of tensors: all
// weights, then all their gradients, then each kind of state. It returns the
// new weights and states in the same order.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/PointwiseOps.h"
#include "passes/Import/Handlers.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace mlc {

namespace {

/// The inputs for one weight.
struct Group {
  Value weight, gradient; // including the regularization
  SmallVector<Value, 2> states;
};

/// `value` times a number, or itself if that is 1.
Value scaled(Node &n, Value value, double by) {
  return by == 1.0 ? value : n.withScalar<MulOp>(value, by);
}

/// The number of groups of a weight, a gradient and `numStates` states; nothing
/// if the tensors do not make whole groups.
std::optional<unsigned> countGroups(Node &n, unsigned numStates) {
  unsigned size = 2 + numStates, tensors = n.numInputs() - 2;
  if (tensors == 0 || tensors % size) {
    (void)n.invalid("requires " + Twine(size) +
                    " inputs for each tensor, got " + Twine(tensors));
    return std::nullopt;
  }
  auto isScalar = [&](unsigned i) {
    return n.rank(i) == 0 || (n.rank(i) == 1 && n.dims(i)[0].isConstant(1));
  };
  if (!isScalar(0) || !n.isFloat(0) || !isScalar(1) ||
      !n.type(1).isInteger(64)) {
    (void)n.invalid("requires a scalar rate and a scalar i64 count of steps");
    return std::nullopt;
  }
  unsigned groups = tensors / size;
  for (unsigned i = 2; i < n.numInputs(); ++i) {
    unsigned weight = 2 + (i - 2) % groups;
    if (!n.isFloat(i) || n.type(i) != n.type(weight) ||
        n.rank(i) != n.rank(weight)) {
      (void)n.invalid("requires a weight's gradient and states to have its "
                      "type and rank");
      return std::nullopt;
    }
    for (auto [a, b] : llvm::zip(n.dims(i), n.dims(weight)))
      n.requireEqual(a, b, "a weight's gradient and states must have its dims");
  }
  return n.failed() ? std::nullopt : std::optional(groups);
}

/// Group `i` of `groups`; the gradient includes that of half the norm
/// coefficient times the squared weight.
Group groupAt(Node &n, unsigned i, unsigned groups, unsigned numStates) {
  Group group;
  auto tensor = [&](unsigned kind) {
    // Give equal dims one name.
    return n.reshape(n.value(2 + kind * groups + i), n.dims(2 + i));
  };
  group.weight = tensor(0);
  group.gradient = tensor(1);
  for (unsigned s = 0; s < numStates; ++s)
    group.states.push_back(tensor(2 + s));
  if (double norm = n.floatAttr("norm_coefficient", 0.0))
    group.gradient =
        n.pointwise<AddOp>({scaled(n, group.weight, norm), group.gradient});
  return group;
}

/// A scalar that depends on the step: `atFirst` at step 0, else `whenStarted`.
Value fromFirstStep(Node &n, Value whenStarted, Value atFirst) {
  Value steps = n.reshape(n.value(1), ArrayRef<IntExpr>());
  Value isLater =
      n.compare(ComparePredicate::GT, steps, n.scalarConstant(n.type(1), 0.0));
  return n.pointwise<SelectOp>({isLater, whenStarted, atFirst});
}

/// The rate and the step count as float64 scalars.
Value plainRate(Node &n) {
  return n.cast(n.reshape(n.value(0), ArrayRef<IntExpr>()),
                n.builder().getF64Type());
}
Value stepsOf(Node &n) {
  return n.cast(n.reshape(n.value(1), ArrayRef<IntExpr>()),
                n.builder().getF64Type());
}

/// Steps one group with a rate of its type; returns the new weight, then its
/// new states.
using Step = SmallVector<Value> (*)(Node &, const Group &, Value rate);

/// Steps all groups with the rate that `rateOf` gives.
LogicalResult eachGroup(Node &n, unsigned numStates, Step step,
                        Value (*rateOf)(Node &)) {
  std::optional<unsigned> groups = countGroups(n, numStates);
  if (!groups)
    return failure();
  Value rate = rateOf(n);
  for (unsigned i = 0; i < *groups; ++i) {
    Group group = groupAt(n, i, *groups, numStates);
    SmallVector<Value> results = step(n, group, n.cast(rate, n.type(2 + i)));
    for (auto [kind, value] : llvm::enumerate(results))
      if (failed(n.result(kind * *groups + i, value)))
        return failure();
  }
  return success();
}

/// a x + b y
Value mixed(Node &n, double a, Value x, double b, Value y) {
  return n.pointwise<AddOp>({scaled(n, x, a), scaled(n, y, b)});
}

/// x - rate * direction
Value moved(Node &n, Value x, Value rate, Value direction) {
  return n.pointwise<SubOp>({x, n.pointwise<MulOp>({rate, direction})});
}

//===----------------------------------------------------------------------===//
// Adam
//===----------------------------------------------------------------------===//

/// rate * sqrt(1 - beta^t) / (1 - alpha^t). Powers near 1 at the start would
/// lose most digits in float32. (The value at step 0 is not used.)
Value adamRate(Node &n) {
  Value rate = plainRate(n), steps = n.withScalar<MaxOp>(stepsOf(n), 1.0);
  auto oneWithout = [&](double base) {
    Type f64 = n.builder().getF64Type();
    Value power = n.pointwise<PowOp>({n.scalarConstant(f64, base), steps});
    return n.pointwise<SubOp>({n.scalarConstant(f64, 1.0), power});
  };
  Value root = n.op<SqrtOp>(oneWithout(n.floatAttr("beta", 0.999)));
  Value adjusted = n.pointwise<DivOp>({n.pointwise<MulOp>({rate, root}),
                                       oneWithout(n.floatAttr("alpha", 0.9))});
  return fromFirstStep(n, adjusted, rate);
}

SmallVector<Value> adamStep(Node &n, const Group &g, Value rate) {
  double alpha = n.floatAttr("alpha", 0.9), beta = n.floatAttr("beta", 0.999);
  Value square = n.pointwise<MulOp>({g.gradient, g.gradient});
  Value mean = mixed(n, alpha, g.states[0], 1 - alpha, g.gradient);
  Value squares = mixed(n, beta, g.states[1], 1 - beta, square);
  if (!mean || !squares)
    return {{}};
  Value root =
      n.withScalar<AddOp>(n.op<SqrtOp>(squares), n.floatAttr("epsilon", 1e-6));
  Value scaledMean = n.pointwise<MulOp>({rate, mean});
  Value weight =
      n.pointwise<SubOp>({g.weight, n.pointwise<DivOp>({scaledMean, root})});
  weight = scaled(n, weight, 1 - n.floatAttr("norm_coefficient_post", 0.0));
  return {weight, mean, squares};
}

LogicalResult importAdam(Node &n) {
  return eachGroup(n, 2, adamStep, adamRate);
}

//===----------------------------------------------------------------------===//
// Adagrad
//===----------------------------------------------------------------------===//

SmallVector<Value> adagradStep(Node &n, const Group &g, Value rate) {
  Value squares = n.pointwise<AddOp>(
      {g.states[0], n.pointwise<MulOp>({g.gradient, g.gradient})});
  Value root =
      n.withScalar<AddOp>(n.op<SqrtOp>(squares), n.floatAttr("epsilon", 1e-6));
  Value direction =
      n.pointwise<DivOp>({n.pointwise<MulOp>({rate, g.gradient}), root});
  return {n.pointwise<SubOp>({g.weight, direction}), squares};
}

Value adagradRate(Node &n) {
  Value rate = plainRate(n);
  double decay = n.floatAttr("decay_factor", 0.0);
  if (decay == 0.0)
    return rate;
  Value divisor = n.withScalar<AddOp>(scaled(n, stepsOf(n), decay), 1.0);
  return n.pointwise<DivOp>({rate, divisor});
}

LogicalResult importAdagrad(Node &n) {
  return eachGroup(n, 1, adagradStep, adagradRate);
}

//===----------------------------------------------------------------------===//
// Momentum
//===----------------------------------------------------------------------===//

SmallVector<Value> momentumStep(Node &n, const Group &g, Value rate) {
  Type type = elementTypeOf(g.weight);
  double alpha = n.floatAttr("alpha", 0.0), beta = n.floatAttr("beta", 1.0);
  Value gradient = g.gradient;
  if (beta != 1.0)
    gradient =
        n.pointwise<MulOp>({fromFirstStep(n, n.scalarConstant(type, beta),
                                          n.scalarConstant(type, 1.0)),
                            gradient});
  Value momentum = mixed(n, alpha, g.states[0], 1.0, gradient);
  Value direction = momentum;
  if (n.stringAttr("mode", "") == "nesterov")
    direction = mixed(n, 1.0, g.gradient, alpha, momentum);
  return {moved(n, g.weight, rate, direction), momentum};
}

LogicalResult importMomentum(Node &n) {
  for (llvm::StringRef name : {"alpha", "beta", "mode", "norm_coefficient"})
    if (!n.hasAttr(name))
      return n.invalid("requires the attribute '" + name + "'");
  std::string mode = n.stringAttr("mode", "");
  if (mode != "standard" && mode != "nesterov")
    return n.invalid("requires mode standard or nesterov");
  return eachGroup(n, 1, momentumStep, plainRate);
}

} // namespace

ArrayRef<OperatorEntry> optimizerOperators() {
  static constexpr llvm::StringLiteral domain = "ai.onnx.preview.training";
  static const OperatorEntry entries[] = {
      {domain, "Adagrad", 5, anyNumber, importAdagrad},
      {domain, "Adam", 6, anyNumber, importAdam},
      {domain, "Momentum", 5, anyNumber, importMomentum},
  };
  return entries;
}

} // namespace mlc
