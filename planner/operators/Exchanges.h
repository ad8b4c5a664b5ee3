//===- Exchanges.h - What parts of operators give each other ----*- C++ -*-===//

#ifndef MLC_PLANNER_OPERATORS_EXCHANGES_H
#define MLC_PLANNER_OPERATORS_EXCHANGES_H

#include "planner/operators/Strategy.h"
#include "simulator/cluster/Network.h"
#include <unordered_map>

namespace mlc::planner {

/// The time of an exchange that has the links to itself, and the bytes that all
/// devices together receive in it.
struct ExchangeCost {
  simulator::Time time = 0;
  int64_t bytes = 0;
};

/// Prices exchanges by the links of a cluster, whose first ranks are the
/// devices. What was priced is known the next time.
class Exchanges {
public:
  explicit Exchanges(const simulator::Network &network) : network(network) {}

  /// Brings a tensor from where it is to where it is read: each device gets
  /// what it needs and does not have. A group of devices, as a node, gets what
  /// several of them need once and passes it on inside. Each link takes its
  /// bytes over its rate; the slowest, and the latency of the outermost level,
  /// are the time. For a transfer from one device to another that is
  /// Network::transfer. The way back, sums of gradients, takes as long.
  ExchangeCost move(const std::vector<int64_t> &dims, int32_t elementBytes,
                    const Layout &from, const Layout &to);

  /// Adds up the gradients of a weight that several operators read, in the
  /// layouts given, which differ. Copies of a part are summed by the engine's
  /// own all-reduce; further layouts send their sums to the first one and get
  /// the sum back.
  ExchangeCost sum(const std::vector<int64_t> &dims, int32_t elementBytes,
                   const std::vector<Layout> &layouts);

private:
  struct Key {
    std::vector<int64_t> dims;
    int32_t elementBytes;
    Layout from, to;
    bool operator==(const Key &) const = default;
  };
  struct Hash {
    size_t operator()(const Key &key) const;
  };

  ExchangeCost priceMove(const std::vector<int64_t> &dims, int32_t elementBytes,
                         const Layout &from, const Layout &to) const;
  ExchangeCost sumCopies(double bytes, const Layout &layout) const;

  simulator::Network network;
  std::unordered_map<Key, ExchangeCost, Hash> known;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_EXCHANGES_H
