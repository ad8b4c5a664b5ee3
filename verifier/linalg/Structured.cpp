//===- Structured.cpp - Regions over points -------------------------------===//
//
// A structured operation runs its region once for each point of its loops, in
// row-major order, on the operands' elements there. Yielded values are written
// to the results immediately, so reductions follow the order of the loops.
//
//===----------------------------------------------------------------------===//

#include "verifier/linalg/Machine.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::interpret {

std::optional<Machine::Body> Machine::compile(Block &block) {
  Body body;
  llvm::DenseMap<Value, unsigned> slotOf;
  auto newSlot = [&](Value value) {
    slotOf[value] = body.slots.size();
    body.slots.emplace_back();
    return slotOf[value];
  };
  // Arguments have the first slots.
  for (Value argument : block.getArguments())
    newSlot(argument);
  auto find = [&](Value value) -> std::optional<unsigned> {
    if (auto it = slotOf.find(value); it != slotOf.end())
      return it->second;
    auto outside = scalars.find(value);
    if (outside == scalars.end()) {
      run.unknown("a number that no known operation gives");
      return std::nullopt;
    }
    unsigned slot = newSlot(value);
    body.slots[slot] = outside->second;
    return slot;
  };
  for (Operation &op : block.without_terminator()) {
    if (!run.spend(1))
      return std::nullopt;
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      body.indices.push_back({newSlot(index.getResult()), index.getDim()});
      continue;
    }
    ScalarFn function =
        scalarFunction(&op, [&](Value value) { return tensorOf(value); }, run);
    if (!function) {
      run.unknown("'" + op.getName().getStringRef() + "' in a region");
      return std::nullopt;
    }
    Body::Instruction instruction{std::move(function), {}, 0};
    for (Value value : op.getOperands()) {
      if (isa<RankedTensorType>(value.getType()))
        continue;
      std::optional<unsigned> slot = find(value);
      if (!slot)
        return std::nullopt;
      instruction.operands.push_back(*slot);
    }
    instruction.result = newSlot(op.getResult(0));
    body.code.push_back(std::move(instruction));
  }
  for (Value value : block.getTerminator()->getOperands()) {
    std::optional<unsigned> slot = find(value);
    if (!slot)
      return std::nullopt;
    body.yields.push_back(*slot);
  }
  return body;
}

bool Machine::runBody(Body &body, ArrayRef<int64_t> at) {
  if (!run.spend(1 + body.code.size()))
    return false;
  for (auto [slot, loop] : body.indices)
    body.slots[slot] = Scalar::index(at[loop]);
  SmallVector<Scalar, 3> operands;
  for (const Body::Instruction &instruction : body.code) {
    operands.clear();
    for (unsigned slot : instruction.operands)
      operands.push_back(body.slots[slot]);
    body.slots[instruction.result] = instruction.function(operands);
  }
  return !run.stop;
}

/// The range of each loop is the size of a dim that it runs over alone; all
/// such dims must agree.
bool Machine::extentsOf(linalg::LinalgOp op,
                        llvm::SmallVectorImpl<int64_t> &extents) {
  extents.assign(op.getNumLoops(), -1);
  for (auto [value, map] :
       llvm::zip(op->getOperands(), op.getIndexingMapsArray())) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    TensorRef tensor = operand(value);
    if (!tensor)
      return false;
    for (auto [expr, size] : llvm::zip(map.getResults(), tensor->dims)) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      int64_t &extent = extents[loop.getPosition()];
      if (extent >= 0 && extent != size)
        return run.undefined("operands of '" + op->getName().getStringRef() +
                             "' disagree in size");
      extent = size;
    }
  }
  return !llvm::is_contained(extents, -1) ||
         run.open("a loop that no dim gives a size");
}

std::optional<int64_t> Machine::placeAt(AffineMap map, ArrayRef<int64_t> dims,
                                        ArrayRef<int64_t> at) {
  SmallVector<int64_t, 6> index;
  for (AffineExpr expr : map.getResults()) {
    std::optional<int64_t> value = evaluate(expr, at, {}, run);
    if (!value)
      return std::nullopt;
    index.push_back(*value);
  }
  std::optional<int64_t> place = placeOf(dims, index);
  if (!place)
    run.undefined("an indexing map leaves its operand");
  return place;
}

bool Machine::runStructured(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() ||
      op.getBlock()->getNumArguments() != op->getNumOperands())
    return run.unknown("'" + op->getName().getStringRef() +
                       "' on memory, or of a region of its own");
  SmallVector<int64_t> extents;
  if (!extentsOf(op, extents))
    return false;
  std::optional<Body> body = compile(*op.getBlock());
  if (!body)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned numInputs = op.getNumDpsInputs();
  std::vector<TensorRef> inputs;
  for (unsigned i = 0; i < numInputs; ++i) {
    Value value = op->getOperand(i);
    inputs.push_back(tensorOf(value));
    if (inputs.back())
      continue;
    auto it = scalars.find(value);
    if (it == scalars.end())
      return run.unknown("a number that no known operation gives");
    body->slots[i] = it->second;
  }
  std::vector<Tensor> results;
  for (Value init : op.getDpsInits()) {
    TensorRef tensor = operand(init);
    if (!tensor || !run.spendElements(tensor->dims))
      return false;
    results.push_back(*tensor);
  }
  SmallVector<int64_t> places(results.size());
  bool isDone = forEachPoint(extents, [&](ArrayRef<int64_t> at) {
    for (unsigned i = 0; i < numInputs; ++i) {
      if (!inputs[i])
        continue;
      std::optional<int64_t> place = placeAt(maps[i], inputs[i]->dims, at);
      if (!place)
        return false;
      body->slots[i] = inputs[i]->elements[*place];
    }
    for (auto [r, result] : llvm::enumerate(results)) {
      std::optional<int64_t> place =
          placeAt(maps[numInputs + r], result.dims, at);
      if (!place)
        return false;
      places[r] = *place;
      body->slots[numInputs + r] = result.elements[*place];
    }
    if (!runBody(*body, at))
      return false;
    for (auto [result, place, slot] : llvm::zip(results, places, body->yields))
      result.elements[place] = body->slots[slot];
    return true;
  });
  if (!isDone)
    return false;
  for (auto [value, result] : llvm::zip(op->getResults(), results))
    set(value, std::move(result));
  return true;
}

} // namespace mlc::interpret
