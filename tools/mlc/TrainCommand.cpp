//===- TrainCommand.cpp - mlc train ---------------------------------------===//

#include "passes/Export/Trained.h"
#include "runtime/Text.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MemoryBudget.h"
#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/Trainer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <cmath>
#include <fmt/format.h>

using namespace mlc::cli;
using mlc::OptimizerOptions;
using mlc::Weight;
using mlc::runtime::printable;
namespace cl = llvm::cl;

namespace {

class TrainCommand : public Command {
public:
  TrainCommand();
  llvm::Error run() override;

private:
  llvm::Error check() const;
  void printWeights(const TrainingModel &read) const;
  std::string settingsOf(const TrainingModel &read,
                         const OptimizerOptions &optimizer,
                         const TrainingData &data) const;
  llvm::Error checkFiles(const TrainingModel &read) const;
  llvm::Error resumeFrom(Checkpoint &state) const;
  llvm::Error lostLoss(const Trainer &trainer, const TrainingModel &read) const;
  llvm::Error refuseInfinite(const Trainer &trainer) const;
  llvm::Error train(Trainer &trainer, TrainingData &data,
                    const TrainingModel &read, const LearningRate &rate);
  llvm::Error writeModel(mlc::ModelFile &file, const TrainingModel &read,
                         const Checkpoint &state) const;

  ModelOptions model;
  TrainingFlags training;
  MemoryBudget budget;
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

TrainCommand::TrainCommand()
    : Command("train", "Train a model's weights on samples"),
      model(sub, "<model.onnx>"), training(sub), budget(sub),
      optimizerFlags(sub), device(sub),
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
                {"--batch", batch, batch.getNumOccurrences() ? 1 : 0},
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
                                     const OptimizerOptions &optimizer,
                                     const TrainingData &data) const {
  return fmt::format("model {}\ndata {}\n{}{}batch {}\nseed {}\n", read.hash,
                     data.hash(), training.describe(),
                     mlc::cli::describe(optimizer), data.batch(),
                     seed.getValue());
}

/// Why a step's loss is no number.
llvm::Error TrainCommand::lostLoss(const Trainer &trainer,
                                   const TrainingModel &read) const {
  std::string what = fmt::format("{}: the loss of step {} is not a finite "
                                 "number",
                                 model.model.getValue(), trainer.state().step);
  const HostTensor *target = trainer.findInput(training.targetName());
  if (read.classes && target &&
      llvm::all_of(
          llvm::ArrayRef(reinterpret_cast<const int64_t *>(target->data.get()),
                         target->bytes / sizeof(int64_t)),
          [](int64_t label) { return label < 0; }))
    return fail(Exit::Differs, what + ": all labels of its batch are negative, "
                                      "which do not count; give others, or a "
                                      "larger --batch");
  return fail(Exit::Differs,
              what +
                  "; lower --learning-rate, or give "
                  "--clip-norm" +
                  (checkpoint.empty() ? ""
                                      : ", and go on from the checkpoint with "
                                        "--resume"));
}

/// What is not finite is not kept: nothing goes on from there.
llvm::Error TrainCommand::refuseInfinite(const Trainer &trainer) const {
  std::string name = trainer.findInfinite();
  if (name.empty())
    return llvm::Error::success();
  return fail(Exit::Differs,
              fmt::format("{}: '{}' is not finite after step {}, and nothing "
                          "is written; lower --learning-rate, or give "
                          "--clip-norm",
                          model.model.getValue(), printable(name),
                          trainer.state().step));
}

llvm::Error TrainCommand::train(Trainer &trainer, TrainingData &data,
                                const TrainingModel &read,
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
      return lostLoss(trainer, read);
    if (state.step % printEvery == 0 || isLast) {
      llvm::outs() << fmt::format("step {}  loss {:.9g}\n", state.step, *loss);
      llvm::outs().flush();
    }
    bool isKept = !checkpoint.empty() && state.step % checkpointEvery == 0;
    if (isKept || isLast)
      if (llvm::Error error = refuseInfinite(trainer))
        return error;
    if (isKept || (isLast && !checkpoint.empty()))
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

/// Before anything takes long.
llvm::Error TrainCommand::checkFiles(const TrainingModel &read) const {
  std::vector<std::string> written, inputs = read.compilation->getInputFiles();
  inputs.push_back(dataFile);
  for (const std::string &file : {checkpoint.getValue(), output.getValue()}) {
    if (file.empty() || file == "-")
      continue;
    llvm::StringRef folder = llvm::sys::path::parent_path(file);
    if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
      return fail(Exit::Usage, file + ": there is no folder '" + folder + "'");
    if (llvm::sys::fs::is_directory(file))
      return fail(Exit::Usage, file + ": is a folder; give a file");
    written.push_back(file);
  }
  if (written.size() == 2 &&
      (written[0] == written[1] ||
       llvm::sys::fs::equivalent(written[0], written[1])))
    return fail(Exit::Usage, written[0] + ": is both the checkpoint and the "
                                          "model to write; give two files");
  return refuseInputs(written, inputs);
}

llvm::Error TrainCommand::resumeFrom(Checkpoint &state) const {
  if (!resume || !llvm::sys::fs::exists(checkpoint))
    return llvm::Error::success();
  if (llvm::Error error = readCheckpoint(checkpoint, state))
    return error;
  if (state.step > steps)
    return fail(Exit::Usage,
                fmt::format("{}: was written after step {}, and --steps={} "
                            "ends before; give at least as many",
                            checkpoint.getValue(), state.step,
                            steps.getValue()));
  llvm::outs() << "resumed: after step " << state.step << '\n';
  return llvm::Error::success();
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
  auto bytes = budget.bytes();
  if (!bytes)
    return bytes.takeError();
  auto read = readTrainingModel(model, training, *optimizer, batch);
  if (!read)
    return read.takeError();
  if (llvm::Error error = checkFiles(*read))
    return error;
  std::shared_ptr<mlc::ModelFile> file = read->compilation->shareModelFile();
  // The trainer has memory for weights and states, which a step writes there
  // where the device can.
  bool isHost = device.device.empty() || device.device == "cpu";
  read->compilation->limitMemory(*bytes, isHost ? 1 : SIZE_MAX);
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
  trainer->state().settings = settingsOf(*read, *optimizer, *data);
  if (llvm::Error error = resumeFrom(trainer->state()))
    return error;
  if (const auto &report = read->compilation->getMemoryReport())
    llvm::outs() << describe(*report, *bytes) << '\n';
  if (llvm::Error error = train(*trainer, *data, *read, *rate))
    return error;
  if (budget.isGiven()) {
    auto memory = trainer->memory();
    if (!memory)
      return memory.takeError();
    llvm::outs() << "memory: " << memory->arena_bytes << " bytes allocated\n";
  }
  return output.empty() ? llvm::Error::success()
                        : writeModel(*file, *read, trainer->state());
}

std::unique_ptr<Command> mlc::cli::makeTrainCommand() {
  return std::make_unique<TrainCommand>();
}
