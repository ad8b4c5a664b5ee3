//===- Check.cpp - Whether programs of all ranks fit together -------------===//

#include "runtime/transport/Check.h"
#include "runtime/transport/Reduce.h"

#include <cstring>
#include <deque>
#include <map>

namespace mlc::runtime::transport {

namespace {

std::string place(int rank, size_t step) {
  return "rank " + std::to_string(rank) + ", step " + std::to_string(step);
}

class Simulation {
public:
  Simulation(const std::vector<Program> &programs, int64_t elements,
             std::vector<Traffic> &traffic, const std::vector<void *> &data,
             mlc_dtype type)
      : programs(programs), elements(elements), traffic(traffic), data(data),
        type(type), ranks(static_cast<int>(programs.size())), at(ranks),
        left(ranks) {}

  Status run();

private:
  struct Posted {
    const Transfer *transfer;
    int rank;
  };
  Status begin(int rank);
  Status post(int rank, const Transfer &transfer);
  Status match(const Posted &send, const Posted &receive);
  Status checkStep(int rank, const Step &step) const;
  bool fits(int rank, const Range &range) const;
  void finish(int rank);
  char *memory(int rank, const Range &range);
  Status stuck() const;

  const std::vector<Program> &programs;
  int64_t elements;
  std::vector<Traffic> &traffic;
  const std::vector<void *> &data;
  mlc_dtype type;
  int ranks;
  std::vector<size_t> at;   // the step of each rank
  std::vector<size_t> left; // its unfinished transfers
  std::vector<std::vector<char>> scratch;
  // Transfers from one rank to another without a partner yet; one of the two is
  // empty.
  std::map<std::pair<int, int>, std::deque<Posted>> sends, receives;
  std::deque<int> ready; // ranks that can begin a step
};

} // namespace

bool Simulation::fits(int rank, const Range &range) const {
  const int64_t most =
      range.place == Place::Data ? elements : programs[rank].scratch;
  return range.offset >= 0 && range.length > 0 && range.offset <= most &&
         range.length <= most - range.offset;
}

Status Simulation::checkStep(int rank, const Step &step) const {
  auto wrong = [&](const char *what) {
    return Status::error(MLC_INTERNAL, place(rank, at[rank]) + ": " + what);
  };
  for (const Transfer &a : step.transfers) {
    if (!fits(rank, a.range))
      return wrong("a transfer beyond its memory");
    if (a.peer < 0 || a.peer >= ranks || a.peer == rank)
      return wrong("a transfer with a rank that is none");
    for (const Transfer &b : step.transfers)
      if (&a != &b && a.kind != Transfer::Send && a.range.overlaps(b.range))
        return wrong("a receive into what another transfer uses");
  }
  for (const LocalStep &local : step.local)
    if (!fits(rank, local.to) || !fits(rank, local.from) ||
        local.to.length != local.from.length || local.to.overlaps(local.from))
      return wrong("a sum or copy beyond its memory");
  return Status::success();
}

char *Simulation::memory(int rank, const Range &range) {
  char *base = range.place == Place::Data ? static_cast<char *>(data[rank])
                                          : scratch[rank].data();
  return base + range.offset * mlc_dtype_size(type);
}

Status Simulation::match(const Posted &send, const Posted &receive) {
  const Range &from = send.transfer->range, &to = receive.transfer->range;
  if (from.length != to.length)
    return Status::error(MLC_INTERNAL,
                         place(send.rank, at[send.rank]) + " sends " +
                             std::to_string(from.length) + " elements, " +
                             place(receive.rank, at[receive.rank]) + " takes " +
                             std::to_string(to.length));
  traffic[send.rank].sentElements += from.length;
  ++traffic[send.rank].sentMessages;
  traffic[receive.rank].receivedElements += to.length;
  if (!data.empty()) {
    char *target = memory(receive.rank, to);
    const char *source = memory(send.rank, from);
    if (receive.transfer->kind == Transfer::ReceiveAdd)
      combine(programs[receive.rank].reduction, type, target, source,
              to.length);
    else
      std::memcpy(target, source, to.length * mlc_dtype_size(type));
  }
  for (int rank : {send.rank, receive.rank})
    if (--left[rank] == 0)
      finish(rank);
  return Status::success();
}

void Simulation::finish(int rank) {
  if (!data.empty())
    for (const LocalStep &local : programs[rank].steps[at[rank]].local) {
      if (local.kind == LocalStep::Add)
        combine(programs[rank].reduction, type, memory(rank, local.to),
                memory(rank, local.from), local.to.length);
      else
        std::memcpy(memory(rank, local.to), memory(rank, local.from),
                    local.to.length * mlc_dtype_size(type));
    }
  ++at[rank];
  ready.push_back(rank);
}

Status Simulation::post(int rank, const Transfer &transfer) {
  const bool isSend = transfer.kind == Transfer::Send;
  const auto key = isSend ? std::make_pair(rank, transfer.peer)
                          : std::make_pair(transfer.peer, rank);
  auto &own = isSend ? sends[key] : receives[key];
  auto &others = isSend ? receives[key] : sends[key];
  Posted posted{&transfer, rank};
  if (others.empty()) {
    own.push_back(posted);
    return Status::success();
  }
  Posted other = others.front();
  others.pop_front();
  return isSend ? match(posted, other) : match(other, posted);
}

Status Simulation::begin(int rank) {
  if (at[rank] == programs[rank].steps.size())
    return Status::success();
  const Step &step = programs[rank].steps[at[rank]];
  if (Status status = checkStep(rank, step); !status.ok())
    return status;
  left[rank] = step.transfers.size();
  if (step.transfers.empty()) {
    finish(rank);
    return Status::success();
  }
  for (const Transfer &transfer : step.transfers)
    if (Status status = post(rank, transfer); !status.ok())
      return status;
  return Status::success();
}

Status Simulation::stuck() const {
  for (int rank = 0; rank < ranks; ++rank)
    if (at[rank] < programs[rank].steps.size())
      return Status::error(MLC_INTERNAL, place(rank, at[rank]) +
                                             " waits for ever: a deadlock");
  return Status::success();
}

Status Simulation::run() {
  traffic.assign(ranks, {});
  scratch.resize(data.empty() ? 0 : ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    if (!data.empty())
      scratch[rank].resize(programs[rank].scratch * mlc_dtype_size(type));
    ready.push_back(rank);
  }
  while (!ready.empty()) {
    int rank = ready.front();
    ready.pop_front();
    if (Status status = begin(rank); !status.ok())
      return status;
  }
  return stuck();
}

Status runTogether(const std::vector<Program> &programs, int64_t elements,
                   std::vector<Traffic> &traffic,
                   const std::vector<void *> &data, mlc_dtype type) {
  return Simulation(programs, elements, traffic, data, type).run();
}

Status makePrograms(const Request &request, std::vector<Program> &programs) {
  programs.clear();
  Program program;
  if (Status status = makeProgram(request, 0, program); !status.ok())
    return status;
  programs.push_back(std::move(program));
  for (int rank = 1; rank < request.ranks; ++rank) {
    if (Status status = makeProgram(request, rank, program); !status.ok())
      return status;
    programs.push_back(std::move(program));
  }
  return Status::success();
}

} // namespace mlc::runtime::transport
