//===- Enumerate.h - All graphs up to a size, and equal pairs ---*- C++ -*-===//
//
// Graphs are enumerated by the number of their operators. A graph with a new
// fingerprint represents its class and is extended; any other gives a pair
// (representative, graph). Graphs of the last size are not extended.
//
// The key of a class is the fingerprint in the first instantiation (in the
// last, positive one if the graph is undefined there). Graphs with equal keys
// are compared in every instantiation: a pair that is equal wherever both are
// defined is a candidate; one that is equal in some instantiations is a
// conditional candidate.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_ENUMERATE_H
#define MLC_REWRITES_GENERATE_ENUMERATE_H

#include "rewrites/Generate/Graphs.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <mutex>
#include <set>

namespace mlc::generate {

struct EnumerateOptions {
  unsigned maxOperators = 2;
  unsigned jobs = 1;
  /// Maximum number of representatives of the last size that are kept for
  /// comparison with other graphs of that size.
  uint64_t maxGraphs = 30'000'000;
  /// Once this many graphs of that size exist, no further larger operand is
  /// used; 0: no limit.
  uint64_t maxMade = 0;
  std::function<void(const std::string &)> progress = [](const std::string &) {
  };
};

/// Agreement in only one or two instantiations is chance.
inline constexpr unsigned minAgreements = 3;

/// Two graphs of one value.
struct EqualPair {
  Renamed graph, representative;
  /// In how many instantiations they agree, out of those where both are
  /// defined.
  unsigned agree = 0, compared = 0;
  bool isConditional() const { return agree < compared; }
};

struct SizeCounts {
  unsigned numOperators = 0;
  uint64_t graphs = 0, representatives = 0, pairs = 0, conditional = 0;
  uint64_t constant = 0, undefined = 0, notKept = 0, conditionalNotKept = 0;
  /// The number of graphs that can be the larger operand, and how many were
  /// used, in the order found (small ones first).
  uint32_t operands = 0, extended = 0;
  bool isComplete() const { return extended == operands; }
  double seconds = 0;
};

class Enumerator {
public:
  Enumerator(GraphStore &store, const EnumerateOptions &options);

  /// Enumerates the graphs with one more operator than the existing ones; at
  /// the last size only with a prefix of the operands (EnumerateOptions).
  void runNextSize();
  /// Enumerates all sizes; getPairs then returns the pairs of all sizes.
  void run();

  const std::vector<SizeCounts> &getCounts() const { return counts; }
  /// The pairs of the size enumerated last, in an order that does not depend on
  /// the number of threads.
  const std::vector<EqualPair> &getPairs() const { return pairs; }

private:
  /// Instantiations whose fingerprints are keys.
  enum KeyKind : uint8_t { Signed = 0, Positive = 1 };
  static constexpr unsigned numKeyKinds = 2;

  struct Record {
    Graph graph;
    Fingerprint print[numKeyKinds];
    bool has[numKeyKinds] = {false, false};
    bool isConstant = false;
    /// Renamings of its own leaves under which the graph is equal to itself in
    /// every instantiation: (a - b) - c = (a - c) - b.
    uint16_t equalToItself = 0;
  };
  struct Hit {
    uint32_t record;
    KeyKind kind;
    uint32_t next;    // the class to compare with, or none
    EqualPair pair{}; // when found
    bool isEqual = false;
    unsigned numCompared = 0;
    uint32_t last = Graph::none; // compared with
  };

  unsigned instantiationOf(KeyKind kind) const {
    return kind == Signed ? 0 : store.numInstantiations() - 1;
  }
  void registerGraph(uint32_t id, const Record &record);
  void prepareApplications(unsigned size);
  void prepareExtension(unsigned size);
  void runBatch(unsigned size, uint32_t first, uint32_t last);
  std::vector<Record> generateBatch(unsigned size, uint32_t first,
                                    uint32_t last);
  uint32_t keep(const Record &record);
  void settle(Hit &hit, const Record &record);
  void generate(unsigned size, uint32_t large, Sampler &sampler,
                std::vector<Record> &out, SizeCounts &count) const;
  Record makeRecord(const Graph &graph, bool isLast, Sampler &sampler) const;
  uint16_t findSymmetries(const Graph &graph, Sampler &sampler) const;
  /// Compares a record with the remaining classes of its key.
  void compare(Hit &hit, const Record &record, Sampler &sampler);
  std::vector<Samples> allSamples(const Graph &graph, Sampler &sampler) const;
  const std::vector<Samples> &samplesOf(uint32_t id, Sampler &sampler);
  const std::vector<uint32_t> &applicationsOf(uint32_t a, uint32_t b) const;
  unsigned unionSize(uint32_t a, Renamed b) const;

  GraphStore &store;
  EnumerateOptions options;
  std::vector<SizeCounts> counts;
  std::vector<EqualPair> pairs;
  std::vector<uint32_t> firstOfSize; // graph numbers
  /// First graph with a key, and the next one with the same.
  llvm::DenseMap<uint64_t, uint32_t> firstWithKey[numKeyKinds];
  llvm::DenseMap<uint32_t, uint32_t> nextWithKey[numKeyKinds];
  std::vector<uint8_t> keyRenaming[numKeyKinds];
  /// Operators of graphs that are extended.
  std::vector<llvm::SmallVector<Renamed, 4>> operators;
  llvm::DenseMap<uint32_t, std::vector<uint32_t>> parents;
  std::vector<std::vector<uint32_t>> unaryApplications; // by type
  llvm::DenseMap<uint64_t, std::vector<uint32_t>> binaryApplications;
  std::mutex cacheMutex;
  llvm::DenseMap<uint32_t, std::unique_ptr<std::vector<Samples>>> sampleCache;
  std::vector<std::unique_ptr<Sampler>> samplers;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_ENUMERATE_H
