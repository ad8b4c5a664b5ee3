//===- ServedTraining.cpp - Training by a parameter server ----------------===//

#include "runtime/train/ServedTraining.h"
#include "runtime/transport/RankThread.h"

#include <map>

using namespace mlc::runtime;
using namespace mlc::runtime::train;
using transport::StaleServer;

/// Numbers after the vector.
enum : size_t { kLoss, kScale, kNumbers };

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

namespace {

class WorkerRanks : public Ranks {
public:
  WorkerRanks(int own, int workers) : own(own), workers(workers) {}

  int rank() const override { return own; }
  int size() const override { return workers; }
  Status prepare(const std::vector<MeshAxis> &, const CollectiveCall &,
                 std::unique_ptr<Prepared> &) override {
    return Status::error(MLC_USAGE, "workers exchange nothing");
  }
  void start(Prepared &, const void *const *, void *const *) override {}
  Status wait(Prepared &) override { return Status::success(); }
  bool hasFailed() const override { return false; }
  void abort(int) override {}
  uint64_t sentBytes() const override { return 0; }
  Status finish() override { return Status::success(); }

private:
  int own, workers;
};

} // namespace

std::shared_ptr<Ranks> train::makeWorkerRanks(int rank, int workers) {
  return std::make_shared<WorkerRanks>(rank, workers);
}

//===----------------------------------------------------------------------===//
// The exchange
//===----------------------------------------------------------------------===//

ServedTraining::~ServedTraining() = default;

Status ServedTraining::open(const Trainer &trainer, int64_t staleness,
                            int64_t clocks) {
  Status status = TrainedVector::of(trainer.getProgram(),
                                    trainer.getOptions().spelling, vector);
  if (!status.ok())
    return Status::error(status.code,
                         trainer.getOptions().name + ": " + status.message);
  StaleServer::Options options;
  options.elements = vector.elements() + kNumbers;
  options.type = vector.type();
  options.staleness = staleness;
  options.clocks = clocks;
  options.keepsRecords = false;
  buffer.resize(options.elements * mlc_dtype_size(options.type));
  return transport::onRankThread(world, [&](transport::Communicator &all) {
    return StaleServer::open(all, options, server);
  });
}

Status ServedTraining::run(Trainer &trainer, Loop &loop, int64_t staleness) {
  if (Status status = open(trainer, staleness, loop.stepsLeft()); !status.ok())
    return status;
  return server->isServer() ? serve(trainer, loop, staleness)
                            : work(trainer, loop);
}

uint64_t ServedTraining::bytesSent() const {
  return server ? server->counters().sent_bytes : 0;
}

void ServedTraining::abort(int code) {
  if (!server)
    return;
  // Leak both: they are in use until all ranks have ended.
  StaleServer *ending = server.release();
  [[maybe_unused]] auto *kept = new std::vector<char>(std::move(buffer));
  (void)transport::onRankThread(world, [&](transport::Communicator &all) {
    ending->abort(all, code);
    return Status::error(MLC_INTERRUPTED, "all ranks have ended");
  });
}

Status ServedTraining::work(Trainer &trainer, Loop &loop) {
  char *data = buffer.data();
  const size_t behind = vector.elements();
  while (loop.stepsLeft() > 0) {
    double loss = 0;
    Status status = loop.computeGradients(loss);
    if (status.ok())
      status = vector.read(trainer.session(), TrainedVector::Gradients, data);
    if (!status.ok())
      return status;
    vector.setNumber(data, behind + kLoss, loss);
    vector.setNumber(data, behind + kScale, trainer.scale().getScale());
    server->push(data);
    status = server->pull(data);
    if (status.ok())
      status = vector.write(trainer.session(), TrainedVector::Weights, data);
    if (!status.ok())
      return status;
    trainer.setScale(vector.number(data, behind + kScale));
    trainer.setStep(trainer.step() + 1);
  }
  return Status::success();
}

Status ServedTraining::serve(Trainer &trainer, Loop &loop, int64_t staleness) {
  const size_t behind = vector.elements();
  const int64_t before = trainer.step();
  // With staleness a step is divided into one update per worker.
  const int64_t shares = staleness ? server->workers() : 1;
  int64_t updates = before * shares, skipped = trainer.scale().getSkipped();
  std::map<int64_t, double> losses; // of steps that not all pushed yet
  auto apply = [&](char *weights, const char *gradient,
                   const StaleServer::Push &push) -> Status {
    const int64_t step = before + push.clock;
    // A sum of gradients has the scale that the server sent last.
    double scale = staleness ? vector.number(gradient, behind + kScale)
                             : trainer.scale().getScale();
    losses[step] += vector.number(gradient, behind + kLoss);
    Status status = vector.write(trainer.session(), TrainedVector::Gradients,
                                 gradient, double(shares));
    if (status.ok())
      status = trainer.applyGradients(loop.rateAt(step - 1) / double(shares),
                                      updates++, scale);
    if (status.ok() && push.slowest == push.clock) {
      trainer.setStep(step);
      status = loop.take(losses.at(step), skipped);
      losses.erase(step);
      skipped = trainer.scale().getSkipped();
    }
    if (!status.ok())
      return status;
    vector.setNumber(weights, behind + kScale, trainer.scale().getScale());
    return vector.read(trainer.session(), TrainedVector::Weights, weights);
  };
  Status failed;
  Status status =
      server->serve(buffer.data(), [&](void *weights, const void *gradient,
                                       const StaleServer::Push &push) {
        failed = apply(static_cast<char *>(weights),
                       static_cast<const char *>(gradient), push);
        return failed.ok() ? Status::success()
                           : Status::error(MLC_INTERRUPTED, "no update");
      });
  return failed.ok() ? status : failed;
}
