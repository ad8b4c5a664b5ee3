//===- RunEngines.cpp - The engines of a command --------------------------===//

#include "runtime/transport/RunEngines.h"
#include "runtime/Engines.h"
#include "runtime/transport/World.h"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

namespace mlc::runtime::transport {

namespace {

volatile std::sig_atomic_t interrupted = 0;
void noteInterrupt(int) { interrupted = 1; }

/// Called on the watchdog's thread while another hangs.
void onHang(const std::string &text) {
  const std::string line =
      "mlc: error: " + text + "; see which rank hangs, and end it\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(MLC_RESOURCES);
}

RankOptions optionsOf(const RunOptions &options) {
  RankOptions result;
  result.communication.timeout = std::chrono::nanoseconds(
      static_cast<int64_t>(std::ceil(options.timeout * 1e9)));
  result.groups = options.groups;
  result.device = options.device;
  return result;
}

/// With ranks as threads there must be one process; several would each do all
/// the work and write the same files. Slurm's variables do not count, since a
/// job script runs as one process.
Status refuseProcesses() {
  World world;
  if (Status status = findWorld(world); !status.ok())
    return status;
  if (world.size <= 1 || (world.isSlurm() && !std::getenv("SLURM_STEP_ID")))
    return Status::success();
  return Status::error(
      MLC_USAGE, world.starter + " says that this is one of " +
                     std::to_string(world.size) +
                     " processes, and --ranks or --engine=inproc has all ranks "
                     "in one; leave them out, or start one process");
}

} // namespace

RunEngines::RunEngines() = default;
RunEngines::~RunEngines() = default;

Status RunEngines::open(const RunOptions &options, uint64_t needed,
                        std::vector<std::shared_ptr<Ranks>> &ranks) {
  if (Status status = checkGroups(options.groups); !status.ok())
    return status;
  if (options.engine == engines::ofThreads().name) {
    if (Status status = refuseProcesses(); !status.ok())
      return status;
    if (!options.ranks && !needed)
      return Status::error(MLC_USAGE,
                           "--engine=inproc has ranks that are threads of this "
                           "process; say how many with --ranks=N");
    return openThreads(options.ranks ? options.ranks : needed,
                       optionsOf(options), ranks);
  }
  if (options.ranks)
    return Status::error(MLC_USAGE, "--ranks is for --engine=inproc; a "
                                    "launcher says how many processes there "
                                    "are");
  World world;
  if (Status status = findWorld(world); !status.ok())
    return status;
  // A single rank, whatever started it.
  if (options.engine.empty() && (needed == 1 || !world.found()))
    return Status::success();
  RankOptions one = optionsOf(options);
  if (Status status = findEngine(options.engine, world, engineFolder(), one);
      !status.ok())
    return status;
  ::signal(SIGTERM, noteInterrupt);
  ::signal(SIGINT, noteInterrupt);
  one.communication.interrupted = &interrupted;
  watchdog = std::make_unique<Watchdog>(onHang);
  one.communication.watchdog = watchdog.get();
  ranks.emplace_back();
  return openRanks(one, ranks.back());
}

} // namespace mlc::runtime::transport
