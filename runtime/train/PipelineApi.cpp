//===- PipelineApi.cpp - The C ABI of models in stages --------------------===//

#include "runtime/ApiCall.h"
#include "runtime/ApiOptions.h"
#include "runtime/mlc_pipeline.h"
#include "runtime/train/ForwardPipeline.h"

#include <cstddef>

using namespace mlc::runtime;
using namespace mlc::runtime::api;
using namespace mlc::runtime::train;

struct mlc_pipeline {
  std::unique_ptr<ForwardPipeline> impl;
};

mlc_status mlc_artifact_pipeline(const mlc_artifact *artifact,
                                 mlc_pipeline_sizes *sizes) {
  if (!artifact || !sizes)
    return nullArgument();
  *sizes = {};
  if (const Pipeline *pipeline = artifact->pipeline())
    *sizes = {static_cast<size_t>(pipeline->stages),
              static_cast<size_t>(pipeline->microBatches),
              static_cast<size_t>(pipeline->ranks)};
  return MLC_OK;
}

mlc_status mlc_pipeline_create(mlc_artifact *artifact,
                               const mlc_session_options *options,
                               mlc_pipeline **pipeline) {
  if (!artifact || !pipeline)
    return nullArgument();
  return guarded([&] {
    mlc_session_options known = MLC_SESSION_OPTIONS_INIT;
    Status status = readOptions(options, offsetof(mlc_session_options, device),
                                "MLC_SESSION_OPTIONS_INIT", known);
    if (status.ok())
      status = checkFlags(known.flags, MLC_SESSION_FLUSH_DENORMALS);
    auto made = std::make_unique<mlc_pipeline>();
    if (status.ok())
      status = ForwardPipeline::create(artifact, known, made->impl);
    if (status.ok())
      *pipeline = made.release();
    return status;
  });
}

void mlc_pipeline_destroy(mlc_pipeline *pipeline) { delete pipeline; }

mlc_status mlc_pipeline_bind_input(mlc_pipeline *pipeline, size_t index,
                                   mlc_dtype type, size_t rank,
                                   const int64_t *dims, const void *data) {
  if (!pipeline || (rank && !dims))
    return nullArgument();
  return guarded([&] {
    Status status = checkTensor("input", index, type, rank, MLC_SPACE_HOST);
    return status.ok()
               ? pipeline->impl->bindInput(index, type, rank, dims, data)
               : status;
  });
}

mlc_status mlc_pipeline_run(mlc_pipeline *pipeline) {
  if (!pipeline)
    return nullArgument();
  return guarded([&] { return pipeline->impl->run(); });
}

mlc_status mlc_pipeline_output(mlc_pipeline *pipeline, size_t index,
                               mlc_tensor *tensor) {
  if (!pipeline || !tensor)
    return nullArgument();
  return guarded([&] { return pipeline->impl->output(index, *tensor); });
}

uint64_t mlc_pipeline_allocation_count(const mlc_pipeline *pipeline) {
  return pipeline ? pipeline->impl->allocations() : 0;
}
