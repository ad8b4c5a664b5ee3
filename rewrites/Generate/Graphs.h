//===- Graphs.h - Enumerated graphs and their fingerprints ------*- C++ -*-===//
//
// A graph is its last operator and two smaller graphs, the second one renamed:
// 24 bytes. Values are recomputed on demand; those of small graphs are kept.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_GRAPHS_H
#define MLC_REWRITES_GENERATE_GRAPHS_H

#include "rewrites/Generate/Catalog.h"
#include "rewrites/Generate/Renaming.h"
#include <memory>

namespace mlc::generate {

struct Graph {
  static constexpr uint32_t none = ~uint32_t(0);

  uint32_t application = none; // none: a leaf
  uint32_t a = none;           // a graph; of a leaf, its number
  uint32_t b = none;           // a graph, or none
  uint32_t type = 0;
  uint16_t symmetry = 1; // renamings that keep the value, as bits
  uint8_t renaming = 0;  // of b
  uint8_t numOperators = 0;
  /// Stands for its class and is extended; others are sides of pairs.
  bool isRepresentative = true;
};
static_assert(sizeof(Graph) <= 24);

/// A graph under a renaming of its leaves.
struct Renamed {
  uint32_t graph;
  uint32_t renaming;
  auto operator<=>(const Renamed &) const = default;
};

/// Hashes of a graph's value at every sample of one instantiation.
struct Samples {
  static constexpr uint64_t undefined = 0;

  bool isDefined = true;      // at every sample
  bool isConstant = true;     // one number everywhere
  bool dividesByZero = false; // somewhere
  llvm::SmallVector<uint64_t, 12> hashes;
};

/// Identifies what a graph computes, up to renaming of leaves.
struct Fingerprint {
  uint64_t key = 0;
  uint8_t renaming = 0;  // that gives the key
  uint16_t symmetry = 1; // renamings that change nothing
};

class Sampler;

/// All graphs kept so far, and access to their values.
class GraphStore {
public:
  explicit GraphStore(Catalog &catalog);

  Catalog &getCatalog() const { return catalog; }
  const Renamings &getRenamings() const { return renamings; }
  unsigned numInstantiations() const { return catalog.getNumInstantiations(); }

  const Graph &operator[](uint32_t i) const { return graphs[i]; }
  uint32_t size() const { return graphs.size(); }
  uint32_t add(const Graph &graph) {
    graphs.push_back(graph);
    return graphs.size() - 1;
  }

  /// The operators of a graph, itself last, each as a renamed graph.
  void collectOperators(Renamed root,
                        llvm::SmallVectorImpl<Renamed> &out) const;
  /// The leaves of a graph that need not be stored, as bits.
  unsigned leavesOf(const Graph &graph) const;
  /// A renamed graph under the first of all equivalent renamings.
  Renamed normalize(Renamed renamed) const {
    return {renamed.graph,
            renamings.firstOfCoset(renamed.renaming,
                                   graphs[renamed.graph].symmetry)};
  }
  Renamed rename(Renamed renamed, unsigned by) const {
    return {renamed.graph, renamings.multiply(by, renamed.renaming)};
  }

  Fingerprint fingerprint(const Samples &samples) const;
  /// The hash of the samples of a graph renamed by `r`.
  uint64_t hashUnder(const Samples &samples, unsigned r) const;

  /// Keeps the values of representatives in [first, last), in instantiation 0
  /// or in all, to avoid recomputation.
  void keepValues(uint32_t first, uint32_t last, bool inAll);

private:
  friend class Sampler;

  Catalog &catalog;
  Renamings renamings;
  std::vector<uint64_t> coefficients; // by sample
  std::vector<Graph> graphs;
  /// By instantiation and graph: all samples one after another.
  std::vector<std::vector<std::vector<Guided>>> kept;
};

/// Computes values. One for each thread.
class Sampler {
public:
  explicit Sampler(const GraphStore &store) : store(store) {}

  /// Hashes of the value of a graph that need not be stored.
  Samples sample(const Graph &graph, unsigned instantiation);
  /// All samples of a stored graph, valid until the next call.
  const Guided *values(uint32_t graph, unsigned instantiation, unsigned depth);
  const Guided *values(const Graph &graph, unsigned instantiation,
                       unsigned depth);

private:
  const GraphStore &store;
  /// By depth: the values being computed, and their graph.
  struct Level {
    std::vector<Guided> left, right, result;
    uint32_t leftGraph = Graph::none, leftInstantiation = 0;
  };
  std::vector<std::unique_ptr<Level>> levels;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_GRAPHS_H
