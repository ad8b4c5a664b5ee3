//===- TrainCommand.cpp - mlc train ---------------------------------------===//

#include "runtime/Text.h"
#include "runtime/train/ServedTraining.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/StagedModel.h"
#include "tools/mlc/TrainFlags.h"
#include "tools/mlc/TrainReport.h"
#include "tools/mlc/TrainedModel.h"
#include "tools/mlc/TrainingFlags.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <mutex>
#include <optional>
#include <thread>

using namespace mlc::cli;
namespace transport = mlc::runtime::transport;
namespace train = mlc::runtime::train;
using mlc::Weight;
namespace cl = llvm::cl;

namespace {

/// The training of this process's ranks.
struct Job {
  mlc::runtime::Plan plan;
  TrainingModel read;
  Model built;
  std::shared_ptr<mlc::ModelFile> file;
  train::LoopOptions options;
  /// Whether this is the server's part.
  bool isServer = false;

  bool hasServer() const { return plan.training->hasServer; }
};

/// The jobs of a process: that of its ranks except a server, and that of a
/// server; null if it has none.
struct Jobs {
  std::unique_ptr<Job> all, server;

  const Job &of(const mlc::runtime::Ranks &ranks) const {
    return server && ranks.rank() == ranks.size() - 1 ? *server : *all;
  }
};

/// The first error of all ranks of a process; others follow from it.
class FirstError {
public:
  /// Prints it if it is the first; returns the exit code of the first.
  int tell(llvm::Error error) {
    std::lock_guard lock(mutex);
    if (exitCode) {
      llvm::consumeError(std::move(error));
      return exitCode;
    }
    // Flush now, since ranks end abruptly.
    llvm::outs().flush();
    exitCode = report(std::move(error));
    return exitCode;
  }
  int code() const { return exitCode; }

private:
  std::mutex mutex;
  int exitCode = 0;
};

/// A rank's objects. They outlive its error, since destroying them after a
/// failed collective ends all ranks.
struct OneRank {
  std::unique_ptr<train::Trainer> trainer;
  /// Set if there is a server.
  std::optional<train::ServedTraining> served;
};

class TrainCommand : public Command {
public:
  TrainCommand();
  llvm::Error run() override;

private:
  /// Whether the program must count correct labels.
  bool countsRight() const { return flags.metric == train::Metric::Accuracy; }
  llvm::Error writeArtifact() const;
  llvm::Error readSamples(const TrainingModel &read,
                          train::LoopOptions &options) const;
  llvm::Expected<std::unique_ptr<Job>>
  prepare(const mlc::runtime::Plan &plan, bool isServer,
          std::optional<int64_t> rank) const;
  llvm::Expected<Jobs>
  prepareAll(llvm::ArrayRef<std::shared_ptr<mlc::runtime::Ranks>> ranks) const;
  llvm::Error train(const Job &job, const train::Group &ranks,
                    unsigned threadsOfRank, OneRank &own) const;
  llvm::Error finish(const Job &job, const train::Trainer &trainer,
                     const train::Loop &loop, const train::Group &all,
                     uint64_t sent, bool tells) const;
  void runRank(const Job &job,
               const std::shared_ptr<mlc::runtime::Ranks> &ranks,
               unsigned threadsOfRank, FirstError &failed) const;
  llvm::Error writeModel(const Job &job, const train::Trainer &trainer,
                         bool tells) const;

  ModelOptions model;
  TrainingFlags training;
  OptimizerFlags optimizerFlags;
  DeviceOption device;
  DistributionFlags distribution;
  TrainFlags flags;
};

} // namespace

TrainCommand::TrainCommand()
    : Command("train", "Train a model's weights on samples"),
      model(sub, "<model.onnx>"), training(sub), optimizerFlags(sub),
      device(sub), distribution(sub), flags(sub) {
  // Not taken here: --train names what changes.
  model.parameters.setHiddenFlag(cl::Hidden);
}

llvm::Error TrainCommand::writeModel(const Job &job,
                                     const train::Trainer &trainer,
                                     bool tells) const {
  train::Checkpoint now;
  if (auto status = trainer.checkpoint(now); !status.ok())
    return statusFailure(status);
  return tells
             ? writeTrained(job.read, *job.file, now, model.model, flags.output)
             : llvm::Error::success();
}

/// Writes the training program for users who run it themselves.
llvm::Error TrainCommand::writeArtifact() const {
  auto plan = distribution.givenPlan();
  if (!plan)
    return plan.takeError();
  if (plan->training->hasServer)
    return fail(Exit::Usage, "--algorithm=server has another program for "
                             "its workers, and an artifact holds one; give "
                             "colocated");
  auto job = prepare(*plan, /*isServer=*/false, /*rank=*/std::nullopt);
  if (!job)
    return job.takeError();
  return writeOutput(flags.artifact, [&](llvm::raw_ostream &os) {
    os << (*job)->built.getBytes();
    return llvm::Error::success();
  });
}

/// Reads samples before long work. Fails if reading does, and for labels that
/// are not classes.
llvm::Error TrainCommand::readSamples(const TrainingModel &read,
                                      train::LoopOptions &options) const {
  constexpr auto spelling = train::Spelling::Flags;
  const bool isArtifact = !flags.artifact.empty();
  // The trainer of an artifact names a batch that is open.
  if (!isArtifact || read.training.batch > 0)
    if (auto status = train::checkBatch(read.training, spelling); !status.ok())
      return fail(Exit::Usage, model.model + ": " + status.message);
  if (isArtifact)
    return llvm::Error::success();
  auto one = [&](const std::string &file,
                 std::shared_ptr<const train::Samples> &samples) {
    auto found = std::make_shared<train::Samples>();
    auto status = train::Samples::read(file, read.training, spelling, *found);
    samples = std::move(found);
    return statusFailure(status);
  };
  if (llvm::Error error = one(flags.dataFile, options.samples))
    return error;
  return flags.evaluationFile.empty()
             ? llvm::Error::success()
             : one(flags.evaluationFile, options.heldOut);
}

/// Reads and compiles; all ranks but a server get the same, except that code is
/// only made for the stages of `rank` if that is given.
llvm::Expected<std::unique_ptr<Job>>
TrainCommand::prepare(const mlc::runtime::Plan &plan, bool isServer,
                      std::optional<int64_t> rank) const {
  auto rate = optimizerFlags.learningRate(flags.steps);
  if (!rate)
    return rate.takeError();
  const mlc::runtime::TrainingPlan &split = *plan.training;
  const bool isWorker = split.hasServer && !isServer;
  const bool evaluates =
      !flags.evaluationFile.empty() || !flags.artifact.empty();
  const mlc::TrainingEntries entries{split.accumulate,
                                     evaluates && !isWorker,
                                     flags.keepHalf,
                                     split.hasServer || split.isStaged(),
                                     isWorker,
                                     countsRight() && !isWorker,
                                     split.countUpdates() > 1};
  const bool isSplit =
      isWorker || split.isStaged() || (!split.hasServer && split.isSplit());
  auto read = readTrainingModel(model, training, &optimizerFlags, flags.batch,
                                entries, isSplit ? &plan : nullptr);
  if (!read)
    return read.takeError();
  if (auto status = plan.origin.checkModel(model.model, read->training.model);
      !status.ok())
    return statusFailure(status);
  if (llvm::Error error = flags.checkFiles(read->compilation->getInputFiles()))
    return error;
  // The server must agree with its workers.
  read->training.distribution = plan.checkpointText();
  read->compilation->describeTraining(read->training);
  train::LoopOptions options;
  options.evaluation = flags.evaluationFile;
  options.checkpoint = flags.checkpoint;
  options.resume = flags.resume;
  options.rate = *rate;
  options.steps = flags.steps;
  options.checkpointEvery = flags.checkpointEvery;
  options.evaluateEvery = flags.evaluateEvery;
  options.metric = flags.metric;
  options.best = flags.best;
  options.seed = flags.seed;
  options.shared = plan.text();
  for (const Weight *weight : read->trained())
    options.shared += weight->name + '\n';
  if (llvm::Error error = readSamples(*read, options))
    return error;
  auto file = read->compilation->shareModelFile();
  read->compilation->limitMemory(plan.memory);
  if (rank && split.isStaged())
    read->compilation->limitEntries(entriesOfRank(split, *rank));
  auto built = read->compilation->build();
  if (!built)
    return built.takeError();
  return std::make_unique<Job>(Job{plan, std::move(*read), std::move(*built),
                                   std::move(file), std::move(options),
                                   isServer});
}

/// Prepares the jobs of this process's ranks; `ranks` is empty for a single
/// one.
llvm::Expected<Jobs> TrainCommand::prepareAll(
    llvm::ArrayRef<std::shared_ptr<mlc::runtime::Ranks>> ranks) const {
  const int count = ranks.empty() ? 1 : ranks.front()->size();
  auto plan = distribution.plan(count);
  if (!plan)
    return plan.takeError();
  const bool hasServer = plan->training->hasServer;
  if (hasServer && flags.keepHalf)
    return fail(Exit::Usage, "--keep-half is not taken beside "
                             "--algorithm=server, whose workers have no "
                             "masters; give colocated");
  Jobs jobs;
  for (bool isServer : {false, true}) {
    auto isMeant = [&](const std::shared_ptr<mlc::runtime::Ranks> &one) {
      return isServer == (hasServer && one->rank() == count - 1);
    };
    if (ranks.empty() ? isServer : llvm::none_of(ranks, isMeant))
      continue;
    std::optional<int64_t> rank;
    if (ranks.size() == 1 && count > 1)
      rank = ranks.front()->rank();
    auto job = prepare(*plan, isServer, rank);
    if (!job)
      return job.takeError();
    (isServer ? jobs.server : jobs.all) = std::move(*job);
  }
  return jobs;
}

/// Runs one rank.
llvm::Error TrainCommand::train(const Job &job, const train::Group &ranks,
                                unsigned threadsOfRank, OneRank &own) const {
  // The server trains as a single rank, and the workers as a group without it.
  train::TrainerOptions how{model.model, device.device, threadsOfRank, ranks};
  if (job.hasServer()) {
    how.group = job.isServer ? train::Group()
                             : train::Group(train::makeWorkerRanks(
                                   ranks.rank(), ranks.size() - 1));
    own.served.emplace(*ranks.get());
  }
  const bool tells = job.hasServer() ? job.isServer : ranks.isFirst();
  auto status = train::Trainer::create(job.built.get(), how, own.trainer);
  if (!status.ok())
    return statusFailure(status);
  train::Trainer &trainer = *own.trainer;
  TrainReport report(flags.steps, flags.printEvery);
  std::optional<train::TrainingLog> log;
  train::LoopObservers observers;
  observers.add(report);
  auto place = flags.logPlace();
  if (!place)
    return place.takeError();
  if (*place)
    observers.add(log.emplace(std::move(**place)));
  train::Loop loop(trainer, job.options, ranks, tells ? &observers : nullptr);
  if (tells)
    printWeights(job.read, model.model);
  if (status = loop.open(); !status.ok())
    return statusFailure(status);
  const auto &memory = job.read.compilation->getMemoryReport();
  if (memory && tells)
    llvm::outs() << describe(*memory, job.plan.memory) << '\n';
  status = own.served
               ? own.served->run(trainer, loop, job.plan.training->staleness)
               : loop.run();
  if (!status.ok())
    return statusFailure(status);
  if (own.served && own.served->isServer())
    llvm::outs() << "staleness: at most " << own.served->lead() << " steps\n";
  return finish(job, trainer, loop, ranks,
                own.served ? own.served->bytesSent() : trainer.bytesSent(),
                tells);
}

/// Runs after the last step.
llvm::Error TrainCommand::finish(const Job &job, const train::Trainer &trainer,
                                 const train::Loop &loop,
                                 const train::Group &all, uint64_t sent,
                                 bool tells) const {
  if (llvm::Error error =
          printUse(trainer, loop, all, sent, job.plan.usesOwn(), tells))
    return error;
  if (job.plan.memory && tells) {
    train::TrainingMemory memory;
    if (auto status = trainer.memory(memory); !status.ok())
      return statusFailure(status);
    llvm::outs() << "memory: " << memory.arena << " bytes allocated\n";
  }
  // Workers do not have all the data to write.
  bool takesPart = tells || !job.hasServer();
  return flags.output.empty() || !takesPart ? llvm::Error::success()
                                            : writeModel(job, trainer, tells);
}

/// Runs a rank of a thread or of this process. Reports the first error, which
/// ends the other ranks.
void TrainCommand::runRank(const Job &job,
                           const std::shared_ptr<mlc::runtime::Ranks> &ranks,
                           unsigned threadsOfRank, FirstError &failed) const {
  train::Group group(ranks);
  OneRank own;
  llvm::Error error = train(job, group, threadsOfRank, own);
  if (error) {
    int code = failed.tell(std::move(error));
    if (own.served)
      own.served->abort(code);
    ranks->abort(code);
    return;
  }
  // Destroyed before the ranks that it was split from.
  own.served.reset();
  if (auto status = ranks->finish(); !status.ok())
    ranks->abort(failed.tell(statusFailure(status)));
}

/// Runs all ranks concurrently, since they wait for each other.
static void forEachRank(size_t count, llvm::function_ref<void(size_t)> work) {
  std::vector<std::thread> others;
  for (size_t r = 1; r < count; ++r)
    others.emplace_back([&, r] { work(r); });
  work(0);
  for (std::thread &other : others)
    other.join();
}

llvm::Error TrainCommand::run() {
  if (llvm::Error error = training.compileTo.check(distribution.getBudget()))
    return error;
  if (distribution.prints())
    return distribution.printPlan();
  if (training.compileTo.isGiven())
    return writePhase(
        model, training, optimizerFlags, flags.batch,
        {/*accumulate=*/1, !flags.evaluationFile.empty(), flags.keepHalf,
         /*isApart=*/false, /*computesAlone=*/false, countsRight()},
        distribution, flags.output);
  if (llvm::Error error = flags.check())
    return error;
  if (flags.metric != train::Metric::None &&
      training.lossOptions().kind != mlc::LossKind::CrossEntropy)
    return fail(Exit::Usage, "--metric is of classes; give "
                             "--loss=cross-entropy, or leave it out");
  if (!flags.artifact.empty())
    return writeArtifact();
  if (flags.exports) {
    if (llvm::Error error = flags.checkFiles({model.model}))
      return error;
    return exportWeights(model.model, flags.checkpoint, flags.output);
  }
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
    train::Group alone;
    OneRank own;
    return train(*jobs->all, alone, flags.threads, own);
  }
  unsigned each = flags.threads;
  if (ranks.size() > 1 && !flags.threads)
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
