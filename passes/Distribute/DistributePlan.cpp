//===- DistributePlan.cpp - How programs are split over ranks -------------===//

#include "passes/Distribute/DistributePlan.h"
#include "passes/Base/NamePattern.h"
#include "llvm/ADT/StringSet.h"

namespace mlc {

const TensorSharding *DistributePlan::find(llvm::StringRef name) const {
  const TensorSharding *found = nullptr;
  for (const TensorSharding &sharding : shardings)
    if (matchesName(sharding.pattern, name))
      found = &sharding;
  return found;
}

std::optional<TensorSharding>
DistributePlan::readSharding(llvm::StringRef pattern,
                             llvm::ArrayRef<llvm::StringRef> dims,
                             std::string &problem) const {
  TensorSharding sharding{pattern.str(), {}};
  llvm::StringSet<> used;
  for (llvm::StringRef text : dims) {
    std::vector<std::string> &axes = sharding.axes.emplace_back();
    if (text == "-")
      continue;
    auto last = mesh.begin();
    for (llvm::StringRef name : llvm::split(text, '+')) {
      auto axis = llvm::find_if(
          mesh, [&](const MeshAxis &one) { return one.name == name; });
      if (axis == mesh.end())
        problem = "'" + name.str() +
                  "' is no axis of the mesh; a dim that is whole is -";
      else if (!used.insert(name).second)
        problem =
            "'" + name.str() + "' splits twice; it can split one dim, once";
      else if (axis < last)
        problem = "'" + last->name + "' stands before '" + name.str() +
                  "'; give them in the order of the mesh, " + name.str() + "+" +
                  last->name;
      if (!problem.empty())
        return std::nullopt;
      last = axis;
      axes.push_back(name.str());
    }
  }
  return sharding;
}

} // namespace mlc
