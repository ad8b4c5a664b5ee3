//===- ExecBuilder.cpp - Groups as a program ------------------------------===//

#include "passes/Fuse/ExecBuilder.h"
#include "dialects/Definition/NumberChecks.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/States.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "passes/Base/Remedy.h"
#include "passes/Fuse/Collectives.h"
#include "passes/Lower/SizeValues.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

ExecBuilder::ExecBuilder(ModuleOp module, func::FuncOp function,
                         const Grouping &grouping, Outliner::Known &kernels)
    : module(module), function(function), grouping(grouping),
      shapes(grouping.getShapes()), b(module.getContext()),
      outliner(module, grouping, kernels) {
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (const InPlaceConcat *concat = grouping.inPlaceConcatOf(result))
        for (const InPlaceConcat::Piece &piece : concat->pieces) {
          Value base = piece.value;
          while (std::optional<View> view = getView(base, shapes))
            base = view->source;
          places[base] = {result, piece.offset};
        }
    placeOperands(op);
  });
}

/// Names of the model's nodes in a location, in order.
static void collectNames(Location loc, llvm::SetVector<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(loc))
    names.insert(name.getName().getValue());
  else if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : fused.getLocations())
      collectNames(inner, names);
}

static StringAttr getName(Value value) {
  llvm::SetVector<StringRef> names;
  collectNames(value.getLoc(), names);
  return names.empty() ? StringAttr()
                       : StringAttr::get(value.getContext(), names.back());
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value ExecBuilder::makeAlias(Value value, Value source, IntExpr elements) {
  auto type = cast<RankedTensorType>(value.getType());
  IntExpr bytes = elements * elementBytes(type.getElementType());
  return exec::AliasOp::create(
      b, value.getLoc(), exec::BufferType::get(b.getContext()), source, bytes,
      DimsAttr::get(b.getContext(), shapes.of(value)),
      TypeAttr::get(type.getElementType()), getName(value));
}

Value ExecBuilder::makeBuffer(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto bufferType = exec::BufferType::get(b.getContext());
  auto dims = DimsAttr::get(b.getContext(), shapes.of(value));
  auto element = TypeAttr::get(type.getElementType());
  if (std::optional<View> view = getView(value, shapes))
    return makeAlias(value, bufferOf(view->source), view->offset);
  if (auto place = places.find(value); place != places.end())
    return makeAlias(value,
                     place->second.collective
                         ? jointBuffer(place->second.collective)
                         : bufferOf(place->second.whole),
                     place->second.offset);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return exec::ConstantOp::create(b, value.getLoc(), bufferType,
                                    cast<ElementsAttr>(constant.getValue()),
                                    dims, element, getName(value));
  return exec::AllocOp::create(b, value.getLoc(), bufferType, dims, element,
                               getName(value));
}

Value ExecBuilder::bufferOf(Value value) {
  if (Value known = buffers.lookup(value))
    return known;
  Value buffer = makeBuffer(value);
  buffers[value] = buffer;
  return buffer;
}

//===----------------------------------------------------------------------===//
// Symbols, inputs, checks
//===----------------------------------------------------------------------===//

LogicalResult ExecBuilder::addSymbols() {
  auto names = function->getAttrOfType<ArrayAttr>(kSymbolsAttr);
  if (!names)
    return success();
  for (Attribute attr : names) {
    StringRef name = cast<StringAttr>(attr).getValue();
    IntExpr symbol = IntExpr::symbol(b.getContext(), name);
    if (dist::AxisAttr axis = findAxisOfRank(module, name)) {
      exec::CoordinateOp::create(b, function.getLoc(), name, axis.getName());
      continue;
    }
    bool found = false;
    for (BlockArgument argument : function.getArguments()) {
      if (argument.getType().isIndex() || found)
        continue;
      for (auto [d, dim] : llvm::enumerate(shapes.of(argument)))
        if (dim == symbol && !found) {
          exec::SymbolOp::create(b, function.getLoc(), name,
                                 argument.getArgNumber(), d);
          found = true;
        }
    }
    if (!found)
      return function.emitError("the dim ")
             << name << " stands alone in no input's shape, so its value "
             << "cannot be known" << Remedy{Remedy::Kind::FixDim, name.str()};
  }
  return success();
}

/// The element type of the model's interface, where signs matter.
static Type elementOf(func::FuncOp function, BlockArgument argument) {
  auto original =
      function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), "mlc.type");
  return original ? original.getValue()
                  : cast<RankedTensorType>(argument.getType()).getElementType();
}

LogicalResult ExecBuilder::addParameter(BlockArgument argument) {
  unsigned i = argument.getArgNumber();
  auto type = cast<RankedTensorType>(argument.getType());
  auto value = function.getArgAttrOfType<ElementsAttr>(i, kParameterAttr);
  if (!value || value.getShapedType() != type || !type.hasStaticShape())
    return function.emitError("argument ")
           << i << ": " << kParameterAttr << " must hold the elements of a "
           << type;
  buffers[argument] = exec::ParameterOp::create(
      b, argument.getLoc(), exec::BufferType::get(b.getContext()), value,
      DimsAttr::get(b.getContext(), shapes.of(argument)),
      TypeAttr::get(elementOf(function, argument)),
      function.getArgAttrOfType<StringAttr>(i, "mlc.name"));
  return success();
}

/// The buffer of the state `name`, of the type of `value`, created on first
/// use.
FailureOr<Value> ExecBuilder::stateCalled(StringAttr name, Value value,
                                          ElementsAttr initial,
                                          Attribute sharding) {
  auto type = cast<RankedTensorType>(value.getType());
  ArrayAttr split = splitOf(sharding);
  if (name.getValue().empty() || !(type.hasStaticShape() || split))
    return function.emitError("a state needs a name and fixed dims; '")
           << name.getValue() << "' is a " << type;
  RankedTensorType wholeType = type;
  DenseI64ArrayAttr whole;
  if (split) {
    FailureOr<SmallVector<int64_t>> dims =
        getWholeDims(module, cast<dist::ShardingAttr>(sharding),
                     shapes.of(value), "the state '" + name.getValue() + "'");
    if (failed(dims))
      return failure();
    whole = b.getDenseI64ArrayAttr(*dims);
    wholeType = RankedTensorType::get(*dims, type.getElementType());
  }
  if (initial && initial.getShapedType() != wholeType)
    return function.emitError("the state '")
           << name.getValue() << "': " << kInitialAttr
           << " must hold the elements of a " << wholeType;
  Value &known = states[name];
  Type element = type.getElementType();
  if (auto argument = dyn_cast<BlockArgument>(value))
    element = elementOf(function, argument);
  // Before the steps, because one of them may write there, and behind the
  // coordinates of which parts are.
  OpBuilder::InsertionGuard guard(b);
  if (!isa<BlockArgument>(value)) {
    Block::iterator first = b.getBlock()->begin();
    while (first != b.getBlock()->end() && isa<exec::CoordinateOp>(*first))
      ++first;
    b.setInsertionPoint(b.getBlock(), first);
  }
  if (!known)
    known = exec::StateOp::create(
        b, value.getLoc(), exec::BufferType::get(b.getContext()), name, initial,
        split, whole, DimsAttr::get(b.getContext(), shapes.of(value)),
        TypeAttr::get(element), StringAttr());
  return known;
}

LogicalResult ExecBuilder::addInputs() {
  bool hadOther = false;
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()))
      continue;
    unsigned i = argument.getArgNumber();
    if (auto name = function.getArgAttrOfType<StringAttr>(i, kStateAttr)) {
      if (states.contains(name))
        return function.emitError("two arguments are the state '")
               << name.getValue() << "'";
      FailureOr<Value> state =
          stateCalled(name, argument,
                      function.getArgAttrOfType<ElementsAttr>(i, kInitialAttr),
                      function.getArgAttr(i, dist::kShardingAttr));
      if (failed(state))
        return failure();
      buffers[argument] = *state;
      hadOther = true;
      continue;
    }
    if (function.getArgAttr(i, kParameterAttr)) {
      if (failed(addParameter(argument)))
        return failure();
      hadOther = true;
      continue;
    }
    if (hadOther)
      return function.emitError("argument ")
             << i << " is an input, and stands behind a parameter or a state";
    auto input = exec::InputOp::create(
        b, function.getLoc(), exec::BufferType::get(b.getContext()),
        b.getI64IntegerAttr(i),
        splitOf(function.getArgAttr(i, dist::kShardingAttr)),
        DimsAttr::get(b.getContext(), shapes.of(argument)),
        TypeAttr::get(elementOf(function, argument)),
        function.getArgAttrOfType<StringAttr>(i, "mlc.name"));
    if (auto role = function.getArgAttrOfType<StringAttr>(i, kInputRoleAttr))
      input->setAttr(kInputRoleAttr, role);
    buffers[argument] = input;
  }
  return success();
}

/// Adds the module's checks whose symbols the function has; the others belong
/// to other entries.
LogicalResult ExecBuilder::addChecks() {
  llvm::DenseSet<StringRef> names;
  if (auto symbols = function->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    for (Attribute attr : symbols)
      names.insert(cast<StringAttr>(attr).getValue());
  for (auto check : module.getOps<CheckOp>()) {
    IntExpr lhs = check.getLhs(), rhs = check.getRhs();
    SmallVector<std::string> used;
    collectSymbols(lhs, used);
    collectSymbols(rhs, used);
    if (!llvm::all_of(used, [&](const std::string &symbol) {
          return names.contains(symbol);
        }))
      continue;
    ComparePredicate predicate = check.getPredicate();
    // The runtime has only eq, le and lt.
    if (predicate == ComparePredicate::GE ||
        predicate == ComparePredicate::GT) {
      std::swap(lhs, rhs);
      predicate = predicate == ComparePredicate::GE ? ComparePredicate::LE
                                                    : ComparePredicate::LT;
    }
    if (predicate == ComparePredicate::NE)
      return check.emitOpError("with predicate ne cannot be made at run time");
    exec::CheckOp::create(b, module.getLoc(), lhs, predicate, rhs,
                          check.getMessage());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Points of the loop nest of `op`.
static IntExpr countPoints(Operation *op, const ShapeTable &shapes) {
  MLIRContext *context = op->getContext();
  IntExpr count = IntExpr::constant(context, 1);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp) {
    for (IntExpr dim : shapes.of(op->getResult(0)))
      count = count * dim;
    return count;
  }
  SmallVector<IntExpr> extents(linalgOp.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (auto [expr, dim] :
         llvm::zip_equal(map.getResults(), shapes.of(operand.get())))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        extents[loop.getPosition()] = dim;
  }
  for (IntExpr extent : extents)
    if (extent)
      count = count * extent;
  return count;
}

/// Scalar operations of each point of `op`. Casts beside arithmetic are part of
/// reading and writing, so that the count is the same for all types.
static int64_t countPerPoint(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return 1;
  int64_t count = llvm::count_if(
      linalgOp.getBlock()->without_terminator(),
      [](Operation &scalar) { return !isa<CastOpInterface>(scalar); });
  return std::max<int64_t>(1, count);
}

IntExpr ExecBuilder::countWork(const Group &group) const {
  IntExpr work = IntExpr::constant(b.getContext(), 0);
  for (Operation *op : group.ops)
    work = work + countPoints(op, shapes) * countPerPoint(op);
  return work;
}

static ArrayAttr getNodes(const Group &group, Builder &b) {
  llvm::SetVector<StringRef> names;
  for (Operation *op : group.ops)
    collectNames(op->getLoc(), names);
  return b.getStrArrayAttr(names.getArrayRef());
}

void ExecBuilder::addLaunch(const Group &group) {
  OutlinedKernel kernel = outliner.outline(group);
  SmallVector<Value> inputs, outputs;
  for (Value input : kernel.inputs)
    inputs.push_back(bufferOf(input));
  for (Value output : kernel.outputs)
    outputs.push_back(bufferOf(output));
  waitFor(inputs);
  waitFor(outputs);
  exec::LaunchOp::create(b, group.ops.back()->getLoc(),
                         FlatSymbolRefAttr::get(kernel.function.getNameAttr()),
                         inputs, outputs,
                         DimsAttr::get(b.getContext(), kernel.args),
                         countWork(group), getNodes(group, b));
}

void ExecBuilder::addLibrary(const Group &group) {
  auto op = cast<OpaqueOpInterface>(group.opaque);
  SmallVector<Value> inputs, outputs;
  for (Value operand : op->getOperands())
    inputs.push_back(bufferOf(operand));
  for (Value result : op->getResults())
    outputs.push_back(bufferOf(result));
  waitFor(inputs);
  waitFor(outputs);
  exec::LibraryOp::create(
      b, op.getLoc(), op.getLibraryKernel(), inputs, outputs,
      DimsAttr::get(b.getContext(), op.getLibraryArguments()),
      getNodes(group, b));
}

/// Adds a check for result `i`, a number that a run depends on.
void ExecBuilder::addNumberCheck(unsigned i, Value buffer) {
  std::string name = "number." + std::to_string(i);
  IntExpr number = IntExpr::symbol(b.getContext(), name);
  Location loc = function.getLoc();
  exec::BindOp::create(b, loc, name, buffer, 0)
      ->setAttr(kAnyNumberAttr, b.getUnitAttr());
  auto message = function.getResultAttrOfType<StringAttr>(i, kCheckAttr);
  if (auto low = function.getResultAttrOfType<IntExpr>(i, kLowAttr))
    exec::CheckOp::create(b, loc, low, ComparePredicate::LE, number, message);
  if (auto high = function.getResultAttrOfType<IntExpr>(i, kHighAttr))
    exec::CheckOp::create(b, loc, number, ComparePredicate::LE, high, message);
}

LogicalResult ExecBuilder::addResult(unsigned i, Value value) {
  Value buffer = bufferOf(value);
  if (function.getResultAttr(i, kCheckAttr)) {
    addNumberCheck(i, buffer);
    return success();
  }
  Attribute sharding = function.getResultAttr(i, dist::kShardingAttr);
  if (auto name = function.getResultAttrOfType<StringAttr>(i, kStateAttr)) {
    FailureOr<Value> state = stateCalled(name, value, {}, sharding);
    if (failed(state))
      return failure();
    if (!assigned.insert(name).second)
      return function.emitError("two results are the state '")
             << name.getValue() << "'";
    exec::AssignOp::create(b, function.getLoc(), *state, buffer);
    return success();
  }
  // The element type of the model's interface, where signs matter.
  if (auto type = function.getResultAttrOfType<TypeAttr>(i, "mlc.type"))
    buffer = exec::AliasOp::create(
        b, function.getLoc(), exec::BufferType::get(b.getContext()), buffer,
        IntExpr::constant(b.getContext(), 0),
        DimsAttr::get(b.getContext(), shapes.of(value)), type, StringAttr());
  auto name = function.getResultAttrOfType<StringAttr>(i, "mlc.name");
  exec::OutputOp::create(b, function.getLoc(),
                         name ? name.getValue()
                              : StringRef("output" + std::to_string(i)),
                         buffer, splitOf(sharding));
  return success();
}

LogicalResult ExecBuilder::addOutputs() {
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands()))
    if (failed(addResult(i, value)))
      return failure();
  return success();
}

LogicalResult ExecBuilder::build(ArrayRef<unsigned> order) {
  b.setInsertionPointToEnd(module.getBody());
  auto program =
      exec::ProgramOp::create(b, function.getLoc(), function.getName());
  b.setInsertionPointToStart(&program.getBody().emplaceBlock());
  if (failed(addSymbols()))
    return failure();
  if (failed(addInputs()) || failed(addChecks()))
    return failure();
  for (unsigned i : order) {
    const Group &group = grouping.getGroups()[i];
    if (isCollective(group.opaque)) {
      if (failed(addStart(group, getNodes(group, b))))
        return failure();
    } else if (grouping.isLibraryCall(group)) {
      addLibrary(group);
    } else {
      addLaunch(group);
    }
  }
  addLastWaits();
  return addOutputs();
}

} // namespace mlc
