//===- TrainCommand.cpp - mlc train ---------------------------------------===//

#include "passes/Export/Trained.h"
#include "runtime/Text.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/Trainer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cmath>
#include <fmt/format.h>

using namespace mlc::cli;
using mlc::OptimizerKind;
using mlc::OptimizerOptions;
using mlc::Weight;
using mlc::runtime::printable;
namespace cl = llvm::cl;

namespace {

/// The options of the optimizer and of its learning rate.
struct OptimizerFlags {
  explicit OptimizerFlags(cl::SubCommand &sub);
  llvm::Expected<OptimizerOptions> optimizer() const;
  llvm::Expected<LearningRate> learningRate(int64_t steps) const;

  cl::opt<OptimizerKind> kind;
  cl::opt<double> rate, momentum, beta1, beta2, epsilon, decay, clip;
  cl::opt<bool> nesterov;
  cl::opt<Schedule> schedule;
  cl::opt<int64_t> warmup;
};

class TrainCommand : public Command {
public:
  TrainCommand();
  llvm::Error run() override;

private:
  llvm::Error check() const;
  void printWeights(const TrainingModel &read) const;
  std::string settingsOf(const TrainingModel &read,
                         const TrainingData &data) const;
  llvm::Error train(Trainer &trainer, TrainingData &data,
                    const LearningRate &rate);
  llvm::Error writeModel(mlc::ModelFile &file, const TrainingModel &read,
                         const Checkpoint &state) const;

  ModelOptions model;
  TrainingFlags training;
  OptimizerFlags optimizerFlags;
  DeviceOption device;
  cl::opt<unsigned> threads;
  cl::opt<std::string> dataFile;
  cl::opt<int64_t> batch, steps;
  cl::opt<uint64_t> seed;
  cl::opt<int64_t> printEvery;
  cl::opt<std::string> checkpoint;
  cl::opt<int64_t> checkpointEvery;
  cl::opt<bool> resume;
  cl::opt<std::string> output;
};

} // namespace

OptimizerFlags::OptimizerFlags(cl::SubCommand &sub)
    : kind("optimizer", cl::init(OptimizerKind::SGD),
           cl::desc("How gradients change weights (sgd):"),
           cl::values(
               clEnumValN(OptimizerKind::SGD, "sgd",
                          "by the learning rate times the gradient"),
               clEnumValN(OptimizerKind::Momentum, "momentum",
                          "by a running sum of gradients"),
               clEnumValN(OptimizerKind::Adam, "adam", "Kingma and Ba 2015"),
               clEnumValN(OptimizerKind::AdamW, "adamw",
                          "Loshchilov and Hutter 2019")),
           cl::sub(sub)),
      rate("learning-rate", cl::value_desc("number"),
           cl::desc("The learning rate (0.01; of adam and adamw 0.001)"),
           cl::sub(sub)),
      momentum("momentum", cl::init(0.9), cl::value_desc("number"),
               cl::desc("What of the running sum is kept in a step (0.9)"),
               cl::sub(sub)),
      beta1("beta1", cl::init(0.9), cl::value_desc("number"),
            cl::desc("What of the first moment is kept in a step (0.9)"),
            cl::sub(sub)),
      beta2("beta2", cl::init(0.999), cl::value_desc("number"),
            cl::desc("What of the second moment is kept in a step (0.999)"),
            cl::sub(sub)),
      epsilon("epsilon", cl::init(1e-8), cl::value_desc("number"),
              cl::desc("Added to the root of the second moment (1e-8)"),
              cl::sub(sub)),
      decay("weight-decay", cl::value_desc("number"),
            cl::desc("Weight decay (0; of adamw 0.01)"), cl::sub(sub)),
      clip("clip-norm", cl::init(0.0), cl::value_desc("number"),
           cl::desc("The largest norm of all gradients together (none)"),
           cl::sub(sub)),
      nesterov("nesterov", cl::desc("Nesterov's momentum"), cl::sub(sub)),
      schedule(
          "schedule", cl::init(Schedule::Constant),
          cl::desc("How the learning rate goes on (constant):"),
          cl::values(clEnumValN(Schedule::Constant, "constant", "as it is"),
                     clEnumValN(Schedule::Linear, "linear",
                                "down to 0 at the last step"),
                     clEnumValN(Schedule::Cosine, "cosine",
                                "down to 0 along a half cosine")),
          cl::sub(sub)),
      warmup("warmup", cl::init(0), cl::value_desc("steps"),
             cl::desc("Steps in which the learning rate grows from nothing"),
             cl::sub(sub)) {}

llvm::Expected<OptimizerOptions> OptimizerFlags::optimizer() const {
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
  return options;
}

llvm::Expected<LearningRate> OptimizerFlags::learningRate(int64_t steps) const {
  bool isAdam = kind == OptimizerKind::Adam || kind == OptimizerKind::AdamW;
  LearningRate result;
  result.rate = rate.getNumOccurrences() ? rate.getValue()
                : isAdam                 ? 0.001
                                         : 0.01;
  result.schedule = schedule;
  result.warmup = warmup;
  result.steps = steps;
  if (!(result.rate > 0) || std::isinf(result.rate))
    return fail(Exit::Usage, "--learning-rate must be positive");
  if (warmup < 0)
    return fail(Exit::Usage, "--warmup must not be negative");
  return result;
}

TrainCommand::TrainCommand()
    : Command("train", "Train a model's weights on samples"),
      model(sub, "<model.onnx>"), training(sub), optimizerFlags(sub),
      device(sub),
      threads("threads", cl::init(0), cl::value_desc("number"),
              cl::desc("Threads that run it (all cores)"), cl::sub(sub)),
      dataFile("data", cl::value_desc("file.npz"),
               cl::desc("Samples: an array by the name of each input, and of "
                        "the target, whose first dim is the sample"),
               cl::sub(sub)),
      batch("batch", cl::init(0), cl::value_desc("number"),
            cl::desc("Samples of a step, where the model leaves that open"),
            cl::sub(sub)),
      steps("steps", cl::init(100), cl::value_desc("number"),
            cl::desc("Steps, those before --resume among them (100)"),
            cl::sub(sub)),
      seed("seed", cl::init(0), cl::value_desc("number"),
           cl::desc("Seed of the order of the samples (0)"), cl::sub(sub)),
      printEvery("log-every", cl::init(10), cl::value_desc("steps"),
                 cl::desc("Print the loss of every so many steps, and of the "
                          "last (10)"),
                 cl::sub(sub)),
      checkpoint("checkpoint", cl::value_desc("file.npz"),
                 cl::desc("Write weights and states there, from which --resume "
                          "goes on"),
                 cl::sub(sub)),
      checkpointEvery("checkpoint-every", cl::init(100),
                      cl::value_desc("steps"),
                      cl::desc("... after every so many steps, and at the end "
                               "(100)"),
                      cl::sub(sub)),
      resume("resume",
             cl::desc("Go on from the checkpoint if there is one; the result "
                      "has the same bits as without the interruption"),
             cl::sub(sub)),
      output("o", cl::value_desc("file.onnx"),
             cl::desc("Write the model with the trained weights there"),
             cl::sub(sub)) {}

llvm::Error TrainCommand::check() const {
  if (dataFile.empty())
    return fail(Exit::Usage, "no samples; give --data=FILE.npz");
  if (checkpoint.empty() && output.empty())
    return fail(Exit::Usage, "what is trained would be lost; give -o "
                             "MODEL.onnx, --checkpoint=FILE.npz or both");
  if (resume && checkpoint.empty())
    return fail(Exit::Usage, "--resume needs --checkpoint=FILE.npz");
  struct Bound {
    const char *flag;
    int64_t value, low;
  } bounds[] = {{"--steps", steps, 1},
                {"--batch", batch, 0},
                {"--log-every", printEvery, 1},
                {"--checkpoint-every", checkpointEvery, 1}};
  for (const Bound &bound : bounds)
    if (bound.value < bound.low)
      return fail(Exit::Usage, llvm::formatv("{0} must be at least {1}",
                                             bound.flag, bound.low));
  return llvm::Error::success();
}

void TrainCommand::printWeights(const TrainingModel &read) const {
  size_t elements = 0, width = 0;
  for (const Weight &weight : read.weights)
    width = std::max(width, printable(weight.name).size());
  for (const Weight *weight : read.trained()) {
    size_t count = 1;
    for (int64_t dim : weight->dims)
      count *= dim;
    elements += count;
  }
  llvm::outs() << "trained: " << read.trained().size() << " weights of "
               << elements << " elements\n";
  for (const Weight &weight : read.weights)
    if (!weight.frozen.empty())
      llvm::outs() << "frozen:  "
                   << llvm::left_justify(printable(weight.name), width + 2)
                   << weight.frozen << '\n';
}

std::string TrainCommand::settingsOf(const TrainingModel &read,
                                     const TrainingData &data) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  static constexpr llvm::StringLiteral kinds[] = {"sgd", "momentum", "adam",
                                                  "adamw"};
  os << "model " << read.hash << "\ndata " << data.hash() << "\noptimizer "
     << kinds[static_cast<int>(optimizerFlags.kind.getValue())] << "\nbatch "
     << data.batch() << "\nseed " << seed << '\n';
  return text;
}

llvm::Error TrainCommand::train(Trainer &trainer, TrainingData &data,
                                const LearningRate &rate) {
  Checkpoint &state = trainer.state();
  auto start = std::chrono::steady_clock::now();
  int64_t first = state.step;
  while (state.step < steps) {
    auto loss = trainer.step(data, seed, rate);
    if (!loss)
      return loss.takeError();
    bool isLast = state.step == steps;
    if (!std::isfinite(*loss))
      return fail(Exit::Differs,
                  model.model + ": the loss of step " +
                      llvm::Twine(state.step) +
                      " is not a finite number; lower --learning-rate, or give "
                      "--clip-norm" +
                      (checkpoint.empty()
                           ? ""
                           : ", and go on from the checkpoint with --resume"));
    if (state.step % printEvery == 0 || isLast) {
      llvm::outs() << "step " << state.step << "  loss "
                   << llvm::format("%.9g", *loss) << '\n';
      llvm::outs().flush();
    }
    if (!checkpoint.empty() && (state.step % checkpointEvery == 0 || isLast))
      if (llvm::Error error = writeCheckpoint(checkpoint, state))
        return error;
  }
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  if (state.step > first)
    llvm::errs() << fmt::format("{} steps in {:.3g} s\n", state.step - first,
                                seconds.count());
  return llvm::Error::success();
}

llvm::Error TrainCommand::writeModel(mlc::ModelFile &file,
                                     const TrainingModel &read,
                                     const Checkpoint &state) const {
  std::vector<mlc::NewWeight> weights;
  for (auto [weight, value] : llvm::zip(read.trained(), state.values))
    weights.push_back({weight->name, {value.data.get(), value.bytes}});
  auto bytes = mlc::replaceWeights(file, weights);
  if (!bytes)
    return withFile(model.model, Exit::Resources, bytes.takeError());
  return writeOutput(output, [&](llvm::raw_ostream &os) {
    os << *bytes;
    return llvm::Error::success();
  });
}

llvm::Error TrainCommand::run() {
  if (llvm::Error error = check())
    return error;
  auto optimizer = optimizerFlags.optimizer();
  if (!optimizer)
    return optimizer.takeError();
  auto rate = optimizerFlags.learningRate(steps);
  if (!rate)
    return rate.takeError();
  auto read = readTrainingModel(model, training, *optimizer, batch);
  if (!read)
    return read.takeError();
  std::vector<std::string> written, inputs = read->compilation->getInputFiles();
  inputs.push_back(dataFile);
  for (const std::string &file : {checkpoint.getValue(), output.getValue()})
    if (!file.empty())
      written.push_back(file);
  if (llvm::Error error = refuseInputs(written, inputs))
    return error;
  std::shared_ptr<mlc::ModelFile> file = read->compilation->shareModelFile();
  auto built = read->compilation->build();
  if (!built)
    return built.takeError();
  auto trainer =
      Trainer::create(*built, *optimizer, read->values, device.device, threads);
  if (!trainer)
    return trainer.takeError();
  auto data = TrainingData::read(dataFile, trainer->dataPorts());
  if (!data)
    return data.takeError();
  for (auto [i, port] : llvm::enumerate(trainer->dataPorts()))
    if (read->classes && port.name == training.targetName())
      if (llvm::Error error =
              checkLabels(data->array(i), *read->classes, port.name))
        return error;
  printWeights(*read);
  trainer->state().settings = settingsOf(*read, *data);
  if (resume && llvm::sys::fs::exists(checkpoint)) {
    if (llvm::Error error = readCheckpoint(checkpoint, trainer->state()))
      return error;
    llvm::outs() << "resumed: after step " << trainer->state().step << '\n';
  }
  if (llvm::Error error = train(*trainer, *data, *rate))
    return error;
  return output.empty() ? llvm::Error::success()
                        : writeModel(*file, *read, trainer->state());
}

std::unique_ptr<Command> mlc::cli::makeTrainCommand() {
  return std::make_unique<TrainCommand>();
}
