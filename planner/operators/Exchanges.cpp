//===- Exchanges.cpp - What parts of operators give each other ------------===//

#include "planner/operators/Exchanges.h"
#include "simulator/cluster/OwnCollectives.h"
#include <algorithm>
#include <map>

using namespace mlc;
using namespace mlc::planner;
using simulator::Cluster;
using simulator::Time;

namespace {

/// The parts of a tensor on the devices of a layout.
struct Parts {
  explicit Parts(const Layout &layout)
      : first(layout.first), count(layout.parts()) {
    for (int32_t i = 0; i < layout.count; ++i)
      of.push_back(layout.partOf(i));
  }

  int32_t first, count;
  std::vector<int32_t> of; ///< by device
};

/// The elements that a part of one layout and a part of another share.
class Overlaps {
public:
  Overlaps(const std::vector<int64_t> &dims, const Layout &from,
           const Layout &to)
      : columns(to.parts()) {
    for (int32_t a = 0; a < from.parts(); ++a)
      for (int32_t b = 0; b < int32_t(columns); ++b)
        table.push_back(count(dims, from, to, a, b));
  }
  double operator()(int32_t a, int32_t b) const {
    return table[size_t(a) * columns + size_t(b)];
  }

private:
  static double count(const std::vector<int64_t> &dims, const Layout &from,
                      const Layout &to, int32_t a, int32_t b) {
    double elements = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      const int64_t sizeA = dims[d] / from.degrees[d],
                    sizeB = dims[d] / to.degrees[d],
                    beginA = a % from.degrees[d] * sizeA,
                    beginB = b % to.degrees[d] * sizeB;
      a /= from.degrees[d];
      b /= to.degrees[d];
      elements *=
          double(std::max<int64_t>(0, std::min(beginA + sizeA, beginB + sizeB) -
                                          std::max(beginA, beginB)));
    }
    return elements;
  }

  size_t columns;
  std::vector<double> table;
};

/// A device, or a group of them, at one end of links of a level.
struct Group {
  int parent = 0; ///< the group of this level that it is in
  int32_t devices = 0;
  std::vector<int32_t> have, need; ///< different parts
  /// Elements that it has to get, and that others of its parent get from it.
  double in = 0, out = 0;
};
/// By their numbers.
using Groups = std::map<int, Group>;

void addOnce(std::vector<int32_t> &parts, int32_t part) {
  if (std::find(parts.begin(), parts.end(), part) == parts.end())
    parts.push_back(part);
}

/// What crosses the links between groups.
class Crossing {
public:
  Crossing(const Cluster &cluster, int level, const Parts &from,
           const Parts &to, const Overlaps &overlaps)
      : cluster(cluster), level(level), overlaps(overlaps) {
    for (size_t i = 0; i < from.of.size(); ++i)
      addOnce(groupOf(from.first + int32_t(i)).have, from.of[i]);
    for (size_t i = 0; i < to.of.size(); ++i)
      addOnce(groupOf(to.first + int32_t(i)).need, to.of[i]);
    for (size_t i = 0; i < from.of.size(); ++i)
      ++groupOf(from.first + int32_t(i)).devices;
    for (size_t i = 0; i < to.of.size(); ++i) {
      const int32_t device = to.first + int32_t(i);
      groupOf(device).devices +=
          device < from.first || device >= from.first + int32_t(from.of.size());
    }
    for (auto &[number, group] : groups)
      addTraffic(group, from.count, to.count);
  }

  Groups groups;

private:
  Group &groupOf(int32_t device) {
    Group &group =
        groups[level == 0 ? device : cluster.groupOf(level - 1, device)];
    group.parent = cluster.groupOf(level, device);
    return group;
  }

  /// An element that several have comes from all of them alike.
  void addTraffic(Group &group, int32_t fromParts, int32_t toParts) {
    for (int32_t need : group.need) {
      for (int32_t part = 0; part < fromParts; ++part)
        group.in += overlaps(part, need);
      for (int32_t have : group.have)
        group.in -= overlaps(have, need);
    }
    // Replicated tensors have the same overlap for each copy.
    group.in = std::max(group.in, 0.0);
    std::vector<bool> isWanted(size_t(toParts), false);
    for (const auto &[number, other] : groups)
      if (other.parent == group.parent && &other != &group)
        for (int32_t part : other.need)
          isWanted[size_t(part)] = true;
    for (int32_t have : group.have) {
      double holders = 0;
      for (const auto &[number, other] : groups)
        holders += other.parent == group.parent &&
                   std::find(other.have.begin(), other.have.end(), have) !=
                       other.have.end();
      for (int32_t part = 0; part < toParts; ++part)
        if (isWanted[size_t(part)])
          group.out += overlaps(have, part) / holders;
    }
  }

  const Cluster &cluster;
  int level;
  const Overlaps &overlaps;
};

} // namespace

ExchangeCost Exchanges::priceMove(const std::vector<int64_t> &dims,
                                  int32_t elementBytes, const Layout &from,
                                  const Layout &to) const {
  const Cluster &cluster = network.getCluster();
  const int32_t first = std::min(from.first, to.first),
                end = std::max(from.first + from.count, to.first + to.count);
  const Parts source(from), target(to);
  const Overlaps overlaps(dims, from, to);
  ExchangeCost cost;
  double slowest = 0, latency = 0;
  // What comes to each group of the level below from outside of the level.
  std::map<int, double> outside;
  for (int level = cluster.levelOf(first, end - 1); level >= 0; --level) {
    const simulator::Level &link = cluster.levels[level];
    const Groups groups =
        Crossing(cluster, level, source, target, overlaps).groups;
    std::map<int, int> readers, talking;
    for (const auto &[number, group] : groups) {
      readers[group.parent] += !group.need.empty();
      talking[group.parent] += group.devices;
    }
    std::map<int, double> inside;
    for (const auto &[number, group] : groups) {
      const double shared = group.need.empty()
                                ? 0
                                : outside[group.parent] / readers[group.parent];
      const double elements = std::max({0.0, group.in - shared, group.out});
      double rate = link.bandwidth.at(talking[group.parent]) * group.devices;
      if (level > 0 && link.sharedBytesPerSecond)
        rate = std::min(rate, link.sharedBytesPerSecond->value);
      slowest = std::max(slowest, elements * elementBytes / rate);
      if (elements > 0)
        latency = std::max(latency, link.latencySeconds.value);
      inside[number] = group.in;
      if (level == 0)
        cost.bytes += int64_t(group.in * elementBytes);
    }
    outside = std::move(inside);
  }
  if (cost.bytes)
    cost.time =
        simulator::sum(simulator::toTime(slowest), simulator::toTime(latency));
  return cost;
}

size_t Exchanges::Hash::operator()(const Key &key) const {
  size_t hash = size_t(key.elementBytes);
  auto add = [&](int64_t value) {
    hash = (hash ^ size_t(value)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  };
  for (int64_t dim : key.dims)
    add(dim);
  for (const Layout *layout : {&key.from, &key.to}) {
    add(layout->first);
    add(layout->count);
    for (size_t d = 0; d < key.dims.size(); ++d) {
      add(layout->degrees[d]);
      add(layout->strides[d]);
    }
  }
  return hash;
}

ExchangeCost Exchanges::move(const std::vector<int64_t> &dims,
                             int32_t elementBytes, const Layout &from,
                             const Layout &to) {
  // Most tensors are read where they are made.
  if (from == to)
    return {};
  auto [it, isNew] = known.try_emplace({dims, elementBytes, from, to});
  if (isNew)
    it->second = priceMove(dims, elementBytes, from, to);
  return it->second;
}

/// All-reduces of the parts of a weight, each among its copies.
ExchangeCost Exchanges::sumCopies(double bytes, const Layout &layout) const {
  const int32_t parts = layout.parts(), copies = layout.count / parts;
  if (copies == 1)
    return {};
  const Cluster &cluster = network.getCluster();
  int node = 0;
  while (node + 1 < int(cluster.levels.size()) &&
         cluster.levels[node + 1].medium != simulator::Medium::Network)
    ++node;
  // Of the first device's node: how many copies of a part, and how many parts.
  const int home = cluster.groupOf(node, layout.first);
  std::map<int32_t, int> inNode;
  for (int32_t i = 0; i < layout.count; ++i)
    if (cluster.groupOf(node, layout.first + i) == home)
      ++inNode[layout.partOf(i)];
  simulator::OwnCall call;
  call.bytes = bytes / parts;
  call.ranks = copies;
  for (const auto &[part, count] : inNode)
    call.inNode = std::max(call.inNode, count);
  call.sharing = copies > call.inNode ? int(inNode.size()) : 1;
  return {simulator::toTime(simulator::ownSeconds(cluster, call)),
          int64_t(2.0 * (copies - 1) * bytes)};
}

ExchangeCost Exchanges::sum(const std::vector<int64_t> &dims,
                            int32_t elementBytes,
                            const std::vector<Layout> &layouts) {
  double bytes = elementBytes;
  for (int64_t dim : dims)
    bytes *= double(dim);
  ExchangeCost cost;
  for (const Layout &layout : layouts) {
    const ExchangeCost own = sumCopies(bytes, layout);
    cost.time = simulator::sum(cost.time, own.time);
    cost.bytes += own.bytes;
    if (&layout == layouts.data())
      continue;
    const ExchangeCost there =
        move(dims, elementBytes, layouts.front(), layout);
    cost.time = simulator::sum(cost.time, 2 * there.time);
    cost.bytes += 2 * there.bytes;
  }
  return cost;
}
