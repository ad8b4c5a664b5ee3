//===- Cluster.cpp - Machines and the links between them ------------------===//

#include "simulator/cluster/Cluster.h"

using namespace mlc;
using namespace mlc::simulator;

double Bandwidth::at(int ranks) const {
  double found = entries.front().bytesPerSecond;
  for (const Entry &entry : entries)
    if (entry.ranks <= ranks)
      found = entry.bytesPerSecond;
  return found;
}

double Device::flops(const std::string &type) const {
  for (const auto &[name, number] : flopsPerSecond)
    if (name == type)
      return number.value;
  return 0;
}

Cluster::Cluster() {
  for (size_t i = 0; i < constantCount; ++i)
    training[i].value = constantRows[i].start;
}

int Cluster::countRanks() const {
  int ranks = 0;
  for (const Nodes &row : nodes)
    ranks += row.count * row.ranks;
  return ranks;
}

const Device &Cluster::deviceOf(int rank) const {
  for (const Nodes &row : nodes) {
    if (rank < row.count * row.ranks)
      return devices[row.device];
    rank -= row.count * row.ranks;
  }
  return devices[nodes.back().device];
}

int Cluster::nodeLevel() const {
  int level = 0;
  while (level + 1 < static_cast<int>(levels.size()) &&
         levels[level + 1].medium != Medium::Network)
    ++level;
  return level;
}

int Cluster::levelOf(int from, int to) const {
  int level = 0;
  while (groupOf(level, from) != groupOf(level, to))
    ++level;
  return level;
}
