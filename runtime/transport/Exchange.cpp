//===- Exchange.cpp - A session's collectives as requests -----------------===//

#include "runtime/transport/Exchange.h"
#include "runtime/transport/Reduce.h"

#include <algorithm>

namespace mlc::runtime::transport {

namespace {

class Maker {
public:
  Maker(const CollectiveCall &call, int ranks, int rank)
      : call(call), ranks(ranks), rank(rank) {}

  Status make(const CollectiveCall::Message &message, Exchange &exchange);

private:
  using Message = CollectiveCall::Message;

  Status chooseAlgorithm(Request &request) const;
  void inParts(const Message &message, Exchange &exchange);
  void allToAll(const Message &message, Exchange &exchange);
  void shift(const Message &message, Exchange &exchange);
  int64_t part(int64_t things, int which) const {
    return partRange(things, ranks, which).size();
  }
  bool reduces() const { return rowOf(call.kind).reduces(); }

  const CollectiveCall &call;
  const int ranks, rank; ///< of the group
};

} // namespace

/// The default algorithm is the engine's own if every engine supports the call;
/// not all add half floats or have max for all types.
Status Maker::chooseAlgorithm(Request &request) const {
  const bool isHalf = call.type == DType::F16 || call.type == DType::BF16;
  const bool isSum = call.reduction == ReductionKind::Sum;
  const bool isOwn =
      rowOf(call.kind).isOfEngines() && !(reduces() && (isHalf || !isSum));
  request.algorithm = isOwn ? Algorithm::Own : Algorithm::Ring;
  if (call.algorithm.empty())
    return Status::success();
  if (!parseAlgorithm(call.algorithm, request.algorithm))
    return Status::error(MLC_USAGE, "there is no algorithm '" + call.algorithm +
                                        "'; there are " + algorithmNames());
  if (request.algorithm == Algorithm::Server)
    return Status::error(MLC_USAGE,
                         "the algorithm server has a rank with nothing to add, "
                         "and here all have something; take colocated");
  return Status::success();
}

/// Works on the whole tensor: the output, or the input if it may be consumed.
void Maker::inParts(const Message &message, Exchange &exchange) {
  const rows::Row &row = rowOf(call.kind);
  const int64_t begin =
      partRange(message.extent, ranks, rank).begin * message.unit;
  exchange.request.elements = message.extent * message.unit;
  if (row.output == rows::Whole)
    exchange.memory = Exchange::Output;
  else
    exchange.memory = row.consumes() ? Exchange::Input : Exchange::Own;
  if (exchange.memory == Exchange::Own)
    exchange.workElements = exchange.request.elements;
  exchange.inputTo = row.input == rows::Part ? begin : 0;
  exchange.outputFrom = row.output == rows::Part ? begin : 0;
  for (int r = 0; r < ranks; ++r)
    exchange.request.parts.push_back(part(message.extent, r) * message.unit);
}

void Maker::allToAll(const Message &message, Exchange &exchange) {
  // Enough memory for the sent and the received elements of any rank.
  int64_t most = 0;
  for (int from = 0; from < ranks; ++from) {
    const int64_t joined = part(message.join, from) * message.unit;
    most = std::max({most, joined * message.extent,
                     part(message.extent, from) * message.join * message.unit});
    for (int to = 0; to < ranks; ++to)
      exchange.request.parts.push_back(part(message.extent, to) * joined);
  }
  exchange.request.elements = most;
  if (exchange.outputElements == most)
    return;
  exchange.memory = Exchange::Own;
  exchange.workElements = most;
}

void Maker::shift(const Message &message, Exchange &exchange) {
  const int64_t n = message.extent;
  exchange.isShift = true;
  exchange.name = "shift by " + std::to_string(call.number) + " of " +
                  std::to_string(n) + " " +
                  mlc_dtype_name(static_cast<mlc_dtype>(call.type));
  exchange.memory = Exchange::Own;
  exchange.outputFrom = n;
  exchange.workElements = 2 * n;
  if (n == 0)
    return;
  Step step;
  // Shifts by more than all ranks are equivalent.
  const auto by = static_cast<int>(
      std::clamp<int64_t>(call.number, -int64_t(ranks), ranks));
  const Range sent{Place::Data, 0, n}, received{Place::Data, n, n};
  if (by == 0)
    step.local.push_back({LocalStep::Copy, received, sent});
  if (by != 0 && rank + by >= 0 && rank + by < ranks)
    step.transfers.push_back({Transfer::Send, rank + by, sent});
  if (by != 0 && rank - by >= 0 && rank - by < ranks)
    step.transfers.push_back({Transfer::Receive, rank - by, received});
  exchange.program.steps.push_back(std::move(step));
}

Status Maker::make(const Message &message, Exchange &exchange) {
  const auto type = static_cast<mlc_dtype>(call.type);
  if (reduces() && !isSummable(type))
    return Status::error(MLC_UNSUPPORTED,
                         std::string("elements of type ") +
                             mlc_dtype_name(type) +
                             " have no sum; take another type");
  MessageSize size;
  if (!messageSize(call.kind, message, ranks, rank, size))
    return Status::error(MLC_USAGE, "a message overflows 64 bits");
  exchange.inputElements = size.input;
  exchange.outputElements = size.output;
  Request &request = exchange.request;
  request.ranks = ranks;
  request.elements = message.extent;
  request.reduction = static_cast<mlc_reduction>(call.reduction);
  if (Status status = chooseAlgorithm(request); !status.ok())
    return status;
  request.collective = call.kind;
  switch (rowOf(call.kind).message) {
  case rows::Elements:
    break;
  case rows::Units:
    inParts(message, exchange);
    break;
  case rows::Blocks:
    allToAll(message, exchange);
    break;
  }
  if (call.kind == CollectiveKind::Shift) {
    shift(message, exchange);
    return Status::success();
  }
  if (rowOf(call.kind).hasRoot())
    request.root = static_cast<int>(
        std::clamp<int64_t>(call.number, -1, ranks)); // checked below
  return checkRequest(request, rank);
}

Status makeExchanges(const CollectiveCall &call, int ranks, int coordinate,
                     std::vector<Exchange> &exchanges) {
  Maker maker(call, ranks, coordinate);
  for (const CollectiveCall::Message &message : call.messages) {
    exchanges.emplace_back();
    if (Status status = maker.make(message, exchanges.back()); !status.ok())
      return status;
  }
  return Status::success();
}

} // namespace mlc::runtime::transport
