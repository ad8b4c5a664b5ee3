//===- RunPipeline.h - A pipeline in a run command --------------*- C++ -*-===//

#ifndef MLC_RUNTIME_RUNPIPELINE_H
#define MLC_RUNTIME_RUNPIPELINE_H

#include "runtime/Artifact.h"
#include "runtime/Npy.h"
#include "runtime/RunOptions.h"
#include "runtime/RunRanks.h"
#include "runtime/mlc_pipeline.h"

#include <map>

namespace mlc::runtime {

/// Runs an artifact in stages once.
class RunPipeline {
public:
  /// Runs it on arrays by input; all ranks call it together. `outputs` refer to
  /// memory of this object.
  Status run(const RunOptions &options,
             const std::shared_ptr<const Artifact> &artifact,
             const std::shared_ptr<Ranks> &ranks,
             const std::map<size_t, NpyArray> &arrays,
             std::vector<NpzItem> &outputs);

private:
  struct Destroy {
    void operator()(mlc_pipeline *pipeline) const {
      mlc_pipeline_destroy(pipeline);
    }
  };
  std::unique_ptr<mlc_pipeline, Destroy> pipeline;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_RUNPIPELINE_H
