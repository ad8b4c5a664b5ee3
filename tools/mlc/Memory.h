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
  std::string reason; ///< why there are no numbers
};

/// Plans memory for the artifact at `path`, open as `model`, for inputs of
/// these sizes. Neither loads nor runs its code.
llvm::Expected<MemoryPlan> planForSizes(llvm::StringRef path,
                                        const Model &model,
                                        llvm::ArrayRef<DimSetting> sizes);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MEMORY_H
