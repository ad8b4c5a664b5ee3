//===- Exchange.cpp - A program's collectives as sends and receives -------===//

#include "runtime/transport/Exchange.h"
#include "runtime/Text.h"
#include "runtime/transport/Reduce.h"

#include <algorithm>

namespace mlc::runtime::transport {

std::vector<int> groupOf(const std::vector<MeshAxis> &mesh, uint32_t axis,
                         int rank) {
  int stride = 1;
  for (size_t a = mesh.size(); a-- > axis + 1;)
    stride *= static_cast<int>(mesh[a].size);
  const auto size = static_cast<int>(mesh[axis].size);
  const int first = rank - rank / stride % size * stride;
  std::vector<int> group(size);
  for (int r = 0; r < size; ++r)
    group[r] = first + r * stride;
  return group;
}

namespace {

class Maker {
public:
  Maker(const std::vector<MeshAxis> &mesh, const CollectiveCall &call, int rank)
      : mesh(mesh), call(call), group(groupOf(mesh, call.axis, rank)),
        ranks(static_cast<int>(group.size())),
        rank(static_cast<int>(
            std::find(group.begin(), group.end(), rank) - group.begin())) {}

  Status make(const CollectiveCall::Message &message, Exchange &exchange);

private:
  using Message = CollectiveCall::Message;

  Status allReduce(const Message &message, Exchange &exchange);
  Status inParts(const Message &message, Exchange &exchange);
  Status broadcast(const Message &message, Exchange &exchange);
  Status allToAll(const Message &message, Exchange &exchange);
  Status shift(const Message &message, Exchange &exchange);
  Status checkSummable() const;
  std::string nameOf(const Message &message) const;
  int64_t part(int64_t things, int which) const {
    return partRange(things, ranks, which).size();
  }

  const std::vector<MeshAxis> &mesh;
  const CollectiveCall &call;
  std::vector<int> group;
  int ranks, rank; ///< of the group
};

/// Every element of the program becomes `unit` of them.
void scale(Program &program, int64_t unit) {
  auto range = [&](Range &r) {
    r.offset *= unit;
    r.length *= unit;
  };
  program.scratch *= unit;
  for (Step &step : program.steps) {
    for (Transfer &transfer : step.transfers)
      range(transfer.range);
    for (LocalStep &local : step.local) {
      range(local.to);
      range(local.from);
    }
  }
}

template <typename Fn> void renamePeers(Program &program, Fn name) {
  for (Step &step : program.steps)
    for (Transfer &transfer : step.transfers)
      transfer.peer = name(transfer.peer);
}

} // namespace

Status Maker::checkSummable() const {
  const auto type = static_cast<mlc_dtype>(call.type);
  if (!isSummable(type))
    return Status::error(MLC_UNSUPPORTED,
                         std::string("elements of type ") +
                             mlc_dtype_name(type) +
                             " have no sum; take another type");
  if (call.reduction != ReductionKind::Sum)
    return Status::error(MLC_UNSUPPORTED,
                         "ranks add, but know no other reduction yet; take "
                         "a sum");
  return Status::success();
}

/// Groups beside each other may have tensors of other sizes.
std::string Maker::nameOf(const Message &message) const {
  std::string name =
      std::string(collectiveNames[static_cast<int>(call.kind)]) + " over " +
      printable(mesh[call.axis].name);
  if (countRanks(mesh) == static_cast<uint64_t>(ranks))
    name += " of " +
            std::to_string(message.extent * message.join * message.unit);
  return name + " " + mlc_dtype_name(static_cast<mlc_dtype>(call.type));
}

Status Maker::allReduce(const Message &message, Exchange &exchange) {
  if (Status status = checkSummable(); !status.ok())
    return status;
  const bool isWorld = countRanks(mesh) == static_cast<uint64_t>(ranks);
  const bool isHalf = call.type == DType::F16 || call.type == DType::BF16;
  exchange.inputElements = exchange.outputElements = message.extent;
  // Where nothing is asked for, what every engine can do.
  exchange.isOwn = call.algorithm == "own" ||
                   (call.algorithm.empty() && isWorld && !isHalf);
  if (exchange.isOwn && !isWorld)
    return Status::error(MLC_UNSUPPORTED,
                         "the engine's own all-reduce is among all ranks, and "
                         "the axis '" +
                             mesh[call.axis].name +
                             "' has some of them; take the algorithm ring");
  if (exchange.isOwn)
    return Status::success();
  Request request{Collective::AllReduce, Algorithm::Ring, ranks,
                  message.extent};
  if (!call.algorithm.empty() &&
      (!parseAlgorithm(call.algorithm, request.algorithm) ||
       request.algorithm == Algorithm::Server))
    return Status::error(MLC_USAGE, "no algorithm '" + call.algorithm +
                                        "' sums what all ranks have; there "
                                        "are own, ring and others that `mlc "
                                        "collective --help` lists");
  return makeProgram(request, rank, exchange.program);
}

/// Reduce-scatter, which consumes its input, and all-gather.
Status Maker::inParts(const Message &message, Exchange &exchange) {
  const bool reduces = call.kind == CollectiveKind::ReduceScatter;
  if (reduces)
    if (Status status = checkSummable(); !status.ok())
      return status;
  const PartRange own = partRange(message.extent, ranks, rank);
  exchange.memory = reduces ? Exchange::Input : Exchange::Output;
  const int64_t whole = message.extent * message.unit;
  const int64_t begin = own.begin * message.unit;
  const int64_t size = own.size() * message.unit;
  exchange.inputTo = reduces ? 0 : begin;
  exchange.inputElements = reduces ? whole : size;
  exchange.outputFrom = reduces ? begin : 0;
  exchange.outputElements = reduces ? size : whole;
  Request request{reduces ? Collective::ReduceScatter : Collective::AllGather,
                  Algorithm::Ring, ranks, message.extent};
  Status status = makeProgram(request, rank, exchange.program);
  scale(exchange.program, message.unit);
  return status;
}

/// The schedule's root is rank 0: ranks count from the root.
Status Maker::broadcast(const Message &message, Exchange &exchange) {
  if (call.number < 0 || call.number >= ranks)
    return Status::badFile("the program is damaged: it has no rank " +
                           std::to_string(call.number) + " to broadcast");
  const auto root = static_cast<int>(call.number);
  exchange.inputElements = exchange.outputElements = message.extent;
  Request request{Collective::Broadcast, Algorithm::Ring, ranks,
                  message.extent};
  Status status =
      makeProgram(request, (rank - root + ranks) % ranks, exchange.program);
  renamePeers(exchange.program,
              [&](int peer) { return (peer + root) % ranks; });
  return status;
}

Status Maker::allToAll(const Message &message, Exchange &exchange) {
  exchange.memory = Exchange::Own;
  exchange.inputElements =
      message.extent * part(message.join, rank) * message.unit;
  exchange.outputElements =
      part(message.extent, rank) * message.join * message.unit;
  exchange.outputFrom = exchange.inputElements;
  exchange.workElements = exchange.inputElements + exchange.outputElements;
  Step step;
  int64_t from = 0, to = exchange.outputFrom;
  for (int peer = 0; peer < ranks; ++peer) {
    const Range sent{Place::Data, from,
                     part(message.extent, peer) * part(message.join, rank) *
                         message.unit};
    const Range received{Place::Data, to,
                         part(message.extent, rank) *
                             part(message.join, peer) * message.unit};
    from += sent.length;
    to += received.length;
    if (peer == rank) {
      step.local.push_back({LocalStep::Copy, received, sent});
      continue;
    }
    // What is empty is left out on both sides.
    if (sent.length)
      step.transfers.push_back({Transfer::Send, peer, sent});
    if (received.length)
      step.transfers.push_back({Transfer::Receive, peer, received});
  }
  exchange.program.steps.push_back(std::move(step));
  return Status::success();
}

Status Maker::shift(const Message &message, Exchange &exchange) {
  const int64_t n = message.extent;
  exchange.memory = Exchange::Own;
  exchange.inputElements = exchange.outputElements = n;
  exchange.outputFrom = n;
  exchange.workElements = 2 * n;
  if (n == 0)
    return Status::success();
  Step step;
  // Far beyond the ends there is nobody either.
  const int64_t by = std::clamp<int64_t>(call.number, -ranks, ranks);
  const Range sent{Place::Data, 0, n}, received{Place::Data, n, n};
  if (by == 0)
    step.local.push_back({LocalStep::Copy, received, sent});
  if (by != 0 && rank + by >= 0 && rank + by < ranks)
    step.transfers.push_back(
        {Transfer::Send, static_cast<int>(rank + by), sent});
  if (by != 0 && rank - by >= 0 && rank - by < ranks)
    step.transfers.push_back(
        {Transfer::Receive, static_cast<int>(rank - by), received});
  exchange.program.steps.push_back(std::move(step));
  return Status::success();
}

Status Maker::make(const Message &message, Exchange &exchange) {
  exchange.name = nameOf(message);
  Status status;
  switch (call.kind) {
  case CollectiveKind::AllReduce:
    status = allReduce(message, exchange);
    break;
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllGather:
    status = inParts(message, exchange);
    break;
  case CollectiveKind::Broadcast:
    status = broadcast(message, exchange);
    break;
  case CollectiveKind::AllToAll:
    status = allToAll(message, exchange);
    break;
  case CollectiveKind::Shift:
    status = shift(message, exchange);
    break;
  }
  renamePeers(exchange.program, [&](int peer) { return group[peer]; });
  return status;
}

Status makeExchanges(const std::vector<MeshAxis> &mesh,
                     const CollectiveCall &call, int rank,
                     std::vector<Exchange> &exchanges) {
  Maker maker(mesh, call, rank);
  for (const CollectiveCall::Message &message : call.messages) {
    exchanges.emplace_back();
    if (Status status = maker.make(message, exchanges.back()); !status.ok())
      return status;
  }
  return Status::success();
}

} // namespace mlc::runtime::transport
