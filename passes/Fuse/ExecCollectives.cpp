//===- ExecCollectives.cpp - Starts and waits of collectives --------------===//

#include "passes/Fuse/Collectives.h"
#include "passes/Fuse/ExecBuilder.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Places operands of one in-place collective contiguously, each at a multiple
/// of kOperandAlignment.
void ExecBuilder::placeOperands(Operation *op) {
  const runtime::rows::Row *row = dist::findRow(op);
  if (!row || !row->isInPlace() || op->getNumOperands() < 2)
    return;
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  const int64_t width = elementBytes(element),
                alignment = dist::kOperandAlignment;
  IntExpr offset = IntExpr::constant(b.getContext(), 0);
  for (Value operand : op->getOperands()) {
    Value base = operand;
    while (std::optional<View> view = getView(base, shapes))
      base = view->source;
    places[base] = {{}, offset, op};
    IntExpr bytes = getNumElements(b.getContext(), shapes.of(operand)) * width;
    offset = offset + (bytes + (alignment - 1)).floorDiv(alignment) *
                          (alignment / width);
  }
  jointSizes[op] = offset;
}

Value ExecBuilder::jointBuffer(Operation *op) {
  Value &joint = joints[op];
  if (!joint)
    joint = exec::AllocOp::create(
        b, op->getLoc(), exec::BufferType::get(b.getContext()),
        DimsAttr::get(b.getContext(), {jointSizes.at(op)}),
        TypeAttr::get(getElementTypeOrSelf(op->getOperand(0).getType())),
        StringAttr());
  return joint;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static InFlightDiagnostic needsForm(Operation *op, const llvm::Twine &what) {
  return op->emitOpError() << what << "; run mlc-lower-collectives first";
}

/// Contiguous operands are a single message.
void ExecBuilder::addInPlace(Operation *op, Exchange &exchange) {
  Value joint =
      op->getNumOperands() > 1 ? jointBuffer(op) : bufferOf(op->getOperand(0));
  for (Value operand : op->getOperands())
    bufferOf(operand);
  exchange.inputs.push_back(joint);
  exchange.outputs.push_back(joint);
  exchange.args.push_back(
      op->getNumOperands() > 1
          ? jointSizes.at(op)
          : getNumElements(b.getContext(), shapes.of(op->getOperand(0))));
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults()))
    buffers[result] = bufferOf(operand);
}

LogicalResult ExecBuilder::addParts(Operation *op, Exchange &exchange) {
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>("dims").asArrayRef();
  auto extents = op->getAttrOfType<DimsAttr>("extents");
  auto units = op->getAttrOfType<DimsAttr>("units");
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (dims[i] != 0)
      return needsForm(op, "splits dim " + llvm::Twine(dims[i]) +
                               ", whose parts do not lie together");
    exchange.args.push_back(extents.getDims()[i]);
    exchange.args.push_back(
        units.getDims()[i] *
        getNumElements(b.getContext(),
                       ArrayRef(shapes.of(operand)).drop_front()));
  }
  return success();
}

LogicalResult ExecBuilder::addAllToAll(dist::AllToAllOp op,
                                       Exchange &exchange) {
  IntExpr ranks = op.getAxis().getSize();
  if (op.getSplit() != 0 || op.getJoin() != 1 || op.getSplitExtent() != ranks ||
      op.getJoinExtent() != ranks)
    return needsForm(op, "has parts that do not lie together");
  for (Value operand : op->getOperands())
    exchange.args.append(
        {ranks, ranks,
         getNumElements(b.getContext(),
                        ArrayRef(shapes.of(operand)).drop_front(2))});
  return success();
}

LogicalResult ExecBuilder::addMessages(Operation *op, Exchange &exchange) {
  const runtime::rows::Row *row = dist::findRow(op);
  if (!row)
    return needsForm(op, "is no exchange of whole tensors");
  if (row->hasNumber())
    exchange.args.push_back(IntExpr::constant(
        b.getContext(), op->getAttrOfType<IntegerAttr>(row->number).getInt()));
  if (row->isInPlace()) {
    addInPlace(op, exchange);
    return success();
  }
  switch (row->message) {
  case runtime::rows::Elements:
    for (Value operand : op->getOperands())
      exchange.args.push_back(
          getNumElements(b.getContext(), shapes.of(operand)));
    break;
  case runtime::rows::Units:
    if (failed(addParts(op, exchange)))
      return failure();
    break;
  case runtime::rows::Blocks:
    if (failed(addAllToAll(cast<dist::AllToAllOp>(op), exchange)))
      return failure();
    break;
  }
  for (Value operand : op->getOperands())
    exchange.inputs.push_back(bufferOf(operand));
  for (Value result : op->getResults())
    exchange.outputs.push_back(bufferOf(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Starts and waits
//===----------------------------------------------------------------------===//

static Value rootOf(Value buffer) {
  while (auto alias = buffer.getDefiningOp<exec::AliasOp>())
    buffer = alias.getSource();
  return buffer;
}

LogicalResult ExecBuilder::addStart(const Group &group, ArrayAttr nodes) {
  Operation *op = group.opaque;
  auto axis = op->getAttrOfType<dist::AxisAttr>("axis");
  if (findAxis(module, axis.getName()) != axis)
    return op->emitOpError("is among the ranks of ")
           << axis << ", which is no axis of the module's dist.mesh";
  Exchange exchange;
  if (failed(addMessages(op, exchange)))
    return failure();
  waitFor(exchange.inputs);
  waitFor(exchange.outputs);
  if (dist::findRow(op)->consumes())
    limitScatters(op);
  auto reduction = op->getAttrOfType<StringAttr>("reduction");
  auto start = exec::StartOp::create(
      b, op->getLoc(), started.size(), op->getName().stripDialect(),
      axis.getName(), exchange.inputs, exchange.outputs,
      DimsAttr::get(b.getContext(), exchange.args), reduction,
      op->getAttrOfType<StringAttr>("algorithm"), nodes);
  for (Value buffer : exchange.outputs)
    pending[rootOf(buffer)] = started.size();
  started.push_back(start);
  return success();
}

/// Waits for the collectives that write `buffers`, before these are touched.
void ExecBuilder::waitFor(ArrayRef<Value> buffers) {
  SmallVector<unsigned> tickets;
  for (Value buffer : buffers)
    if (auto it = pending.find(rootOf(buffer)); it != pending.end())
      tickets.push_back(it->second);
  llvm::sort(tickets);
  tickets.erase(llvm::unique(tickets), tickets.end());
  for (unsigned ticket : tickets)
    addWait(ticket);
}

/// Limits the memory of reduce-scatters in flight before `op`, one more of
/// them, starts. If the module has a bound, waits for the oldest until the rest
/// read at most that many bytes; no rank holds the whole tensors of a finished
/// one.
void ExecBuilder::limitScatters(Operation *op) {
  llvm::erase_if(scatters, [&](auto one) { return !started[one.first]; });
  int64_t bytes = grouping.bytesOf(op->getOperands()), sum = bytes;
  for (auto [ticket, own] : scatters)
    sum += own;
  if (module->hasAttr(dist::kPrefetchLimitAttr))
    for (int64_t most = *getPrefetchLimit(module);
         sum > most && !scatters.empty(); scatters.erase(scatters.begin())) {
      addWait(scatters.front().first);
      sum -= scatters.front().second;
    }
  scatters.push_back({started.size(), bytes});
}

void ExecBuilder::addWait(unsigned ticket) {
  exec::StartOp start = started[ticket];
  exec::WaitOp::create(b, start.getLoc(), ticket, start.getInputs(),
                       start.getOutputs());
  for (Value buffer : start.getOutputs())
    pending.erase(rootOf(buffer));
  started[ticket] = {};
}

/// Waits at the end for collectives that no step reads.
void ExecBuilder::addLastWaits() {
  for (unsigned ticket = 0; ticket < started.size(); ++ticket)
    if (started[ticket])
      addWait(ticket);
}

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

/// The axes that dims are split over; null if a rank has the whole.
ArrayAttr ExecBuilder::splitOf(Attribute sharding) {
  auto known = dyn_cast_or_null<dist::ShardingAttr>(sharding);
  if (!known || !known.isSplit())
    return {};
  SmallVector<Attribute> axes(known.getDims().begin(), known.getDims().end());
  return b.getArrayAttr(axes);
}

} // namespace mlc
