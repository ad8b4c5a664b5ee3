//===- Exchanges.cpp - What parts of operators give each other ------------===//

#include "planner/operators/Exchanges.h"
#include "simulator/cluster/OwnCollectives.h"
#include <algorithm>
#include <cstring>
#include <map>

using namespace mlc;
using namespace mlc::planner;
using simulator::Cluster;
using simulator::Time;

namespace {

/// The elements that a part of one layout and a part of another share.
class Overlaps {
public:
  Overlaps(const std::vector<int64_t> &dims, const Layout &from,
           const Layout &to)
      : rows(size_t(from.parts())), columns(size_t(to.parts())),
        table(rows * columns, 1) {
    // Parts are numbered with the last dim changing fastest.
    size_t insideRows = 1, insideColumns = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      const size_t a = from.degrees[d], b = to.degrees[d];
      const std::vector<double> shared = shareDim(dims[d], a, b);
      for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j)
          table[i * columns + j] *=
              shared[i / insideRows % a * b + j / insideColumns % b];
      insideRows *= a;
      insideColumns *= b;
    }
  }
  double operator()(int32_t a, int32_t b) const {
    return table[size_t(a) * columns + size_t(b)];
  }

  const size_t rows, columns;

private:
  static std::vector<double> shareDim(int64_t size, size_t a, size_t b) {
    std::vector<double> shared;
    const int64_t sizeA = size / int64_t(a), sizeB = size / int64_t(b);
    for (int64_t i = 0; i < int64_t(a); ++i)
      for (int64_t j = 0; j < int64_t(b); ++j)
        shared.push_back(double(
            std::max<int64_t>(0, std::min((i + 1) * sizeA, (j + 1) * sizeB) -
                                     std::max(i * sizeA, j * sizeB))));
    return shared;
  }

  std::vector<double> table;
};

/// A device, or a group of them, at one end of links of a level.
struct Group {
  int parent = -1; ///< the group of this level that it is in
  int32_t devices = 0;
  std::vector<int32_t> have, need; ///< different parts
  /// Elements that it has to get, and that others of its parent get from it.
  double in = 0, out = 0;
};

/// What crosses the links between the groups of a level, of which those without
/// a parent take no part.
class Crossing {
public:
  Crossing(const Cluster &cluster, int level, const Layout &from,
           const Layout &to, const Overlaps &overlaps)
      : cluster(cluster), level(level), overlaps(overlaps) {
    const int32_t first = std::min(from.first, to.first),
                  last =
                      std::max(from.first + from.count, to.first + to.count) -
                      1;
    begin = numberOf(first);
    groups.resize(size_t(numberOf(last) - begin) + 1);
    add(from, &Group::have);
    add(to, &Group::need);
    for (int32_t device = first; device <= last; ++device)
      if (isIn(from, device) || isIn(to, device))
        ++groupOf(device).devices;
    for (size_t i = 0; i < groups.size();) {
      size_t end = i + 1;
      while (end < groups.size() &&
             (groups[end].parent == groups[i].parent || groups[end].parent < 0))
        ++end;
      addTraffic(i, end);
      i = end;
    }
  }

  std::vector<Group> groups;
  int begin; ///< the number of the first one

private:
  static bool isIn(const Layout &layout, int32_t device) {
    return device >= layout.first && device < layout.first + layout.count;
  }
  int numberOf(int32_t device) const {
    return level == 0 ? device : cluster.groupOf(level - 1, device);
  }
  Group &groupOf(int32_t device) {
    Group &group = groups[size_t(numberOf(device) - begin)];
    group.parent = cluster.groupOf(level, device);
    return group;
  }

  void add(const Layout &layout, std::vector<int32_t> Group::*list) {
    for (int32_t i = 0; i < layout.count; ++i) {
      std::vector<int32_t> &parts = groupOf(layout.first + i).*list;
      const int32_t part = layout.partOf(i);
      if (std::find(parts.begin(), parts.end(), part) == parts.end())
        parts.push_back(part);
    }
  }

  /// Between the groups of one parent. An element that several have comes from
  /// all of them alike.
  void addTraffic(size_t first, size_t end) {
    std::vector<int32_t> holders(overlaps.rows, 0),
        readers(overlaps.columns, 0);
    for (size_t i = first; i < end; ++i) {
      for (int32_t part : groups[i].have)
        ++holders[size_t(part)];
      for (int32_t part : groups[i].need)
        ++readers[size_t(part)];
    }
    for (size_t i = first; i < end; ++i) {
      Group &group = groups[i];
      std::vector<int32_t> others = readers;
      for (int32_t need : group.need) {
        --others[size_t(need)];
        for (size_t part = 0; part < overlaps.rows; ++part)
          group.in += overlaps(int32_t(part), need);
        for (int32_t have : group.have)
          group.in -= overlaps(have, need);
      }
      for (int32_t have : group.have)
        for (size_t part = 0; part < overlaps.columns; ++part)
          if (others[part] > 0)
            group.out += overlaps(have, int32_t(part)) / holders[size_t(have)];
    }
  }

  const Cluster &cluster;
  int level;
  const Overlaps &overlaps;
};

} // namespace

ExchangeCost Exchanges::priceMove(const Shape &shape, const Layout &from,
                                  const Layout &to) const {
  const Cluster &cluster = network.getCluster();
  const int32_t first = std::min(from.first, to.first),
                end = std::max(from.first + from.count, to.first + to.count);
  const Overlaps overlaps(shape.dims, from, to);
  ExchangeCost cost;
  double slowest = 0, latency = 0;
  // What comes to each group of the level above from outside of it, for each of
  // its groups that read.
  std::map<int, double> outside;
  for (int level = cluster.levelOf(first, end - 1); level >= 0; --level) {
    const simulator::Level &link = cluster.levels[level];
    const Crossing crossing(cluster, level, from, to, overlaps);
    std::map<int, std::pair<int, int>> parents; ///< readers, devices
    for (const Group &group : crossing.groups) {
      parents[group.parent].first += !group.need.empty();
      parents[group.parent].second += group.devices;
    }
    std::map<int, double> inside;
    for (size_t i = 0; i < crossing.groups.size(); ++i) {
      const Group &group = crossing.groups[i];
      if (group.parent < 0)
        continue;
      const auto &[readers, devices] = parents[group.parent];
      const double shared =
          group.need.empty() ? 0 : outside[group.parent] / readers;
      const double elements = std::max({0.0, group.in - shared, group.out});
      double rate = link.bandwidth.at(devices) * group.devices;
      if (level > 0 && link.sharedBytesPerSecond)
        rate = std::min(rate, link.sharedBytesPerSecond->value);
      slowest = std::max(slowest, elements * shape.elementBytes / rate);
      if (elements > 0)
        latency = std::max(latency, link.latencySeconds.value);
      inside[crossing.begin + int(i)] = group.in;
      if (level == 0)
        cost.bytes += int64_t(group.in * shape.elementBytes);
    }
    outside = std::move(inside);
  }
  if (cost.bytes)
    cost.time =
        simulator::sum(simulator::toTime(slowest), simulator::toTime(latency));
  return cost;
}

int32_t Exchanges::addShape(const std::vector<int64_t> &dims,
                            int32_t elementBytes) {
  const Shape shape{dims, elementBytes};
  const auto known = std::find(shapes.begin(), shapes.end(), shape);
  if (known == shapes.end()) {
    shapes.push_back(shape);
    return int32_t(shapes.size()) - 1;
  }
  return int32_t(known - shapes.begin());
}

static size_t hashOf(int32_t shape, const Layout &from, const Layout &to) {
  static_assert(sizeof(Layout) == 40);
  uint64_t words[10], hash = uint64_t(uint32_t(shape));
  std::memcpy(words, &from, sizeof(from));
  std::memcpy(words + 5, &to, sizeof(to));
  for (uint64_t word : words) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  return size_t(hash);
}

void Exchanges::grow() {
  std::vector<Known> old(2 * table.size());
  std::swap(old, table);
  used = 0;
  for (const Known &one : old)
    if (one.shape >= 0) {
      bool isNew = false;
      find(one.shape, one.from, one.to, isNew).cost = one.cost;
    }
}

Exchanges::Known &Exchanges::find(int32_t shape, const Layout &from,
                                  const Layout &to, bool &isNew) {
  if (4 * used > 3 * table.size())
    grow();
  const size_t mask = table.size() - 1;
  size_t at = hashOf(shape, from, to) & mask;
  for (; table[at].shape >= 0; at = (at + 1) & mask)
    if (table[at].shape == shape && table[at].from == from &&
        table[at].to == to) {
      isNew = false;
      return table[at];
    }
  isNew = true;
  ++used;
  table[at].shape = shape;
  table[at].from = from;
  table[at].to = to;
  return table[at];
}

ExchangeCost Exchanges::move(int32_t shape, const Layout &from,
                             const Layout &to) {
  // Most tensors are read where they are made.
  if (from == to)
    return {};
  bool isNew = false;
  Known &known = find(shape, from, to, isNew);
  if (isNew)
    known.cost = priceMove(shapes[size_t(shape)], from, to);
  return known.cost;
}

/// All-reduces of the parts of a weight, each among its copies.
ExchangeCost Exchanges::sumCopies(const Shape &shape,
                                  const Layout &layout) const {
  const int32_t parts = layout.parts(), copies = layout.count / parts;
  if (copies == 1)
    return {};
  double bytes = shape.elementBytes;
  for (int64_t dim : shape.dims)
    bytes *= double(dim);
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

ExchangeCost Exchanges::sum(int32_t shape, const std::vector<Layout> &layouts) {
  ExchangeCost cost;
  for (const Layout &layout : layouts) {
    bool isNew = false;
    Known &own = find(shape, layout, layout, isNew);
    if (isNew)
      own.cost = sumCopies(shapes[size_t(shape)], layout);
    cost.time = simulator::sum(cost.time, own.cost.time);
    cost.bytes += own.cost.bytes;
    if (&layout == layouts.data())
      continue;
    const ExchangeCost there = move(shape, layouts.front(), layout);
    cost.time = simulator::sum(cost.time, 2 * there.time);
    cost.bytes += 2 * there.bytes;
  }
  return cost;
}
