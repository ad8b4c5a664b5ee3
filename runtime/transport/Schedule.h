//===- Schedule.h - Collectives as send and receive programs ----*- C++ -*-===//
//
// A collective is one program for each rank: steps of concurrent transfers,
// each followed by sums and copies in the rank's own memory. Programs are data:
// a Communicator carries them out, and Check.h runs all of them against each
// other without one. docs/Collectives.md describes who sends what, how many
// bytes, and the order of additions.
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

/// The collectives, in place. After a reduce-scatter rank r
/// has the sum in its part (partOf); after an all-gather all have each rank's
/// part in its place; after an all-to-all part p of rank r is part r of rank p.
using Collective = CollectiveKind;

/// "all-reduce". Only collectives that have a program are parsed and listed.
const char *name(Collective collective);
bool parseCollective(std::string_view name, Collective &collective);
std::string collectiveNames();

/// How a collective is carried out. All but AllReduce have one program each,
/// for every algorithm but Own.
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

/// Memory of a rank: the caller's elements, or the program's scratch.
enum class Place : uint8_t { Data, Scratch };

struct Range {
  Place place = Place::Data;
  int64_t offset = 0, length = 0;

  bool overlaps(const Range &other) const {
    return place == other.place && offset < other.offset + other.length &&
           other.offset < offset + length;
  }
};

/// To or from `peer`; the k-th send from a to b matches the k-th receive of b
/// from a.
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

/// All transfers begin together; when all are done, the local steps follow in
/// order. A received range overlaps no other range of its step.
struct Step {
  std::vector<Transfer> transfers;
  std::vector<LocalStep> local;
};

struct Program {
  int64_t scratch = 0; // elements of scratch memory
  std::vector<Step> steps = {};
  mlc_reduction reduction = MLC_SUM;
};

/// A requested collective, the same on all ranks.
struct Request {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  /// The participating ranks, for Algorithm::Server including the server (the
  /// last).
  int ranks = 1;
  int64_t elements = 0;
  mlc_reduction reduction = MLC_SUM;
  int root = 0; ///< of collectives with a root
  /// The sizes of consecutive parts; empty: as partOf says. For an all-to-all
  /// ranks * ranks numbers, [from * ranks + to]; received parts are consecutive
  /// too, and `elements` is enough for both.
  std::vector<int64_t> parts = {};
};

/// The elements [begin, end) of part `part` of `parts`: sizes differ by at most
/// one, the larger ones first.
struct Part {
  int64_t begin, end;
};
Part partOf(int64_t elements, int parts, int part);

/// The parts of a request; for an all-to-all, those that `rank` sends.
std::vector<int64_t> partsOf(const Request &request, int rank);
/// The parts that `rank` receives in an all-to-all.
std::vector<int64_t> receivedParts(const Request &request, int rank);

/// Fails for a number of ranks that the algorithm does not support, parts that
/// do not match the elements, and sizes out of range.
Status checkRequest(const Request &request, int rank);

/// Makes the program of `rank`. Fails as checkRequest does, and for
/// Algorithm::Own.
Status makeProgram(const Request &request, int rank, Program &program);

/// How many elements all ranks together send, by the algorithm's formula (0 for
/// Own, where it is unknown), and the formula itself, as "2(N-1)M".
int64_t expectedElements(const Request &request);
const char *formula(const Request &request);

/// Ranks whose elements are summed: all but a separate server.
int workers(const Request &request);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_SCHEDULE_H
