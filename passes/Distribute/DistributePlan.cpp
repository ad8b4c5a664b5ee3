//===- DistributePlan.cpp - How programs are split over ranks -------------===//

#include "passes/Distribute/DistributePlan.h"
#include "passes/Base/NamePattern.h"

namespace mlc {

const TensorSharding *DistributePlan::find(llvm::StringRef name) const {
  const TensorSharding *found = nullptr;
  for (const TensorSharding &sharding : shardings)
    if (matchesName(sharding.pattern, name))
      found = &sharding;
  return found;
}

} // namespace mlc
