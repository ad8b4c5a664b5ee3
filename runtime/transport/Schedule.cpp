//===- Schedule.cpp - Who sends what to whom, and when --------------------===//

#include "runtime/transport/Schedule.h"

#include <algorithm>

namespace mlc::runtime::transport {

namespace {

/// Appends to a rank's program; both sides omit empty transfers.
class Builder {
public:
  Builder(const Request &request, int rank, Program &program)
      : request(request), ranks(request.ranks), rank(rank),
        elements(request.elements), program(program),
        begins(beginsOf(partsOf(request, rank))) {}

  void server();
  void colocated();
  void naive();
  void scatterInOrder();
  void reduceScatterRing();
  void allGatherRing();
  void reduceTree();
  void broadcastTree();
  void butterfly();
  void halvingDoubling();
  void allToAll();

private:
  void transfer(Transfer::Kind kind, int peer, Range range) {
    if (range.length)
      step.transfers.push_back({kind, peer, range});
  }
  void send(int peer, Range range) { transfer(Transfer::Send, peer, range); }
  void receive(int peer, Range range) {
    transfer(Transfer::Receive, peer, range);
  }
  void receiveAdd(int peer, Range range) {
    transfer(Transfer::ReceiveAdd, peer, range);
  }
  void local(LocalStep::Kind kind, Range to, Range from) {
    if (to.length)
      step.local.push_back({kind, to, from});
  }
  void endStep() {
    if (!step.transfers.empty() || !step.local.empty())
      program.steps.push_back(std::move(step));
    step = {};
  }
  Range all() const { return {Place::Data, 0, elements}; }
  Range part(int index) const {
    const int64_t begin = begins[index % ranks];
    return {Place::Data, begin, begins[index % ranks + 1] - begin};
  }
  Range scratch(int64_t offset, int64_t length) {
    program.scratch = std::max(program.scratch, offset + length);
    return {Place::Scratch, offset, length};
  }
  /// The scratch range of the `index`-th piece from other ranks.
  Range slot(int index, int64_t length) {
    return scratch(index * length, length);
  }
  void sumInOrder(Range own);
  void halve(int virtualRank, int powers);
  static std::vector<int64_t> beginsOf(const std::vector<int64_t> &parts) {
    std::vector<int64_t> begins{0};
    for (int64_t part : parts)
      begins.push_back(begins.back() + part);
    return begins;
  }

  const Request &request;
  int ranks, rank;
  int64_t elements;
  Program &program;
  std::vector<int64_t> begins; // begin of each part, and the end
  Step step;
};

} // namespace

/// Adds the others' pieces in scratch to `own`, in rank order. The sum begins
/// with rank 0's piece, wherever that is.
void Builder::sumInOrder(Range own) {
  if (rank == 0) {
    for (int other = 1; other < ranks; ++other)
      local(LocalStep::Add, own, slot(other - 1, own.length));
    return;
  }
  Range sum = slot(0, own.length);
  for (int other = 1; other < ranks; ++other) {
    // Slots hold the other ranks' pieces in order.
    Range next = other == rank
                     ? own
                     : slot(other < rank ? other : other - 1, own.length);
    local(LocalStep::Add, sum, next);
  }
  local(LocalStep::Copy, own, sum);
}

void Builder::server() {
  const int server = ranks - 1;
  if (rank != server) {
    send(server, all());
    endStep();
    receive(server, all());
    return endStep();
  }
  for (int worker = 0; worker < server; ++worker) {
    transfer(worker ? Transfer::ReceiveAdd : Transfer::Receive, worker, all());
    endStep();
  }
  for (int worker = 0; worker < server; ++worker)
    send(worker, all());
  endStep();
}

/// Each rank sums its part in rank order, whichever part it is.
void Builder::scatterInOrder() {
  Range own = part(rank);
  for (int other = 0, index = 0; other < ranks; ++other)
    if (other != rank) {
      send(other, part(other));
      receive(other, slot(index++, own.length));
    }
  sumInOrder(own);
  endStep();
}

void Builder::colocated() {
  scatterInOrder();
  Range own = part(rank);
  for (int other = 0; other < ranks; ++other)
    if (other != rank) {
      send(other, own);
      receive(other, part(other));
    }
  endStep();
}

void Builder::naive() {
  for (int other = 0, index = 0; other < ranks; ++other)
    if (other != rank) {
      send(other, all());
      receive(other, slot(index++, elements));
    }
  sumInOrder(all());
  endStep();
}

/// Part p travels from rank p + 1 around the ring to rank p, which gets its
/// sum.
void Builder::reduceScatterRing() {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  for (int s = 1; s < ranks; ++s) {
    send(next, part(rank + ranks - s));
    receiveAdd(last, part(rank + 2 * ranks - s - 1));
    endStep();
  }
}

void Builder::allGatherRing() {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  for (int s = 0; s < ranks - 1; ++s) {
    send(next, part(rank + ranks - s));
    receive(last, part(rank + ranks - s - 1));
    endStep();
  }
}

/// Rank r adds the sums of its children among r + 1, r + 2, r + 4, ..., and
/// sends the result to the rank r without its lowest set bit.
void Builder::reduceTree() {
  for (int64_t distance = 1; distance < ranks; distance *= 2) {
    if (rank & distance) {
      send(static_cast<int>(rank - distance), all());
      return endStep();
    }
    if (rank + distance < ranks)
      receiveAdd(static_cast<int>(rank + distance), all());
    endStep();
  }
}

/// Ranks are numbered relative to the root of the tree.
void Builder::broadcastTree() {
  const int root =
      request.collective == Collective::Broadcast ? request.root : 0;
  const int own = (rank + ranks - root) % ranks;
  auto actual = [&](int64_t v) { return static_cast<int>((v + root) % ranks); };
  int64_t distance = 1;
  while (distance < ranks && !(own & distance))
    distance *= 2;
  if (own)
    receive(actual(own - distance), all());
  endStep();
  for (distance /= 2; distance; distance /= 2) {
    if (own + distance < ranks)
      send(actual(own + distance), all());
    endStep();
  }
}

void Builder::butterfly() {
  for (int distance = 1; distance < ranks; distance *= 2) {
    Range other = scratch(0, elements);
    send(rank ^ distance, all());
    receive(rank ^ distance, other);
    local(LocalStep::Add, all(), other);
    endStep();
  }
}

/// Works among `powers` virtual ranks, a power of two. Each pair of the first 2
/// (ranks - powers) ranks forms one virtual rank: the even one.
void Builder::halve(int virtualRank, int powers) {
  const int folded = ranks - powers;
  auto actual = [&](int v) { return v < folded ? 2 * v : v + folded; };
  struct Half {
    int peer;
    Range kept, given;
  };
  std::vector<Half> halves;
  Range range = all();
  for (int distance = 1; distance < powers; distance *= 2) {
    const int64_t middle = range.length / 2;
    Range low{Place::Data, range.offset, middle};
    Range high{Place::Data, range.offset + middle, range.length - middle};
    const bool keepsHigh = virtualRank & distance;
    halves.push_back({actual(virtualRank ^ distance), keepsHigh ? high : low,
                      keepsHigh ? low : high});
    range = halves.back().kept;
  }
  for (const Half &half : halves) {
    send(half.peer, half.given);
    receiveAdd(half.peer, half.kept);
    endStep();
  }
  for (auto half = halves.rbegin(); half != halves.rend(); ++half) {
    send(half->peer, half->kept);
    receive(half->peer, half->given);
    endStep();
  }
}

void Builder::halvingDoubling() {
  int powers = 1;
  while (powers <= ranks / 2)
    powers *= 2;
  const int folded = ranks - powers;
  if (rank >= 2 * folded)
    return halve(rank - folded, powers);
  if (rank % 2) {
    send(rank - 1, all());
    endStep();
    receive(rank - 1, all());
    return endStep();
  }
  receiveAdd(rank + 1, all());
  endStep();
  halve(rank / 2, powers);
  send(rank + 1, all());
  endStep();
}

/// Received data has other places than sent data, so it waits in scratch until
/// everything is sent.
void Builder::allToAll() {
  const std::vector<int64_t> comes = beginsOf(receivedParts(request, rank));
  for (int other = 0; other < ranks; ++other) {
    const int64_t at = comes[other], length = comes[other + 1] - at;
    if (other == rank)
      continue;
    send(other, part(other));
    if (length)
      receive(other, scratch(at, length));
  }
  endStep();
  const Range kept{Place::Data, comes[rank], comes[rank + 1] - comes[rank]};
  if (kept.offset != part(rank).offset && kept.length) {
    const Range own = scratch(kept.offset, kept.length);
    local(LocalStep::Copy, own, part(rank));
    local(LocalStep::Copy, kept, own);
  }
  for (int other = 0; other < ranks; ++other) {
    const int64_t at = comes[other], length = comes[other + 1] - at;
    if (other != rank && length)
      local(LocalStep::Copy, {Place::Data, at, length}, scratch(at, length));
  }
  endStep();
}

static void build(Builder &builder, Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::Server:
    return builder.server();
  case Algorithm::Colocated:
    return builder.colocated();
  case Algorithm::Naive:
    return builder.naive();
  case Algorithm::Ring:
    builder.reduceScatterRing();
    return builder.allGatherRing();
  case Algorithm::Tree:
    builder.reduceTree();
    return builder.broadcastTree();
  case Algorithm::Butterfly:
    return builder.butterfly();
  case Algorithm::HalvingDoubling:
    return builder.halvingDoubling();
  case Algorithm::Own:
    return;
  }
}

Status makeProgram(const Request &request, int rank, Program &program) {
  if (Status status = checkRequest(request, rank); !status.ok())
    return status;
  if (request.algorithm == Algorithm::Own)
    return Status::error(MLC_USAGE, "the engine's own collectives have no "
                                    "program; take another algorithm");
  program = {};
  program.reduction = request.reduction;
  Builder builder(request, rank, program);
  switch (request.collective) {
  case Collective::AllReduce:
    build(builder, request.algorithm);
    break;
  case Collective::ReduceScatter:
    // In the same way as the all-reduce of that name.
    if (request.algorithm == Algorithm::Colocated ||
        request.algorithm == Algorithm::Naive)
      builder.scatterInOrder();
    else
      builder.reduceScatterRing();
    break;
  case Collective::AllGather:
    builder.allGatherRing();
    break;
  case Collective::Broadcast:
    builder.broadcastTree();
    break;
  case Collective::AllToAll:
    builder.allToAll();
    break;
  case Collective::Shift: // refused by checkRequest
    break;
  }
  return Status::success();
}

} // namespace mlc::runtime::transport
