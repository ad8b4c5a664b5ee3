//===- ServedTraining.h - Training by a parameter server --------*- C++ -*-===//
//
// The last rank, the server, holds the weights and optimizer states and sees no
// samples. The others, the workers, compute gradients of their shard of each
// batch, push them and pull weights (runtime/transport/StaleServer.h).
//
// Without staleness the server sums the gradients of all N workers and makes
// one step. With staleness each gradient makes its own step on arrival: the
// gradient times N, at 1/N of its step's learning rate, so that N such steps
// amount to one.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_SERVEDTRAINING_H
#define MLC_RUNTIME_TRAIN_SERVEDTRAINING_H

#include "runtime/train/Loop.h"
#include "runtime/train/TrainedVector.h"
#include "runtime/transport/StaleServer.h"

namespace mlc::runtime::train {

/// The coordinates of worker `rank` of `workers`, for a session. These ranks
/// exchange nothing.
std::shared_ptr<Ranks> makeWorkerRanks(int rank, int workers);

/// This rank's side, the server's or a worker's.
class ServedTraining {
public:
  explicit ServedTraining(Ranks &world) : world(world) {}
  ~ServedTraining();

  /// Runs all steps of `loop`, which is open, with its `trainer`. All ranks
  /// call it together.
  Status run(Trainer &trainer, Loop &loop, int64_t staleness);
  /// On the server, the most steps that a worker was ahead of the slowest.
  int64_t lead() const { return server ? server->lead() : 0; }
  bool isServer() const { return server && server->isServer(); }
  /// Bytes that this rank has sent.
  uint64_t bytesSent() const;
  /// Ends all ranks after an error was reported, before Ranks::abort.
  void abort(int code);

private:
  Status open(const Trainer &trainer, int64_t staleness, int64_t clocks);
  Status work(Trainer &trainer, Loop &loop);
  Status serve(Trainer &trainer, Loop &loop, int64_t staleness);

  Ranks &world;
  /// The messages: the vector, followed by the loss and loss scale of a
  /// gradient, or by the next loss scale for weights.
  TrainedVector vector;
  std::vector<char> buffer;
  std::unique_ptr<transport::StaleServer> server;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_SERVEDTRAINING_H
