//===- Links.h - Transfers that share links ---------------------*- C++ -*-===//

#ifndef MLC_SIMULATOR_CLUSTER_LINKS_H
#define MLC_SIMULATOR_CLUSTER_LINKS_H

#include "simulator/cluster/Cluster.h"
#include "simulator/cluster/Time.h"
#include <map>

namespace mlc::simulator {

/// The transfers under way and what each gets of the links. Time moves on by
/// `advance`.
class Links {
public:
  /// `talking[level]` ranks exchange in each link of a level, for bandwidths
  /// that depend on it.
  Links(const Cluster &cluster, std::vector<int> talking)
      : cluster(cluster), talking(std::move(talking)) {}

  /// Begins a transfer now; `id` names it when it ends. `most` bounds its
  /// bytes per second (infinity: only links do).
  void begin(int id, int from, int to, double bytes, double most);
  /// Adds bytes to a transfer that is under way.
  void extend(int id, double bytes);
  bool isEmpty() const { return flows.empty(); }
  /// When the next transfer ends, if none begins before.
  Time nextEnd();
  /// Moves on to `time`, not behind nextEnd(), and gives the transfers that
  /// have ended, in the order in which they began.
  std::vector<int> advance(Time time);

  /// The bytes per second of a rank's link of a level.
  double bandwidth(int level) const {
    return cluster.levels[level].bandwidth.at(talking[level]);
  }

private:
  struct Flow {
    int id;
    double left, rate, most;
    std::vector<int> lines;
  };
  struct Line {
    double capacity;
    double free;  // while shares are given out
    int open = 0; // transfers without a share yet
  };
  enum Kind { Out, In, SharedOut, SharedIn };
  int line(int level, Kind kind, int index, double capacity);
  void share();

  const Cluster &cluster;
  std::vector<int> talking;
  std::vector<Flow> flows;
  std::vector<Line> lines;
  std::map<std::array<int, 3>, int> indices;
  Time now = 0;
  bool changed = false;
};

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_LINKS_H
