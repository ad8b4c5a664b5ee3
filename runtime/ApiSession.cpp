//===- ApiSession.cpp - The C ABI over Session ----------------------------===//

#include "runtime/ApiCall.h"
#include "runtime/ApiOptions.h"
#include "runtime/ApiRanks.h"
#include "runtime/Cpu.h"
#include "runtime/Device.h"
#include "runtime/ThreadPool.h"

#include <cstddef>

using namespace mlc::runtime;
using namespace mlc::runtime::api;

mlc_ranks *mlc::runtime::makeHandle(std::shared_ptr<Ranks> ranks) {
  return new mlc_ranks{std::move(ranks), currentProcess()};
}

mlc_status mlc_session_create(mlc_artifact *artifact,
                              const mlc_session_options *options,
                              mlc_session **session) {
  if (!artifact || !session)
    return nullArgument();
  return guarded([&] {
    mlc_session_options known = MLC_SESSION_OPTIONS_INIT;
    Device *device = nullptr;
    const LoadedProgram *loaded;
    Status status = readOptions(options, offsetof(mlc_session_options, device),
                                "MLC_SESSION_OPTIONS_INIT", known);
    if (status.ok())
      status = checkFlags(known.flags, sessionFlags);
    if (const Pipeline *pipeline = artifact->pipeline())
      return Status::error(MLC_USAGE,
                           "the artifact is a pipeline of " +
                               std::to_string(pipeline->stages) +
                               " stages, and a session is of one; run it with "
                               "mlc_pipeline_create, mlc run or Model.session");
    std::shared_ptr<Ranks> ranks = known.ranks ? known.ranks->impl : nullptr;
    if (status.ok())
      status = findDevice(known.device, ranks.get(), device);
    if (status.ok())
      status = checkRanks(artifact->impl->mesh(), ranks.get());
    if (status.ok())
      status = artifact->impl->load(*device, loaded);
    if (!status.ok())
      return status;
    if (known.threads > maxThreads)
      return Status::error(MLC_USAGE, std::to_string(known.threads) +
                                          " threads are more than " +
                                          std::to_string(maxThreads));
    QueueOptions queueOptions;
    queueOptions.threads = known.threads ? known.threads : usableCores();
    queueOptions.flushDenormals = known.flags & MLC_SESSION_FLUSH_DENORMALS;
    queueOptions.stream = known.stream;
    std::unique_ptr<Queue> queue;
    status = device->open(queueOptions, queue);
    if (status.ok() && known.stream && queue->stream() != known.stream)
      status = Status::error(MLC_USAGE, "a stream is given, but device '" +
                                            std::string(device->name()) +
                                            "' has no streams");
    if (!status.ok())
      return status;
    auto common = std::make_shared<Common>();
    common->artifact = artifact->impl;
    common->flags = known.flags;
    common->process = currentProcess();
    *session = new mlc_session{
        Session(artifact->impl, artifact->entry,
                std::make_shared<SharedStates>(artifact->impl, std::move(queue),
                                               std::move(ranks)),
                known.flags),
        std::move(common)};
    return status;
  });
}

void mlc_session_destroy(mlc_session *session) {
  // After a fork its threads cannot be joined, and their memory cannot be
  // freed.
  if (!session || isOfParent(session))
    return;
  // Keeps the lock alive beyond the session.
  std::shared_ptr<Common> common = session->common;
  std::lock_guard<std::mutex> turn(common->turn);
  delete session;
}

mlc_status mlc_session_bind_input(mlc_session *session, size_t index,
                                  mlc_dtype type, size_t rank,
                                  const int64_t *dims, const void *data,
                                  mlc_space space) {
  if (!session || (!dims && rank))
    return nullArgument();
  return onSession(session, [&](Session &impl) {
    Status status = checkTensor("input", index, type, rank, space);
    return status.ok()
               ? impl.bindInput(index, DType(type), rank, dims, data, space)
               : status;
  });
}

mlc_status mlc_session_bind_output(mlc_session *session, size_t index,
                                   void *data, size_t capacity,
                                   mlc_space space) {
  if (!session)
    return nullArgument();
  return onSession(session, [&](Session &impl) {
    Status status = checkSpace(space);
    return status.ok() ? impl.bindOutput(index, data, capacity, space) : status;
  });
}

mlc_status mlc_session_set_parameter(mlc_session *session, size_t index,
                                     mlc_dtype type, size_t rank,
                                     const int64_t *dims, const void *data,
                                     mlc_space space) {
  if (!session || (!dims && rank))
    return nullArgument();
  return onSession(session, [&](Session &impl) {
    Status status = checkTensor("parameter", index, type, rank, space);
    return status.ok()
               ? impl.setParameter(index, DType(type), rank, dims, data, space)
               : status;
  });
}

mlc_status mlc_session_run(mlc_session *session) {
  if (!session)
    return nullArgument();
  return onSession(session, [](Session &impl) { return impl.run(); });
}

mlc_status mlc_session_run_async(mlc_session *session) {
  if (!session)
    return nullArgument();
  return onSession(session, [&](Session &impl) {
    session->common->async.start(impl);
    session->common->runner = session;
    return Status::success();
  });
}

mlc_status mlc_session_stream(mlc_session *session, void **stream) {
  if (!session || !stream)
    return nullArgument();
  return onSession(session, [&](Session &impl) {
    void *known = impl.stream();
    if (!known)
      return Status::error(MLC_UNSUPPORTED,
                           "the session's device has no streams");
    *stream = known;
    return Status::success();
  });
}

mlc_status mlc_session_enqueue(mlc_session *session) {
  if (!session)
    return nullArgument();
  return onSession(session, [](Session &impl) { return impl.enqueue(); });
}

mlc_status mlc_session_wait(mlc_session *session) {
  if (!session)
    return nullArgument();
  if (isOfParent(session))
    return ofParent();
  std::unique_lock<std::mutex> turn(session->common->turn, std::try_to_lock);
  if (!turn)
    return ofAnother();
  return guarded([&] {
    AsyncRun &async = session->common->async;
    return async.isPending() ? async.wait() : session->impl.wait();
  });
}

int mlc_session_is_running(const mlc_session *session) {
  return session && !isOfParent(session) && session->common->async.isRunning();
}

mlc_status mlc_session_output(mlc_session *session, size_t index,
                              mlc_tensor *tensor) {
  if (!session || !tensor)
    return nullArgument();
  return onSession(session,
                   [&](Session &impl) { return impl.output(index, *tensor); });
}

mlc_status mlc_session_parameter(mlc_session *session, size_t index,
                                 mlc_tensor *tensor) {
  if (!session || !tensor)
    return nullArgument();
  return onSession(
      session, [&](Session &impl) { return impl.parameter(index, *tensor); });
}

mlc_status mlc_session_buffer(mlc_session *session, size_t index,
                              mlc_tensor *tensor) {
  if (!session || !tensor)
    return nullArgument();
  return onSession(session,
                   [&](Session &impl) { return impl.buffer(index, *tensor); });
}

mlc_status mlc_session_memory(mlc_session *session, mlc_memory *memory) {
  if (!session || !memory)
    return nullArgument();
  return onSession(session,
                   [&](Session &impl) { return impl.memory(*memory); });
}

uint64_t mlc_session_allocation_count(const mlc_session *session) {
  if (!session || isOfParent(session))
    return 0;
  std::unique_lock<std::mutex> turn(session->common->turn, std::try_to_lock);
  return turn && !session->common->async.isPending()
             ? session->impl.allocations()
             : 0;
}

mlc_status mlc_session_step_cost(mlc_session *session, size_t index,
                                 mlc_step_cost *cost) {
  if (!session || !cost)
    return nullArgument();
  return onSession(session,
                   [&](Session &impl) { return impl.stepCost(index, *cost); });
}

mlc_status mlc_session_step_ns(mlc_session *session, size_t index,
                               uint64_t *ns) {
  if (!session || !ns)
    return nullArgument();
  return onSession(
      session, [&](Session &impl) { return impl.stepNanoseconds(index, *ns); });
}
