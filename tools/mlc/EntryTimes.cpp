//===- EntryTimes.cpp - What entries take on a mesh -----------------------===//

#include "tools/mlc/EntryTimes.h"
#include "dialects/Dist/Dist.h"
#include "runtime/Ranks.h"
#include "runtime/Training.h"
#include "runtime/transport/Schedule.h"
#include "tools/mlc/EntryArena.h"
#include "tools/mlc/Failure.h"

using namespace mlc;
using namespace mlc::cli;
using simulator::CollectiveCall;
using simulator::Time;
namespace transport = mlc::runtime::transport;

static int64_t bytesOf(mlir::ValueRange values) {
  int64_t bytes = 0;
  for (mlir::Value value : values)
    bytes += tensorBytes(value.getType());
  return bytes;
}

static int elementBytesOf(mlir::Value value) {
  auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  return std::max(1, int(type.getElementTypeBitWidth()) / 8);
}

/// How many elements each rank has of tensors that are split by their extents;
/// `whole` are the tensors on the side where they are not.
static std::vector<int64_t> partsOf(llvm::ArrayRef<IntExpr> extents,
                                    mlir::ValueRange whole, int ranks) {
  std::vector<int64_t> parts(ranks);
  for (auto [extent, value] : llvm::zip(extents, whole)) {
    const int64_t size = extent.asConstant().value_or(0);
    if (size < 1)
      return {};
    const int64_t each =
        tensorBytes(value.getType()) / elementBytesOf(value) / size;
    for (int i = 0; i < ranks; ++i) {
      const transport::Part part = transport::partOf(size, ranks, i);
      parts[i] += (part.end - part.begin) * each;
    }
  }
  return parts;
}

std::vector<int> EntryTimes::groupOf(llvm::StringRef axis, int64_t rank) const {
  int64_t stride = 1;
  for (const runtime::MeshAxis &one : llvm::reverse(mesh)) {
    if (one.name == axis) {
      const int64_t first = rank - rank / stride % one.size * stride;
      std::vector<int> ranks;
      for (uint32_t i = 0; i < one.size; ++i)
        ranks.push_back(int(first + i * stride));
      return ranks;
    }
    stride *= one.size;
  }
  return {int(rank)};
}

/// How many groups along the axis leave the rank's node together: those of
/// ranks that run the same stage.
int EntryTimes::countSharing(llvm::StringRef axis, int64_t rank) const {
  std::vector<int> firsts = {groupOf(axis, rank).front()};
  auto [known, isNew] = sharing.try_emplace({axis.str(), firsts.front()}, 1);
  if (!isNew)
    return known->second;
  const std::vector<runtime::MeshAxis> axes = mesh.vec();
  const std::vector<int64_t> own = runtime::coordinatesOf(axes, firsts.front());
  for (int64_t other = 0, all = int64_t(runtime::countRanks(axes)); other < all;
       ++other) {
    const std::vector<int64_t> at = runtime::coordinatesOf(axes, other);
    bool isAlike = other != firsts.front();
    for (auto [i, one] : llvm::enumerate(mesh))
      isAlike &= one.name == axis                  ? at[i] == 0
                 : one.name == runtime::kStageAxis ? at[i] == own[i]
                                                   : true;
    if (isAlike)
      firsts.push_back(int(other));
  }
  return known->second = network.countInNode(firsts);
}

/// The bytes of a collective, with the gaps between operands that are one
/// message.
static int64_t messageBytes(mlir::Operation *op, bool isInPlace) {
  if (!isInPlace || op->getNumOperands() < 2)
    return std::max(bytesOf(op->getOperands()), bytesOf(op->getResults()));
  int64_t bytes = 0;
  for (mlir::Value operand : op->getOperands())
    bytes +=
        llvm::alignTo(tensorBytes(operand.getType()), dist::kOperandAlignment);
  return bytes;
}

/// Whether a program of sends, or the engine, carries the collective out.
bool EntryTimes::findCall(mlir::Operation *op, int64_t rank,
                          CollectiveCall &call) const {
  const runtime::rows::Row *row = dist::findRow(op);
  if (!row || !row->isOfEngines())
    return false;
  transport::Request &request = call.request;
  request.collective = transport::Collective(row - runtime::rows::all);
  auto exchange = llvm::cast<dist::StackedOpInterface>(op);
  call.ranks = groupOf(exchange.getExchangeAxis().getName(), rank);
  request.ranks = int(call.ranks.size());
  call.elementBytes = elementBytesOf(op->getOperand(0));
  call.messageBytes = 1 << 20;
  request.elements = messageBytes(op, row->isInPlace()) / call.elementBytes;
  request.algorithm = transport::Algorithm::Own;
  if (row->isInPlace() && row->reduces() && !algorithm.empty())
    (void)transport::parseAlgorithm(algorithm, request.algorithm);
  if (request.algorithm == transport::Algorithm::Own)
    call.sharing = countSharing(exchange.getExchangeAxis().getName(), rank);
  if (auto extents = op->getAttrOfType<DimsAttr>("extents"))
    request.parts = partsOf(extents.getDims(),
                            row->input == runtime::rows::Whole
                                ? mlir::ValueRange(op->getOperands())
                                : mlir::ValueRange(op->getResults()),
                            request.ranks);
  if (row->hasRoot())
    request.root =
        int(op->getAttrOfType<mlir::IntegerAttr>(row->number).getInt());
  return true;
}

/// The bytes that a rank sends to one neighbour in a shift or a halo.
static int64_t bytesToNeighbour(mlir::Operation *op) {
  auto halo = llvm::dyn_cast<dist::HaloOp>(op);
  return halo ? bytesOf(op->getResults()) - bytesOf(op->getOperands())
              : bytesOf(op->getOperands());
}

/// Shifts and halos: all ranks send at once; the slowest counts.
Time EntryTimes::timeOfNeighbours(mlir::Operation *op, int64_t rank) const {
  const std::vector<int> ranks = groupOf(
      llvm::cast<dist::StackedOpInterface>(op).getExchangeAxis().getName(),
      rank);
  Time longest = 0;
  for (size_t i = 1; i < ranks.size(); ++i)
    longest = std::max(longest, network.transfer(ranks[i - 1], ranks[i],
                                                 bytesToNeighbour(op)));
  return longest;
}

llvm::Expected<Time> EntryTimes::timeOfCollective(mlir::Operation *op,
                                                  int64_t rank) const {
  CollectiveCall call;
  if (!findCall(op, rank, call))
    return timeOfNeighbours(op, rank);
  Time time = 0;
  if (call.ranks.size() > 1)
    if (auto status = network.collective(call, time); !status.ok())
      return statusFailure(status);
  return time;
}

llvm::Expected<Time> EntryTimes::time(mlir::Region &entry,
                                      llvm::ArrayRef<int64_t> ranks) const {
  Time slowest = 0;
  llvm::SmallVector<size_t> kinds;
  for (int64_t rank : ranks) {
    if (llvm::is_contained(kinds, costs.kindOf(rank)))
      continue;
    kinds.push_back(costs.kindOf(rank));
    auto own = timeOn(entry, rank);
    if (!own)
      return own;
    slowest = std::max(slowest, *own);
  }
  return slowest;
}

llvm::Expected<Time> EntryTimes::timeOn(mlir::Region &entry,
                                        int64_t rank) const {
  const CostModel &cost = costs.of(rank);
  // Seconds are summed before they are rounded, as elsewhere.
  double computed = 0;
  Time waited = 0, sent = 0;
  llvm::DenseMap<mlir::Value, Time> ready;
  auto now = [&] {
    return simulator::sum(waited, simulator::toTime(computed));
  };
  auto await = [&](mlir::Operation &op) {
    for (mlir::Value operand : op.getOperands())
      if (Time there = ready.lookup(operand); there > now())
        waited += there - now();
  };
  for (mlir::Block &block : entry)
    for (mlir::Operation &op : block) {
      if (!llvm::isa<dist::StackedOpInterface>(op)) {
        await(op);
        computed += cost.seconds(&op);
        continue;
      }
      Time begin = std::max(now(), sent);
      for (mlir::Value operand : op.getOperands())
        begin = std::max(begin, ready.lookup(operand));
      auto taken = timeOfCollective(&op, rank);
      if (!taken)
        return taken.takeError();
      sent = simulator::sum(begin, *taken);
      for (mlir::Value result : op.getResults())
        ready[result] = sent;
    }
  return std::max(now(), sent);
}

llvm::Expected<int64_t> EntryTimes::sentBytes(mlir::Region &entry,
                                              int64_t rank) const {
  int64_t bytes = 0;
  for (mlir::Operation &op : entry.getOps()) {
    if (!llvm::isa<dist::StackedOpInterface>(op))
      continue;
    CollectiveCall call;
    if (!findCall(&op, rank, call)) {
      bytes += bytesToNeighbour(&op);
      continue;
    }
    if (call.ranks.size() < 2)
      continue;
    if (call.request.algorithm == transport::Algorithm::Own)
      call.request.algorithm = transport::Algorithm::Ring;
    transport::Program program;
    const auto own = llvm::find(call.ranks, int(rank)) - call.ranks.begin();
    if (auto status = transport::makeProgram(call.request, int(own), program);
        !status.ok())
      return statusFailure(status);
    for (const transport::Step &step : program.steps)
      for (const transport::Transfer &transfer : step.transfers)
        if (transfer.kind == transport::Transfer::Send)
          bytes += transfer.range.length * call.elementBytes;
  }
  return bytes;
}
