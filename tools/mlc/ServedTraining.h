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

#ifndef MLC_TOOLS_MLC_SERVEDTRAINING_H
#define MLC_TOOLS_MLC_SERVEDTRAINING_H

#include "runtime/transport/StaleServer.h"
#include "tools/mlc/TrainedVector.h"
#include "tools/mlc/TrainingLoop.h"

namespace mlc::cli {

/// The coordinates of worker `rank` of `workers`, as a session asks for them.
/// There is nothing that these exchange.
std::shared_ptr<runtime::Ranks> makeWorkerRanks(int rank, int workers);

/// This rank's end, the server's or a worker's.
class ServedTraining {
public:
  explicit ServedTraining(runtime::Ranks &world) : world(world) {}
  ~ServedTraining();

  /// All steps of `loop`, which is open, with its `trainer`. All ranks call it
  /// together.
  llvm::Error run(Trainer &trainer, TrainingLoop &loop,
                  const LearningRate &rate, int64_t staleness);
  /// Bytes that this rank has sent.
  uint64_t bytesSent() const;
  /// After an error that has been told, before Ranks::abort: ends all ranks.
  void abort(int code);

private:
  llvm::Error open(const Trainer &trainer, int64_t staleness, int64_t clocks);
  llvm::Error work(Trainer &trainer, TrainingLoop &loop);
  llvm::Error serve(Trainer &trainer, TrainingLoop &loop,
                    const LearningRate &rate, int64_t staleness);

  runtime::Ranks &world;
  /// What is exchanged: the vector, and behind it of a gradient its loss and
  /// what it was scaled by, of weights the scale that is next.
  TrainedVector vector;
  std::vector<char> buffer;
  std::unique_ptr<runtime::transport::StaleServer> server;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_SERVEDTRAINING_H
