//===- OperatorDims.cpp - How groups of operations can be divided ---------===//

#include "passes/Shardings/OperatorDims.h"
#include "passes/Shardings/PartSeconds.h"

using namespace mlir;

namespace mlc::dist {

static bool isEqual(const DividedDim &a, const DividedDim &b) {
  return a.dim == b.dim && a.unit == b.unit;
}

// The number of parts does not matter here: extents say it.
DivisionFinder::DivisionFinder(MLIRContext *context)
    : axis(AxisAttr::get(context, "part", IntExpr::constant(context, 2))) {}

DivisionFinder::Query::Query(Operation *op, int operand, DividedDim divided,
                             IntExpr extent, int32_t parts)
    : name(op->getName()), attributes(op->getAttrDictionary()),
      operands(op->operand_type_begin(), op->operand_type_end()),
      operand(operand), dim(divided.dim), extent(extent.getAsOpaquePointer()),
      unit(divided.unit.getAsOpaquePointer()), parts(parts) {}

bool DivisionFinder::Query::operator<(const Query &other) const {
  auto key = [](const Query &query) {
    return std::tuple(query.name.getAsOpaquePointer(),
                      query.attributes.getAsOpaquePointer(), query.operand,
                      query.dim, query.extent, query.unit, query.parts,
                      query.operands.size());
  };
  if (key(*this) != key(other))
    return key(*this) < key(other);
  for (auto [a, b] : llvm::zip(operands, other.operands))
    if (a != b)
      return a.getAsOpaquePointer() < b.getAsOpaquePointer();
  return false;
}

const std::optional<DivisionFinder::Step> &
DivisionFinder::step(Operation *op, int operand, DividedDim divided,
                     IntExpr extent) {
  const Query query(op, operand, divided, extent);
  auto it = known.find(query);
  if (it == known.end())
    it = known.emplace(query, findStep(op, operand, divided, extent)).first;
  return it->second;
}

std::optional<DivisionFinder::Step> DivisionFinder::findStep(Operation *op,
                                                             int operand,
                                                             DividedDim divided,
                                                             IntExpr extent) {
  const std::optional<Definition> definition = meaningOf(op);
  if (!definition)
    return std::nullopt;
  const TensorId tensor = operand < 0 ? TensorId{true, definition->results[0]}
                                      : TensorId{false, unsigned(operand)};
  auto factor =
      findFactor(*definition, tensor,
                 Place::split(divided.dim, extent, divided.unit), axis);
  if (!factor || factor->extent != extent)
    return std::nullopt;
  for (const std::optional<SplitDim> &input : factor->inputs)
    if (input && (input->hasHalo() || input->isLookup))
      return std::nullopt;
  const auto plan =
      makePlan(op, *definition, *factor, Kinds(op->getNumOperands()));
  if (!plan || plan->partials.isCut() || !plan->result.isSplit())
    return std::nullopt;
  Step step;
  step.result = {plan->result.dim, plan->result.unit};
  for (const std::optional<SplitDim> &input : factor->inputs)
    step.operands.push_back(
        input ? std::optional(DividedDim{input->dim, input->unit})
              : std::nullopt);
  return step;
}

double
DivisionFinder::shareOf(Operation *op, DividedDim result, IntExpr extent,
                        int32_t parts,
                        llvm::function_ref<double(Operation *)> seconds) {
  auto [it, isNew] =
      shares.try_emplace(Query(op, -1, result, extent, parts), 1.0 / parts);
  if (!isNew)
    return it->second;
  const std::optional<Definition> definition = meaningOf(op);
  const auto several = AxisAttr::get(
      op->getContext(), "part", IntExpr::constant(op->getContext(), parts));
  if (!definition)
    return it->second;
  auto factor =
      findFactor(*definition, {true, definition->results[0]},
                 Place::split(result.dim, extent, result.unit), several);
  if (!factor)
    return it->second;
  const auto plan = makePlan(op, *definition, std::move(*factor),
                             Kinds(op->getNumOperands()));
  if (!plan)
    return it->second;
  const auto whole =
      secondsOfPart(op, planWhole(op, *definition), several, seconds);
  const auto part = secondsOfPart(op, *plan, several, seconds);
  if (whole && part && *whole > 0)
    it->second = *part / *whole;
  return it->second;
}

/// False if the operation cannot be divided as its neighbours are.
bool DivisionFinder::visit(Operation *op, const Group &group,
                           Division &division,
                           llvm::SetVector<Operation *> &open) {
  if (op->getNumResults() != 1)
    return false;
  auto isInside = [&](Value value) {
    return value.getDefiningOp() && group.contains(value.getDefiningOp());
  };
  const std::optional<Step> *found = nullptr;
  if (auto it = division.values.find(op->getResult(0));
      it != division.values.end())
    found = &step(op, -1, it->second, division.extent);
  for (OpOperand &operand : op->getOpOperands()) {
    auto value = division.values.find(operand.get());
    auto read = division.reads.find(&operand);
    if (!found && value != division.values.end())
      found = &step(op, int(operand.getOperandNumber()), value->second,
                    division.extent);
    else if (!found && read != division.reads.end())
      found = &step(op, int(operand.getOperandNumber()), read->second,
                    division.extent);
  }
  if (!found || !*found)
    return false;
  auto set = [&](Value value, DividedDim divided) {
    auto [it, isNew] = division.values.try_emplace(value, divided);
    if (!isNew)
      return isEqual(it->second, divided);
    if (Operation *maker = value.getDefiningOp(); maker != op)
      open.insert(maker);
    for (Operation *user : value.getUsers())
      if (user != op && group.contains(user))
        open.insert(user);
    return true;
  };
  if (!set(op->getResult(0), (*found)->result))
    return false;
  for (auto [operand, divided] :
       llvm::zip(op->getOpOperands(), (*found)->operands)) {
    if (!isInside(operand.get())) {
      if (divided)
        division.reads[&operand] = *divided;
      continue;
    }
    if (divided ? !set(operand.get(), *divided)
                : division.values.contains(operand.get()))
      return false;
  }
  return true;
}

bool DivisionFinder::follow(const Group &group, Division &division,
                            llvm::SetVector<Operation *> &open) {
  while (!open.empty())
    if (!visit(open.pop_back_val(), group, division, open))
      return false;
  // A value that was found late may be needed whole by an operation that was
  // visited before.
  for (Operation *op : group) {
    if (!division.values.contains(op->getResult(0)))
      return false;
    if (!visit(op, group, division, open) || !open.empty())
      return false;
  }
  return true;
}

std::optional<Division> DivisionFinder::find(const Group &group, Value value,
                                             unsigned dim) {
  Division division;
  division.extent = dimsOf(value)[dim];
  division.values[value] = {dim, IntExpr::constant(axis.getContext(), 1)};
  llvm::SetVector<Operation *> open;
  open.insert(value.getDefiningOp());
  for (Operation *user : value.getUsers())
    if (group.contains(user))
      open.insert(user);
  if (!follow(group, division, open))
    return std::nullopt;
  return division;
}

std::optional<Division> DivisionFinder::find(const Group &group,
                                             OpOperand &operand, unsigned dim) {
  Division division;
  division.extent = dimsOf(operand.get())[dim];
  division.reads[&operand] = {dim, IntExpr::constant(axis.getContext(), 1)};
  llvm::SetVector<Operation *> open;
  open.insert(operand.getOwner());
  if (!follow(group, division, open))
    return std::nullopt;
  return division;
}

} // namespace mlc::dist
