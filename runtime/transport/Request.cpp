//===- Request.cpp - A collective's parts and sizes -----------------------===//

#include "runtime/Step.h"
#include "runtime/transport/Schedule.h"

#include <algorithm>

namespace mlc::runtime::transport {

namespace {

struct AlgorithmRow {
  Algorithm algorithm;
  const char *name;
};

const AlgorithmRow algorithms[] = {
#define MLC_ALGORITHM(id, name, meaning) {Algorithm::id, name},
#include "runtime/transport/Algorithms.def"
#undef MLC_ALGORITHM
    {Algorithm::Own, "own"},
};

/// Whether makeProgram has sends for it; a shift is a program of its caller's.
bool hasProgram(Collective collective) {
  return collective != Collective::Shift;
}

/// The names of all, with `-` as in flags.
const std::vector<std::string> &collectives() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (size_t i = 0; i < numCollectives; ++i) {
      all.emplace_back(rowOf(static_cast<Collective>(i)).name);
      std::replace(all.back().begin(), all.back().end(), '_', '-');
    }
    return all;
  }();
  return names;
}

bool isPowerOfTwo(int n) { return n > 0 && (n & (n - 1)) == 0; }

template <typename Row, typename Name>
std::string joined(const Row &rows, Name name) {
  std::string names;
  for (const auto &row : rows)
    names += (names.empty() ? "" : ", ") + std::string(name(row));
  return names;
}

} // namespace

const char *name(Algorithm algorithm) {
  return algorithms[static_cast<int>(algorithm)].name;
}

bool parseAlgorithm(std::string_view name, Algorithm &algorithm) {
  for (const AlgorithmRow &row : algorithms)
    if (name == row.name) {
      algorithm = row.algorithm;
      return true;
    }
  return false;
}

std::string algorithmNames() {
  return joined(algorithms, [](const AlgorithmRow &row) { return row.name; });
}

const char *name(Collective collective) {
  return collectives()[static_cast<size_t>(collective)].c_str();
}

bool parseCollective(std::string_view name, Collective &collective) {
  for (size_t i = 0; i < collectives().size(); ++i)
    if (name == collectives()[i]) {
      collective = static_cast<Collective>(i);
      return hasProgram(collective);
    }
  return false;
}

std::string collectiveNames() {
  std::vector<std::string> known;
  for (size_t i = 0; i < collectives().size(); ++i)
    if (hasProgram(static_cast<Collective>(i)))
      known.push_back(collectives()[i]);
  return joined(known, [](const std::string &name) { return name; });
}

Part partOf(int64_t elements, int parts, int part) {
  const int64_t each = elements / parts, more = elements % parts;
  const int64_t begin = each * part + std::min<int64_t>(part, more);
  return {begin, begin + each + (part < more)};
}

/// Sizes of the parts from `first` on, at a stride of `step`.
static std::vector<int64_t> partsAt(const Request &request, int first,
                                    int step) {
  std::vector<int64_t> parts;
  for (int p = 0; p < request.ranks; ++p) {
    const Part part = partOf(request.elements, request.ranks, p);
    parts.push_back(request.parts.empty() ? part.end - part.begin
                                          : request.parts[first + p * step]);
  }
  return parts;
}

std::vector<int64_t> partsOf(const Request &request, int rank) {
  return partsAt(
      request,
      request.collective == Collective::AllToAll ? rank * request.ranks : 0, 1);
}

std::vector<int64_t> receivedParts(const Request &request, int rank) {
  return partsAt(request, rank, request.ranks);
}

int workers(const Request &request) {
  return request.collective == Collective::AllReduce &&
                 request.algorithm == Algorithm::Server
             ? request.ranks - 1
             : request.ranks;
}

static Status wrong(const std::string &message) {
  return Status::error(MLC_USAGE, message);
}

/// Adds numbers of parts; false if they are negative or more than `most`.
static bool fits(const std::vector<int64_t> &parts, int64_t most,
                 int64_t &sum) {
  sum = 0;
  for (int64_t part : parts) {
    if (part < 0 || part > most - sum)
      return false;
    sum += part;
  }
  return true;
}

static Status checkParts(const Request &request) {
  const bool isAllToAll = request.collective == Collective::AllToAll;
  const auto ranks = static_cast<size_t>(request.ranks);
  if (request.parts.empty())
    return isAllToAll && request.elements % request.ranks
               ? wrong("an all-to-all of " + std::to_string(request.elements) +
                       " elements among " + std::to_string(ranks) +
                       " ranks; take a multiple, or say what the parts are")
               : Status::success();
  if (request.parts.size() != (isAllToAll ? ranks * ranks : ranks))
    return wrong(std::to_string(request.parts.size()) + " parts of a" +
                 (isAllToAll ? "n all-to-all" : " collective") + " among " +
                 std::to_string(ranks) + " ranks; give " +
                 (isAllToAll ? "one from each to each" : "one for each"));
  int64_t sum = 0;
  for (int rank = 0; rank < (isAllToAll ? request.ranks : 1); ++rank)
    if (!fits(partsOf(request, rank), request.elements, sum) ||
        (isAllToAll &&
         !fits(receivedParts(request, rank), request.elements, sum)) ||
        (!isAllToAll && sum != request.elements))
      return wrong("parts that are not the " +
                   std::to_string(request.elements) +
                   " elements; give some that are");
  return Status::success();
}

Status checkRequest(const Request &request, int rank) {
  const int ranks = request.ranks;
  const bool isOwn = request.algorithm == Algorithm::Own;
  if (isOwn ? !rowOf(request.collective).isOfEngines()
            : !hasProgram(request.collective))
    return wrong(std::string("no engine has the collective ") +
                 rowOf(request.collective).name);
  if (ranks < 1 || uint32_t(ranks) > maxRanks)
    return wrong("a collective of " + std::to_string(ranks) +
                 " ranks; take 1 to " + std::to_string(maxRanks));
  if (rank < 0 || rank >= ranks)
    return wrong("rank " + std::to_string(rank) + " of " +
                 std::to_string(ranks) + "; ranks count from 0");
  // Counts of elements below are at most 2 N^2 times this.
  if (request.elements < 0 || request.elements > INT64_MAX / 2 / ranks / ranks)
    return wrong("a collective of " + std::to_string(request.elements) +
                 " elements; take fewer");
  if (request.root < 0 || request.root >= ranks)
    return wrong("a " + std::string(name(request.collective)) + " from rank " +
                 std::to_string(request.root) + " among " +
                 std::to_string(ranks) + "; ranks count from 0");
  if (Status status = checkParts(request); !status.ok())
    return status;
  if (request.collective != Collective::AllReduce)
    return Status::success();
  if (request.algorithm == Algorithm::Server && ranks < 2)
    return wrong("the algorithm server needs a rank beside the server; start "
                 "2 ranks or more, or take colocated");
  if (request.algorithm == Algorithm::Butterfly && !isPowerOfTwo(ranks))
    return wrong("the algorithm butterfly is for a power of two ranks, not " +
                 std::to_string(ranks) + "; take halving-doubling");
  return Status::success();
}

static int64_t allReduceElements(const Request &request) {
  const int64_t n = request.ranks, m = request.elements;
  switch (request.algorithm) {
  case Algorithm::Naive:
    return n * (n - 1) * m;
  case Algorithm::Butterfly: {
    int64_t steps = 0;
    while (int64_t(1) << steps < n)
      ++steps;
    return n * steps * m;
  }
  default:
    return 2 * (n - 1) * m; // a server is one of the n
  }
}

int64_t expectedElements(const Request &request) {
  if (request.algorithm == Algorithm::Own)
    return 0;
  if (request.collective == Collective::AllReduce)
    return allReduceElements(request);
  if (request.collective != Collective::AllToAll || request.parts.empty())
    return (request.ranks - 1) * request.elements;
  int64_t sum = 0;
  for (int from = 0; from < request.ranks; ++from)
    for (int to = 0; to < request.ranks; ++to)
      if (from != to)
        sum += request.parts[static_cast<size_t>(from) * request.ranks + to];
  return sum;
}

const char *formula(const Request &request) {
  if (request.collective != Collective::AllReduce)
    return "(N-1)M";
  switch (request.algorithm) {
  case Algorithm::Server:
    return "2NM";
  case Algorithm::Naive:
    return "N(N-1)M";
  case Algorithm::Butterfly:
    return "N log2(N) M";
  default:
    return "2(N-1)M";
  }
}

} // namespace mlc::runtime::transport
