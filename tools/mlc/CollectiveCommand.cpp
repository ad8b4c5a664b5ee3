//===- CollectiveCommand.cpp - mlc collective -----------------------------===//
//
// Runs a collective on ranks that are threads, or that a launcher has started,
// checks the result on all of them and counts the sent bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/CudaDevices.h"
#include "runtime/Devices.h"
#include "runtime/Engines.h"
#include "runtime/transport/Engine.h"
#include "runtime/transport/Reduce.h"
#include "runtime/transport/World.h"
#include "tools/mlc/CollectiveReport.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/ModelOptions.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <unistd.h>

using namespace mlc::cli;
using namespace mlc::runtime::transport;
using mlc::runtime::Status;
namespace engines = mlc::runtime::engines;
namespace cl = llvm::cl;

namespace {

class CollectiveCommand : public Command {
public:
  CollectiveCommand()
      : Command("collective", "Run a collective over several ranks, check the "
                              "result and count the bytes sent"),
        collectiveHelp("What ranks do: " + collectiveNames() +
                       "; those that reduce sum (all-reduce)"),
        collective("collective", cl::init("all-reduce"), cl::value_desc("name"),
                   cl::desc(collectiveHelp), cl::sub(sub)),
        algorithm("algorithm", cl::init("ring"), cl::value_desc("name"),
                  cl::desc("server, colocated, naive, ring, tree, butterfly, "
                           "halving-doubling, or own: the engine's (ring)"),
                  cl::sub(sub)),
        bytes("bytes", cl::init(1 << 20), cl::value_desc("number"),
              cl::desc("Size of the tensor on each rank (1048576)"),
              cl::sub(sub)),
        type("type", cl::init("f32"), cl::value_desc("type"),
             cl::desc("Of its elements: f32, f64, f16, bf16, i8 to i64, u8 to "
                      "u64 (f32)"),
             cl::sub(sub)),
        engine(sub, "as the launcher says, else inproc"),
        deviceHelp(
            "cuda, or cuda:N: elements are in the memory of this GPU (of "
            "cuda the one of the rank's number on this machine), for "
            "--engine=" +
            engines::namesForGpus() + " with --algorithm=own"),
        device("device", cl::value_desc("name"), cl::desc(deviceHelp),
               cl::sub(sub)),
        ranks(
            "ranks", cl::init(0), cl::value_desc("number"),
            cl::desc("How many, a separate server among them; for inproc (4)"),
            cl::sub(sub)),
        repeat("repeat", cl::init(1), cl::value_desc("number"),
               cl::desc("Do it that often, and print the fastest time (1)"),
               cl::sub(sub)),
        steps("steps", cl::init(0), cl::value_desc("number"),
              cl::desc("With --algorithm=server: so many clocks of a parameter "
                       "server, to which workers push gradients and from which "
                       "they pull weights. With --groups: so many random "
                       "collectives"),
              cl::sub(sub)),
        staleness("staleness", cl::init(0), cl::value_desc("number"),
                  cl::desc("Clocks that a worker may be ahead of the slowest "
                           "(0)"),
                  cl::sub(sub)),
        straggle("straggle", cl::init(0), cl::value_desc("milliseconds"),
                 cl::desc("Rank 0 sleeps so long in each clock (0)"),
                 cl::sub(sub)),
        groups("groups", cl::init(0), cl::value_desc("number"),
               cl::desc("Random collectives of all kinds on so many groups, "
                        "which each rank starts in an order of its own"),
               cl::sub(sub)),
        seed("seed", cl::init(0), cl::value_desc("number"),
             cl::desc("Of what is random (0)"), cl::sub(sub)),
        bandwidth("link-bandwidth", cl::init(0), cl::value_desc("bytes/s"),
                  cl::desc("Slow each rank's link down to this "
                           "(MLC_LINK_BANDWIDTH)"),
                  cl::sub(sub)),
        latency("link-latency", cl::init(0), cl::value_desc("seconds"),
                cl::desc("Delay each message so long (MLC_LINK_LATENCY)"),
                cl::sub(sub)),
        messageBytes("message-bytes", cl::init(1 << 20),
                     cl::value_desc("number"),
                     cl::desc("Longest message; larger transfers are several "
                              "(1048576)"),
                     cl::sub(sub)),
        timeout("timeout", cl::init(60), cl::value_desc("seconds"),
                cl::desc("Seconds without progress after which a missing rank "
                         "is named and all ranks end (60)"),
                cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {}

  llvm::Error run() override;

private:
  llvm::Error readOptions();
  llvm::Error checkMemory(int ranksHere);
  llvm::Error runThreads();
  llvm::Error runRank(const std::string &name, const World &world);
  llvm::Error readLimits();
  Status findGpu(const World &world);
  Status tryOut(Communicator &communicator);
  llvm::Error print(const std::string &engineName, int ranks);

  std::string collectiveHelp;
  cl::opt<std::string> collective, algorithm;
  cl::opt<int64_t> bytes;
  cl::opt<std::string> type;
  EngineOption engine;
  std::string deviceHelp;
  cl::opt<std::string> device;
  cl::opt<int> ranks, repeat;
  cl::opt<int64_t> steps, staleness;
  cl::opt<int> straggle, groups;
  cl::opt<uint64_t> seed;
  cl::opt<double> bandwidth, latency;
  cl::opt<int64_t> messageBytes;
  cl::opt<double> timeout;
  cl::opt<bool> asJson;

  TrialOptions trial;
  GroupTrialOptions groupTrial;
  TrialResult result; // of a trial without groups
  Communicator::Options communication;
};

volatile std::sig_atomic_t interrupted = 0;
extern "C" void onInterrupt(int) { interrupted = 1; }

/// Called on the watchdog's thread while another hangs.
void onHang(const std::string &text) {
  const std::string line =
      "mlc: error: " + text + "; see which rank hangs, and end it\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(static_cast<int>(Exit::Resources));
}

llvm::Error failure(const Status &status) {
  return fail(static_cast<Exit>(status.code), status.message);
}

/// Returns bool, which has no sum either, for an unknown name.
mlc_dtype typeNamed(llvm::StringRef name) {
  for (int i = 0; mlc_dtype_size(static_cast<mlc_dtype>(i)); ++i)
    if (name == mlc_dtype_name(static_cast<mlc_dtype>(i)))
      return static_cast<mlc_dtype>(i);
  return MLC_BOOL;
}

/// The plugins' folder, beside the libraries of this build or installation.
std::string pluginFolder() {
  std::string program = llvm::sys::fs::getMainExecutable(
      "mlc", reinterpret_cast<void *>(&onInterrupt));
  llvm::SmallString<256> folder(program);
  llvm::sys::path::remove_filename(folder);
  llvm::sys::path::append(folder, "..", "lib");
  return folder.str().str();
}

} // namespace

llvm::Error CollectiveCommand::readOptions() {
  if (!parseAlgorithm(algorithm.getValue(), trial.algorithm))
    return fail(Exit::Usage, "collective: no algorithm '" + algorithm +
                                 "'; there are " + algorithmNames());
  if (!parseCollective(collective.getValue(), trial.collective))
    return fail(Exit::Usage, "collective: no collective '" + collective +
                                 "'; there are " + collectiveNames());
  const bool isInOrder = trial.collective == Collective::ReduceScatter &&
                         trial.algorithm == Algorithm::Colocated;
  if (trial.collective != Collective::AllReduce && !isInOrder &&
      trial.algorithm != Algorithm::Own && trial.algorithm != Algorithm::Ring)
    return fail(Exit::Usage,
                "collective: --algorithm=" + algorithm +
                    " is one of sums; of --collective=" + collective +
                    " there are ring and own, of reduce-scatter "
                    "colocated too");
  trial.type = typeNamed(type);
  const auto size = static_cast<int64_t>(mlc_dtype_size(trial.type));
  if (!isSummable(trial.type))
    return fail(Exit::Usage, "collective: type '" + type +
                                 "' has no sum; give f32, f64, f16, bf16, i8 "
                                 "to i64 or u8 to u64");
  if (bytes < 0 || bytes % size)
    return fail(Exit::Usage, "collective: --bytes=" + llvm::Twine(bytes) +
                                 " is no number of elements of " + type +
                                 "; give a multiple of " + llvm::Twine(size));
  trial.elements = bytes / size;
  trial.repeat = repeat;
  trial.steps = groups ? 0 : steps;
  trial.staleness = staleness;
  trial.straggle = std::chrono::milliseconds(straggle);
  groupTrial = {groups, steps ? steps : 1000, trial.elements, seed};
  return readLimits();
}

/// Checks the bounds of numbers.
llvm::Error CollectiveCommand::readLimits() {
  if (repeat < 1)
    return fail(Exit::Usage, "collective: --repeat counts from 1");
  if (steps < 0 || staleness < 0 || straggle < 0 || groups < 0 || groups > 64)
    return fail(Exit::Usage, "collective: --steps, --staleness, --straggle and "
                             "--groups (up to 64) count from 0");
  if (trial.steps && (trial.algorithm != Algorithm::Server ||
                      trial.collective != Collective::AllReduce))
    return fail(Exit::Usage, "collective: --steps is of --algorithm=server, or "
                             "of --groups; leave it out, or give one of these");
  if (staleness && !trial.steps)
    return fail(Exit::Usage, "collective: --staleness is of --algorithm=server "
                             "with --steps; give both");
  // Elements count the clocks, so they must not overflow.
  if (trial.steps > 100 &&
      (mlc_dtype_size(trial.type) == 1 || trial.type == MLC_BF16))
    return fail(Exit::Usage, "collective: --steps=" + llvm::Twine(steps) +
                                 " is more than " + type +
                                 " counts; give up to 100, or another type");
  if (!(bandwidth >= 0 && latency >= 0 && latency < 1e6))
    return fail(Exit::Usage, "collective: --link-bandwidth and --link-latency "
                             "are numbers from 0 on");
  const engines::Row *named = engines::find(engine.getValue());
  if (!device.empty() && ((device != "cuda" && device.find("cuda:") != 0) ||
                          !mlc::runtime::isCudaName(device.c_str()) || !named ||
                          named->memory != engines::Gpu || groups ||
                          trial.algorithm != Algorithm::Own))
    return fail(
        Exit::Usage,
        "collective: --device=" + device +
            "; give cuda or cuda:N, with --engine=" + engines::namesForGpus() +
            " and --algorithm=own, as programs add in the host's memory");
  if (!(timeout > 0 && timeout <= 1e6))
    return fail(Exit::Usage,
                "collective: --timeout is a number of seconds, up to 1000000");
  if (messageBytes < 8 || messageBytes > 1 << 30)
    return fail(Exit::Usage,
                "collective: --message-bytes=" + llvm::Twine(messageBytes) +
                    " is not between 8 and 1073741824");
  communication.timeout =
      std::chrono::nanoseconds(static_cast<int64_t>(timeout * 1e9));
  communication.messageBytes = messageBytes;
  communication.link = {bandwidth, latency};
  return llvm::Error::success();
}

/// Refuses sizes beyond this machine's memory, which otherwise would end this
/// or another process.
llvm::Error CollectiveCommand::checkMemory(int ranksHere) {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  const double want = static_cast<double>(bytes) * ranksHere * 2;
  if (want <= memory)
    return llvm::Error::success();
  return fail(Exit::Resources,
              fmt::format("collective: {} ranks of {} bytes are more than the "
                          "memory; give fewer",
                          ranksHere, bytes.getValue()));
}

llvm::Error CollectiveCommand::runThreads() {
  const int count = ranks.getNumOccurrences() ? ranks : 4;
  if (count < 1 || count > 256)
    return fail(Exit::Usage, "collective: --ranks=" + llvm::Twine(count) +
                                 "; the engine inproc takes 1 to 256");
  if (llvm::Error error = checkMemory(count))
    return error;
  Status status = groups
                      ? onThreads(count, communication,
                                  [&](Communicator &one, int) {
                                    return runGroupTrial(one, groupTrial);
                                  })
                      : runTrialInProcess(count, communication, trial, result);
  return status.ok() ? print(engines::ofThreads().name, count)
                     : failure(status);
}

/// Runs the trial on this process's rank.
Status CollectiveCommand::tryOut(Communicator &communicator) {
  if (!groups)
    return trial.steps ? runServerTrial(communicator, trial, result)
                       : runTrial(communicator, trial, result);
  Status status = runGroupTrial(communicator, groupTrial);
  return status.ok() ? communicator.finish() : status;
}

llvm::Error CollectiveCommand::print(const std::string &engineName, int ranks) {
  const CollectiveReport report{engineName, bytes, asJson, trial, result};
  return groups ? report.printGroups(ranks, groupTrial) : report.print();
}

/// Each of several ranks on a machine gets its own GPU.
Status CollectiveCommand::findGpu(const World &world) {
  if (device.empty())
    return Status::success();
  communication.device =
      device == "cuda"
          ? std::max(world.localRank, 0)
          : static_cast<int>(std::strtol(device.c_str() + 5, nullptr, 10));
  return mlc::runtime::findDevice(
      ("cuda:" + std::to_string(communication.device)).c_str(), trial.device);
}

llvm::Error CollectiveCommand::runRank(const std::string &name,
                                       const World &world) {
  if (ranks && world.found() && ranks != world.size)
    return fail(Exit::Usage,
                fmt::format("collective: --ranks={}, but {} has started {}; "
                            "leave --ranks out",
                            ranks.getValue(), world.starter, world.size));
  if (llvm::Error error = checkMemory(1))
    return error;
  if (Status status = findGpu(world); !status.ok())
    return failure(status);
  const mlc_engine *table = nullptr;
  if (Status status = loadEngine(name, pluginFolder(), table); !status.ok())
    return failure(status);
  communication.interrupted = &interrupted;
  Watchdog watchdog(onHang);
  communication.watchdog = &watchdog;
  std::unique_ptr<Communicator> communicator;
  Status status = Communicator::open(*table, world.rank, world.size,
                                     communication, communicator);
  if (!status.ok())
    return failure(status);
  // From now on the rank reports an interrupt itself, with what it waits for.
  // During the join it just ends.
  ::signal(SIGTERM, onInterrupt);
  ::signal(SIGINT, onInterrupt);
  if (ranks && ranks != communicator->size())
    return fail(Exit::Usage,
                fmt::format("collective: --ranks={}, but there are {}; start "
                            "as many by mpirun -n",
                            ranks.getValue(), communicator->size()));
  status = tryOut(*communicator);
  if (!status.ok()) {
    // Report first, since abort() may end this process too.
    const int code = report(failure(status));
    communicator->abort(code);
    return reported(code);
  }
  if (communicator->rank() == 0)
    return print(table->name, communicator->size());
  return groups || result.ranks[communicator->rank()].right
             ? llvm::Error::success()
             : fail(Exit::Differs, "the result is wrong on this rank");
}

llvm::Error CollectiveCommand::run() {
  if (llvm::Error error = readOptions())
    return error;
  if (engine == engines::ofThreads().name)
    return runThreads();
  World world;
  if (Status status = findWorld(world); !status.ok())
    return failure(status);
  if (engine.empty() && !world.found())
    return runThreads();
  if (!engine.empty())
    return runRank(engine, world);
  // Use the launcher's engine: MPI treats a process not started by mpirun as a
  // single rank.
  return runRank(world.engine(), world);
}

std::unique_ptr<Command> mlc::cli::makeCollectiveCommand() {
  return std::make_unique<CollectiveCommand>();
}
