//===- Trial.cpp - A collective tried out ---------------------------------===//

#include "runtime/transport/Trial.h"
#include "runtime/transport/Check.h"
#include "runtime/transport/Engine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <thread>

namespace mlc::runtime::transport {

/// Not more than 33 ranks have something at one place, up to 7, so that
/// bfloat16, which holds whole numbers up to 256, holds the sum.
static int sample(int workers, int rank, int64_t i) {
  const int64_t every = (workers + 31) / 32;
  return (rank + i) % every ? 0 : static_cast<int>((rank * 3 + i * 5) % 7 + 1);
}

static void store(mlc_dtype type, char *at, int number) {
  auto put = [&](auto value) { std::memcpy(at, &value, sizeof(value)); };
  const auto single = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof(bits));
  switch (type) {
  case MLC_F32:
    return put(single);
  case MLC_F64:
    return put(static_cast<double>(number));
  case MLC_F16:
    return put(static_cast<_Float16>(number));
  case MLC_BF16:
    return put(static_cast<uint16_t>(bits >> 16));
  default: {
    // Integers of any width, the lowest byte first.
    const auto wide = static_cast<int64_t>(number);
    std::memcpy(at, &wide, mlc_dtype_size(type));
  }
  }
}

void fillSample(mlc_dtype type, int workers, int rank, int64_t elements,
                void *data) {
  auto *at = static_cast<char *>(data);
  for (int64_t i = 0; i < elements; ++i, at += mlc_dtype_size(type))
    store(type, at, rank < workers ? sample(workers, rank, i) : 0);
}

void fillSum(mlc_dtype type, int workers, int64_t elements, void *data) {
  auto *at = static_cast<char *>(data);
  for (int64_t i = 0; i < elements; ++i, at += mlc_dtype_size(type)) {
    int sum = 0;
    for (int rank = 0; rank < workers; ++rank)
      sum += sample(workers, rank, i);
    store(type, at, sum);
  }
}

/// Each rank's row, known to all: a sum in which the others' rows are zero. The
/// engine's own, so that it does not count as sent.
static Status share(Communicator &communicator, const TrialResult::Rank &own,
                    TrialResult &result) {
  constexpr int columns = 5;
  const int ranks = communicator.size();
  std::vector<int64_t> table(static_cast<size_t>(ranks) * columns);
  int64_t *row = &table[static_cast<size_t>(communicator.rank()) * columns];
  row[0] = static_cast<int64_t>(own.sentBytes);
  row[1] = static_cast<int64_t>(own.receivedBytes);
  row[2] = static_cast<int64_t>(own.sentMessages);
  row[3] = std::llround(own.seconds * 1e9);
  row[4] = own.right;
  Status status = communicator.runOwn(static_cast<int64_t>(table.size()),
                                      MLC_I64, table.data());
  if (!status.ok())
    return status;
  result.ranks.clear();
  for (int rank = 0; rank < ranks; ++rank) {
    row = &table[static_cast<size_t>(rank) * columns];
    result.ranks.push_back({static_cast<uint64_t>(row[0]),
                            static_cast<uint64_t>(row[1]),
                            static_cast<uint64_t>(row[2]),
                            static_cast<double>(row[3]) * 1e-9, row[4] != 0});
  }
  return Status::success();
}

Status runTrial(Communicator &communicator, const TrialOptions &options,
                TrialResult &result) {
  const int ranks = communicator.size();
  Request request{Collective::AllReduce, options.algorithm, ranks,
                  options.elements};
  if (options.own)
    request.algorithm = Algorithm::Ring; // for workers(): all are
  const int summed = workers(request);
  const size_t bytes = options.elements * mlc_dtype_size(options.type);
  std::unique_ptr<char[]> data(new (std::nothrow) char[bytes + 1]);
  std::unique_ptr<char[]> sum(new (std::nothrow) char[bytes + 1]);
  if (!data || !sum)
    return Status::error(MLC_RESOURCES, "out of memory for " +
                                            std::to_string(2 * bytes) +
                                            " bytes; give fewer");
  fillSum(options.type, summed, options.elements, sum.get());
  TrialResult::Rank own{0, 0, 0, HUGE_VAL, true};
  const mlc_counters before = communicator.counters();
  Status status = Status::success();
  for (int i = 0; i < options.repeat && status.ok(); ++i) {
    fillSample(options.type, summed, communicator.rank(), options.elements,
               data.get());
    const auto begin = std::chrono::steady_clock::now();
    status = options.own ? communicator.runOwn(options.elements, options.type,
                                               data.get())
                         : communicator.run(request, options.type, data.get());
    const std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - begin;
    own.seconds = std::min(own.seconds, time.count());
    own.right &= !std::memcmp(data.get(), sum.get(), bytes);
  }
  const mlc_counters after = communicator.counters();
  own.sentBytes = after.sent_bytes - before.sent_bytes;
  own.receivedBytes = after.received_bytes - before.received_bytes;
  own.sentMessages = after.sent_messages - before.sent_messages;
  if (status.ok())
    status = share(communicator, own, result);
  if (status.ok())
    status = communicator.finish();
  if (!status.ok())
    data.release(); // the engine's until all have ended
  return status;
}

static Status checkPrograms(int ranks, const TrialOptions &options) {
  if (options.own)
    return Status::success();
  std::vector<Program> programs;
  std::vector<Traffic> traffic;
  Request request{Collective::AllReduce, options.algorithm, ranks,
                  options.elements};
  Status status = makePrograms(request, programs);
  return status.ok() ? runTogether(programs, options.elements, traffic)
                     : status;
}

Status runTrialInProcess(int ranks, const Communicator::Options &communication,
                         const TrialOptions &options, TrialResult &result) {
  if (Status status = checkPrograms(ranks, options); !status.ok())
    return status;
  InprocHub hub(ranks);
  std::vector<Status> statuses(ranks);
  std::vector<TrialResult> results(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      hub.makeCurrent();
      std::unique_ptr<Communicator> communicator;
      Status &status = statuses[rank];
      status = Communicator::open(inprocEngine(), {rank, ranks, 0},
                                  communication, communicator);
      if (status.ok())
        status = runTrial(*communicator, options, results[rank]);
      if (!status.ok() && communicator)
        communicator->abort(status.code);
    });
  for (std::thread &thread : threads)
    thread.join();
  result = std::move(results[0]);
  for (Status &status : statuses)
    if (!status.ok())
      return std::move(status);
  return Status::success();
}

} // namespace mlc::runtime::transport
