//===- MeshCosts.cpp - What a program of ranks takes ----------------------===//

#include "tools/mlc/MeshCosts.h"
#include "dialects/Dist/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/mlc/EntryArena.h"

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::simulator;
using runtime::transport::Algorithm;
using runtime::transport::Collective;

double MeshCosts::exchange(llvm::StringRef axis, Collective collective,
                           double bytes) {
  int stride = 1, size = 1;
  for (const runtime::MeshAxis &one : llvm::reverse(mesh)) {
    if (one.name == axis) {
      size = static_cast<int>(one.size);
      break;
    }
    stride *= static_cast<int>(one.size);
  }
  // Counted in elements of 4 bytes, of which each rank has a part.
  const auto elements = static_cast<int64_t>(std::ceil(bytes / 4));
  if (size == 1 || elements == 0)
    return 0;
  auto [it, isNew] =
      known.try_emplace({axis.str(), int(collective), elements}, 0);
  if (!isNew)
    return it->second;
  CollectiveCall call;
  call.request.collective = collective;
  call.request.ranks = size;
  call.request.elements = elements;
  call.sharing = stride;
  for (int i = 0; i < size; ++i)
    call.ranks.push_back(i * stride);
  Time time = 0;
  call.request.algorithm = Algorithm::Own;
  if (!network.collective(call, time).ok()) {
    call.request.algorithm = Algorithm::Ring;
    call.sharing = 1;
    if (!network.collective(call, time).ok())
      time = 0;
  }
  return it->second = toSeconds(time);
}

/// The bytes by which an exchange is known.
static double bytesOfExchange(mlir::Operation *op) {
  double operands = 0, results = 0;
  for (mlir::Type type : op->getOperandTypes())
    operands += double(tensorBytes(type));
  for (mlir::Type type : op->getResultTypes())
    results += double(tensorBytes(type));
  if (llvm::isa<dist::HaloOp>(op))
    return std::max(0.0, results - operands);
  return std::max(operands, results);
}

double MeshCosts::seconds(mlir::Operation *op, const CostModel &cost) {
  auto axis = op->getAttrOfType<dist::AxisAttr>("axis");
  if (!llvm::isa<dist::DistDialect>(op->getDialect()) || !axis)
    return cost.seconds(op);
  const Collective collective =
      llvm::isa<dist::AllReduceOp>(op)       ? Collective::AllReduce
      : llvm::isa<dist::ReduceScatterOp>(op) ? Collective::ReduceScatter
      : llvm::isa<dist::AllToAllOp>(op)      ? Collective::AllToAll
      : llvm::isa<dist::BroadcastOp>(op)     ? Collective::Broadcast
                                             : Collective::AllGather;
  return exchange(axis.getName(), collective, bytesOfExchange(op));
}

MeshCosts::Sum MeshCosts::sum(mlir::ModuleOp module, const CostModel &cost) {
  Sum sum;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    for (mlir::Operation &op :
         function.getBody().front().without_terminator()) {
      const double time = seconds(&op, cost);
      if (!llvm::isa<dist::DistDialect>(op.getDialect())) {
        sum.computing += time;
        continue;
      }
      sum.exchanging += time;
      ++sum.exchanges;
      for (mlir::Type type : op.getOperandTypes())
        sum.bytes += double(tensorBytes(type));
    }
  return sum;
}
