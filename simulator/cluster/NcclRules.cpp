//===- NcclRules.cpp - NCCL's own prediction of its collectives -----------===//
//
// Constants of NCCL v2.30.7, see NcclRules.h. Times in seconds, bandwidths in
// bytes/s; rows are protocols (LL, LL128, Simple).
//
//===----------------------------------------------------------------------===//

#include "simulator/cluster/NcclRules.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc;
using namespace mlc::simulator;
using runtime::transport::Collective;

namespace {

enum Protocol { LL, LL128, Simple, ProtocolCount };
constexpr double us = 1e-6, GB = 1e9;

constexpr double base[2][ProtocolCount] = {{6.8 * us, 14 * us, 8.4 * us},
                                           {6.6 * us, 14 * us, 8.4 * us}};
/// By tree and ring.
constexpr double nvlinkHop[2][ProtocolCount] = {{0.6 * us, 1.25 * us, 4 * us},
                                                {0.6 * us, 1.9 * us, 3.4 * us}};
constexpr double pciHop[2][ProtocolCount] = {{1 * us, 1.9 * us, 4 * us},
                                             {1 * us, 2.5 * us, 5.7 * us}};
constexpr double netHop[2][ProtocolCount] = {{5 * us, 8.5 * us, 14 * us},
                                             {2.7 * us, 4 * us, 14 * us}};
/// Columns: one node, two, four or more.
constexpr double mostLL[4][3] = {{39 * GB, 39 * GB, 20.4 * GB},
                                 {87.7 * GB, 22.5 * GB, 19 * GB},
                                 {141 * GB, 45 * GB, 35 * GB},
                                 {282 * GB, 90 * GB, 70 * GB}};
/// Most of a channel, whose own bandwidth is the second table's.
constexpr double mostTree[4][3] = {{26.5 * GB, 18.5 * GB, 10 * GB},
                                   {24 * GB, 23.6 * GB, 17.8 * GB},
                                   {38.7 * GB, 41.4 * GB, 36 * GB},
                                   {70 * GB, 42.8 * GB, 24 * GB}};
constexpr double channel[4] = {20 * GB, 20 * GB, 36.7 * GB, 40 * GB};
/// By log2(bytes) - 6.
constexpr double treeCorrection[ProtocolCount][24] = {
    {1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
     0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0},
    {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
     0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0},
    {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
     0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9}};

/// A prediction for one group.
class Rules {
public:
  Rules(EngineRules::Architecture architecture, const Ring &ring)
      : architecture(architecture), ring(ring), column(ring.nodes == 1   ? 0
                                                       : ring.nodes == 2 ? 1
                                                                         : 2),
        bus(std::min(ring.near, ring.far)) {}

  double ringTime(Protocol protocol, Collective collective,
                  double bytes) const {
    const bool isAllReduce = collective == Collective::AllReduce;
    const bool isHalf = collective == Collective::ReduceScatter ||
                        collective == Collective::AllGather;
    const int n = ring.ranks;
    const int steps = isAllReduce ? 2 * (n - 1) : isHalf ? n - 1 : n;
    const int between = (isAllReduce ? 2 : 1) * (ring.nodes - 1);
    double rate = bus;
    if (protocol == LL)
      rate = std::min(mostLL[architecture][column], bus / 2);
    else if (protocol == LL128)
      rate = 0.92 * bus;
    return base[1][protocol] + (steps - between) * inside(1, protocol) +
           between * outside(1, protocol) + bytes * steps / n / rate;
  }

  /// Of all-reduces.
  double treeTime(Protocol protocol, double bytes) const {
    double rate =
        std::min(0.92, mostTree[architecture][column] / channel[architecture]) *
        bus;
    if (protocol == LL)
      rate /= 3.8;
    else if (protocol == LL128)
      rate *= ring.nodes == 1 ? 7.0 / 9 : 120.0 / 128;
    const int index = static_cast<int>(std::log2(bytes)) - 6;
    if (index >= 0 && index < 24)
      rate *= treeCorrection[protocol][index];
    const int perNode = ring.ranks / ring.nodes;
    return base[0][protocol] +
           2 * ((perNode - 1) * inside(0, protocol) +
                std::log2(ring.nodes) * outside(0, protocol)) +
           bytes / (rate / 2);
  }

  /// LL128 needs NVLink inside of a node.
  bool has(Protocol protocol) const {
    return protocol != LL128 ||
           (ring.nodes == 1 && ring.medium == Medium::NvLink);
  }

private:
  double inside(int isRing, Protocol protocol) const {
    const double hop = ring.medium == Medium::NvLink
                           ? nvlinkHop[isRing][protocol]
                           : pciHop[isRing][protocol];
    const double overhead = protocol == Simple ? 3 * us : 1 * us;
    return ring.nodes > 1 ? std::max(hop, overhead) : hop;
  }
  double outside(int isRing, Protocol protocol) const {
    return netHop[isRing][protocol] + ring.farLatency;
  }

  EngineRules::Architecture architecture;
  const Ring &ring;
  int column;
  double bus;
};

} // namespace

double simulator::ncclSeconds(EngineRules::Architecture architecture,
                              const Ring &ring, Collective collective,
                              double bytes) {
  const Rules rules(architecture, ring);
  double best = std::numeric_limits<double>::infinity();
  for (Protocol protocol : {LL, LL128, Simple}) {
    if (!rules.has(protocol))
      continue;
    best = std::min(best, rules.ringTime(protocol, collective, bytes));
    if (collective == Collective::AllReduce)
      best = std::min(best, rules.treeTime(protocol, bytes));
  }
  return best;
}
