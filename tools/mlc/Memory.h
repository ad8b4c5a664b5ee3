//===- Memory.h - The memory plan for given sizes ---------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MEMORY_H
#define MLC_TOOLS_MLC_MEMORY_H

#include "tools/mlc/Model.h"
#include "tools/mlc/ModelOptions.h"
#include <optional>

namespace mlc::cli {

struct MemoryFigures {
  uint64_t arena = 0, lowerBound = 0;
};

struct MemoryPlan {
  std::optional<MemoryFigures> figures;
  std::string reason; ///< why there are none
};

/// The plan of the artifact at `path`, which is open as `model`, for inputs of
/// these sizes. Its code is neither loaded nor run.
llvm::Expected<MemoryPlan> planForSizes(llvm::StringRef path,
                                        const Model &model,
                                        llvm::ArrayRef<DimSetting> sizes);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MEMORY_H
