//===- Grouping.cpp - Which ops run as one kernel -------------------------===//

#include "passes/Fuse/Grouping.h"
#include "dialects/Definition/OpInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Fuse/Collectives.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

/// Groups that a search for cycles visits before it gives up.
static constexpr unsigned maxSearch = 256;

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static bool isSplat(Operation *op) {
  DenseElementsAttr elements;
  return matchPattern(op, m_Constant(&elements)) && elements.isSplat();
}

bool isMadeInKernel(Operation *op) {
  if (isa<tensor::EmptyOp, linalg::FillOp>(op))
    return true;
  if (llvm::none_of(op->getResults(), isTensor))
    return true;
  return isSplat(op);
}

SmallVector<Value> getTensorReads(Operation *op) {
  llvm::SetVector<Value> reads;
  for (Value operand : op->getOperands())
    if (isTensor(operand))
      reads.insert(operand);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    if (isTensor(value))
      reads.insert(value);
  return reads.takeVector();
}

/// A contraction's factors are buffers, even if they are splats.
static bool isFactor(OpOperand &operand, Operation *anchor) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(anchor);
  return linalgOp && operand.getOwner() == anchor &&
         linalgOp.isDpsInput(&operand) &&
         !operand.get().getDefiningOp<tensor::EmptyOp>();
}

bool isWork(Operation *op) {
  if (isa<OpaqueOpInterface>(op))
    return true;
  return isa<linalg::LinalgOp, tensor::PadOp, tensor::ExtractSliceOp,
             tensor::InsertSliceOp>(op);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

std::optional<unsigned> Grouping::groupOf(Operation *op) const {
  auto it = groupIndex.find(op);
  if (it == groupIndex.end())
    return std::nullopt;
  return it->second;
}

const InPlaceConcat *Grouping::inPlaceConcatOf(Value value) const {
  auto it = inPlaceConcats.find(value);
  return it == inPlaceConcats.end() ? nullptr : &it->second;
}

std::optional<unsigned> Grouping::producerOf(Value value) const {
  while (std::optional<View> view = getView(value, shapes))
    value = view->source;
  Operation *op = value.getDefiningOp();
  return op ? groupOf(op) : std::nullopt;
}

/// All ops that make the memory of `value`, including the pieces of a
/// concatenation in place.
static void collectMakers(const Grouping &grouping, Value value,
                          llvm::SetVector<Operation *> &makers) {
  while (std::optional<View> view = getView(value, grouping.getShapes()))
    value = view->source;
  if (const InPlaceConcat *concat = grouping.inPlaceConcatOf(value)) {
    for (const InPlaceConcat::Piece &piece : concat->pieces)
      collectMakers(grouping, piece.value, makers);
    return;
  }
  if (Operation *op = value.getDefiningOp())
    makers.insert(op);
}

void Grouping::findReads(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    llvm::SetVector<Operation *> makers;
    Reads &own = reads[&op];
    own.values = getTensorReads(&op);
    for (Value read : own.values)
      collectMakers(*this, read, makers);
    own.makers = makers.takeVector();
  }
}

SmallVector<unsigned> Grouping::producersOf(Operation *op) const {
  llvm::SmallSetVector<unsigned, 4> producers;
  for (Operation *maker : reads.at(op).makers)
    if (std::optional<unsigned> group = groupOf(maker))
      producers.insert(*group);
  SmallVector<unsigned> sorted(producers.begin(), producers.end());
  llvm::sort(sorted, [&](unsigned a, unsigned b) {
    return position.at(groups[a].ops.back()) >
           position.at(groups[b].ops.back());
  });
  return sorted;
}

SmallVector<Operation *> Grouping::viewsBetween(Operation *op,
                                                unsigned group) const {
  llvm::SetVector<Operation *> views;
  for (Value read : reads.at(op).values) {
    if (producerOf(read) != group)
      continue;
    for (Value value = read;;) {
      std::optional<View> view = getView(value, shapes);
      if (!view)
        break;
      views.insert(value.getDefiningOp());
      value = view->source;
    }
  }
  SmallVector<Operation *> sorted = views.takeVector();
  llvm::sort(sorted, [&](Operation *a, Operation *b) {
    return position.at(a) < position.at(b);
  });
  return sorted;
}

SmallVector<Value> Grouping::inputsOf(const Group &group) const {
  llvm::DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  llvm::SetVector<Value> inputs;
  auto read = [&](Value value, bool isFactor) {
    Operation *def = value.getDefiningOp();
    if (!isTensor(value) || (def && members.contains(def)))
      return;
    if (!def || isFactor || !isMadeInKernel(def))
      inputs.insert(value);
  };
  for (Operation *op : group.ops) {
    for (OpOperand &operand : op->getOpOperands())
      read(operand.get(), isFactor(operand, group.anchor) || group.opaque);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      read(value, false);
  }
  return inputs.takeVector();
}

SmallVector<Value> Grouping::outputsOf(const Group &group) const {
  llvm::DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  // A view that only the outside reads is an alias there, and the viewed tensor
  // is the output.
  auto isRead = [&](Value value) -> bool {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      while (user->getBlock() != value.getParentBlock())
        user = user->getParentOp();
      return !members.contains(user);
    });
  };
  SmallVector<Value> outputs;
  for (Operation *op : group.ops)
    for (Value result : op->getResults())
      if (isTensor(result) && isRead(result)) {
        Value base = result;
        while (std::optional<View> view = getView(base, shapes)) {
          if (!members.contains(base.getDefiningOp()))
            break;
          base = view->source;
        }
        if (!llvm::is_contained(outputs, base))
          outputs.push_back(base);
      }
  return outputs;
}

//===----------------------------------------------------------------------===//
// No cycles
//===----------------------------------------------------------------------===//

/// Searches for one of `targets` among the transitive producers of `from`; does
/// not look beyond groups for which `isLeft` holds. Also true if it gives up
/// after too many groups.
bool Grouping::finds(unsigned from, ArrayRef<unsigned> targets,
                     llvm::function_ref<bool(unsigned)> isLeft) const {
  SmallVector<unsigned> open{from};
  llvm::SmallDenseSet<unsigned> seen{from};
  while (!open.empty()) {
    unsigned current = open.pop_back_val();
    if (llvm::is_contained(targets, current) || seen.size() > maxSearch)
      return true;
    if (isLeft(current))
      continue;
    for (Operation *op : groups[current].ops)
      for (unsigned producer : producersOf(op))
        if (seen.insert(producer).second)
          open.push_back(producer);
  }
  return false;
}

SmallVector<unsigned> Grouping::readersAround(unsigned target) const {
  unsigned first = position.at(groups[target].ops.front());
  auto endsBefore = [&](unsigned group) {
    return position.at(groups[group].ops.back()) < first;
  };
  SmallVector<unsigned> around;
  for (unsigned i = 0; i < groups.size(); ++i)
    if (i != target && !groups[i].ops.empty() && !endsBefore(i) &&
        position.at(groups[i].ops.front()) < first &&
        finds(i, target, endsBefore))
      around.push_back(i);
  return around;
}

/// Whether one of `ops` depends on `group`, other than by reading from it
/// directly. A concatenation in place is memory that the groups of its pieces
/// must have written before. A group that ends before `group` begins does not
/// read from it, but may read from a longer group that does. So the groups that
/// span the beginning of `group` and read from it are found first.
bool Grouping::dependsOn(ArrayRef<Operation *> ops, unsigned group) const {
  unsigned first = position.at(groups[group].ops.front());
  auto endsBefore = [&](unsigned other) {
    return position.at(groups[other].ops.back()) < first;
  };
  std::optional<SmallVector<unsigned>> around;
  auto reaches = [&](unsigned from) {
    if (finds(from, group, endsBefore))
      return true;
    if (!around)
      around = readersAround(group);
    return !around->empty() &&
           finds(from, *around, [](unsigned) { return false; });
  };
  llvm::SmallDenseSet<unsigned> asked;
  auto reads = [&](Value read) {
    Value base = read;
    while (std::optional<View> view = getView(base, shapes))
      base = view->source;
    bool isPlaced = inPlaceConcatOf(base) != nullptr;
    llvm::SetVector<Operation *> makers;
    collectMakers(*this, base, makers);
    return llvm::any_of(makers, [&](Operation *maker) {
      std::optional<unsigned> producer = groupOf(maker);
      if (producer == group)
        return isPlaced;
      return producer && asked.insert(*producer).second && reaches(*producer);
    });
  };
  return llvm::any_of(ops, [&](Operation *op) {
    return llvm::any_of(this->reads.at(op).values, reads);
  });
}

//===----------------------------------------------------------------------===//
// Starting groups
//===----------------------------------------------------------------------===//

/// The contraction whose kernel reads through the pad `op`; null if there is
/// none.
Operation *Grouping::readerOfPadded(Operation *op) const {
  auto pad = dyn_cast<tensor::PadOp>(op);
  if (!pad || !pad->hasOneUse())
    return nullptr;
  OpOperand &use = *pad->use_begin();
  if (!isContraction(use.getOwner()) || !isFactor(use, use.getOwner()))
    return nullptr;
  // The pad's source must have memory: nothing is fused before it.
  auto contraction = cast<linalg::LinalgOp>(use.getOwner());
  return target.backend->canReadPadded(contraction, pad) ? use.getOwner()
                                                         : nullptr;
}

void Grouping::start(Operation *op) {
  Group group;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp())
      if (readerOfPadded(def) == op) {
        groupIndex[def] = groups.size();
        group.ops.push_back(def);
      }
  group.ops.push_back(op);
  if (isa<OpaqueOpInterface>(op))
    group.opaque = op;
  else if (isContraction(op))
    group.anchor = op;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    group.numReductions = linalgOp.getNumReductionLoops() != 0;
  groupIndex[op] = groups.size();
  groups.push_back(std::move(group));
}

bool Grouping::isLibraryCall(const Group &group) const {
  auto op = dyn_cast_or_null<OpaqueOpInterface>(group.opaque);
  return op && !target.backend->canCompileOpaque(op.getLibraryKernel());
}

/// Whether a reader of the fill `op` cannot make its result itself.
bool Grouping::needsMemory(Operation *op) const {
  return llvm::any_of(op->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return !isa<linalg::LinalgOp, tensor::PadOp, tensor::ExtractSliceOp>(
               user) ||
           placedInserts.contains(user) ||
           (isContraction(user) && isFactor(use, user));
  });
}

void Grouping::assign(Operation *op) {
  if (isa<OpaqueOpInterface, linalg::FillOp>(op) || isContraction(op))
    return start(op);
  // A concatenation is one kernel; its inserts follow each other.
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    Operation *dest = insert.getDest().getDefiningOp();
    std::optional<unsigned> group = dest ? groupOf(dest) : std::nullopt;
    if (!group || !isa<tensor::InsertSliceOp>(dest) || !tryJoin(op, *group))
      start(op);
    if (target.backend->canComputeParts())
      tryMerge(op, groupIndex[op]);
    return;
  }
  SmallVector<unsigned> producers = producersOf(op);
  // An epilogue is free, so it is preferred.
  std::stable_partition(producers.begin(), producers.end(), [&](unsigned i) {
    return groups[i].anchor != nullptr;
  });
  for (unsigned producer : producers)
    if (tryJoin(op, producer)) {
      tryMerge(op, producer);
      return;
    }
  start(op);
}

Grouping::Grouping(func::FuncOp function, ShapeTable &shapes,
                   const CodeTarget &target)
    : shapes(shapes), target(target),
      limits(target.backend->getFusionLimits(target.target)) {
  placeConcatenations(function);
  unsigned next = 0;
  for (Operation &op : function.getBody().front())
    position[&op] = next++;
  findReads(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    bool isView = op.getNumResults() == 1 && isTensor(op.getResult(0)) &&
                  getView(op.getResult(0), shapes);
    if (!isWork(&op) || isView || placedInserts.contains(&op) ||
        readerOfPadded(&op))
      continue;
    // A fill that every reader makes itself needs no kernel.
    if (!isMadeInKernel(&op) || needsMemory(&op))
      assign(&op);
  }
}

} // namespace mlc
