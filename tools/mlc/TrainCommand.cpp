//===- TrainCommand.cpp - mlc train ---------------------------------------===//

#include "passes/Export/Trained.h"
#include "runtime/Text.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MemoryBudget.h"
#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/ServedTraining.h"
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

/// What ranks of this process train.
struct Job {
  mlc::cli::Distribution split;
  TrainingModel read;
  Model built;
  std::shared_ptr<mlc::ModelFile> file;
  mlc::TrainingEntries entries;
  LearningRate rate;
  TrainingOptions options;
  /// Of ranks with a server: this is what that one does.
  bool isServer = false;
};

/// Of a process: what its ranks do, but a server, and what a server does, where
/// it has them.
struct Jobs {
  std::unique_ptr<Job> all, server;

  const Job &of(const mlc::runtime::Ranks &ranks) const {
    return server && ranks.rank() == ranks.size() - 1 ? *server : *all;
  }
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
    exitCode = report(std::move(error));
    return exitCode;
  }
  int code() const { return exitCode; }

private:
  std::mutex mutex;
  int exitCode = 0;
};

/// What a rank has, which outlives its error: when it goes after a failed
/// collective, it ends all ranks.
struct OneRank {
  TrainingRanks ranks; ///< of its session
  std::optional<Trainer> trainer;
  /// Where there is a server.
  std::optional<ServedTraining> served;
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
  llvm::Expected<std::unique_ptr<Job>> prepare(const Distribution &split,
                                               bool isServer) const;
  llvm::Expected<Jobs>
  prepareAll(llvm::ArrayRef<std::shared_ptr<mlc::runtime::Ranks>> ranks) const;
  llvm::Error train(const Job &job, const TrainingRanks &ranks,
                    unsigned threadsOfRank, OneRank &own) const;
  llvm::Error finish(const Job &job, Trainer &trainer, TrainingLoop &loop,
                     uint64_t sent, bool tells) const;
  void runRank(const Job &job,
               const std::shared_ptr<mlc::runtime::Ranks> &ranks,
               unsigned threadsOfRank, FirstError &failed) const;
  llvm::Error writeModel(const Job &job, Trainer &trainer, bool tells) const;

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
  for (const std::string &merged : read.merged)
    warn(model.model, merged);
  for (const Weight &weight : read.weights)
    if (!weight.frozen.empty())
      llvm::outs() << (weight.isStatistic ? "moved:   " : "frozen:  ")
                   << llvm::left_justify(printable(weight.name), width + 2)
                   << weight.frozen << '\n';
}

llvm::Error TrainCommand::writeModel(const Job &job, Trainer &trainer,
                                     bool tells) const {
  auto now = trainer.checkpoint();
  if (!now)
    return now.takeError();
  if (!tells)
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

/// Reads and compiles; all ranks get the same, but a server.
llvm::Expected<std::unique_ptr<Job>>
TrainCommand::prepare(const Distribution &split, bool isServer) const {
  auto rate = optimizerFlags.learningRate(steps);
  if (!rate)
    return rate.takeError();
  auto bytes = budget.bytes();
  if (!bytes)
    return bytes.takeError();
  const bool isWorker = split.hasServer && !isServer;
  const mlc::TrainingEntries entries{accumulate,
                                     !evaluationFile.empty() && !isWorker,
                                     keepHalf, split.hasServer, isWorker};
  const bool isSplit = isWorker || (!split.hasServer && split.ranks > 1);
  auto read = readTrainingModel(model, training, &optimizerFlags, batch,
                                entries, isSplit ? &split : nullptr);
  if (!read)
    return read.takeError();
  if (llvm::Error error = checkFiles(*read))
    return error;
  TrainingOptions told = options();
  if (llvm::Error error = told.readSamples(*read))
    return error;
  auto file = read->compilation->shareModelFile();
  read->compilation->limitMemory(*bytes);
  auto built = read->compilation->build();
  if (!built)
    return built.takeError();
  auto job = std::make_unique<Job>(
      Job{split, std::move(*read), std::move(*built), std::move(file), entries,
          *rate, std::move(told), isServer});
  job->options.distribution = split.describe();
  job->options.shared = split.all();
  for (const Weight *weight : job->read.trained())
    job->options.shared += weight->name + '\n';
  job->options.isPartlyCounted = split.usesOwn();
  return job;
}

/// What the ranks of this process do, none where there is one alone.
llvm::Expected<Jobs> TrainCommand::prepareAll(
    llvm::ArrayRef<std::shared_ptr<mlc::runtime::Ranks>> ranks) const {
  const int count = ranks.empty() ? 1 : ranks.front()->size();
  auto split = distribution.distribution(count);
  if (!split)
    return split.takeError();
  if (split->hasServer && keepHalf)
    return fail(Exit::Usage, "--keep-half is not taken beside "
                             "--algorithm=server, whose workers have no "
                             "masters; give colocated");
  Jobs jobs;
  for (bool isServer : {false, true}) {
    auto isMeant = [&](const std::shared_ptr<mlc::runtime::Ranks> &one) {
      return isServer == (split->hasServer && one->rank() == count - 1);
    };
    if (ranks.empty() ? isServer : llvm::none_of(ranks, isMeant))
      continue;
    auto job = prepare(*split, isServer);
    if (!job)
      return job.takeError();
    (isServer ? jobs.server : jobs.all) = std::move(*job);
  }
  return jobs;
}

/// All that one rank does.
llvm::Error TrainCommand::train(const Job &job, const TrainingRanks &ranks,
                                unsigned threadsOfRank, OneRank &own) const {
  // A server is alone with its states, and workers are among themselves.
  own.ranks = ranks;
  if (job.split.hasServer) {
    own.ranks =
        job.isServer
            ? TrainingRanks()
            : TrainingRanks(makeWorkerRanks(ranks.rank(), ranks.size() - 1));
    own.served.emplace(*ranks.get());
  }
  const bool tells = job.split.hasServer ? job.isServer : ranks.isFirst();
  auto made = Trainer::create(job.built, job.read, job.entries, own.ranks,
                              device.device, threadsOfRank);
  if (!made)
    return made.takeError();
  own.trainer.emplace(std::move(*made));
  Trainer &trainer = *own.trainer;
  TrainingLoop loop(trainer, job.read, job.options, ranks, tells);
  if (tells)
    printWeights(job.read);
  if (llvm::Error error = loop.open(job.rate))
    return error;
  const auto &report = job.read.compilation->getMemoryReport();
  if (report && tells)
    llvm::outs() << describe(*report, *budget.bytes()) << '\n';
  if (own.served) {
    if (llvm::Error error =
            own.served->run(trainer, loop, job.rate, job.split.staleness))
      return error;
    return finish(job, trainer, loop, own.served->bytesSent(), tells);
  }
  if (llvm::Error error = loop.run(job.rate))
    return error;
  return finish(job, trainer, loop, trainer.bytesSent(), tells);
}

/// What follows the last step.
llvm::Error TrainCommand::finish(const Job &job, Trainer &trainer,
                                 TrainingLoop &loop, uint64_t sent,
                                 bool tells) const {
  if (llvm::Error error = loop.printUse(sent))
    return error;
  if (budget.isGiven() && tells) {
    auto memory = trainer.memory();
    if (!memory)
      return memory.takeError();
    llvm::outs() << "memory: " << memory->arena << " bytes allocated\n";
  }
  // Workers have not all that is written.
  bool takesPart = tells || !job.split.hasServer;
  return output.empty() || !takesPart ? llvm::Error::success()
                                      : writeModel(job, trainer, tells);
}

/// As one of the ranks that are threads, or the one that this process is. The
/// first error is told, and ends the other ranks.
void TrainCommand::runRank(const Job &job,
                           const std::shared_ptr<mlc::runtime::Ranks> &ranks,
                           unsigned threadsOfRank, FirstError &failed) const {
  TrainingRanks group(ranks);
  OneRank own;
  llvm::Error error = train(job, group, threadsOfRank, own);
  if (error) {
    int code = failed.tell(std::move(error));
    if (own.served)
      own.served->abort(code);
    ranks->abort(code);
    return;
  }
  // Before the ranks that it is split from.
  own.served.reset();
  if (auto status = ranks->finish(); !status.ok())
    ranks->abort(failed.tell(statusFailure(status)));
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
  if (llvm::Error error = training.compileTo.check(budget))
    return error;
  if (training.compileTo.isGiven())
    return writePhase(model, training, optimizerFlags, batch,
                      {accumulate, !evaluationFile.empty(), keepHalf},
                      distribution);
  if (llvm::Error error = check())
    return error;
  transport::RunEngines engines;
  std::vector<std::shared_ptr<mlc::runtime::Ranks>> ranks;
  if (llvm::Error error = distribution.open(engines, device.device, ranks))
    return error;
  FirstError failed;
  auto jobs = prepareAll(ranks);
  if (!jobs && ranks.empty())
    return jobs.takeError();
  if (!jobs) {
    int code = failed.tell(jobs.takeError());
    forEachRank(ranks.size(), [&](size_t r) { ranks[r]->abort(code); });
    return reported(code);
  }
  if (ranks.empty()) {
    TrainingRanks alone;
    OneRank own;
    return train(*jobs->all, alone, threads, own);
  }
  unsigned each = threads;
  if (ranks.size() > 1 && !threads)
    each = std::max<unsigned>(1, std::thread::hardware_concurrency() /
                                     ranks.size());
  forEachRank(ranks.size(), [&](size_t r) {
    runRank(jobs->of(*ranks[r]), ranks[r], each, failed);
  });
  return reported(failed.code());
}

std::unique_ptr<Command> mlc::cli::makeTrainCommand() {
  return std::make_unique<TrainCommand>();
}
