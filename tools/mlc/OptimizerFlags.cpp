//===- OptimizerFlags.cpp - How a model is trained ------------------------===//

#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/Failure.h"
#include <cmath>
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;

OptimizerFlags::OptimizerFlags(cl::SubCommand &sub)
    : kind("optimizer", cl::init(OptimizerKind::SGD),
           cl::desc("How gradients update weights (sgd):"),
           cl::values(
               clEnumValN(OptimizerKind::SGD, "sgd", "gradient descent"),
               clEnumValN(OptimizerKind::Momentum, "momentum",
                          "gradient descent with momentum"),
               clEnumValN(OptimizerKind::Adam, "adam", "Kingma and Ba 2015"),
               clEnumValN(OptimizerKind::AdamW, "adamw",
                          "Loshchilov and Hutter 2019")),
           cl::sub(sub)),
      rate("learning-rate", cl::value_desc("number"),
           cl::desc("The learning rate (0.01; of adam and adamw 0.001)"),
           cl::sub(sub)),
      momentum("momentum", cl::init(0.9), cl::value_desc("number"),
               cl::desc("Decay of the running sum of gradients (0.9)"),
               cl::sub(sub)),
      beta1("beta1", cl::init(0.9), cl::value_desc("number"),
            cl::desc("Decay of the first moment (0.9)"), cl::sub(sub)),
      beta2("beta2", cl::init(0.999), cl::value_desc("number"),
            cl::desc("Decay of the second moment (0.999)"), cl::sub(sub)),
      epsilon("epsilon", cl::init(1e-8), cl::value_desc("number"),
              cl::desc("Term added to the root of the second moment (1e-8)"),
              cl::sub(sub)),
      decay("weight-decay", cl::value_desc("number"),
            cl::desc("Weight decay (0; of adamw 0.01)"), cl::sub(sub)),
      clip("clip-norm", cl::init(0.0), cl::value_desc("number"),
           cl::desc("Largest norm of all gradients together (none)"),
           cl::sub(sub)),
      nesterov("nesterov", cl::desc("Nesterov's momentum"), cl::sub(sub)),
      schedule(
          "schedule", cl::init(RateSchedule::Constant),
          cl::desc("How the learning rate changes over the steps (constant):"),
          cl::values(
              clEnumValN(RateSchedule::Constant, "constant", "not at all"),
              clEnumValN(RateSchedule::Linear, "linear",
                         "linearly to 0 after the last step"),
              clEnumValN(RateSchedule::Cosine, "cosine",
                         "to 0 along half a cosine")),
          cl::sub(sub)),
      warmup("warmup", cl::init(0), cl::value_desc("steps"),
             cl::desc("Steps in which the learning rate grows linearly from 0"),
             cl::sub(sub)),
      scale(
          "loss-scale", cl::value_desc("number|dynamic|none"),
          cl::desc(
              "Factor by which gradients are computed larger; steps where one "
              "is not finite change no weight. dynamic: halved by such a step, "
              "doubled after 2000 others (dynamic with float16, else none)"),
          cl::sub(sub)) {}

llvm::Expected<LossScale> OptimizerFlags::lossScale(bool isHalf) const {
  using Kind = LossScale::Kind;
  bool isGiven = scale.getNumOccurrences() != 0;
  if (scale == "dynamic" || (!isGiven && isHalf))
    return LossScale(Kind::Dynamic, LossScale::first);
  if (scale == "none" || !isGiven)
    return LossScale();
  double number = 0;
  if (llvm::StringRef(scale).getAsDouble(number) || !(number > 0) ||
      !(number <= 0x1p100))
    return fail(Exit::Usage, "--loss-scale=" + scale +
                                 ": must be none, dynamic or a positive "
                                 "number of at most 2^100");
  return LossScale(Kind::Fixed, number);
}

llvm::Expected<LossScaling> OptimizerFlags::scaling() const {
  auto given = lossScale(/*isHalf=*/false);
  if (!given)
    return given.takeError();
  return given->isOn()               ? LossScaling::Always
         : scale.getNumOccurrences() ? LossScaling::Never
                                     : LossScaling::WhereHalf;
}

/// Options that would have no effect.
llvm::Error OptimizerFlags::refuseOthers() const {
  bool isMomentum = kind == OptimizerKind::Momentum;
  struct Owner {
    const cl::Option &option;
    bool fits;
    const char *optimizers;
  } owners[] = {{momentum, isMomentum, "momentum"},
                {nesterov, isMomentum, "momentum"},
                {beta1, isAdam(), "adam or adamw"},
                {beta2, isAdam(), "adam or adamw"},
                {epsilon, isAdam(), "adam or adamw"}};
  for (const Owner &owner : owners)
    if (owner.option.getNumOccurrences() && !owner.fits)
      return fail(Exit::Usage, "--" + owner.option.ArgStr +
                                   " is of --optimizer=" + owner.optimizers);
  if (clip.getNumOccurrences() && !(clip > 0))
    return fail(Exit::Usage, "--clip-norm must be positive");
  return llvm::Error::success();
}

llvm::Expected<OptimizerOptions> OptimizerFlags::optimizer() const {
  if (llvm::Error error = refuseOthers())
    return error;
  OptimizerOptions options;
  options.kind = kind;
  options.momentum = momentum;
  options.nesterov = nesterov;
  options.beta1 = beta1;
  options.beta2 = beta2;
  options.epsilon = epsilon;
  options.clipNorm = clip;
  options.weightDecay = decay.getNumOccurrences()      ? decay.getValue()
                        : kind == OptimizerKind::AdamW ? 0.01
                                                       : 0;
  struct Bound {
    const char *flag;
    double value, low, high;
  } bounds[] = {{"--momentum", momentum, 0, 1},
                {"--beta1", beta1, 0, 1},
                {"--beta2", beta2, 0, 1},
                {"--epsilon", epsilon, 0, INFINITY},
                {"--weight-decay", options.weightDecay, 0, INFINITY},
                {"--clip-norm", clip, 0, INFINITY}};
  for (const Bound &bound : bounds)
    if (!(bound.value >= bound.low && bound.value < bound.high))
      return fail(
          Exit::Usage,
          fmt::format("{} must be at least {:g} and less than {:g}, got "
                      "{:g}",
                      bound.flag, bound.low, bound.high, bound.value));
  if (isAdam() && epsilon == 0)
    return fail(Exit::Usage, "--epsilon must be positive: an element whose "
                             "gradients are all 0 would be divided by 0");
  return options;
}

llvm::Expected<LearningRate> OptimizerFlags::learningRate(int64_t steps) const {
  LearningRate result;
  result.rate = rate.getNumOccurrences() ? rate.getValue()
                : isAdam()               ? 0.001
                                         : 0.01;
  result.schedule = schedule;
  result.warmup = warmup;
  result.steps = steps;
  if (!(result.rate > 0) || std::isinf(result.rate))
    return fail(Exit::Usage, "--learning-rate must be positive and finite");
  if (warmup < 0)
    return fail(Exit::Usage, "--warmup must not be negative");
  return result;
}

/// One line for each setting.
static std::string textOf(const OptimizerOptions &options,
                          const LossScale &scale) {
  std::string text;
  switch (options.kind) {
  case OptimizerKind::SGD:
    text = "optimizer sgd\n";
    break;
  case OptimizerKind::Momentum:
    text = fmt::format("optimizer momentum\nmomentum {}\nnesterov {}\n",
                       options.momentum, int(options.nesterov));
    break;
  case OptimizerKind::Adam:
  case OptimizerKind::AdamW:
    text = fmt::format("optimizer {}\nbeta1 {}\nbeta2 {}\nepsilon {}\n",
                       options.kind == OptimizerKind::Adam ? "adam" : "adamw",
                       options.beta1, options.beta2, options.epsilon);
    break;
  }
  text += fmt::format("weight decay {}\nclipped norm {}\nloss scale ",
                      options.weightDecay, options.clipNorm);
  switch (scale.getKind()) {
  case LossScale::Kind::None:
    return text + "none\n";
  case LossScale::Kind::Dynamic:
    return text + "dynamic\n";
  case LossScale::Kind::Fixed:
    return text + fmt::format("{}\n", scale.getScale());
  }
  return text;
}

void mlc::cli::describeOptimizer(const OptimizerOptions &options,
                                 const LossScale &scale,
                                 runtime::Training &training) {
  training.optimizer = textOf(options, scale);
  training.beta1 = options.beta1;
  training.beta2 = options.beta2;
  training.lossScale = scale.isOn() ? scale.getScale() : 0;
  training.isScaleDynamic = scale.getKind() == LossScale::Kind::Dynamic;
}
