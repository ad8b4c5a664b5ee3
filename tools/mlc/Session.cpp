//===- Session.cpp - Running an artifact ----------------------------------===//

#include "tools/mlc/Session.h"
#include "runtime/ApiRanks.h"
#include "runtime/mlc_ranks.h"
#include "tools/mlc/Failure.h"

using namespace mlc::cli;

llvm::Expected<Session>
Session::create(const Model &model, const std::string &device, unsigned threads,
                uint32_t flags, const std::shared_ptr<runtime::Ranks> &ranks) {
  Session session;
  session.model = &model;
  mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
  options.threads = threads;
  options.flags = flags;
  options.device = device.empty() ? nullptr : device.c_str();
  options.ranks = ranks ? mlc::runtime::makeHandle(ranks) : nullptr;
  mlc_session *handle = nullptr;
  mlc_status status = mlc_session_create(model.get(), &options, &handle);
  // The session holds its own reference.
  mlc_ranks_close(options.ranks);
  if (status)
    return runtimeFailure(model.name(), status);
  session.session.reset(handle);
  return session;
}

llvm::Expected<Session> Session::entry(const Model &entry) const {
  Session session;
  session.model = &entry;
  mlc_session *handle = nullptr;
  if (mlc_status status = mlc_session_entry(
          get(), mlc_artifact_entry_index(entry.get()), &handle))
    return runtimeFailure(entry.name(), status);
  session.session.reset(handle);
  return session;
}

llvm::Error Session::bind(std::vector<HostTensor> inputs) {
  bound = std::move(inputs);
  for (auto [index, tensor] : llvm::enumerate(bound))
    if (mlc_status status = mlc_session_bind_input(
            get(), index, tensor.type, tensor.dims.size(), tensor.dims.data(),
            tensor.data.get(), MLC_SPACE_HOST))
      return runtimeFailure(model->name(), status);
  return llvm::Error::success();
}

llvm::Error Session::run() {
  if (mlc_status status = mlc_session_run(get()))
    return runtimeFailure(model->name(), status);
  return llvm::Error::success();
}

llvm::Expected<mlc_tensor> Session::output(size_t index) const {
  mlc_tensor tensor;
  if (mlc_status status = mlc_session_output(get(), index, &tensor))
    return runtimeFailure(model->name(), status);
  return tensor;
}

llvm::Expected<mlc_memory> Session::memory() const {
  mlc_memory memory;
  if (mlc_status status = mlc_session_memory(get(), &memory))
    return runtimeFailure(model->name(), status);
  return memory;
}
