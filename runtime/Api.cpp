//===- Api.cpp - The C ABI over Artifact ----------------------------------===//

#include "runtime/ApiCall.h"
#include "runtime/ApiOptions.h"
#include "runtime/Devices.h"
#include "runtime/Exit.h"
#include "runtime/Version.h"

using namespace mlc::runtime;
using namespace mlc::runtime::api;

/// mlc_status lists the exit codes, except those that no run ends with.
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

namespace {

/// The program of a getter's artifact; an empty one for NULL.
const Program &programOf(const mlc_artifact *artifact) {
  static const Program none;
  return artifact ? artifact->impl->program(artifact->entry) : none;
}

void fill(mlc_port &port, const Program &program, const Port &from,
          const Artifact::PortText &text) {
  port.name = from.name.c_str();
  port.type = static_cast<mlc_dtype>(program.buffers[from.buffer].type);
  port.rank = text.dims.size();
  port.dims = text.dims.data();
  port.dim_texts = text.pointers.data();
}

void fill(mlc_port &port, const PipelinePort &from,
          const Artifact::PortText &text) {
  port = {from.name.c_str(), from.type, text.dims.size(), text.dims.data(),
          text.pointers.data()};
}

const Pipeline *pipelineOf(const mlc_artifact *artifact) {
  return artifact ? artifact->pipeline() : nullptr;
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
  if (const Pipeline *pipeline = pipelineOf(artifact))
    return pipeline->inputs.size();
  return programOf(artifact).inputs.size();
}

size_t mlc_artifact_output_count(const mlc_artifact *artifact) {
  if (const Pipeline *pipeline = pipelineOf(artifact))
    return pipeline->outputs.size();
  return programOf(artifact).outputs.size();
}

mlc_status mlc_artifact_input(const mlc_artifact *artifact, size_t index,
                              mlc_port *port) {
  const Program &program = programOf(artifact);
  if (!artifact || !port)
    return nullArgument();
  const size_t count = mlc_artifact_input_count(artifact);
  if (index >= count)
    return noSuch("input", index, count);
  if (const Pipeline *pipeline = pipelineOf(artifact)) {
    fill(*port, pipeline->inputs[index],
         artifact->impl->pipelineInputText(index));
    return MLC_OK;
  }
  fill(*port, program, program.inputs[index],
       artifact->impl->inputText(index, artifact->entry));
  return MLC_OK;
}

mlc_status mlc_artifact_output(const mlc_artifact *artifact, size_t index,
                               mlc_port *port) {
  const Program &program = programOf(artifact);
  if (!artifact || !port)
    return nullArgument();
  const size_t count = mlc_artifact_output_count(artifact);
  if (index >= count)
    return noSuch("output", index, count);
  if (const Pipeline *pipeline = pipelineOf(artifact)) {
    fill(*port, pipeline->outputs[index],
         artifact->impl->pipelineOutputText(index));
    return MLC_OK;
  }
  fill(*port, program, program.outputs[index],
       artifact->impl->outputText(index, artifact->entry));
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
       artifact->impl->parameterText(index, artifact->entry));
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
  const std::vector<const char *> &nodes =
      artifact->impl->stepNodes(index, artifact->entry);
  step->name = program.steps[index].name.c_str();
  step->kind = kindName(program.steps[index]);
  step->node_count = nodes.size();
  step->nodes = nodes.data();
  step->text = artifact->impl->stepText(index, artifact->entry).c_str();
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
