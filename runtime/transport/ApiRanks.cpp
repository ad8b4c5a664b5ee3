//===- ApiRanks.cpp - The C ABI of ranks ----------------------------------===//

#include "runtime/ApiCall.h"
#include "runtime/mlc_ranks.h"
#include "runtime/transport/RankThread.h"

#include <cmath>
#include <cstddef>

using namespace mlc::runtime;
using namespace mlc::runtime::api;
using namespace mlc::runtime::transport;

static Status readOptions(const mlc_ranks_options *given,
                          mlc_ranks_options &options, RankOptions &ranks) {
  options = MLC_RANKS_OPTIONS_INIT;
  if (given) {
    if (given->size != sizeof(options))
      return Status::error(MLC_USAGE, "the options' size is " +
                                          std::to_string(given->size) +
                                          "; begin with "
                                          "MLC_RANKS_OPTIONS_INIT");
    options = *given;
  }
  if (!(options.timeout > 0 && options.timeout <= 1e6))
    return Status::error(MLC_USAGE, "the timeout of ranks is a number of "
                                    "seconds, up to 1000000");
  ranks.communication.timeout = std::chrono::nanoseconds(
      static_cast<int64_t>(std::ceil(options.timeout * 1e9)));
  Status status = checkGroups(options.groups);
  if (status.ok())
    ranks.groups = static_cast<unsigned>(options.groups);
  return status;
}

/// Whether a parent process opened the ranks: their thread does not survive a
/// fork.
static bool isOfParent(const mlc_ranks *ranks) {
  return ranks->process != currentProcess();
}

static mlc_status ofParentsRanks() {
  return report(MLC_USAGE, "the ranks were opened before this process was "
                           "forked; open them here");
}

mlc_status mlc_ranks_open(const char *engine, const mlc_ranks_options *options,
                          mlc_ranks **ranks) {
  if (!ranks)
    return nullArgument();
  return guarded([&] {
    mlc_ranks_options known;
    RankOptions rankOptions;
    World world;
    Status status = readOptions(options, known, rankOptions);
    if (status.ok() && known.device)
      rankOptions.device = known.device;
    if (status.ok())
      status = findWorld(world);
    if (status.ok())
      status =
          findEngine(engine ? engine : "", world,
                     known.folder ? known.folder : engineFolder(), rankOptions);
    std::shared_ptr<Ranks> opened;
    if (status.ok())
      status = openRanks(rankOptions, opened);
    if (status.ok())
      *ranks = new mlc_ranks{std::move(opened), currentProcess()};
    return status;
  });
}

mlc_status mlc_ranks_open_threads(size_t count,
                                  const mlc_ranks_options *options,
                                  mlc_ranks **ranks) {
  if (!ranks)
    return nullArgument();
  return guarded([&] {
    mlc_ranks_options known;
    RankOptions rankOptions;
    std::vector<std::shared_ptr<Ranks>> all;
    Status status = readOptions(options, known, rankOptions);
    if (status.ok())
      status = openThreads(count, rankOptions, all);
    if (!status.ok())
      return status;
    std::vector<std::unique_ptr<mlc_ranks>> made;
    for (std::shared_ptr<Ranks> &one : all)
      made.emplace_back(new mlc_ranks{std::move(one), currentProcess()});
    for (size_t i = 0; i < count; ++i)
      ranks[i] = made[i].release();
    return status;
  });
}

void mlc_ranks_close(mlc_ranks *ranks) {
  if (ranks && !isOfParent(ranks))
    delete ranks;
}

size_t mlc_ranks_rank(const mlc_ranks *ranks) {
  return ranks ? ranks->impl->rank() : 0;
}

size_t mlc_ranks_count(const mlc_ranks *ranks) {
  return ranks ? ranks->impl->size() : 0;
}

mlc_status mlc_ranks_finish(mlc_ranks *ranks) {
  if (!ranks)
    return nullArgument();
  if (isOfParent(ranks))
    return ofParentsRanks();
  return guarded([&] { return ranks->impl->finish(); });
}

void mlc_ranks_abort(mlc_ranks *ranks, int code) {
  if (ranks && !isOfParent(ranks))
    ranks->impl->abort(code);
}
