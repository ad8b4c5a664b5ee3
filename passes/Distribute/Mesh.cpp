//===- Mesh.cpp - The mesh and the shardings of a module ------------------===//

#include "passes/Distribute/Mesh.h"
#include "dialects/Symbolic/Attributes.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

FailureOr<SmallVector<dist::AxisAttr>> readMesh(ModuleOp module) {
  SmallVector<dist::AxisAttr> mesh;
  Attribute attribute = module->getAttr(dist::kMeshAttr);
  if (!attribute)
    return mesh;
  auto axes = dyn_cast<ArrayAttr>(attribute);
  if (!axes)
    return module.emitError()
           << "dist.mesh must be a list of #dist.axis, got " << attribute;
  for (Attribute one : axes) {
    auto axis = dyn_cast<dist::AxisAttr>(one);
    if (!axis)
      return module.emitError()
             << "dist.mesh must be a list of #dist.axis, got " << one;
    if (llvm::any_of(mesh, [&](dist::AxisAttr other) {
          return other.getName() == axis.getName();
        }))
      return module.emitError()
             << "dist.mesh has two axes called '" << axis.getName() << "'";
    mesh.push_back(axis);
  }
  return mesh;
}

std::optional<unsigned> findAxis(ArrayRef<dist::AxisAttr> mesh,
                                 dist::AxisAttr axis) {
  auto it = llvm::find(mesh, axis);
  if (it == mesh.end())
    return std::nullopt;
  return it - mesh.begin();
}

ReduceKind reduceKindOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::Prod:
    return ReduceKind::Prod;
  case Reduction::Max:
    return ReduceKind::Max;
  case Reduction::Min:
    return ReduceKind::Min;
  case Reduction::Sum:
  case Reduction::Mean: // which no sharding has
    return ReduceKind::Sum;
  }
  llvm_unreachable("unknown reduction");
}

LogicalResult checkTensor(func::FuncOp function, Type type,
                          const llvm::Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && getDims(tensor))
    return success();
  return function.emitError()
         << what << " must be a ranked tensor with named dims, got " << type;
}

FailureOr<RankSharding> readSharding(Attribute attribute, unsigned rank,
                                     ArrayRef<dist::AxisAttr> mesh,
                                     std::string &problem) {
  RankSharding out;
  out.dims.resize(rank);
  if (!attribute)
    return out;
  auto sharding = dyn_cast<dist::ShardingAttr>(attribute);
  if (!sharding || sharding.getDims().size() != rank) {
    problem = "must have a #dist.sharding with " + std::to_string(rank) +
              " dims as its dist.sharding";
    return failure();
  }
  auto find = [&](StringRef name) -> std::optional<unsigned> {
    for (auto [a, axis] : llvm::enumerate(mesh))
      if (axis.getName() == name)
        return a;
    problem = "is split over '" + name.str() +
              "', which is no axis of the module's dist.mesh";
    return std::nullopt;
  };
  for (auto [d, axes] : llvm::enumerate(sharding.getDims()))
    for (StringRef name : axes.getAsValueRange<StringAttr>())
      if (std::optional<unsigned> axis = find(name)) {
        if (!out.dims[d].empty() && out.dims[d].back() > *axis)
          problem = "has a dim that is split over '" +
                    mesh[out.dims[d].back()].getName().str() + "' before '" +
                    name.str() + "'; give them in the order of dist.mesh";
        out.dims[d].push_back(*axis);
      }
  for (const dist::Partial &partial : sharding.getPartial())
    if (std::optional<unsigned> axis = find(partial.axis.getValue()))
      out.partial.emplace_back(*axis, reduceKindOf(partial.reduction));
  // A maximum of sums is not a sum of maxima.
  for (auto [axis, kind] : out.partial)
    if (kind != out.partial.front().second)
      problem =
          "is partial on two axes by different reductions, and what it is "
          "would depend on their order; reduce it over one of them";
  if (!problem.empty())
    return failure();
  return out;
}

} // namespace mlc
