//===- Optimizer.cpp - How a gradient changes a weight --------------------===//

#include "passes/Differentiate/Optimizer.h"
#include "dialects/Definition/Definition.h"
#include "passes/Differentiate/Emit.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringLiteral;

namespace mlc {

ArrayRef<StringLiteral> statesOf(OptimizerKind kind) {
  static constexpr StringLiteral velocity[] = {"momentum"};
  static constexpr StringLiteral moments[] = {"first moment", "second moment"};
  switch (kind) {
  case OptimizerKind::SGD:
    return {};
  case OptimizerKind::Momentum:
    return velocity;
  case OptimizerKind::Adam:
  case OptimizerKind::AdamW:
    return moments;
  }
  llvm_unreachable("no such optimizer");
}

ArrayRef<runtime::InputRole> scalarsOf(OptimizerKind kind) {
  using Role = runtime::InputRole;
  static constexpr Role all[] = {Role::LearningRate, Role::FirstCorrection,
                                 Role::SecondCorrection};
  bool isAdam = kind == OptimizerKind::Adam || kind == OptimizerKind::AdamW;
  return ArrayRef(all).take_front(isAdam ? 3 : 1);
}

FailureOr<Value> createClipping(OpBuilder &builder, Location loc,
                                ValueRange gradients, double clipNorm) {
  SmallVector<TensorShape> shapes;
  for (Value gradient : gradients)
    shapes.push_back(shapeOf(gradient));
  DefinitionBuilder b(builder.getContext(), shapes);
  Type type = shapes.front().elementType;
  SmallVector<unsigned> squares;
  for (auto [i, shape] : llvm::enumerate(shapes))
    squares.push_back(b.stage("square", {}, type, [&](ArrayRef<Expr>) {
      return b.reduce(ReduceKind::Sum, shape.dims, [&](ArrayRef<Expr> at) {
        Expr element = cast(b.read(i, at), type);
        return element * element;
      });
    }));
  // A tree, to keep expressions shallow.
  while (squares.size() > 1) {
    SmallVector<unsigned> sums;
    for (unsigned i = 0; i + 1 < squares.size(); i += 2)
      sums.push_back(b.stage("sum", {}, type, [&](ArrayRef<Expr>) {
        return b.readStage(squares[i], {}) + b.readStage(squares[i + 1], {});
      }));
    if (squares.size() % 2 == 1)
      sums.push_back(squares.back());
    squares = std::move(sums);
  }
  b.result(b.stage("clipping", {}, type, [&](ArrayRef<Expr>) {
    Expr norm = unary(UnaryFn::Sqrt, b.readStage(squares[0], {}));
    // PyTorch's clip_grad_norm_ adds this epsilon.
    Expr ratio = b.constant(type, clipNorm) / (norm + b.constant(type, 1e-6));
    return binary(BinaryFn::Min, ratio, b.constant(type, 1));
  }));
  auto emitted = emitStages(builder, loc, b.take(), gradients);
  return failed(emitted) ? FailureOr<Value>(failure()) : (*emitted)[0];
}

namespace {

/// Inputs: the weight, the gradient, the states, the scalars, the clipping.
class Update {
public:
  Update(MLIRContext *context, const OptimizerOptions &options,
         ArrayRef<TensorShape> inputs, unsigned numStates, bool isClipped)
      : options(options), b(context, inputs), shape(inputs[0]),
        firstScalar(2 + numStates),
        clipping(isClipped ? inputs.size() - 1 : 0) {}

  Definition take() {
    switch (options.kind) {
    case OptimizerKind::SGD:
      result("weight", [&](ArrayRef<Expr> i) {
        return b.read(0, i) - scalar(0) * gradient(i, true);
      });
      break;
    case OptimizerKind::Momentum:
      takeMomentum();
      break;
    case OptimizerKind::Adam:
    case OptimizerKind::AdamW:
      takeAdam();
      break;
    }
    return b.take();
  }

private:
  unsigned result(llvm::StringRef name, const DefinitionBuilder::Body &body) {
    unsigned stage = b.stage(name, shape.dims, shape.elementType, body);
    b.result(stage);
    return stage;
  }

  Expr number(double value) const {
    return b.constant(shape.elementType, value);
  }

  Expr scalar(unsigned i) const {
    return cast(b.read(firstScalar + i, {}), shape.elementType);
  }

  Expr gradient(ArrayRef<Expr> i, bool decays) const {
    Expr g = b.read(1, i);
    if (clipping)
      g = g * cast(b.read(clipping, {}), shape.elementType);
    if (decays && options.weightDecay != 0)
      g = g + number(options.weightDecay) * b.read(0, i);
    return g;
  }

  void takeMomentum() {
    auto velocity = [&](ArrayRef<Expr> i) {
      return number(options.momentum) * b.read(2, i) + gradient(i, true);
    };
    unsigned v = b.stage("momentum", shape.dims, shape.elementType, velocity);
    result("weight", [&](ArrayRef<Expr> i) {
      Expr step = b.readStage(v, i);
      if (options.nesterov)
        step = gradient(i, true) + number(options.momentum) * step;
      return b.read(0, i) - scalar(0) * step;
    });
    b.result(v);
  }

  void takeAdam() {
    bool isAdamW = options.kind == OptimizerKind::AdamW;
    unsigned m =
        b.stage("first", shape.dims, shape.elementType, [&](ArrayRef<Expr> i) {
          return number(options.beta1) * b.read(2, i) +
                 number(1 - options.beta1) * gradient(i, !isAdamW);
        });
    unsigned v =
        b.stage("second", shape.dims, shape.elementType, [&](ArrayRef<Expr> i) {
          Expr g = gradient(i, !isAdamW);
          return number(options.beta2) * b.read(3, i) +
                 number(1 - options.beta2) * (g * g);
        });
    result("weight", [&](ArrayRef<Expr> i) {
      Expr weight = b.read(0, i);
      if (isAdamW && options.weightDecay != 0)
        weight = weight - scalar(0) * (number(options.weightDecay) * weight);
      Expr mean = b.readStage(m, i) / scalar(1);
      Expr root = unary(UnaryFn::Sqrt, b.readStage(v, i) / scalar(2));
      return weight - scalar(0) * (mean / (root + number(options.epsilon)));
    });
    b.result(m);
    b.result(v);
  }

  const OptimizerOptions &options;
  DefinitionBuilder b;
  TensorShape shape;
  unsigned firstScalar, clipping; // input 0 is the weight: absent
};

} // namespace

FailureOr<TrainedValue> createUpdate(OpBuilder &builder, Location loc,
                                     const OptimizerOptions &options,
                                     const TrainedValue &before, Value gradient,
                                     ValueRange scalars, Value clipping) {
  SmallVector<Value> inputs{before.weight, gradient};
  llvm::append_range(inputs, before.states);
  llvm::append_range(inputs, scalars);
  if (clipping)
    inputs.push_back(clipping);
  SmallVector<TensorShape> shapes;
  for (Value input : inputs)
    shapes.push_back(shapeOf(input));
  Update update(builder.getContext(), options, shapes, before.states.size(),
                clipping != nullptr);
  auto emitted = emitStages(builder, loc, update.take(), inputs);
  if (failed(emitted))
    return failure();
  TrainedValue after{emitted->front(), {}};
  after.states.append(emitted->begin() + 1, emitted->end());
  return after;
}

} // namespace mlc
