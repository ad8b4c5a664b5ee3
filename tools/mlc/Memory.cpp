//===- Memory.cpp - The memory plan for given sizes -----------------------===//

#include "tools/mlc/Memory.h"
#include "runtime/Devices.h"
#include "runtime/Session.h"
#include "runtime/mlc_pipeline.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Feed.h"

using namespace mlc;
using namespace mlc::cli;

static bool hasOpenDims(const Model &model) {
  for (const mlc_port &port : model.inputs())
    for (size_t i = 0; i < port.rank; ++i)
      if (port.dims[i] < 0)
        return true;
  return false;
}

/// The plan for inputs of these dims; their data is not read.
static runtime::Status planFor(runtime::Session &session, const Model &model,
                               llvm::ArrayRef<std::vector<int64_t>> dims,
                               mlc_memory &memory) {
  alignas(64) static const char noData[64] = {};
  for (auto [i, port] : llvm::enumerate(model.inputs()))
    if (runtime::Status status =
            session.bindInput(i, static_cast<runtime::DType>(port.type),
                              dims[i].size(), dims[i].data(), noData);
        !status.ok())
      return status;
  return session.plan(memory);
}

llvm::Expected<MemoryPlan>
mlc::cli::planForSizes(llvm::StringRef path, const Model &model,
                       llvm::ArrayRef<DimSetting> sizes) {
  mlc_pipeline_sizes stages = {};
  if (!mlc_artifact_pipeline(model.get(), &stages) && stages.stages)
    return MemoryPlan{std::nullopt, "each stage has its own"};
  if (sizes.empty() && hasOpenDims(model))
    return MemoryPlan{std::nullopt,
                      "depends on open dims; give their sizes with "
                      "--dim NAME=N"};
  std::vector<std::vector<int64_t>> dims;
  for (const mlc_port &port : model.inputs()) {
    auto known = portDims(port, sizes);
    if (!known)
      return known.takeError();
    dims.push_back(std::move(*known));
  }
  std::shared_ptr<const runtime::Artifact> artifact;
  runtime::Status status = runtime::Artifact::open(
      path.str().c_str(), MLC_OPEN_INSPECT | MLC_OPEN_SKIP_CHECKSUM, artifact);
  mlc_memory memory = {};
  if (status.ok()) {
    std::unique_ptr<runtime::Queue> queue;
    status = runtime::devices().front()->open({}, queue);
    if (status.ok()) {
      runtime::Session session(artifact, std::move(queue), /*flags=*/0);
      status = planFor(session, model, dims, memory);
    }
  }
  if (status.code == MLC_UNSUPPORTED)
    return MemoryPlan{std::nullopt, status.message};
  if (!status.ok())
    return fail(static_cast<Exit>(status.code), path + ": " + status.message);
  return MemoryPlan{MemoryFigures{memory.arena_bytes, memory.lower_bound_bytes},
                    ""};
}
