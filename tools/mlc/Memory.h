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

/// The plan of the artifact at `path` for inputs of these sizes, found by one
/// run on zeros. Nothing where a dim stays open or this machine cannot run it.
llvm::Expected<std::optional<MemoryFigures>>
planForSizes(llvm::StringRef path, llvm::ArrayRef<DimSetting> sizes);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MEMORY_H
