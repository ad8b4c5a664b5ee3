//===- RunPipeline.cpp - A pipeline in a run command ----------------------===//

#include "runtime/RunPipeline.h"
#include "runtime/ApiCall.h"
#include "runtime/ApiRanks.h"

namespace mlc::runtime {

static Status statusOf(mlc_status code) {
  return code ? Status::error(code, mlc_last_error()) : Status::success();
}

Status RunPipeline::run(const RunOptions &options,
                        const std::shared_ptr<const Artifact> &artifact,
                        const std::shared_ptr<Ranks> &ranks,
                        const std::map<size_t, NpyArray> &arrays,
                        std::vector<NpzItem> &outputs) {
  if (options.profile)
    return Status::error(MLC_UNSUPPORTED,
                         "a profile is of one program, and a pipeline has one "
                         "for each stage; leave it out");
  mlc_artifact handle{artifact};
  mlc_session_options how = MLC_SESSION_OPTIONS_INIT;
  how.threads = options.threads;
  how.flags = options.flushDenormals ? MLC_SESSION_FLUSH_DENORMALS : 0;
  how.device = options.device.empty() ? nullptr : options.device.c_str();
  how.ranks = ranks ? makeHandle(ranks) : nullptr;
  mlc_pipeline *made = nullptr;
  Status status = statusOf(mlc_pipeline_create(&handle, &how, &made));
  // The pipeline holds its own reference.
  mlc_ranks_close(how.ranks);
  pipeline.reset(made);
  for (const auto &[index, array] : arrays)
    if (status.ok())
      status = statusOf(mlc_pipeline_bind_input(
          made, index, static_cast<mlc_dtype>(array.type), array.dims.size(),
          array.dims.data(), array.data.data()));
  if (status.ok())
    status = statusOf(mlc_pipeline_run(made));
  const std::vector<PipelinePort> &ports = artifact->pipeline()->outputs;
  for (size_t i = 0; status.ok() && i < ports.size(); ++i) {
    mlc_tensor t;
    status = statusOf(mlc_pipeline_output(made, i, &t));
    if (status.ok())
      outputs.push_back({ports[i].name,
                         DType(t.type),
                         {t.dims, t.dims + t.rank},
                         t.data,
                         t.bytes});
  }
  return status;
}

} // namespace mlc::runtime
