//===- TrainCommand.cpp - mlc train ---------------------------------------===//

#include "passes/Export/Trained.h"
#include "runtime/Text.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MemoryBudget.h"
#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/SmallFloats.h"
#include "tools/mlc/TrainingLoop.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <mutex>
#include <optional>
#include <thread>

using namespace mlc::cli;
namespace transport = mlc::runtime::transport;
using mlc::Weight;
using mlc::runtime::printable;
namespace cl = llvm::cl;

namespace {

/// What all ranks of this process train.
struct Job {
  TrainingModel read;
  Model built;
  std::shared_ptr<mlc::ModelFile> file;
  mlc::TrainingEntries entries;
  LearningRate rate;
  TrainingOptions options;
};

/// The first error of all ranks of a process; those of others follow from it.
class FirstError {
public:
  /// Prints it if it is the first; returns the exit code of the first.
  int tell(llvm::Error error) {
    std::lock_guard lock(mutex);
    if (exitCode) {
      llvm::consumeError(std::move(error));
      return exitCode;
    }
    // Ranks are ended as they stand.
    llvm::outs().flush();
    // Processes share a terminal: a line is one write.
    llvm::errs().SetBuffered();
    exitCode = report(std::move(error));
    llvm::errs().flush();
    llvm::errs().SetUnbuffered();
    return exitCode;
  }
  int code() const { return exitCode; }

private:
  std::mutex mutex;
  int exitCode = 0;
};

class TrainCommand : public Command {
public:
  TrainCommand();
  llvm::Error run() override;

private:
  llvm::Error check() const;
  void printWeights(const TrainingModel &read) const;
  llvm::Error checkFiles(const TrainingModel &read) const;
  TrainingOptions options() const;
  llvm::Expected<std::unique_ptr<Job>> prepare(int64_t ranks) const;
  llvm::Error train(const Job &job, const TrainingRanks &ranks,
                    unsigned threadsOfRank,
                    std::optional<Trainer> &trainer) const;
  void runRank(const Job &job,
               const std::shared_ptr<mlc::runtime::Ranks> &ranks,
               unsigned threadsOfRank, FirstError &failed) const;
  llvm::Error writeModel(const Job &job, Trainer &trainer) const;

  ModelOptions model;
  TrainingFlags training;
  MemoryBudget budget;
  OptimizerFlags optimizerFlags;
  DeviceOption device;
  DistributionFlags distribution;
  cl::opt<unsigned> threads;
  cl::opt<std::string> dataFile;
  cl::opt<int64_t> batch, accumulate;
  cl::opt<bool> keepHalf;
  cl::opt<int64_t> steps;
  cl::opt<uint64_t> seed;
  cl::opt<int64_t> printEvery;
  cl::opt<std::string> checkpoint;
  cl::opt<int64_t> checkpointEvery;
  cl::opt<bool> resume;
  cl::opt<std::string> evaluationFile;
  cl::opt<int64_t> evaluateEvery;
  cl::opt<std::string> output;
};

} // namespace

TrainCommand::TrainCommand()
    : Command("train", "Train a model's weights on samples"),
      model(sub, "<model.onnx>"), training(sub), budget(sub),
      optimizerFlags(sub), device(sub), distribution(sub),
      threads("threads", cl::init(0), cl::value_desc("number"),
              cl::desc("Threads that run it, on each rank (all cores, shared "
                       "among ranks that are threads)"),
              cl::sub(sub)),
      dataFile("data", cl::value_desc("file.npz"),
               cl::desc("Samples: an array by the name of each input, and of "
                        "the target, whose first dim is the sample"),
               cl::sub(sub)),
      batch("batch", cl::init(0), cl::value_desc("number"),
            cl::desc("Samples of a step, those of all ranks together, where "
                     "the model leaves that open"),
            cl::sub(sub)),
      accumulate("accumulate", cl::init(1), cl::value_desc("number"),
                 cl::desc("Batches of which a step takes the mean of the "
                          "gradients (1)"),
                 cl::sub(sub)),
      keepHalf("keep-half",
               cl::desc("Keep weights of 16 bits beside their float32 masters, "
                        "and sums of gradients in 16 bits"),
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
             cl::desc("Go on from the checkpoint if there is one; on as many "
                      "ranks, the result has the same bits as without the "
                      "interruption"),
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

llvm::Error TrainCommand::writeModel(const Job &job, Trainer &trainer) const {
  auto now = trainer.checkpoint();
  if (!now)
    return now.takeError();
  if (!trainer.ranks().isFirst())
    return llvm::Error::success();
  std::vector<mlc::NewWeight> weights;
  std::vector<HostTensor> values;
  for (auto [weight, value, type] :
       llvm::zip(job.read.kept(), now->values, job.read.types)) {
    auto own = narrowed(value, type);
    if (!own)
      return own.takeError();
    weights.push_back({weight->name, {own->data.get(), own->bytes}});
    values.push_back(std::move(*own));
  }
  auto bytes = mlc::replaceWeights(*job.file, weights);
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

TrainingOptions TrainCommand::options() const {
  TrainingOptions options;
  options.model = model.model;
  options.data = dataFile;
  options.evaluation = evaluationFile;
  options.checkpoint = checkpoint;
  options.target = training.targetName();
  options.loss =
      training.describe() + (keepHalf ? "weights of 16 bits kept\n" : "");
  options.accumulate = accumulate;
  options.steps = steps;
  options.printEvery = printEvery;
  options.checkpointEvery = checkpointEvery;
  options.evaluateEvery = evaluateEvery;
  options.seed = seed;
  options.resume = resume;
  return options;
}

/// Reads and compiles; all ranks get the same.
llvm::Expected<std::unique_ptr<Job>>
TrainCommand::prepare(int64_t ranks) const {
  auto split = distribution.distribution(ranks);
  if (!split)
    return split.takeError();
  auto rate = optimizerFlags.learningRate(steps);
  if (!rate)
    return rate.takeError();
  auto bytes = budget.bytes();
  if (!bytes)
    return bytes.takeError();
  const mlc::TrainingEntries entries{accumulate, !evaluationFile.empty(),
                                     keepHalf};
  auto read = readTrainingModel(model, training, &optimizerFlags, batch,
                                entries, ranks > 1 ? &*split : nullptr);
  if (!read)
    return read.takeError();
  if (llvm::Error error = checkFiles(*read))
    return error;
  auto file = read->compilation->shareModelFile();
  read->compilation->limitMemory(*bytes);
  auto built = read->compilation->build();
  if (!built)
    return built.takeError();
  auto job =
      std::make_unique<Job>(Job{std::move(*read), std::move(*built),
                                std::move(file), entries, *rate, options()});
  job->options.distribution = split->describe();
  return job;
}

/// All that one rank does. `trainer` becomes its own, and outlives the error:
/// when it goes after a failed collective, it ends all ranks.
llvm::Error TrainCommand::train(const Job &job, const TrainingRanks &ranks,
                                unsigned threadsOfRank,
                                std::optional<Trainer> &trainer) const {
  auto made = Trainer::create(job.built, job.read, job.entries, ranks,
                              device.device, threadsOfRank);
  if (!made)
    return made.takeError();
  trainer.emplace(std::move(*made));
  TrainingLoop loop(*trainer, job.read, job.options);
  if (ranks.isFirst())
    printWeights(job.read);
  if (llvm::Error error = loop.open(job.rate))
    return error;
  const auto &report = job.read.compilation->getMemoryReport();
  if (report && ranks.isFirst())
    llvm::outs() << describe(*report, *budget.bytes()) << '\n';
  if (llvm::Error error = loop.run(job.rate))
    return error;
  if (llvm::Error error = loop.printUse())
    return error;
  if (budget.isGiven() && ranks.isFirst()) {
    auto memory = trainer->memory();
    if (!memory)
      return memory.takeError();
    llvm::outs() << "memory: " << memory->arena << " bytes allocated\n";
  }
  return output.empty() ? llvm::Error::success() : writeModel(job, *trainer);
}

/// As one of the ranks that are threads, or the one that this process is. The
/// first error is told, and ends the other ranks.
void TrainCommand::runRank(const Job &job,
                           const std::shared_ptr<mlc::runtime::Ranks> &ranks,
                           unsigned threadsOfRank, FirstError &failed) const {
  TrainingRanks group(ranks);
  std::optional<Trainer> trainer;
  llvm::Error error = train(job, group, threadsOfRank, trainer);
  if (!error)
    if (auto status = ranks->finish(); !status.ok())
      error = statusFailure(status);
  if (error)
    ranks->abort(failed.tell(std::move(error)));
}

/// Ranks wait for each other, so all at once.
static void forEachRank(size_t count, llvm::function_ref<void(size_t)> work) {
  std::vector<std::thread> others;
  for (size_t r = 1; r < count; ++r)
    others.emplace_back([&, r] { work(r); });
  work(0);
  for (std::thread &other : others)
    other.join();
}

llvm::Error TrainCommand::run() {
  if (llvm::Error error = check())
    return error;
  transport::RunEngines engines;
  std::vector<std::shared_ptr<mlc::runtime::Ranks>> ranks;
  if (llvm::Error error = distribution.open(engines, device.device, ranks))
    return error;
  int64_t count = ranks.empty() ? 1 : ranks.front()->size();
  FirstError failed;
  auto job = prepare(count);
  if (!job && ranks.empty())
    return job.takeError();
  if (!job) {
    int code = failed.tell(job.takeError());
    forEachRank(ranks.size(), [&](size_t r) { ranks[r]->abort(code); });
    return reported(code);
  }
  if (ranks.empty()) {
    TrainingRanks alone;
    std::optional<Trainer> trainer;
    return train(**job, alone, threads, trainer);
  }
  unsigned each = threads;
  if (ranks.size() > 1 && !threads)
    each = std::max<unsigned>(1, std::thread::hardware_concurrency() /
                                     ranks.size());
  forEachRank(ranks.size(),
              [&](size_t r) { runRank(**job, ranks[r], each, failed); });
  return reported(failed.code());
}

std::unique_ptr<Command> mlc::cli::makeTrainCommand() {
  return std::make_unique<TrainCommand>();
}
