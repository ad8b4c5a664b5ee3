//===- StackRanks.cpp - A rank's function over all ranks' tensors ---------===//

#include "dialects/Definition/OpInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Differentiate/Emit.h"
#include "passes/Distribute/Mesh.h"
#include "passes/Distribute/Partition.h"
#include "passes/Distribute/StackedDefinition.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

#define GEN_PASS_DEF_STACKRANKSPASS
#include "passes/Base/Passes.h.inc"

namespace {

/// A value of the new function, and the axes along which it is stacked.
struct Stacked {
  Value value;
  StackedAxes axes;
};

class RankStacker {
public:
  RankStacker(func::FuncOp function, ArrayRef<dist::AxisAttr> mesh)
      : old(function), mesh(mesh), builder(function) {}

  LogicalResult run() {
    builder.setInsertionPointAfter(old);
    made = func::FuncOp::create(builder, old.getLoc(), old.getName(),
                                old.getFunctionType());
    made->setAttrs(old->getAttrs());
    Block *block = made.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    if (failed(stack())) {
      made.erase();
      return failure();
    }
    if (!required.empty())
      made->setAttr("mlc.require",
                    builder.getArrayAttr(required.getArrayRef()));
    for (unsigned i = 0; i < made.getNumArguments(); ++i)
      made.removeArgAttr(i, dist::kShardingAttr);
    for (unsigned i = 0; i < made.getNumResults(); ++i)
      made.removeResultAttr(
          i, StringAttr::get(builder.getContext(), dist::kShardingAttr));
    old.erase();
    return success();
  }

private:
  LogicalResult stack() {
    for (unsigned i = 0; i < old.getNumArguments(); ++i)
      if (failed(addArgument(i)))
        return failure();
    for (Operation &op : old.front()) {
      bool isEnd = op.hasTrait<OpTrait::IsTerminator>();
      if (failed(isEnd ? addReturn(&op) : addOperation(&op)))
        return failure();
    }
    return success();
  }

  IntExpr number(int64_t value) const {
    return IntExpr::constant(builder.getContext(), value);
  }

  StackedAxes noAxes() const { return StackedAxes(mesh.size()); }

  LogicalResult checkSizes(ArrayRef<IntExpr> dims, const llvm::Twine &what) {
    for (IntExpr dim : dims)
      if (std::optional<unsigned> axis = findRank(dim, mesh))
        return old.emitError()
               << what << " has a dim of " << dim.str()
               << ", which differs between ranks; choose sizes that '"
               << mesh[*axis].getName()
               << "' divides, or evaluate each rank by itself";
    return success();
  }

  //===--- Arguments and results -----------------------------------------===//

  FailureOr<RankSharding> shardingOf(Attribute given, Value value,
                                     const llvm::Twine &what) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !getDims(type)) {
      old.emitError() << what << " must be a ranked tensor with named dims";
      return failure();
    }
    std::string problem;
    FailureOr<RankSharding> sharding =
        readSharding(given, type.getRank(), mesh, problem);
    if (failed(sharding))
      old.emitError() << what << " " << problem;
    return sharding;
  }

  SmallVector<IntExpr> wholeDims(const RankSharding &sharding,
                                 ArrayRef<IntExpr> dims) const {
    SmallVector<IntExpr> whole(dims);
    for (auto [d, axes] : llvm::enumerate(sharding.dims))
      for (unsigned axis : axes)
        whole[d] = whole[d] * mesh[axis].getSize();
    return whole;
  }

  /// Checks that the parts have the specified whole dims.
  LogicalResult checkWhole(Attribute given, ArrayRef<IntExpr> whole,
                           const llvm::Twine &what) {
    auto made = DimsAttr::get(builder.getContext(), whole);
    if (!given || given == made)
      return success();
    return old.emitError() << what << " has parts that make " << made
                           << ", and its dist.whole says " << given;
  }

  /// Turns an argument into the whole tensor, and splits it.
  LogicalResult addArgument(unsigned i) {
    BlockArgument from = old.getArgument(i), to = made.getArgument(i);
    std::string what = "argument #" + std::to_string(i);
    FailureOr<RankSharding> sharding =
        shardingOf(old.getArgAttr(i, dist::kShardingAttr), from, what);
    if (failed(sharding))
      return failure();
    TensorShape shape = shapeOf(from);
    if (failed(checkSizes(shape.dims, what)))
      return failure();
    if (!sharding->partial.empty())
      return old.emitError() << what
                             << " is partial, so that ranks may have anything "
                                "that adds up; give it whole or split";
    TensorShape whole{wholeDims(*sharding, shape.dims), shape.elementType};
    if (failed(
            checkWhole(old.getArgAttr(i, dist::kWholeAttr), whole.dims, what)))
      return failure();
    to.setType(getTensorType(whole.dims, whole.elementType));
    StackedAxes axes = noAxes();
    for (ArrayRef<unsigned> split : sharding->dims)
      for (unsigned axis : split)
        axes.set(axis);
    values[from] = {to, axes};
    if (axes.none())
      return success();
    DefinitionBuilder b(builder.getContext(), {whole});
    SmallVector<IntExpr> dims;
    for (unsigned a : axes.set_bits())
      dims.push_back(mesh[a].getSize());
    unsigned lead = dims.size();
    llvm::append_range(dims, shape.dims);
    b.result(b.stage("parts", dims, whole.elementType, [&](ArrayRef<Expr> i) {
      SmallVector<Expr> at(i.drop_front(lead));
      // The last axis is the digit above the index within the part.
      for (auto [d, split] : llvm::enumerate(sharding->dims)) {
        IntExpr unit = shape.dims[d];
        for (unsigned axis : llvm::reverse(split)) {
          at[d] = i[placeOf(axis, axes)] * unit + at[d];
          unit = unit * mesh[axis].getSize();
        }
      }
      return b.read(0, at);
    }));
    FailureOr<Value> parts = emitOne(from.getLoc(), b.take(), to);
    if (failed(parts))
      return failure();
    values[from].value = *parts;
    return success();
  }

  static unsigned placeOf(unsigned axis, const StackedAxes &axes) {
    unsigned place = 0;
    for (unsigned a : axes.set_bits())
      place += a < axis;
    return place;
  }

  LogicalResult addReturn(Operation *op) {
    SmallVector<Value> results;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      FailureOr<Value> whole = join(i, operand);
      if (failed(whole))
        return failure();
      results.push_back(*whole);
    }
    func::ReturnOp::create(builder, op->getLoc(), results);
    made.setFunctionType(FunctionType::get(builder.getContext(),
                                           made.front().getArgumentTypes(),
                                           TypeRange(results)));
    return success();
  }

  /// The whole tensor of a result, from all ranks' tensors.
  FailureOr<Value> join(unsigned i, Value operand) {
    std::string what = "result #" + std::to_string(i);
    FailureOr<RankSharding> sharding =
        shardingOf(old.getResultAttr(i, dist::kShardingAttr), operand, what);
    if (failed(sharding))
      return failure();
    TensorShape local = shapeOf(operand);
    if (failed(checkSizes(local.dims, what)))
      return failure();
    const Stacked &stacked = values.lookup(operand);
    if (stacked.axes.none() && !sharding->isSplit() &&
        sharding->partial.empty())
      return stacked.value;
    DefinitionBuilder b(builder.getContext(), {shapeOf(stacked.value)});
    SmallVector<IntExpr> whole = wholeDims(*sharding, local.dims);
    if (failed(checkWhole(old.getResultAttr(i, dist::kWholeAttr), whole, what)))
      return failure();
    b.result(b.stage("whole", whole, local.elementType, [&](ArrayRef<Expr> at) {
      SmallVector<Expr> ranks(mesh.size()), own(at);
      // Reads any rank's copy: proofs hold for every value of the symbol.
      for (unsigned a = 0; a < mesh.size(); ++a)
        ranks[a] = b.integer(mesh[a].getRank().mod(mesh[a].getSize()));
      for (auto [d, split] : llvm::enumerate(sharding->dims)) {
        IntExpr unit = local.dims[d];
        for (unsigned axis : llvm::reverse(split)) {
          ranks[axis] = floorDiv(at[d], unit);
          if (axis != split.front())
            ranks[axis] = mod(ranks[axis], mesh[axis].getSize());
          unit = unit * mesh[axis].getSize();
        }
        if (!split.empty())
          own[d] = mod(at[d], local.dims[d]);
      }
      return reducePartial(b, *sharding, stacked.axes, ranks, own, 0);
    }));
    return emitOne(old.getLoc(), b.take(), stacked.value);
  }

  /// The reduction over the partial axes from `next` on.
  Expr reducePartial(DefinitionBuilder &b, const RankSharding &sharding,
                     const StackedAxes &axes, SmallVector<Expr> &ranks,
                     ArrayRef<Expr> own, unsigned next) {
    if (next == sharding.partial.size()) {
      SmallVector<Expr> at;
      for (unsigned a : axes.set_bits())
        at.push_back(ranks[a]);
      llvm::append_range(at, own);
      return b.read(0, at);
    }
    auto [axis, kind] = sharding.partial[next];
    return b.reduce(kind, mesh[axis].getSize(), [&](ArrayRef<Expr> q) {
      ranks[axis] = q[0];
      return reducePartial(b, sharding, axes, ranks, own, next + 1);
    });
  }

  /// Emits a definition of one stage, with guards that a text needs.
  FailureOr<Value> emitOne(Location loc, Definition definition, Value input) {
    std::string problem;
    FailureOr<StackedDefinition> guarded =
        stackDefinition(definition, {}, StackedAxes(), std::nullopt, problem);
    assert(succeeded(guarded) && "nothing here depends on a rank");
    const Definition &one = guarded->definition;
    return emitStage(builder, loc, one, one.stages.front(),
                     [&](TensorId) { return input; });
  }

  //===--- Operators -----------------------------------------------------===//

  LogicalResult addOperation(Operation *op) {
    if (auto collective = dyn_cast<dist::StackedOpInterface>(op))
      return addCollective(collective);
    bool isStacked = llvm::any_of(op->getOperands(), [&](Value operand) {
      return values.lookup(operand).axes.any();
    });
    auto defined = dyn_cast<DefinitionOpInterface>(op);
    if (!defined && isStacked)
      return addOpaque(op);
    if (!defined)
      return failed(checkOpaque(op)) ? failure() : keep(op);
    FailureOr<Definition> definition = getDefinition(defined);
    if (failed(definition))
      return failure();
    SmallVector<StackedAxes> axes;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      axes.push_back(values.lookup(operand).axes);
      operands.push_back(values.lookup(operand).value);
    }
    if (!isStacked && !dependsOnRank(*definition, mesh))
      return keep(op);
    return emit(op, *definition, axes, operands, std::nullopt);
  }

  /// Carries out an operator without a definition on all ranks' tensors, if it
  /// says how.
  LogicalResult addOpaque(Operation *op) {
    if (failed(checkOpaque(op)))
      return failure();
    StackedAxes axes = noAxes();
    for (Value operand : op->getOperands())
      axes |= values.lookup(operand).axes;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Stacked> stacked = spread(operand, axes, op->getLoc());
      if (failed(stacked))
        return failure();
      operands.push_back(stacked->value);
    }
    FailureOr<Operation *> all = nullptr;
    if (auto opaque = dyn_cast<OpaqueOpInterface>(op))
      all = opaque.createStacked(builder, operands, axes.count());
    if (failed(all))
      return failure();
    if (!*all)
      return op->emitOpError() << "has no definition, by which it could be "
                                  "carried out for all ranks; leave it whole, "
                                  "or evaluate each rank by itself";
    for (auto [from, to] :
         llvm::zip_equal(op->getResults(), (*all)->getResults()))
      values[from] = {to, axes};
    return success();
  }

  /// Checks that an operator without a definition is the same on all ranks.
  LogicalResult checkOpaque(Operation *op) const {
    bool found = false;
    AttrTypeWalker walker;
    walker.addWalk(
        [&](IntExpr integer) { found |= findRank(integer, mesh).has_value(); });
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
    if (found)
      return op->emitOpError()
             << "has a size that differs between ranks; choose sizes that axes "
                "divide, or evaluate each rank by itself";
    return success();
  }

  /// Keeps an operator whose operands are the same on all ranks.
  LogicalResult keep(Operation *op) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, values.lookup(operand).value);
    Operation *copy = builder.clone(*op, mapping);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
      values[from] = {to, noAxes()};
    return success();
  }

  LogicalResult addCollective(dist::StackedOpInterface op) {
    std::optional<unsigned> axis = findAxis(mesh, op.getExchangeAxis());
    if (!axis)
      return op->emitOpError()
             << "exchanges over " << op.getExchangeAxis()
             << ", which is no axis of the module's dist.mesh";
    SmallVector<StackedAxes> axes;
    SmallVector<Value> operands;
    SmallVector<TensorShape> inputs;
    for (Value operand : op->getOperands()) {
      FailureOr<Stacked> all =
          spread(values.lookup(operand), *axis, op->getLoc());
      if (failed(all))
        return failure();
      axes.push_back(all->axes);
      operands.push_back(all->value);
      TensorShape shape = shapeOf(operand);
      shape.dims.insert(shape.dims.begin(), mesh[*axis].getSize());
      inputs.push_back(std::move(shape));
    }
    DefinitionBuilder b(builder.getContext(), inputs);
    op.defineStacked(b);
    return emit(op, b.take(), axes, operands, axis);
  }

  /// Stacks the value along the axis, too, the same on all its ranks.
  FailureOr<Stacked> spread(Stacked from, unsigned axis, Location loc) {
    if (from.axes.test(axis))
      return from;
    Stacked to = from;
    to.axes.set(axis);
    unsigned place = placeOf(axis, to.axes);
    TensorShape shape = shapeOf(from.value);
    DefinitionBuilder b(builder.getContext(), {shape});
    shape.dims.insert(shape.dims.begin() + place, mesh[axis].getSize());
    b.result(
        b.stage("all", shape.dims, shape.elementType, [&](ArrayRef<Expr> i) {
          SmallVector<Expr> at(i);
          at.erase(at.begin() + place);
          return b.read(0, at);
        }));
    FailureOr<Value> value = emitOne(loc, b.take(), from.value);
    if (failed(value))
      return failure();
    to.value = *value;
    return to;
  }

  /// Stacks the value of a rank's operand along all these axes.
  FailureOr<Stacked> spread(Value operand, const StackedAxes &axes,
                            Location loc) {
    FailureOr<Stacked> all = values.lookup(operand);
    for (unsigned axis : axes.set_bits())
      if (succeeded(all))
        all = spread(*all, axis, loc);
    return all;
  }

  LogicalResult emit(Operation *op, const Definition &definition,
                     ArrayRef<StackedAxes> axes, ArrayRef<Value> operands,
                     std::optional<unsigned> exchanged) {
    std::string problem;
    FailureOr<StackedDefinition> stacked =
        stackDefinition(definition, mesh, axes, exchanged, problem);
    if (failed(stacked))
      return op->emitOpError(problem);
    require(op, definition);
    SmallVector<Value> stages;
    auto valueOf = [&](TensorId id) {
      return id.isStage ? stages[id.index] : operands[id.index];
    };
    for (const Stage &stage : stacked->definition.stages) {
      bool isWhole = stage.pieces.size() == 1 || stage.reinterprets;
      FailureOr<Value> value = (isWhole ? emitStage : emitPieces)(
          builder, op->getLoc(), stacked->definition, stage, valueOf);
      if (failed(value))
        return failure();
      stages.push_back(*value);
    }
    for (auto [result, stage] :
         llvm::zip_equal(op->getResults(), stacked->definition.results))
      values[result] = {stages[stage], stacked->axes[stage]};
    return success();
  }

  /// Adds an operator's requirements on a rank's sizes to the function, for any
  /// rank, because the stages alone do not state them.
  void require(Operation *op, const Definition &definition) {
    auto ofAnyRank = [&](llvm::StringRef name) -> IntExpr {
      for (dist::AxisAttr axis : mesh)
        if (axis.getRank().getSymbol() == name)
          return axis.getRank().mod(axis.getSize());
      return {};
    };
    auto add = [&](IntExpr lhs, ComparePredicate predicate, IntExpr rhs) {
      if ((lhs - rhs).isConstant()) // true, or the op would be rejected
        return;
      required.insert(builder.getStringAttr(lhs.substitute(ofAnyRank).str() +
                                            " " + name(predicate) + " " +
                                            rhs.substitute(ofAnyRank).str()));
    };
    for (const Requirement &r : definition.requirements)
      add(r.lhs, r.predicate, r.rhs);
    for (NamedAttribute attribute : op->getAttrs()) {
      auto list = dyn_cast<DimsAttr>(attribute.getValue());
      // A slice may go backward only by a constant step, the same on all ranks.
      std::optional<int64_t> least =
          attribute.getName() == "steps" ? 1 : leastOf(attribute.getName());
      for (IntExpr value : list &&least ? list.getDims() : ArrayRef<IntExpr>())
        if (!value.isKnownNonNegative() || *least > 0)
          add(value, ComparePredicate::GE, number(*least));
    }
  }

  func::FuncOp old, made;
  ArrayRef<dist::AxisAttr> mesh;
  OpBuilder builder;
  llvm::DenseMap<Value, Stacked> values;
  llvm::SetVector<Attribute> required;
};

struct StackRanksPass : impl::StackRanksPassBase<StackRanksPass> {
  using StackRanksPassBase::StackRanksPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(requireForm(*this, module, Form::Graph)))
      return signalPassFailure();
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function || !function.getBody().hasOneBlock()) {
      module.emitError() << "has no function @" << name
                         << " of one block to stack";
      return signalPassFailure();
    }
    FailureOr<SmallVector<dist::AxisAttr>> mesh = readMesh(module);
    if (failed(mesh))
      return signalPassFailure();
    if (!mesh->empty() && failed(RankStacker(function, *mesh).run()))
      return signalPassFailure();
  }
};

} // namespace

} // namespace mlc
