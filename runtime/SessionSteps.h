//===- SessionSteps.h - What each kind of step does -------------*- C++ -*-===//

#ifndef MLC_RUNTIME_SESSIONSTEPS_H
#define MLC_RUNTIME_SESSIONSTEPS_H

#include "runtime/Session.h"

namespace mlc::runtime {

/// An overload of prepare and of run for every kind.
struct Session::Steps {
  Session &session;
  const Step &step;
  EpochPlan &plan;

  // Sets in `ready` what a run needs of the present sizes.
  Status prepare(const LaunchStep &launch, ReadyStep &ready);
  Status prepare(const GridLaunchStep &launch, ReadyStep &ready);
  Status prepare(const LibraryStep &, ReadyStep &ready);
  Status prepare(const BindStep &, ReadyStep &) { return Status::success(); }
  Status prepare(const AssignStep &, ReadyStep &ready);
  Status prepare(const StartStep &start, ReadyStep &ready);
  Status prepare(const WaitStep &, ReadyStep &) { return Status::success(); }

  // Hands the step's work to the queue.
  Status run(const LaunchStep &launch, const ReadyStep &ready);
  Status run(const GridLaunchStep &launch, const ReadyStep &ready);
  Status run(const LibraryStep &, const ReadyStep &ready);
  Status run(const BindStep &bind, const ReadyStep &ready);
  Status run(const AssignStep &, const ReadyStep &ready);
  Status run(const StartStep &start, const ReadyStep &ready);
  Status run(const WaitStep &wait, const ReadyStep &ready);

  Scratch scratch() const {
    return {session.scratch.data(), session.scratchStride};
  }
  Launch launchOf(KernelId kernel, const ReadyStep &ready) const;
  LibraryCall libraryCall(const ReadyStep &ready) const;
  Status planMessages(const StartStep &start, const ReadyStep &ready,
                      CollectiveCall &call, PlannedCollective &planned);
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_SESSIONSTEPS_H
