//===- ApiStates.cpp - The C ABI of entries and states --------------------===//

#include "runtime/ApiCall.h"

using namespace mlc::runtime;
using namespace mlc::runtime::api;

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

size_t mlc_artifact_entry_count(const mlc_artifact *artifact) {
  return artifact ? artifact->impl->entryCount() : 0;
}

const char *mlc_artifact_entry_name(const mlc_artifact *artifact,
                                    size_t index) {
  return artifact && index < artifact->impl->entryCount()
             ? artifact->impl->program(index).name.c_str()
             : nullptr;
}

mlc_status mlc_artifact_find_entry(const mlc_artifact *artifact,
                                   const char *name, size_t *index) {
  if (!artifact || !name || !index)
    return nullArgument();
  return guarded([&] {
    const Artifact &impl = *artifact->impl;
    std::string have;
    for (size_t e = 0; e < impl.entryCount(); ++e) {
      if (impl.program(e).name == name) {
        *index = e;
        return Status::success();
      }
      have += (e ? ", '" : "'") + impl.program(e).name + "'";
    }
    return Status::error(MLC_USAGE, std::string("there is no entry '") + name +
                                        "'; there are " + have);
  });
}

mlc_status mlc_artifact_entry(mlc_artifact *artifact, size_t index,
                              mlc_artifact **entry) {
  if (!artifact || !entry)
    return nullArgument();
  if (index >= artifact->impl->entryCount())
    return noSuch("entry", index, artifact->impl->entryCount());
  return guarded([&] {
    *entry = new mlc_artifact{artifact->impl, index, /*isEntry=*/true};
    return Status::success();
  });
}

size_t mlc_artifact_entry_index(const mlc_artifact *artifact) {
  return artifact ? artifact->entry : 0;
}

mlc_status mlc_session_entry(mlc_session *session, size_t index,
                             mlc_session **entry) {
  if (!session || !entry)
    return nullArgument();
  return onSession(session, [&](Session &impl) {
    const std::shared_ptr<Common> &common = session->common;
    if (index >= common->artifact->entryCount())
      return Status::error(MLC_USAGE,
                           "there is no entry " + std::to_string(index) +
                               "; there are " +
                               std::to_string(common->artifact->entryCount()));
    *entry = new mlc_session{
        Session(common->artifact, index, impl.states(), common->flags), common};
    return Status::success();
  });
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

size_t mlc_artifact_state_count(const mlc_artifact *artifact) {
  return artifact ? artifact->impl->states().size() : 0;
}

mlc_status mlc_artifact_state(const mlc_artifact *artifact, size_t index,
                              mlc_port *port) {
  if (!artifact || !port)
    return nullArgument();
  const std::vector<State> &states = artifact->impl->states();
  if (index >= states.size())
    return noSuch("state", index, states.size());
  const Artifact::PortText &text = artifact->impl->stateText(index);
  port->name = states[index].name.c_str();
  port->type = static_cast<mlc_dtype>(states[index].type);
  port->rank = text.dims.size();
  port->dims = text.dims.data();
  port->dim_texts = text.pointers.data();
  return MLC_OK;
}

mlc_status mlc_artifact_find_state(const mlc_artifact *artifact,
                                   const char *name, size_t *index) {
  if (!artifact || !name || !index)
    return nullArgument();
  return guarded([&] {
    const std::vector<State> &states = artifact->impl->states();
    for (size_t s = 0; s < states.size(); ++s)
      if (states[s].name == name) {
        *index = s;
        return Status::success();
      }
    return Status::error(MLC_USAGE,
                         std::string("there is no state '") + name + "'");
  });
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

size_t mlc_artifact_axis_count(const mlc_artifact *artifact) {
  return artifact ? artifact->impl->mesh().size() : 0;
}

mlc_status mlc_artifact_axis(const mlc_artifact *artifact, size_t index,
                             mlc_axis *axis) {
  if (!artifact || !axis)
    return nullArgument();
  const std::vector<MeshAxis> &mesh = artifact->impl->mesh();
  if (index >= mesh.size())
    return noSuch("axis", index, mesh.size());
  *axis = {mesh[index].name.c_str(), mesh[index].size};
  return MLC_OK;
}

mlc_status mlc_artifact_splits(const mlc_artifact *artifact, int kind,
                               size_t index, const mlc_split **splits,
                               size_t *count) {
  if (!artifact || !splits || !count)
    return nullArgument();
  const Artifact &impl = *artifact->impl;
  const std::vector<std::vector<mlc_split>> *all =
      kind == MLC_INPUT    ? &impl.inputSplits(artifact->entry)
      : kind == MLC_OUTPUT ? &impl.outputSplits(artifact->entry)
      : kind == MLC_STATE  ? &impl.stateSplits()
                           : nullptr;
  if (!all)
    return guarded([&] {
      return Status::error(MLC_USAGE,
                           std::to_string(kind) +
                               " is no kind of port; give MLC_INPUT, "
                               "MLC_OUTPUT or MLC_STATE");
    });
  if (artifact->pipeline() && kind != MLC_STATE) {
    // Every rank takes and has whole tensors.
    *splits = nullptr;
    *count = 0;
    return MLC_OK;
  }
  if (index >= all->size())
    return noSuch("port", index, all->size());
  *splits = (*all)[index].data();
  *count = (*all)[index].size();
  return MLC_OK;
}

mlc_status mlc_session_state(mlc_session *session, size_t index,
                             mlc_tensor *tensor) {
  if (!session || !tensor)
    return nullArgument();
  return onSession(session, [&](Session &impl) {
    return impl.states()->read(index, *tensor);
  });
}

mlc_status mlc_session_set_state(mlc_session *session, size_t index,
                                 mlc_dtype type, size_t rank,
                                 const int64_t *dims, const void *data,
                                 mlc_space space) {
  if (!session || (!dims && rank))
    return nullArgument();
  return onSession(session, [&](Session &impl) {
    Status status = checkTensor("state", index, type, rank, space);
    return status.ok()
               ? impl.states()->set(index, DType(type), rank, dims, data, space)
               : status;
  });
}

mlc_status mlc_session_reset_states(mlc_session *session) {
  if (!session)
    return nullArgument();
  return onSession(session,
                   [](Session &impl) { return impl.states()->reset(); });
}

mlc_status mlc_session_save_states(mlc_session *session, const char *path) {
  if (!session || !path)
    return nullArgument();
  return onSession(session,
                   [&](Session &impl) { return impl.states()->save(path); });
}

mlc_status mlc_session_load_states(mlc_session *session, const char *path) {
  if (!session || !path)
    return nullArgument();
  return onSession(session,
                   [&](Session &impl) { return impl.states()->load(path); });
}
