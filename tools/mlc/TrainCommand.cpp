//===- TrainCommand.cpp - mlc train ---------------------------------------===//

#include "passes/Export/Trained.h"
#include "runtime/Text.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MemoryBudget.h"
#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/SmallFloats.h"
#include "tools/mlc/Trainer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <cmath>
#include <fmt/format.h>

using namespace mlc::cli;
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
                         const TrainingData &data) const;
  llvm::Error checkFiles(const TrainingModel &read) const;
  llvm::Error resumeFrom(Trainer &trainer, const std::string &settings) const;
  llvm::Error openEvaluation(const Trainer &trainer, const TrainingModel &read);
  llvm::Error lostLoss(const Trainer &trainer, const TrainingModel &read) const;
  llvm::Error refuseInfinite(Trainer &trainer) const;
  llvm::Error keep(Trainer &trainer, const std::string &settings) const;
  llvm::Error report(Trainer &trainer, double loss, bool isLast);
  llvm::Error reportSkipped(const Trainer &trainer, int64_t before) const;
  llvm::Error train(Trainer &trainer, TrainingData &data,
                    const TrainingModel &read, const LearningRate &rate,
                    const std::string &settings);
  llvm::Error writeModel(mlc::ModelFile &file, const TrainingModel &read,
                         Trainer &trainer) const;

  ModelOptions model;
  TrainingFlags training;
  MemoryBudget budget;
  OptimizerFlags optimizerFlags;
  DeviceOption device;
  cl::opt<unsigned> threads;
  cl::opt<std::string> dataFile;
  cl::opt<int64_t> batch, accumulate, steps;
  cl::opt<uint64_t> seed;
  cl::opt<int64_t> printEvery;
  cl::opt<std::string> checkpoint;
  cl::opt<int64_t> checkpointEvery;
  cl::opt<bool> resume;
  cl::opt<std::string> evaluationFile;
  cl::opt<int64_t> evaluateEvery;
  cl::opt<std::string> output;
  std::optional<TrainingData> heldOut;
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
      accumulate("accumulate", cl::init(1), cl::value_desc("number"),
                 cl::desc("Batches of which a step takes the mean of the "
                          "gradients (1)"),
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
      evaluationFile("evaluate", cl::value_desc("file.npz"),
                     cl::desc("Print the mean loss on these samples, which are "
                              "not trained on"),
                     cl::sub(sub)),
      evaluateEvery("evaluate-every", cl::init(100), cl::value_desc("steps"),
                    cl::desc("... after every so many steps, and at the end "
                             "(100)"),
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
  if (evaluateEvery.getNumOccurrences() && evaluationFile.empty())
    return fail(Exit::Usage, "--evaluate-every needs --evaluate=FILE.npz");
  if (resume && checkpoint.empty())
    return fail(Exit::Usage, "--resume needs --checkpoint=FILE.npz");
  struct Bound {
    const char *flag;
    int64_t value, low;
  } bounds[] = {{"--steps", steps, 1},
                {"--batch", batch, batch.getNumOccurrences() ? 1 : 0},
                {"--log-every", printEvery, 1},
                {"--accumulate", accumulate, 1},
                {"--evaluate-every", evaluateEvery, 1},
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
      llvm::outs() << (weight.isStatistic ? "moved:   " : "frozen:  ")
                   << llvm::left_justify(printable(weight.name), width + 2)
                   << weight.frozen << '\n';
}

std::string TrainCommand::settingsOf(const TrainingModel &read,
                                     const TrainingData &data) const {
  std::string text = fmt::format("model {}\ndata {}\n{}{}batch {}\nseed {}\n",
                                 read.hash, data.hash(), training.describe(),
                                 describe(read.optimizer, read.lossScale),
                                 data.batch(), seed.getValue());
  if (accumulate > 1)
    text += fmt::format("accumulated batches {}\n", accumulate.getValue());
  return text;
}

/// Why a step's loss is no number.
llvm::Error TrainCommand::lostLoss(const Trainer &trainer,
                                   const TrainingModel &read) const {
  std::string what = fmt::format("{}: the loss of step {} is not a finite "
                                 "number",
                                 model.model.getValue(), trainer.step());
  const HostTensor *target = trainer.findInput(training.targetName());
  if (read.classes && target &&
      llvm::all_of(
          llvm::ArrayRef(reinterpret_cast<const int64_t *>(target->data.get()),
                         target->bytes / sizeof(int64_t)),
          [](int64_t label) { return label < 0; }))
    return fail(Exit::Differs, what + ": all labels of its batch are negative, "
                                      "which do not count; give others, or a "
                                      "larger --batch");
  return fail(Exit::Differs, what +
                                 "; lower --learning-rate, or give "
                                 "--clip-norm" +
                                 (!llvm::sys::fs::exists(checkpoint)
                                      ? ""
                                      : ", and go on from the checkpoint with "
                                        "--resume"));
}

/// What is not finite is not kept: nothing goes on from there.
llvm::Error TrainCommand::refuseInfinite(Trainer &trainer) const {
  auto name = trainer.findInfinite();
  if (!name)
    return name.takeError();
  if (name->empty())
    return llvm::Error::success();
  return fail(Exit::Differs,
              fmt::format("{}: '{}' is not finite after step {}, and nothing "
                          "is written; lower --learning-rate, or give "
                          "--clip-norm",
                          model.model.getValue(), printable(*name),
                          trainer.step()));
}

llvm::Error TrainCommand::keep(Trainer &trainer,
                               const std::string &settings) const {
  auto now = trainer.checkpoint();
  if (!now)
    return now.takeError();
  now->settings = settings;
  return writeCheckpoint(checkpoint, *now);
}

/// Prints what the step has come to.
llvm::Error TrainCommand::report(Trainer &trainer, double loss, bool isLast) {
  int64_t step = trainer.step();
  if (step % printEvery == 0 || isLast)
    llvm::outs() << fmt::format("step {}  loss {:.9g}\n", step, loss);
  if (heldOut && (step % evaluateEvery == 0 || isLast)) {
    auto found = trainer.evaluate(*heldOut);
    if (!found)
      return found.takeError();
    llvm::outs() << fmt::format("step {}  held-out loss {:.9g}\n", step,
                                *found);
    if (!std::isfinite(*found))
      warn(evaluationFile,
           "the loss of one of its batches is not a finite number: all its "
           "labels are negative, or a sample or the weights are too large");
  }
  llvm::outs().flush();
  return llvm::Error::success();
}

static void printMemory(const TrainingMemory &memory, int64_t steps,
                        double seconds) {
  auto megabytes = [](uint64_t bytes) { return double(bytes) / (1 << 20); };
  llvm::errs() << fmt::format("{} steps in {:.3g} s\nmemory: {:.2f} MB of "
                              "states, {:.2f} MB for a step (at least {:.2f} "
                              "MB in this order); {} allocations "
                              "after the first step\n",
                              steps, seconds, megabytes(memory.states),
                              megabytes(memory.arena), megabytes(memory.bound),
                              memory.allocations);
}

/// Of a step before which `before` were skipped.
llvm::Error TrainCommand::reportSkipped(const Trainer &trainer,
                                        int64_t before) const {
  const LossScale &scale = trainer.scale();
  if (scale.getSkipped() == before)
    return llvm::Error::success();
  llvm::outs() << fmt::format("step {}  skipped: a gradient is not finite; "
                              "loss scale {:g}\n",
                              trainer.step(), scale.getScale());
  llvm::outs().flush();
  if (!scale.isStuck())
    return llvm::Error::success();
  return fail(Exit::Differs,
              fmt::format("{}: {} steps in a row changed nothing, because a "
                          "gradient is not finite; give a smaller "
                          "--loss-scale, or weights and samples that are "
                          "smaller",
                          model.model.getValue(), LossScale::mostFailed));
}

llvm::Error TrainCommand::train(Trainer &trainer, TrainingData &data,
                                const TrainingModel &read,
                                const LearningRate &rate,
                                const std::string &settings) {
  auto start = std::chrono::steady_clock::now();
  int64_t first = trainer.step();
  while (trainer.step() < steps) {
    int64_t skipped = trainer.scale().getSkipped();
    auto loss = trainer.run(data, seed, rate);
    if (!loss)
      return loss.takeError();
    bool isLast = trainer.step() == steps;
    if (!std::isfinite(*loss))
      return lostLoss(trainer, read);
    if (llvm::Error error = reportSkipped(trainer, skipped))
      return error;
    if (llvm::Error error = report(trainer, *loss, isLast))
      return error;
    bool isKept = !checkpoint.empty() && trainer.step() % checkpointEvery == 0;
    if (isKept || isLast)
      if (llvm::Error error = refuseInfinite(trainer))
        return error;
    if (isKept || (isLast && !checkpoint.empty()))
      if (llvm::Error error = keep(trainer, settings))
        return error;
  }
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  if (trainer.step() == first)
    return llvm::Error::success();
  auto memory = trainer.memory();
  if (!memory)
    return memory.takeError();
  printMemory(*memory, trainer.step() - first, seconds.count());
  return llvm::Error::success();
}

llvm::Error TrainCommand::writeModel(mlc::ModelFile &file,
                                     const TrainingModel &read,
                                     Trainer &trainer) const {
  auto now = trainer.checkpoint();
  if (!now)
    return now.takeError();
  std::vector<mlc::NewWeight> weights;
  std::vector<HostTensor> values;
  for (auto [weight, value, type] :
       llvm::zip(read.kept(), now->values, read.types)) {
    auto own = narrowed(value, type);
    if (!own)
      return own.takeError();
    weights.push_back({weight->name, {own->data.get(), own->bytes}});
    values.push_back(std::move(*own));
  }
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
  if (!evaluationFile.empty())
    inputs.push_back(evaluationFile);
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

llvm::Error TrainCommand::resumeFrom(Trainer &trainer,
                                     const std::string &settings) const {
  if (!resume || !llvm::sys::fs::exists(checkpoint))
    return llvm::Error::success();
  auto state = trainer.checkpoint();
  if (!state)
    return state.takeError();
  state->settings = settings;
  if (llvm::Error error = readCheckpoint(checkpoint, *state))
    return error;
  if (state->step > steps)
    return fail(Exit::Usage,
                fmt::format("{}: was written after step {}, and --steps={} "
                            "ends before; give at least as many",
                            checkpoint.getValue(), state->step,
                            steps.getValue()));
  llvm::outs() << "resumed: after step " << state->step << '\n';
  return trainer.restore(*state);
}

/// Errors for labels that are no class.
static llvm::Error checkTargets(const TrainingData &data,
                                const Trainer &trainer,
                                const TrainingModel &read,
                                llvm::StringRef target) {
  for (auto [i, port] : llvm::enumerate(trainer.dataPorts()))
    if (read.classes && port.name == target)
      return checkLabels(data.array(i), *read.classes, port.name);
  return llvm::Error::success();
}

llvm::Error TrainCommand::openEvaluation(const Trainer &trainer,
                                         const TrainingModel &read) {
  if (evaluationFile.empty())
    return llvm::Error::success();
  auto data = TrainingData::read(evaluationFile, trainer.dataPorts());
  if (!data)
    return data.takeError();
  heldOut.emplace(std::move(*data));
  return checkTargets(*heldOut, trainer, read, training.targetName());
}

llvm::Error TrainCommand::run() {
  if (llvm::Error error = check())
    return error;
  auto rate = optimizerFlags.learningRate(steps);
  if (!rate)
    return rate.takeError();
  auto bytes = budget.bytes();
  if (!bytes)
    return bytes.takeError();
  const mlc::TrainingEntries entries{accumulate, !evaluationFile.empty()};
  auto read =
      readTrainingModel(model, training, &optimizerFlags, batch, entries);
  if (!read)
    return read.takeError();
  if (llvm::Error error = checkFiles(*read))
    return error;
  std::shared_ptr<mlc::ModelFile> file = read->compilation->shareModelFile();
  read->compilation->limitMemory(*bytes);
  auto built = read->compilation->build();
  if (!built)
    return built.takeError();
  auto trainer = Trainer::create(*built, read->optimizer, read->lossScale,
                                 entries, read->values, device.device, threads);
  if (!trainer)
    return trainer.takeError();
  read->values.clear(); // the states have them
  auto data = TrainingData::read(dataFile, trainer->dataPorts());
  if (!data)
    return data.takeError();
  if (llvm::Error error =
          checkTargets(*data, *trainer, *read, training.targetName()))
    return error;
  if (llvm::Error error = openEvaluation(*trainer, *read))
    return error;
  printWeights(*read);
  std::string settings = settingsOf(*read, *data);
  if (llvm::Error error = resumeFrom(*trainer, settings))
    return error;
  if (const auto &report = read->compilation->getMemoryReport())
    llvm::outs() << describe(*report, *bytes) << '\n';
  if (llvm::Error error = train(*trainer, *data, *read, *rate, settings))
    return error;
  if (budget.isGiven()) {
    auto memory = trainer->memory();
    if (!memory)
      return memory.takeError();
    llvm::outs() << "memory: " << memory->arena << " bytes allocated\n";
  }
  return output.empty() ? llvm::Error::success()
                        : writeModel(*file, *read, *trainer);
}

std::unique_ptr<Command> mlc::cli::makeTrainCommand() {
  return std::make_unique<TrainCommand>();
}
