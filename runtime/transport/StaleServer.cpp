//===- StaleServer.cpp - A parameter server with bounded staleness --------===//

#include "runtime/transport/StaleServer.h"
#include "runtime/transport/Reduce.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace mlc::runtime::transport {

Status StaleServer::open(Communicator &world, const Options &options,
                         std::unique_ptr<StaleServer> &result) {
  const int workers = world.size() - 1, rank = world.rank();
  if (workers < 1)
    return Status::error(MLC_USAGE, "a server needs a rank beside it; start 2 "
                                    "ranks or more");
  if (options.staleness < 0 || options.elements < 0 || options.clocks < 0)
    return Status::error(MLC_USAGE, "a negative staleness, size or number of "
                                    "clocks; count from 0");
  const bool isServer = rank == workers;
  std::unique_ptr<StaleServer> made(new StaleServer(options, isServer));
  made->own = rank;
  made->lines.resize(workers);
  for (int worker = 0; worker < workers; ++worker) {
    Line &line = made->lines[worker];
    if (Status status = world.split(
            isServer || rank == worker ? 0 : -1,
            "server and worker " + std::to_string(worker), line.pair);
        !status.ok())
      return status;
    if (!isServer)
      continue;
    line.gradient.reset(new (std::nothrow) char[made->bytes() + 1]);
    line.reply.reset(new (std::nothrow) char[made->bytes() + 1]);
    if (!line.gradient || !line.reply)
      return Status::error(
          MLC_RESOURCES, "out of memory for the gradients of " +
                             std::to_string(workers) + " workers; start fewer");
  }
  result = std::move(made);
  return Status::success();
}

/// Transfers one message between the two ranks of a pair.
void StaleServer::transfer(Line &line, Transfer::Kind kind, void *data,
                           Progress::Ticket &ticket) {
  Program program;
  if (options.elements)
    program.steps.push_back({{{kind, 1 - line.pair->rank(),
                               Range{Place::Data, 0, options.elements}}},
                             {}});
  const bool isPush = (kind == Transfer::Send) != server;
  ticket = progress.start(*line.pair,
                          (isPush ? "push of " : "pull of ") +
                              std::to_string(options.elements) + " " +
                              mlc_dtype_name(options.type),
                          std::move(program), options.type, data);
}

void StaleServer::push(const void *gradient) {
  Line &line = lines[own];
  ++line.pushed;
  transfer(line, Transfer::Send, const_cast<void *>(gradient), line.going);
}

Status StaleServer::pull(void *weights) {
  Line &line = lines[own];
  ++line.pulled;
  transfer(line, Transfer::Receive, weights, line.coming);
  return progress.wait(line.coming);
}

int64_t StaleServer::slowest() const {
  int64_t least = INT64_MAX;
  for (const Line &line : lines)
    least = std::min(least, line.pushed);
  return least;
}

void StaleServer::startPush(Line &line) {
  if (line.pulled < options.clocks)
    transfer(line, Transfer::Receive, line.gradient.get(), line.coming);
}

/// With staleness 0 the gradient stays in its worker's buffer until all of the
/// clock have arrived.
Status StaleServer::takePush(size_t worker, void *weights, const Apply &apply) {
  Line &line = lines[worker];
  line.coming = 0;
  ++line.pushed;
  const int64_t least = slowest();
  const int who = static_cast<int>(worker);
  if (options.keepsRecords)
    record.push_back({who, line.pushed, -1});
  if (options.staleness)
    return apply(weights, line.gradient.get(), {who, line.pushed, least});
  if (least != line.pushed)
    return Status::success();
  char *sum = lines[0].gradient.get();
  for (size_t other = 1; other < lines.size(); ++other)
    add(options.type, sum, lines[other].gradient.get(), options.elements);
  return apply(weights, sum, {-1, line.pushed, least});
}

/// Sends the current weights to all workers that may go on.
Status StaleServer::answer(const void *weights) {
  const int64_t least = slowest();
  for (size_t worker = 0; worker < lines.size(); ++worker) {
    Line &line = lines[worker];
    if (line.pulled == line.pushed || line.pushed - options.staleness > least)
      continue;
    if (line.going)
      if (Status status = progress.wait(line.going); !status.ok())
        return status;
    std::memcpy(line.reply.get(), weights, bytes());
    ++line.pulled;
    if (options.keepsRecords)
      record.push_back({static_cast<int>(worker), line.pushed, least});
    most = std::max(most, line.pushed - least);
    transfer(line, Transfer::Send, line.reply.get(), line.going);
    startPush(line);
  }
  return Status::success();
}

Status StaleServer::serve(void *weights, const Apply &apply) {
  for (Line &line : lines)
    startPush(line);
  for (;;) {
    std::vector<Progress::Ticket> tickets;
    std::vector<size_t> of;
    for (size_t worker = 0; worker < lines.size(); ++worker)
      if (lines[worker].coming) {
        tickets.push_back(lines[worker].coming);
        of.push_back(worker);
      }
    if (tickets.empty())
      return progress.waitForAll();
    size_t which = 0;
    Status status = progress.waitForOne(tickets, which);
    if (!status.ok())
      return status;
    status = takePush(of[which], weights, apply);
    if (status.ok())
      status = answer(weights);
    if (!status.ok())
      return status;
  }
}

mlc_counters StaleServer::counters() const {
  mlc_counters all{};
  for (const Line &line : lines)
    if (line.pair) {
      const mlc_counters one = line.pair->counters();
      all.sent_bytes += one.sent_bytes;
      all.received_bytes += one.received_bytes;
      all.sent_messages += one.sent_messages;
      all.received_messages += one.received_messages;
    }
  return all;
}

} // namespace mlc::runtime::transport
