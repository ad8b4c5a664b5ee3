//===- ServedTraining.cpp - Training by a parameter server ----------------===//

#include "tools/mlc/ServedTraining.h"
#include "runtime/transport/RankThread.h"
#include "tools/mlc/Failure.h"

using namespace mlc::cli;
namespace runtime = mlc::runtime;
namespace transport = mlc::runtime::transport;
using transport::StaleServer;

/// Behind the vector; a gradient's, then weights'.
enum : size_t { kLoss, kScale, kNumbers };

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

namespace {

class WorkerRanks : public runtime::Ranks {
public:
  WorkerRanks(int own, int workers) : own(own), workers(workers) {}

  int rank() const override { return own; }
  int size() const override { return workers; }
  runtime::Status prepare(const std::vector<runtime::MeshAxis> &,
                          const runtime::CollectiveCall &,
                          std::unique_ptr<Prepared> &) override {
    return runtime::Status::error(MLC_USAGE, "workers exchange nothing");
  }
  void start(Prepared &, const void *const *, void *const *) override {}
  runtime::Status wait(Prepared &) override {
    return runtime::Status::success();
  }
  bool hasFailed() const override { return false; }
  void abort(int) override {}
  uint64_t sentBytes() const override { return 0; }
  runtime::Status finish() override { return runtime::Status::success(); }

private:
  int own, workers;
};

} // namespace

std::shared_ptr<runtime::Ranks> mlc::cli::makeWorkerRanks(int rank,
                                                          int workers) {
  return std::make_shared<WorkerRanks>(rank, workers);
}

//===----------------------------------------------------------------------===//
// The exchange
//===----------------------------------------------------------------------===//

ServedTraining::~ServedTraining() = default;

llvm::Error ServedTraining::open(const Trainer &trainer, int64_t staleness,
                                 int64_t clocks) {
  auto found = TrainedVector::of(trainer.model(), trainer.training());
  if (!found)
    return found.takeError();
  vector = std::move(*found);
  StaleServer::Options options;
  options.elements = vector.elements() + kNumbers;
  options.type = vector.type();
  options.staleness = staleness;
  options.clocks = clocks;
  options.keepsRecords = false;
  buffer.resize(options.elements * mlc_dtype_size(options.type));
  auto status =
      transport::onRankThread(world, [&](transport::Communicator &all) {
        return StaleServer::open(all, options, server);
      });
  return status.ok() ? llvm::Error::success() : statusFailure(status);
}

llvm::Error ServedTraining::run(Trainer &trainer, TrainingLoop &loop,
                                const LearningRate &rate, int64_t staleness) {
  if (llvm::Error error = open(trainer, staleness, loop.stepsLeft()))
    return error;
  return server->isServer() ? serve(trainer, loop, rate, staleness)
                            : work(trainer, loop);
}

uint64_t ServedTraining::bytesSent() const {
  return server ? server->counters().sent_bytes : 0;
}

void ServedTraining::abort(int code) {
  if (!server)
    return;
  // Both are in use until all ranks have ended.
  StaleServer *ending = server.release();
  [[maybe_unused]] auto *kept = new std::vector<char>(std::move(buffer));
  (void)transport::onRankThread(world, [&](transport::Communicator &all) {
    ending->abort(all, code);
    return runtime::Status::error(MLC_INTERRUPTED, "all ranks have ended");
  });
}

llvm::Error ServedTraining::work(Trainer &trainer, TrainingLoop &loop) {
  char *data = buffer.data();
  const size_t behind = vector.elements();
  while (loop.stepsLeft() > 0) {
    auto loss = loop.computeGradients();
    if (!loss)
      return loss.takeError();
    if (llvm::Error error =
            vector.read(trainer.session(), TrainedVector::Gradients, data))
      return error;
    vector.setNumber(data, behind + kLoss, *loss);
    vector.setNumber(data, behind + kScale, trainer.scale().getScale());
    server->push(data);
    if (auto status = server->pull(data); !status.ok())
      return statusFailure(status);
    if (llvm::Error error =
            vector.write(trainer.session(), TrainedVector::Weights, data))
      return error;
    trainer.setScale(vector.number(data, behind + kScale));
    trainer.setStep(trainer.step() + 1);
  }
  return llvm::Error::success();
}

llvm::Error ServedTraining::serve(Trainer &trainer, TrainingLoop &loop,
                                  const LearningRate &rate, int64_t staleness) {
  const size_t behind = vector.elements();
  const int64_t before = trainer.step();
  // Of a gradient; what one rank does is done once a step, and not by each.
  const int64_t shares = staleness ? server->workers() : 1;
  int64_t updates = before * shares, skipped = trainer.scale().getSkipped();
  std::map<int64_t, double> losses; // of steps that not all have pushed
  auto apply = [&](char *weights, const char *gradient,
                   const StaleServer::Push &push) -> llvm::Error {
    const int64_t step = before + push.clock;
    // The sum of several gradients was scaled as the server last said.
    double scale = staleness ? vector.number(gradient, behind + kScale)
                             : trainer.scale().getScale();
    losses[step] += vector.number(gradient, behind + kLoss);
    if (llvm::Error error =
            vector.write(trainer.session(), TrainedVector::Gradients, gradient,
                         double(shares)))
      return error;
    if (llvm::Error error = trainer.applyGradients(
            rate.at(step - 1) / double(shares), updates++, scale))
      return error;
    if (push.slowest == push.clock) {
      trainer.setStep(step);
      if (llvm::Error error = loop.take(losses.at(step), skipped))
        return error;
      losses.erase(step);
      skipped = trainer.scale().getSkipped();
    }
    vector.setNumber(weights, behind + kScale, trainer.scale().getScale());
    return vector.read(trainer.session(), TrainedVector::Weights, weights);
  };
  llvm::Error failed = llvm::Error::success();
  auto status =
      server->serve(buffer.data(), [&](void *weights, const void *gradient,
                                       const StaleServer::Push &push) {
        llvm::ErrorAsOutParameter checked(failed);
        failed = apply(static_cast<char *>(weights),
                       static_cast<const char *>(gradient), push);
        return failed ? runtime::Status::error(MLC_INTERRUPTED, "no update")
                      : runtime::Status::success();
      });
  if (failed)
    return failed;
  if (!status.ok())
    return statusFailure(status);
  llvm::outs() << "staleness: at most " << server->lead() << " steps\n";
  return llvm::Error::success();
}
