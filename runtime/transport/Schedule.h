//===- Schedule.h - Collectives as send and receive programs ----*- C++ -*-===//
//
// A collective is one program for each rank: steps of transfers that are under
// way together, then sums and copies in the rank's own memory. Programs are
// data: a Communicator carries them out, and Check.h runs all of them
// against each other without one. docs/Collectives.md says who sends what, how
// many bytes that are and in which order is added.
//
// Offsets and lengths are in elements, so that no element is ever split.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_SCHEDULE_H
#define MLC_RUNTIME_TRANSPORT_SCHEDULE_H

#include "runtime/Collective.h"
#include "runtime/Status.h"
#include "runtime/transport/mlc_engine.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlc::runtime::transport {

/// Of these the rows that engines have, in place: of a reduce-scatter rank r
/// has the sum in its part (partOf), of an all-gather all have each rank's part
/// there, of an all-to-all part p of rank r is part r of rank p.
using Collective = CollectiveKind;

/// "all-reduce"; the names of those that engines have.
const char *name(Collective collective);
bool parseCollective(std::string_view name, Collective &collective);
std::string collectiveNames();

/// How. All but AllReduce have one program each, which every algorithm but Own
/// stands for.
enum class Algorithm : uint8_t {
#define MLC_ALGORITHM(id, name, meaning) id,
#include "runtime/transport/Algorithms.def"
#undef MLC_ALGORITHM
  Own, // the engine's, for which there is no program
};

/// "ring", "own"; the names of all, for messages and flags.
const char *name(Algorithm algorithm);
bool parseAlgorithm(std::string_view name, Algorithm &algorithm);
std::string algorithmNames();

/// Memory of a rank: the elements that the caller gave, or the program's own.
enum class Place : uint8_t { Data, Scratch };

struct Range {
  Place place = Place::Data;
  int64_t offset = 0, length = 0;

  bool overlaps(const Range &other) const {
    return place == other.place && offset < other.offset + other.length &&
           other.offset < offset + length;
  }
};

/// To or from `peer`; the k-th send from a to b is what the k-th receive of b
/// from a takes.
struct Transfer {
  enum Kind : uint8_t { Send, Receive, ReceiveAdd };
  Kind kind;
  int peer;
  Range range;
};

/// In the rank's own memory: `to` becomes `from`, or `to + from` (or another
/// reduction); the lengths are equal.
struct LocalStep {
  enum Kind : uint8_t { Copy, Add };
  Kind kind;
  Range to, from;
};

/// All transfers are begun together; when all are done, the local steps follow
/// in order. No range that is received overlaps another one of its step.
struct Step {
  std::vector<Transfer> transfers;
  std::vector<LocalStep> local;
};

struct Program {
  int64_t scratch = 0; // elements of its own memory
  std::vector<Step> steps = {};
  mlc_reduction reduction = MLC_SUM;
};

/// What is to be done, alike on all ranks.
struct Request {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  /// Those that take part, for Algorithm::Server the server (the last) too.
  int ranks = 1;
  int64_t elements = 0;
  mlc_reduction reduction = MLC_SUM;
  int root = 0; // of a broadcast
  /// How many elements each part has, behind each other; empty: as partOf says.
  /// Of an all-to-all ranks * ranks numbers, [from * ranks + to]: what comes
  /// lies behind each other too, and `elements` is enough for both.
  std::vector<int64_t> parts = {};
};

/// The elements [begin, end) that are part `part` of `parts`: sizes differ by
/// one at most, the larger ones first.
struct Part {
  int64_t begin, end;
};
Part partOf(int64_t elements, int parts, int part);

/// The parts of a request, of an all-to-all those that `rank` sends.
std::vector<int64_t> partsOf(const Request &request, int rank);
/// Of an all-to-all, those that `rank` gets.
std::vector<int64_t> receivedParts(const Request &request, int rank);

/// Errors: a number of ranks that the algorithm does not do, parts that are not
/// the elements, sizes beyond all bounds.
Status checkRequest(const Request &request, int rank);

/// The program of `rank`; errors as checkRequest, and Algorithm::Own.
Status makeProgram(const Request &request, int rank, Program &program);

/// How many elements all ranks together send, by the algorithm's formula (0 for
/// Own, which does not tell), and the formula itself, as "2(N-1)M".
int64_t expectedElements(const Request &request);
const char *formula(const Request &request);

/// Ranks whose elements are summed: all but a separate server.
int workers(const Request &request);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_SCHEDULE_H
