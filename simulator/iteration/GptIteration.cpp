//===- GptIteration.cpp - What an iteration of a GPT takes ----------------===//

#include "simulator/iteration/GptIteration.h"
#include "simulator/cluster/OwnCollectives.h"
#include <algorithm>

using namespace mlc;
using namespace mlc::simulator;

namespace {

constexpr double half = 2; // bytes of an element

/// The kernels of one rank, by their operations and bytes.
class Kernels {
public:
  Kernels(const Cluster &cluster, const Iteration &row)
      : cluster(cluster), device(cluster.deviceOf(0)), row(row) {
    peak = device.flops("f16") * cluster.constant(Constant::MatrixEfficiency);
    if (peak == 0) // a GPU without arithmetic of 16 bits
      peak = device.flopsPerSecond.front().second.value *
             cluster.constant(Constant::MatrixEfficiency);
    bandwidth = device.memoryBytesPerSecond.value *
                cluster.constant(Constant::MemoryEfficiency);
  }

  /// A layer's forward pass, its recomputation and its backward pass, of one
  /// micro-batch.
  double layer() const;
  /// Logits and cross entropy, forward and backward.
  double logits() const;
  double memory(double bytes) const { return bytes / bandwidth; }
  double tokens() const { return double(row.microBatch) * row.sequence; }
  /// Megatron pads the vocabulary to 128 columns of each rank.
  double vocabulary() const {
    const int part = 128 * row.tensor;
    return double((row.vocabulary + part - 1) / part) * 128;
  }

private:
  /// `batch` products of rows x terms and terms x columns. Short sums and few
  /// columns reach less of the peak; bytes bound the rest.
  double matrix(double rows, double columns, double terms,
                double batch = 1) const {
    const double size = cluster.constant(Constant::MatrixHalfSize);
    const double arithmetic = 2 * batch * rows * columns * terms / peak *
                              (1 + size / columns + size / terms);
    const double bytes =
        half * batch * (rows * columns + rows * terms + terms * columns);
    return std::max(arithmetic, bytes / bandwidth);
  }
  /// A kernel takes at least its launch.
  double launched(double seconds) const {
    return std::max(seconds, cluster.constant(Constant::KernelSeconds));
  }

  const Cluster &cluster;
  const Device &device;
  const Iteration &row;
  double peak, bandwidth;
};

} // namespace

double Kernels::layer() const {
  const double t = tokens(), h = row.hidden, s = row.sequence;
  const double w = h / row.tensor; // a rank's share of the width
  const double head = h / row.heads;
  const double matrices = double(row.microBatch) * row.heads / row.tensor;
  const double products[] = {
      matrix(t, 3 * w, h),          // queries, keys, values
      matrix(s, s, head, matrices), // scores
      matrix(s, head, s, matrices), // values by scores
      matrix(t, h, w),              // projection
      matrix(t, 4 * w, h),
      matrix(t, h, 4 * w), // the two of the MLP
  };
  const double whole = t * h * half, part = t * w * half;
  const double scores = matrices * s * s * half;
  // What element-wise kernels read and write; a mask has a byte an element.
  const double bytes[] = {
      2 * whole,    // layer norm
      6 * part,     // heads split off
      2 * scores,   // scale, mask, softmax
      2.5 * scores, // dropout
      2 * part,     // heads joined
      3.5 * whole,  // bias, dropout, residual
      2 * whole,    // layer norm
      8 * part,     // bias and GELU, four times as wide
      3.5 * whole,  // bias, dropout, residual
  };
  // A product has two gradients, an element-wise kernel one.
  double seconds = 0;
  for (double product : products)
    seconds += 4 * launched(product);
  for (double moved : bytes)
    seconds += 3 * launched(memory(moved));
  return seconds;
}

double Kernels::logits() const {
  // The loss takes the logits in float32 several times: 30 bytes for each.
  const double seconds = 3 * matrix(tokens(), vocabulary(), row.hidden) +
                         memory(30 * tokens() * vocabulary());
  return row.tensor == 1 ? seconds * cluster.constant(Constant::WholeLogits)
                         : seconds;
}

/// Ranks of the first node.
static int nodeRanks(const Cluster &cluster) {
  return cluster.nodes.front().ranks;
}

/// An all-reduce of a group of `ranks` ranks at a distance of `stride`, beside
/// all groups like it.
static double allReduce(const Cluster &cluster, double bytes, int ranks,
                        int stride) {
  if (ranks == 1)
    return 0;
  const int node = nodeRanks(cluster);
  OwnCall call;
  call.bytes = bytes;
  call.ranks = ranks;
  call.inNode = std::clamp(node / stride, 1, ranks);
  call.sharing = std::max(1, std::min(stride, node));
  return ownSeconds(cluster, call) +
         cluster.constant(Constant::CollectiveSeconds);
}

/// A micro-batch's activations from a stage to the next. Each rank of a tensor
/// group sends a part, which the receivers gather.
static double transfer(const Cluster &cluster, double bytes,
                       const Iteration &row) {
  const int node = nodeRanks(cluster);
  const Level &near = cluster.levels.front();
  const double nearRate =
      near.bandwidth.at(2) * cluster.constant(Constant::NearLinks);
  double rate = nearRate;
  if (row.gpus > node) {
    const Level &far = cluster.levels.back();
    rate = far.bandwidth.at(row.gpus);
    if (far.sharedBytesPerSecond)
      rate = std::min(rate, far.sharedBytesPerSecond->value / node);
    rate *= cluster.constant(Constant::FarLinks);
  }
  const double t = std::min(row.tensor, node);
  return bytes / t / rate + bytes * (t - 1) / t / nearRate +
         cluster.engine.overheadSeconds.value +
         cluster.constant(Constant::CollectiveSeconds);
}

IterationParts simulator::predict(const Cluster &cluster,
                                  const Iteration &row) {
  const Kernels kernels(cluster, row);
  const double activations = kernels.tokens() * row.hidden * half;
  const double m = row.microBatches(), p = row.pipeline;
  const double layers = double(row.layers) / p;
  const double slower =
      row.gpus > nodeRanks(cluster) ? cluster.constant(Constant::ManyNodes) : 1;
  const double tensor = allReduce(cluster, activations, row.tensor, 1);
  const double between = p > 1 ? 2 * transfer(cluster, activations, row) : 0;
  // Two all-reduces in each of forward, recomputation and backward.
  const double compute = layers * kernels.layer() * slower;
  const double exchange = layers * 6 * tensor;
  const double logits = kernels.logits() + 2 * tensor +
                        cluster.constant(Constant::MicroBatchSeconds);
  const double stage = compute + exchange + between;
  // 1F1B: the last stage, the slowest, sets the pace.
  const double parameters =
      12.0 * row.hidden * row.hidden * layers / row.tensor +
      kernels.vocabulary() * row.hidden;
  IterationParts parts;
  parts.layers = m * compute;
  parts.tensor = m * exchange;
  parts.logits = m * logits;
  parts.transfers = m * between;
  parts.idle = (p - 1) * stage;
  parts.gradients = allReduce(cluster, parameters * half, row.data, row.tensor);
  // Adam reads and writes float32 weights and moments, gradients and weights of
  // 16 bits.
  parts.update =
      kernels.memory(20 * parameters) + cluster.constant(Constant::StepSeconds);
  return parts;
}
