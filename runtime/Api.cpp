//===- Api.cpp - The C ABI over Artifact and Session ----------------------===//

#include "runtime/ApiOptions.h"
#include "runtime/Artifact.h"
#include "runtime/AsyncRun.h"
#include "runtime/Cpu.h"
#include "runtime/Device.h"
#include "runtime/Exit.h"
#include "runtime/Session.h"
#include "runtime/Text.h"
#include "runtime/Version.h"
#include "runtime/mlc_runtime.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <pthread.h>
#include <system_error>

using namespace mlc::runtime;

/// mlc_status is the list of exit codes less those that no run ends with.
static constexpr bool operator==(mlc_status status, mlc::Exit code) {
  return static_cast<int>(status) == static_cast<int>(code);
}
static_assert(MLC_OK == mlc::Exit::Done &&
              MLC_INTERNAL == mlc::Exit::Internal &&
              MLC_USAGE == mlc::Exit::Usage &&
              MLC_BAD_FILE == mlc::Exit::BadFile &&
              MLC_UNSUPPORTED == mlc::Exit::Unsupported &&
              MLC_DEVICE == mlc::Exit::Device &&
              MLC_RESOURCES == mlc::Exit::Resources &&
              MLC_INTERRUPTED == mlc::Exit::Interrupted);

struct mlc_artifact {
  std::shared_ptr<const Artifact> impl;
};
struct mlc_session {
  Session impl;
  AsyncRun async; // ends before the session does
  unsigned process;
};

namespace {

/// How many forks lie between this process and the one that loaded the library.
unsigned currentProcess() {
  static unsigned forks = 0;
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { ++forks; });
  (void)registered;
  return forks;
}

/// The calling thread's last message. A fixed array, so that reporting "out of
/// memory" needs none.
thread_local char lastError[2048] = "";

mlc_status report(mlc_status code, const char *message) {
  size_t i = 0;
  for (; message[i] && i + 1 < sizeof(lastError); ++i)
    lastError[i] = message[i];
  lastError[i] = 0;
  return code;
}

/// Runs `fn`, which returns a Status; no exception passes.
template <typename Fn> mlc_status guarded(Fn fn) {
  try {
    Status status = fn();
    if (!status.ok())
      return report(status.code, printable(status.message).c_str());
    return MLC_OK;
  } catch (const std::bad_alloc &) {
    return report(MLC_RESOURCES, "out of memory");
  } catch (const std::system_error &e) {
    return report(MLC_RESOURCES, e.what());
  } catch (const std::exception &e) {
    return report(MLC_INTERNAL, e.what());
  }
}

mlc_status noSuch(const char *what, size_t index, size_t count) {
  return guarded([&] {
    return Status::error(MLC_USAGE, std::string("there is no ") + what + " " +
                                        std::to_string(index) + "; there are " +
                                        std::to_string(count));
  });
}

/// A session's threads do not follow a fork.
bool isOfParent(const mlc_session *session) {
  return session->process != currentProcess();
}
mlc_status ofParent() {
  return report(MLC_USAGE, "the session was made before this process was "
                           "forked, without its threads; make one here");
}

/// Runs `fn` on a session's insides unless a run is under way there.
template <typename Fn> mlc_status onSession(mlc_session *session, Fn fn) {
  if (isOfParent(session))
    return ofParent();
  if (session->async.isPending())
    return report(MLC_USAGE, "a run of the session is under way; call "
                             "mlc_session_wait first");
  return guarded([&] { return fn(session->impl); });
}

Status checkSpace(mlc_space space) {
  if (space == MLC_SPACE_HOST || space == MLC_SPACE_DEVICE)
    return Status::success();
  return Status::error(MLC_USAGE,
                       std::to_string(int(space)) + " is no mlc_space");
}

/// What can be wrong with any tensor of the caller's.
Status checkTensor(const char *what, size_t index, mlc_dtype type, size_t rank,
                   mlc_space space) {
  if (unsigned(type) >= numDTypes || rank > MLC_MAX_RANK)
    return Status::error(MLC_USAGE, std::string(what) + " " +
                                        std::to_string(index) +
                                        ": unknown type or rank above " +
                                        std::to_string(MLC_MAX_RANK));
  return checkSpace(space);
}

mlc_status nullArgument() {
  return report(MLC_USAGE, "a required argument is NULL");
}

/// The program of a getter's artifact; that of NULL has nothing in it.
const Program &programOf(const mlc_artifact *artifact) {
  static const Program none;
  return artifact ? artifact->impl->program() : none;
}

void fill(mlc_port &port, const Program &program, const Port &from,
          const Artifact::PortText &text) {
  port.name = from.name.c_str();
  port.type = static_cast<mlc_dtype>(program.buffers[from.buffer].type);
  port.rank = text.dims.size();
  port.dims = text.dims.data();
  port.dim_texts = text.pointers.data();
}

} // namespace

const char *mlc_last_error(void) { return lastError; }
const char *mlc_version(void) { return MLC_VERSION; }

size_t mlc_dtype_size(mlc_dtype type) {
  return unsigned(type) < numDTypes ? byteSize(DType(type)) : 0;
}
const char *mlc_dtype_name(mlc_dtype type) {
  return unsigned(type) < numDTypes ? name(DType(type)) : "?";
}

size_t mlc_device_count(void) { return devices().size(); }
const char *mlc_device_name(size_t index) {
  return index < devices().size() ? devices()[index]->name() : nullptr;
}

mlc_status mlc_artifact_open(const char *path, uint32_t flags,
                             mlc_artifact **artifact) {
  if (!path || !artifact)
    return nullArgument();
  return guarded([&] {
    auto result = std::make_unique<mlc_artifact>();
    Status status = checkFlags(flags, openFlags);
    if (status.ok())
      status = Artifact::open(path, flags, result->impl);
    if (status.ok())
      *artifact = result.release();
    return status;
  });
}

mlc_status mlc_artifact_open_memory(const void *data, size_t size,
                                    uint32_t flags, mlc_artifact **artifact) {
  if (!data || !artifact)
    return nullArgument();
  return guarded([&] {
    auto result = std::make_unique<mlc_artifact>();
    Status status = checkFlags(flags, openFlags);
    if (status.ok())
      status = Artifact::openMemory(data, size, flags, result->impl);
    if (status.ok())
      *artifact = result.release();
    return status;
  });
}

void mlc_artifact_close(mlc_artifact *artifact) { delete artifact; }

const char *mlc_artifact_manifest(const mlc_artifact *artifact, size_t *size) {
  if (size)
    *size = artifact ? artifact->impl->manifest().size() : 0;
  return artifact ? artifact->impl->manifest().c_str() : "";
}

size_t mlc_artifact_metadata_count(const mlc_artifact *artifact) {
  return programOf(artifact).metadata.size();
}

mlc_status mlc_artifact_metadata_at(const mlc_artifact *artifact, size_t index,
                                    const char **key, const char **value) {
  const auto &metadata = programOf(artifact).metadata;
  if (!artifact || !key || !value)
    return nullArgument();
  if (index >= metadata.size())
    return noSuch("metadata entry", index, metadata.size());
  *key = metadata[index].first.c_str();
  *value = metadata[index].second.c_str();
  return MLC_OK;
}

const char *mlc_artifact_metadata(const mlc_artifact *artifact,
                                  const char *key) {
  if (key)
    for (const auto &entry : programOf(artifact).metadata)
      if (entry.first == key)
        return entry.second.c_str();
  return nullptr;
}

size_t mlc_artifact_input_count(const mlc_artifact *artifact) {
  return programOf(artifact).inputs.size();
}

size_t mlc_artifact_output_count(const mlc_artifact *artifact) {
  return programOf(artifact).outputs.size();
}

mlc_status mlc_artifact_input(const mlc_artifact *artifact, size_t index,
                              mlc_port *port) {
  const Program &program = programOf(artifact);
  if (!artifact || !port)
    return nullArgument();
  if (index >= program.inputs.size())
    return noSuch("input", index, program.inputs.size());
  fill(*port, program, program.inputs[index], artifact->impl->inputText(index));
  return MLC_OK;
}

mlc_status mlc_artifact_output(const mlc_artifact *artifact, size_t index,
                               mlc_port *port) {
  const Program &program = programOf(artifact);
  if (!artifact || !port)
    return nullArgument();
  if (index >= program.outputs.size())
    return noSuch("output", index, program.outputs.size());
  fill(*port, program, program.outputs[index],
       artifact->impl->outputText(index));
  return MLC_OK;
}

size_t mlc_artifact_parameter_count(const mlc_artifact *artifact) {
  return programOf(artifact).parameters.size();
}

mlc_status mlc_artifact_parameter(const mlc_artifact *artifact, size_t index,
                                  mlc_port *port) {
  const Program &program = programOf(artifact);
  if (!artifact || !port)
    return nullArgument();
  if (index >= program.parameters.size())
    return noSuch("parameter", index, program.parameters.size());
  fill(*port, program, program.parameters[index],
       artifact->impl->parameterText(index));
  return MLC_OK;
}

size_t mlc_artifact_step_count(const mlc_artifact *artifact) {
  return programOf(artifact).steps.size();
}

mlc_status mlc_artifact_step(const mlc_artifact *artifact, size_t index,
                             mlc_step *step) {
  const Program &program = programOf(artifact);
  if (!artifact || !step)
    return nullArgument();
  if (index >= program.steps.size())
    return noSuch("step", index, program.steps.size());
  const std::vector<const char *> &nodes = artifact->impl->stepNodes(index);
  step->name = program.steps[index].name.c_str();
  step->kind = kindName(program.steps[index]);
  step->node_count = nodes.size();
  step->nodes = nodes.data();
  step->text = artifact->impl->stepText(index).c_str();
  return MLC_OK;
}

uint64_t mlc_artifact_weight_bytes(const mlc_artifact *artifact) {
  return artifact ? artifact->impl->weightsSize() : 0;
}

uint64_t mlc_artifact_code_bytes(const mlc_artifact *artifact) {
  uint64_t bytes = 0;
  if (artifact)
    for (const CodeImage &image : artifact->impl->images())
      bytes += image.size;
  return bytes;
}

size_t mlc_artifact_image_count(const mlc_artifact *artifact) {
  return artifact ? artifact->impl->images().size() : 0;
}

mlc_status mlc_artifact_image(const mlc_artifact *artifact, size_t index,
                              mlc_image *image) {
  if (!artifact || !image)
    return nullArgument();
  const std::vector<CodeImage> &images = artifact->impl->images();
  if (index >= images.size())
    return noSuch("code image", index, images.size());
  image->kind = name(images[index].kind);
  image->target = images[index].target.c_str();
  image->bytes = images[index].size;
  image->data = images[index].data;
  return MLC_OK;
}

size_t mlc_artifact_buffer_count(const mlc_artifact *artifact) {
  return programOf(artifact).buffers.size();
}

const char *mlc_artifact_buffer_name(const mlc_artifact *artifact,
                                     size_t index) {
  const Program &program = programOf(artifact);
  return index < program.buffers.size() ? program.buffers[index].name.c_str()
                                        : "";
}

mlc_status mlc_session_create(mlc_artifact *artifact,
                              const mlc_session_options *options,
                              mlc_session **session) {
  if (!artifact || !session)
    return nullArgument();
  return guarded([&] {
    mlc_session_options known;
    Device *device = nullptr;
    const LoadedProgram *loaded;
    Status status = readOptions(options, known);
    if (status.ok())
      status = checkFlags(known.flags, sessionFlags);
    if (status.ok())
      status = findDevice(known.device, device);
    if (status.ok())
      status = artifact->impl->load(*device, loaded);
    if (!status.ok())
      return status;
    if (known.threads > 1024)
      return Status::error(MLC_USAGE, std::to_string(known.threads) +
                                          " threads are more than 1024");
    QueueOptions queueOptions;
    queueOptions.threads = known.threads ? known.threads : usableCores();
    queueOptions.flushDenormals = known.flags & MLC_SESSION_FLUSH_DENORMALS;
    std::unique_ptr<Queue> queue;
    status = device->open(queueOptions, queue);
    if (status.ok())
      *session = new mlc_session{
          Session(artifact->impl, std::move(queue), known.flags),
          {},
          currentProcess()};
    return status;
  });
}

void mlc_session_destroy(mlc_session *session) {
  // Its threads cannot be joined, nor what they held be freed, after a fork.
  if (session && !isOfParent(session))
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
    session->async.start(impl);
    return Status::success();
  });
}

mlc_status mlc_session_wait(mlc_session *session) {
  if (!session)
    return nullArgument();
  if (isOfParent(session))
    return ofParent();
  return guarded([&] { return session->async.wait(); });
}

int mlc_session_is_running(const mlc_session *session) {
  return session && !isOfParent(session) && session->async.isRunning();
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
  return session && !isOfParent(session) && !session->async.isPending()
             ? session->impl.allocations()
             : 0;
}

mlc_status mlc_session_step_ns(mlc_session *session, size_t index,
                               uint64_t *ns) {
  if (!session || !ns)
    return nullArgument();
  return onSession(
      session, [&](Session &impl) { return impl.stepNanoseconds(index, *ns); });
}
