//===- GroupTrial.cpp - Random collectives of several groups --------------===//

#include "runtime/transport/GroupTrial.h"
#include "runtime/transport/Progress.h"
#include "runtime/transport/Sample.h"

#include <algorithm>
#include <random>

namespace mlc::runtime::transport {

namespace {

/// Ranks agree on the groups of a round, but not on the order among groups. A
/// rank waits for a collective of a round only after it has started the whole
/// round; otherwise ranks might wait for collectives that others have not
/// started.
constexpr int64_t roundSize = 8;

using Random = std::mt19937_64;

/// `count` numbers whose sum is `total`.
std::vector<int64_t> randomParts(Random &random, int64_t total, int count) {
  std::vector<int64_t> cuts{0, total};
  cuts.reserve(count + 1);
  for (int i = 1; i < count; ++i)
    cuts.push_back(static_cast<int64_t>(random() % (total + 1)));
  std::sort(cuts.begin(), cuts.end());
  std::vector<int64_t> parts(count);
  for (int i = 0; i < count; ++i)
    parts[i] = cuts[i + 1] - cuts[i];
  return parts;
}

/// The same on all ranks of a group, since it depends on `random` alone.
Request randomRequest(Random &random, int ranks, int64_t most) {
  Request request;
  request.collective = static_cast<Collective>(random() % 5);
  request.ranks = ranks;
  request.elements = static_cast<int64_t>(random() % (most + 1));
  request.root = static_cast<int>(random() % ranks);
  request.reduction = static_cast<mlc_reduction>(random() % 3); // no products
  do
    request.algorithm = static_cast<Algorithm>(
        random() % (static_cast<int>(Algorithm::Own) + 1));
  while ((request.algorithm == Algorithm::Server && ranks < 2) ||
         (request.algorithm == Algorithm::Butterfly && (ranks & (ranks - 1))));
  const bool uneven = random() % 2;
  if (request.collective == Collective::AllToAll) {
    request.elements -= request.elements % ranks;
    for (int from = 0; from < ranks && uneven; ++from) {
      // Keeps the sums of rows and columns within the elements.
      const std::vector<int64_t> row =
          randomParts(random, request.elements / ranks, ranks);
      request.parts.insert(request.parts.end(), row.begin(), row.end());
    }
  } else if (uneven && (request.collective == Collective::ReduceScatter ||
                        request.collective == Collective::AllGather)) {
    request.parts = randomParts(random, request.elements, ranks);
  }
  return request;
}

struct Open {
  int64_t round;
  size_t group;
  Progress::Ticket ticket;
  Request request;
  mlc_dtype type;
  std::unique_ptr<char[]> data;
};

class Trial {
public:
  Trial(Communicator &world, const GroupTrialOptions &options)
      : world(world), options(options), shared(options.seed),
        own(options.seed * 1000 + world.rank()) {}
  Status run();

private:
  Status split();
  void start(size_t group, int64_t round);
  Status endOne(int64_t round);

  Communicator &world;
  const GroupTrialOptions &options;
  Random shared, own; // common to all ranks; this rank's own
  std::vector<std::unique_ptr<Communicator>> groups;
  std::vector<Random> randoms; // of each group's collectives
  std::vector<Open> open;
  Progress progress;
};

} // namespace

Status Trial::split() {
  for (int group = 0; group < options.groups; ++group) {
    const int kind = group % 3, rank = world.rank();
    const int color = kind == 0   ? 0
                      : kind == 1 ? rank % 2
                                  : rank / ((world.size() + 1) / 2);
    groups.emplace_back();
    if (Status status =
            world.split(color, std::to_string(group), groups.back());
        !status.ok())
      return status;
    randoms.emplace_back(options.seed * 7919 + group * 31 + color);
  }
  return Status::success();
}

void Trial::start(size_t group, int64_t round) {
  static const mlc_dtype types[] = {MLC_F32, MLC_I32, MLC_F64, MLC_U8};
  Communicator &communicator = *groups[group];
  Open one;
  one.round = round;
  one.group = group;
  one.request =
      randomRequest(randoms[group], communicator.size(), options.elements);
  one.type = types[randoms[group]() % std::size(types)];
  one.data = std::make_unique<char[]>(
      one.request.elements * mlc_dtype_size(one.type) + 1);
  fillSample(one.request, one.type, communicator.rank(), one.data.get());
  one.ticket =
      progress.start(communicator, one.request, one.type, one.data.get());
  open.push_back(std::move(one));
}

/// Waits for a random one up to the round, not always the first of its group.
Status Trial::endOne(int64_t round) {
  size_t which = own() % open.size();
  while (open[which].round > round)
    which = (which + 1) % open.size();
  if (Status status = progress.wait(open[which].ticket); !status.ok())
    return status;
  const Open one = std::move(open[which]);
  open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
  const int rank = groups[one.group]->rank();
  return isRight(one.request, one.type, rank, one.data.get())
             ? Status::success()
             : Status::error(MLC_INTERNAL,
                             "rank " + std::to_string(world.rank()) +
                                 ", group " + std::to_string(one.group) + ": " +
                                 describe(one.request, one.type) +
                                 ": the result is wrong");
}

Status Trial::run() {
  Status status = split();
  const int64_t rounds = (options.steps + roundSize - 1) / roundSize;
  for (int64_t round = 0; round < rounds && status.ok(); ++round) {
    std::vector<size_t> order(roundSize);
    for (size_t &group : order)
      group = shared() % groups.size();
    std::shuffle(order.begin(), order.end(), own);
    for (size_t group : order)
      start(group, round);
    // Leave some of this round for the next one.
    const size_t kept = round + 1 < rounds ? own() % roundSize : 0;
    while (status.ok() && open.size() > kept)
      status = endOne(round);
  }
  for (Open &one : open)
    one.data.release(); // the engine owns it until all ranks have ended
  return status;
}

Status runGroupTrial(Communicator &world, const GroupTrialOptions &options) {
  return Trial(world, options).run();
}

} // namespace mlc::runtime::transport
