//===- ProgramRanks.cpp - Meshes and parts as the runtime's data ----------===//

#include "passes/ProgramRanks.h"
#include "dialects/Dist/Dist.h"

using namespace mlir;
using llvm::StringRef;

namespace rt = mlc::runtime;

namespace mlc {

FailureOr<std::vector<rt::MeshAxis>> readMeshAxes(ModuleOp module) {
  std::vector<rt::MeshAxis> mesh;
  auto axes = module->getAttrOfType<ArrayAttr>(dist::kMeshAttr);
  if (!axes)
    return mesh;
  for (Attribute attr : axes) {
    auto axis = dyn_cast<dist::AxisAttr>(attr);
    std::optional<int64_t> size =
        axis ? axis.getSize().asConstant() : std::nullopt;
    if (!size || *size > UINT32_MAX)
      return module.emitError("the axis ")
             << attr << " of dist.mesh has no fixed number of ranks";
    mesh.push_back({axis.getName().str(), uint32_t(*size)});
  }
  return mesh;
}

FailureOr<uint32_t>
findAxis(Operation *op, const std::vector<rt::MeshAxis> &mesh, StringRef name) {
  auto it = llvm::find_if(
      mesh, [&](const rt::MeshAxis &axis) { return axis.name == name; });
  if (it == mesh.end())
    return op->emitOpError("names the axis '")
           << name << "', which dist.mesh has not";
  return uint32_t(it - mesh.begin());
}

FailureOr<std::vector<rt::Split>>
readSplits(Operation *op, const std::vector<rt::MeshAxis> &mesh,
           ArrayAttr split) {
  std::vector<rt::Split> splits;
  if (!split)
    return splits;
  for (auto [dim, axes] : llvm::enumerate(split.getAsRange<ArrayAttr>()))
    for (StringRef axis : axes.getAsValueRange<StringAttr>()) {
      FailureOr<uint32_t> index = findAxis(op, mesh, axis);
      if (failed(index))
        return failure();
      splits.push_back({uint32_t(dim), *index, 1});
    }
  return splits;
}

} // namespace mlc
