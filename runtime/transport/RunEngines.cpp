//===- RunEngines.cpp - The engines of a command --------------------------===//

#include "runtime/transport/RunEngines.h"
#include "runtime/transport/World.h"

#include <cmath>
#include <csignal>
#include <dlfcn.h>
#include <unistd.h>

namespace mlc::runtime::transport {

namespace {

volatile std::sig_atomic_t interrupted = 0;
void noteInterrupt(int) { interrupted = 1; }

/// On the watchdog's thread, while another one hangs.
void onHang(const std::string &text) {
  const std::string line =
      "mlc: error: " + text + "; see which rank hangs, and end it\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(MLC_RESOURCES);
}

Communicator::Options optionsOf(const RunOptions &options) {
  Communicator::Options result;
  result.timeout = std::chrono::nanoseconds(
      static_cast<int64_t>(std::ceil(options.timeout * 1e9)));
  return result;
}

} // namespace

std::string engineFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&engineFolder), &info) ||
      !info.dli_fname)
    return "";
  std::string folder = info.dli_fname;
  size_t slash = folder.rfind('/');
  // A program found by PATH has no slash in its name.
  if (slash == std::string::npos) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    folder = length > 0 ? std::string(path, length) : "./";
    slash = folder.rfind('/');
  }
  folder.resize(slash);
  const std::string beside = folder + "/../lib";
  return access(beside.c_str(), R_OK) == 0 ? beside : folder;
}

RunEngines::RunEngines() = default;
RunEngines::~RunEngines() = default;

Status RunEngines::openThreads(const RunOptions &options, uint64_t needed,
                               std::vector<std::shared_ptr<Ranks>> &ranks) {
  const uint64_t count = options.ranks ? options.ranks : needed;
  if (count > 256)
    return Status::error(MLC_USAGE, std::to_string(count) +
                                        " ranks; the engine inproc takes 1 to "
                                        "256");
  hub = std::make_unique<InprocHub>(static_cast<int>(count));
  for (uint64_t rank = 0; rank < count; ++rank) {
    RankOptions one;
    one.engine = &inprocEngine();
    one.rank = static_cast<int>(rank);
    one.size = static_cast<int>(count);
    one.communication = optionsOf(options);
    one.hub = hub.get();
    ranks.emplace_back();
    if (Status status = openRanks(one, ranks.back()); !status.ok())
      return status;
  }
  return Status::success();
}

Status RunEngines::open(const RunOptions &options, uint64_t needed,
                        std::vector<std::shared_ptr<Ranks>> &ranks) {
  if (options.engine == "inproc")
    return openThreads(options, needed, ranks);
  if (options.ranks)
    return Status::error(MLC_USAGE, "--ranks is for --engine=inproc; a "
                                    "launcher says how many processes there "
                                    "are");
  World world;
  if (Status status = findWorld(world); !status.ok())
    return status;
  // Alone, whatever started it.
  if (options.engine.empty() && (needed == 1 || !world.found()))
    return Status::success();
  RankOptions one;
  const std::string name = !options.engine.empty()         ? options.engine
                           : world.launcher == "torchrun" ? "gloo"
                                                          : "mpi";
  if (Status status = loadEngine(name, engineFolder(), one.engine);
      !status.ok())
    return status;
  ::signal(SIGTERM, noteInterrupt);
  ::signal(SIGINT, noteInterrupt);
  one.communication = optionsOf(options);
  one.communication.interrupted = &interrupted;
  watchdog = std::make_unique<Watchdog>(onHang);
  one.communication.watchdog = watchdog.get();
  one.rank = world.rank;
  one.size = world.size;
  ranks.emplace_back();
  return openRanks(one, ranks.back());
}

} // namespace mlc::runtime::transport
