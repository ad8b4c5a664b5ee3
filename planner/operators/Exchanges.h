//===- Exchanges.h - What parts of operators give each other ----*- C++ -*-===//

#ifndef MLC_PLANNER_OPERATORS_EXCHANGES_H
#define MLC_PLANNER_OPERATORS_EXCHANGES_H

#include "planner/operators/Strategy.h"
#include "simulator/cluster/Network.h"

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
  explicit Exchanges(const simulator::Network &network)
      : network(network), table(1 << 10) {}

  /// The number of a tensor's size for the functions below; tensors of one size
  /// have one number. There are at most kMostTensorDims dims.
  int32_t addShape(const std::vector<int64_t> &dims, int32_t elementBytes);

  /// Brings a tensor from where it is to where it is read: each device gets
  /// what it needs and does not have. A group of devices, as a node, gets what
  /// several of them need once and passes it on inside. Each link takes its
  /// bytes over its rate; the slowest, and the longest latency, are the time.
  /// For a transfer from one device to another that is Network::transfer. The
  /// way back, sums of gradients, takes as long.
  ExchangeCost move(int32_t shape, const Layout &from, const Layout &to);

  /// Adds up the gradients of a weight that several operators read, in the
  /// layouts given, which differ. Copies of a part are summed by the engine's
  /// own all-reduce; further layouts send their sums to the first one and get
  /// the sum back.
  ExchangeCost sum(int32_t shape, const std::vector<Layout> &layouts);

private:
  struct Shape {
    std::vector<int64_t> dims;
    int32_t elementBytes;
    bool operator==(const Shape &) const = default;
  };
  /// An exchange that was priced; -1: the place is free. Of sums of copies both
  /// layouts are the same.
  struct Known {
    int32_t shape = -1;
    Layout from, to;
    ExchangeCost cost;
  };

  Known &find(int32_t shape, const Layout &from, const Layout &to, bool &isNew);
  void grow();
  ExchangeCost priceMove(const Shape &shape, const Layout &from,
                         const Layout &to) const;
  ExchangeCost sumCopies(const Shape &shape, const Layout &layout) const;

  simulator::Network network;
  std::vector<Shape> shapes;
  std::vector<Known> table; ///< open addressing, a power of two
  size_t used = 0;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_EXCHANGES_H
