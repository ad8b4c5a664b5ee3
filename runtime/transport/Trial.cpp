//===- Trial.cpp - Tries out a collective ---------------------------------===//

#include "runtime/transport/Trial.h"
#include "runtime/transport/Check.h"
#include "runtime/transport/Engine.h"
#include "runtime/transport/Sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

namespace mlc::runtime::transport {

/// A sum in which the other ranks' rows are zero. Uses the engine's own
/// collective, so that it does not count as sent bytes.
Status share(Communicator &communicator, const TrialResult::Rank &own,
             TrialResult &result) {
  constexpr int columns = 6;
  const int ranks = communicator.size();
  const int64_t elements = static_cast<int64_t>(ranks) * columns;
  const int64_t mine[columns] = {static_cast<int64_t>(own.sentBytes),
                                 static_cast<int64_t>(own.receivedBytes),
                                 static_cast<int64_t>(own.sentMessages),
                                 std::llround(own.seconds * 1e9),
                                 own.right,
                                 own.lead};
  TrialMemory memory;
  Status status = memory.reserve(nullptr, elements * sizeof(int64_t));
  if (!status.ok())
    return status;
  std::memset(memory.host(), 0, elements * sizeof(int64_t));
  std::memcpy(memory.host() + communicator.rank() * sizeof(mine), mine,
              sizeof(mine));
  status =
      communicator.run({Collective::AllReduce, Algorithm::Own, ranks, elements},
                       MLC_I64, memory.host());
  if (!status.ok()) {
    memory.abandon();
    return status;
  }
  result.ranks.clear();
  for (int rank = 0; rank < ranks; ++rank) {
    int64_t row[columns];
    std::memcpy(row, memory.host() + rank * sizeof(row), sizeof(row));
    result.ranks.push_back(
        {static_cast<uint64_t>(row[0]), static_cast<uint64_t>(row[1]),
         static_cast<uint64_t>(row[2]), static_cast<double>(row[3]) * 1e-9,
         row[4] != 0, row[5]});
  }
  return Status::success();
}

Request requestOf(const TrialOptions &options, int ranks) {
  return {options.collective, options.algorithm, ranks, options.elements};
}

/// Runs one repetition.
static Status repeat(Communicator &communicator, const TrialOptions &options,
                     TrialMemory &memory, TrialResult::Rank &own) {
  const Request request = requestOf(options, communicator.size());
  const int rank = communicator.rank();
  fillSample(request, options.type, rank, memory.host());
  Status status = memory.give();
  if (!status.ok())
    return status;
  const auto begin = std::chrono::steady_clock::now();
  status = options.device
               ? communicator.run({communicator.inPlace(request, options.type,
                                                        memory.data())},
                                  options.type)
               : communicator.run(request, options.type, memory.data());
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  own.seconds = std::min(own.seconds, time.count());
  if (status.ok())
    status = memory.take();
  own.right &=
      status.ok() && isRight(request, options.type, rank, memory.host());
  return status;
}

Status runTrial(Communicator &communicator, const TrialOptions &options,
                TrialResult &result) {
  TrialMemory memory;
  Status status = memory.reserve(
      options.device, options.elements * mlc_dtype_size(options.type));
  if (!status.ok())
    return status;
  TrialResult::Rank own{0, 0, 0, HUGE_VAL, true};
  const mlc_counters before = communicator.counters();
  for (int i = 0; i < options.repeat && status.ok(); ++i)
    status = repeat(communicator, options, memory, own);
  const mlc_counters after = communicator.counters();
  own.sentBytes = after.sent_bytes - before.sent_bytes;
  own.receivedBytes = after.received_bytes - before.received_bytes;
  own.sentMessages = after.sent_messages - before.sent_messages;
  if (status.ok())
    status = share(communicator, own, result);
  if (status.ok())
    status = communicator.finish();
  if (!status.ok())
    memory.abandon();
  return status;
}

static Status checkPrograms(int ranks, const TrialOptions &options) {
  if (options.algorithm == Algorithm::Own)
    return Status::success();
  std::vector<Program> programs;
  std::vector<Traffic> traffic;
  Status status = makePrograms(requestOf(options, ranks), programs);
  return status.ok() ? runTogether(programs, options.elements, traffic)
                     : status;
}

Status onThreads(int ranks, const Communicator::Options &communication,
                 const std::function<Status(Communicator &, int)> &body) {
  InprocHub hub(ranks);
  std::vector<Status> statuses(ranks);
  std::vector<std::thread> threads;
  threads.reserve(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      hub.makeCurrent();
      std::unique_ptr<Communicator> communicator;
      Status &status = statuses[rank];
      status = Communicator::open(inprocEngine(), rank, ranks, communication,
                                  communicator);
      if (status.ok())
        status = body(*communicator, rank);
      if (!status.ok() && communicator)
        communicator->abort(status.code);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (Status &status : statuses)
    if (!status.ok())
      return std::move(status);
  return Status::success();
}

Status runTrialInProcess(int ranks, const Communicator::Options &communication,
                         const TrialOptions &options, TrialResult &result) {
  if (Status status = checkPrograms(ranks, options); !status.ok())
    return status;
  std::vector<TrialResult> results(ranks);
  Status status =
      onThreads(ranks, communication, [&](Communicator &one, int rank) {
        return options.steps ? runServerTrial(one, options, results[rank])
                             : runTrial(one, options, results[rank]);
      });
  result = std::move(results[0]);
  return status;
}

} // namespace mlc::runtime::transport
