//===- ServedTraining.h - Training by a parameter server --------*- C++ -*-===//
//
// The last rank, the server, has weights and what the optimizer keeps, and sees
// no samples; the others, the workers, compute gradients of their parts of each
// batch, push them and pull weights (runtime/transport/StaleServer.h).
//
// Without staleness the server adds up the gradients of all workers and makes
// the step of one rank. Else each gradient makes a step of its own as it comes,
// at the rate of the step that it belongs to over the number of workers, as
// many times larger: of N workers N such steps come to one.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_SERVEDTRAINING_H
#define MLC_RUNTIME_TRAIN_SERVEDTRAINING_H

#include "runtime/train/Loop.h"
#include "runtime/train/TrainedVector.h"
#include "runtime/transport/StaleServer.h"

namespace mlc::runtime::train {

/// The coordinates of worker `rank` of `workers`, as a session asks for them.
/// There is nothing that these exchange.
std::shared_ptr<Ranks> makeWorkerRanks(int rank, int workers);

/// This rank's end, the server's or a worker's.
class ServedTraining {
public:
  explicit ServedTraining(Ranks &world) : world(world) {}
  ~ServedTraining();

  /// All steps of `loop`, which is open, with its `trainer`. All ranks call it
  /// together.
  Status run(Trainer &trainer, Loop &loop, int64_t staleness);
  /// How many steps a worker was ahead of the slowest at most; the server's.
  int64_t lead() const { return server ? server->lead() : 0; }
  bool isServer() const { return server && server->isServer(); }
  /// Bytes that this rank has sent.
  uint64_t bytesSent() const;
  /// After an error that has been told, before Ranks::abort: ends all ranks.
  void abort(int code);

private:
  Status open(const Trainer &trainer, int64_t staleness, int64_t clocks);
  Status work(Trainer &trainer, Loop &loop);
  Status serve(Trainer &trainer, Loop &loop, int64_t staleness);

  Ranks &world;
  /// What is exchanged: the vector, and behind it of a gradient its loss and
  /// what it was scaled by, of weights the scale that is next.
  TrainedVector vector;
  std::vector<char> buffer;
  std::unique_ptr<transport::StaleServer> server;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_SERVEDTRAINING_H
