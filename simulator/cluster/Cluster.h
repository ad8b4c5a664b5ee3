//===- Cluster.h - Machines and the links between them ----------*- C++ -*-===//
//
// A cluster is nodes with devices, one for each rank, and levels of links: the
// first connects the ranks of a node, the last connects all. docs/Clusters.md
// describes the file (ClusterFile.h) and how times follow.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_CLUSTER_CLUSTER_H
#define MLC_SIMULATOR_CLUSTER_CLUSTER_H

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlc::simulator {

/// A number of a file, with where it comes from.
struct Number {
  double value = 0;
  std::string source;
};

/// What one rank sends through a link in a second, while it receives as much.
/// It may depend on how many ranks of the link exchange with each other (on a
/// V100's mesh of NVLinks, two ranks have one link between them, eight use
/// all): the last entry with at most that many counts, or the first.
struct Bandwidth {
  struct Entry {
    int ranks;
    double bytesPerSecond;
  };
  std::vector<Entry> entries; ///< at least one, ascending
  std::string source;

  double at(int ranks) const;
};

struct Device {
  std::string name;   ///< in this file
  std::string target; ///< a target's name, as gpu:v100, or empty
  /// Peaks by element type ("f16"), multiply-adds count two.
  std::vector<std::pair<std::string, Number>> flopsPerSecond;
  Number memoryBytes, memoryBytesPerSecond;
  /// Bytes of received elements that a rank adds, or copies, in a second;
  /// without it, sums cost nothing.
  std::optional<Number> sumBytesPerSecond;

  /// The peak for `type`; 0 if the file has none.
  double flops(const std::string &type) const;
};

/// `count` nodes with `ranks` devices each.
struct Nodes {
  int count = 1, device = 0, ranks = 1;
};

/// What a link is made of; NCCL has a hop's latency for each.
enum class Medium : uint8_t { NvLink, Pcie, Network, Memory };
inline constexpr std::array<const char *, 4> mediumNames = {
    "nvlink", "pcie", "network", "memory"};

struct Level {
  std::string name;
  Medium medium = Medium::Network;
  /// It connects so many consecutive ranks.
  int ranks = 1;
  Number latencySeconds;
  Bandwidth bandwidth;
  /// Above the first level: what all ranks of a group of the level below send
  /// to other groups together, and what they receive.
  std::optional<Number> sharedBytesPerSecond;
  /// It is the link of --link-bandwidth: only sends take time on it, and a
  /// message travels whether or not its receive has begun.
  bool throttled = false;
};

/// The collectives that an engine has itself (Algorithm::Own).
struct EngineRules {
  enum Rules : uint8_t { Ring, Nccl };
  Rules rules = Ring;
  /// NCCL's row of constants.
  enum Architecture : uint8_t { Volta, Ampere, Hopper, Blackwell };
  Architecture architecture = Ampere;
  /// Added to each call.
  Number overheadSeconds;
};
inline constexpr std::array<const char *, 2> rulesNames = {"ring", "nccl"};
inline constexpr std::array<const char *, 4> architectureNames = {
    "volta", "ampere", "hopper", "blackwell"};

/// Constants of a training iteration.
enum class Constant : uint8_t {
#define MLC_CONSTANT(ID, KEY, START, HELD, MEANING) ID,
#include "simulator/cluster/Constants.def"
};
struct ConstantRow {
  const char *key;
  double start, held;
  const char *meaning;
};
inline constexpr ConstantRow constantRows[] = {
#define MLC_CONSTANT(ID, KEY, START, HELD, MEANING) {KEY, START, HELD, MEANING},
#include "simulator/cluster/Constants.def"
};
inline constexpr size_t constantCount = std::size(constantRows);

struct Cluster {
  std::string name, description;
  std::vector<Device> devices;
  std::vector<Nodes> nodes;
  std::vector<Level> levels; ///< innermost first, at least one
  EngineRules engine;
  /// Without a source where the file has none.
  std::array<Number, constantCount> training;

  Cluster();

  int countRanks() const;
  const Device &deviceOf(int rank) const;
  double constant(Constant which) const {
    return training[static_cast<size_t>(which)].value;
  }
  /// The innermost level that connects two ranks.
  int levelOf(int from, int to) const;
  /// Which group of a level a rank is in.
  int groupOf(int level, int rank) const { return rank / levels[level].ranks; }
  /// The last level before those of networks: it connects a node.
  int nodeLevel() const;
};

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_CLUSTER_H
