//===- SliceSequence.cpp - A model on slices of its sequences -------------===//
//
// TeraPipe (Li et al. 2021): each operator works on one slice of the positions
// after the other, so that stages work on slices of one sequence at the same
// time. This is possible for operators that have a position of the result from
// the same position of operands, and for attention whose mask hides later
// positions: there the keys and values of later slices are zeros.
//
//===----------------------------------------------------------------------===//

#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/StageFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Stages/CausalMask.h"
#include "passes/Stages/Rows.h"
#include "passes/Stages/Stages.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

#define GEN_PASS_DEF_SLICESEQUENCEPASS
#include "passes/Base/Passes.h.inc"

namespace {

/// A value of which each slice has a part.
struct Sliced {
  dist::Place place;
  SmallVector<Value> parts;
  /// The dim of positions that a position looks at, if it has one, and what is
  /// known of those that come later.
  std::optional<unsigned> columns = {};
  Later later = Later::Unknown;
};

class Slicer {
public:
  Slicer(func::FuncOp main, int64_t slices)
      : main(main), slices(slices),
        axis(dist::AxisAttr::get(main.getContext(), "slice",
                                 IntExpr::constant(main.getContext(), slices))),
        builder(main.getContext()) {}

  LogicalResult run() {
    Block &body = main.getBody().front();
    SmallVector<Operation *> operators;
    for (Operation &op : body.without_terminator())
      operators.push_back(&op);
    builder.setInsertionPointToStart(&body);
    if (failed(sliceInputs()))
      return failure();
    SmallVector<Operation *> replaced;
    for (Operation *op : operators) {
      if (!isSliced(op))
        continue;
      builder.setInsertionPoint(op);
      if (failed(slice(op)))
        return failure();
      replaced.push_back(op);
    }
    if (failed(joinResults(body.getTerminator())))
      return failure();
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    numberStages(body);
    return success();
  }

private:
  bool isSliced(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return sliced.contains(operand);
    });
  }

  InFlightDiagnostic refuse(Operation *op) {
    return op->emitOpError()
           << "cannot be carried out for slices of a sequence: ";
  }

  int64_t stageOf(Operation *op) const {
    auto stage = op->getAttrOfType<IntegerAttr>(kStageAttr);
    return stage ? stage.getInt() : 0;
  }

  /// Marks what is made for a slice of the operators of `stage`.
  Value mark(Value value, int64_t stage, int64_t slice) {
    if (Operation *op = value.getDefiningOp(); !op->hasAttr(kStageAttr))
      op->setAttr(kStageAttr,
                  builder.getI64IntegerAttr(stage * slices + slice));
    made.insert(value.getDefiningOp());
    return value;
  }

  LogicalResult sliceInputs() {
    IntExpr length;
    for (BlockArgument input : main.getArguments()) {
      auto type = cast<RankedTensorType>(input.getType());
      if (main.getArgAttr(input.getArgNumber(), kParameterAttr))
        continue;
      if (!type.hasStaticShape() || type.getRank() < 2)
        return main.emitError()
               << "an input has no sequences to slice: its second dim has to "
                  "be that of positions, and all sizes given";
      IntExpr own = IntExpr::constant(main.getContext(), type.getDimSize(1));
      if (length && length != own)
        return main.emitError() << "inputs have sequences of " << length.str()
                                << " and of " << own.str() << " positions";
      length = own;
      if (type.getDimSize(1) % slices)
        return main.emitError()
               << slices << " slices do not divide sequences of " << own.str()
               << " positions; give a divisor";
      if (failed(cut(input, 1, 0)))
        return failure();
    }
    return length ? success()
                  : main.emitError() << "has no input with sequences";
  }

  /// Cuts a value that is whole along a dim.
  FailureOr<Value> cutPart(Value whole, const dist::Place &place, int64_t stage,
                           int64_t slice) {
    MLIRContext *context = main.getContext();
    SmallVector<IntExpr> sizes =
        dist::partDims(dist::dimsOf(whole), place, axis);
    SmallVector<IntExpr> starts(sizes.size(), IntExpr::constant(context, 0));
    SmallVector<IntExpr> steps(sizes.size(), IntExpr::constant(context, 1));
    starts[place.dim] = sizes[place.dim] * slice;
    auto list = [&](ArrayRef<IntExpr> all) {
      return DimsAttr::get(context, all);
    };
    auto part = createOp<SliceOp>(builder, whole.getLoc(), whole, list(starts),
                                  list(sizes), list(steps));
    if (failed(part))
      return failure();
    return mark(part->getResult(), stage, slice);
  }

  LogicalResult cut(Value whole, unsigned dim, int64_t stage) {
    MLIRContext *context = main.getContext();
    Sliced own{dist::Place::split(dim, dist::dimsOf(whole)[dim],
                                  IntExpr::constant(context, 1)),
               {}};
    for (int64_t slice = 0; slice < slices; ++slice) {
      auto part = cutPart(whole, own.place, stage, slice);
      if (failed(part))
        return failure();
      own.parts.push_back(*part);
    }
    sliced[whole] = std::move(own);
    return success();
  }

  /// Parts one after another.
  FailureOr<Value> join(ArrayRef<Value> parts, unsigned dim, int64_t stage,
                        int64_t slice) {
    if (parts.size() == 1)
      return parts[0];
    auto all = createOp<ConcatOp>(builder, parts[0].getLoc(), ValueRange(parts),
                                  int64_t(dim));
    if (failed(all))
      return failure();
    return mark(all->getResult(), stage, slice);
  }

  /// Keys or values: those of slices so far, and zeros.
  FailureOr<Value> soFar(const Sliced &value, int64_t stage, int64_t slice) {
    SmallVector<Value> parts(value.parts.begin(),
                             value.parts.begin() + slice + 1);
    if (slice + 1 < slices) {
      auto type = cast<RankedTensorType>(parts[0].getType());
      SmallVector<int64_t> dims(type.getShape());
      dims[value.place.dim] *= slices - slice - 1;
      type = type.clone(dims);
      parts.push_back(ConstantOp::create(
          builder, parts[0].getLoc(), type,
          DenseElementsAttr::get(type,
                                 builder.getZeroAttr(type.getElementType()))));
    }
    return join(parts, value.place.dim, stage, slice);
  }

  /// A value that depends on weights alone, made anew for each slice, so that
  /// each has its own gradients of the weights.
  Value copyOf(Value value, int64_t stage, int64_t slice) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumOperands() == 0)
      return value;
    Operation *copy = copies.lookup({op, stage * slices + slice});
    if (!copy) {
      IRMapping mapping;
      for (Value operand : op->getOperands())
        mapping.map(operand, copyOf(operand, stage, slice));
      copy = builder.clone(*op, mapping);
      copy->removeAttr(kStageAttr);
      mark(copy->getResult(0), stage, slice);
      copies[{op, stage * slices + slice}] = copy;
    }
    return copy->getResult(cast<OpResult>(value).getResultNumber());
  }

  LogicalResult slice(Operation *op) {
    auto defined = dyn_cast<DefinitionOpInterface>(op);
    if (!defined || op->getNumResults() != 1 || op->getNumRegions() != 0)
      return refuse(op) << "it mixes positions";
    FailureOr<Definition> definition = getDefinition(defined);
    if (failed(definition))
      return failure();
    SmallVector<std::optional<dist::Place>> places;
    for (Value operand : op->getOperands()) {
      auto it = sliced.find(operand);
      places.push_back(it == sliced.end() ? std::optional<dist::Place>()
                                          : it->second.place);
    }
    std::optional<Rows> rows = findRows(*definition, places, axis);
    if (!rows)
      return refuse(op) << "it mixes positions";
    Sliced result;
    result.place = rows->result;
    if (failed(findColumns(op, *definition, *rows, result)))
      return failure();
    for (int64_t slice = 0; slice < slices; ++slice) {
      auto part = emit(op, *definition, *rows, slice);
      if (failed(part))
        return failure();
      result.parts.push_back(*part);
    }
    sliced[op->getResult(0)] = std::move(result);
    return success();
  }

  /// Follows the dim of positions that are looked at, and what a mask hides.
  LogicalResult findColumns(Operation *op, const Definition &definition,
                            const Rows &rows, Sliced &result) {
    std::optional<unsigned> whole, columns;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      if (rows.kinds[i] == Rows::Whole)
        whole = i;
      auto it = sliced.find(operand);
      if (it == sliced.end() || !it->second.columns)
        continue;
      if (columns || rows.kinds[i] == Rows::Whole)
        return refuse(op) << "it mixes positions";
      columns = i;
    }
    if (!whole && !columns)
      return success();
    if (!columns) {
      // Scores of positions by others.
      const Sliced &keys = sliced.find(op->getOperand(*whole))->second;
      result.columns = findDim(definition, *whole, keys.place, axis);
      return result.columns && *result.columns != result.place.dim
                 ? success()
                 : refuse(op) << "it mixes positions";
    }
    const Sliced &own = sliced.find(op->getOperand(*columns))->second;
    const dist::Place along =
        dist::Place::split(*own.columns, own.place.extent * own.place.unit,
                           IntExpr::constant(main.getContext(), 1));
    if (whole) {
      const Sliced &values = sliced.find(op->getOperand(*whole))->second;
      if (own.later == Later::Zero &&
          isContracted(definition, *columns, along, *whole, values.place, axis))
        return success();
      return refuse(op) << "nothing shows that a mask hides later positions "
                           "from it";
    }
    // A softmax is over them.
    result.columns = isa<SoftmaxOp>(op)
                         ? own.columns
                         : findDim(definition, *columns, along, axis);
    result.later = result.columns ? laterOf(op, *columns, own.later,
                                            own.place.dim, *own.columns)
                                  : Later::Mixed;
    return result.later == Later::Mixed
               ? refuse(op)
                     << "nothing shows that a mask hides later positions "
                        "from it"
               : success();
  }

  FailureOr<Value> emit(Operation *op, const Definition &definition,
                        const Rows &rows, int64_t slice) {
    const int64_t stage = stageOf(op);
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      auto it = sliced.find(operand);
      FailureOr<Value> part;
      if (rows.kinds[i] == Rows::Whole)
        part = soFar(it->second, stage, slice);
      else if (it != sliced.end())
        part = it->second.parts[slice];
      else if (Value own = copyOf(operand, stage, slice);
               rows.kinds[i] == Rows::Part)
        part = cutPart(own, *rows.operands[i], stage, slice);
      else
        part = own;
      if (failed(part))
        return failure();
      operands.push_back(*part);
    }
    Operation *part = createRows(builder, op, definition, rows, operands, axis);
    if (!part)
      return refuse(op) << "it depends on the number of the position";
    part->removeAttr(kStageAttr);
    return mark(part->getResult(0), stage, slice);
  }

  LogicalResult joinResults(Operation *end) {
    builder.setInsertionPoint(end);
    for (OpOperand &operand : end->getOpOperands()) {
      auto it = sliced.find(operand.get());
      if (it == sliced.end())
        continue;
      if (it->second.columns)
        return refuse(operand.get().getDefiningOp())
               << "it is a result and mixes positions";
      Operation *source = operand.get().getDefiningOp();
      auto all = join(it->second.parts, it->second.place.dim,
                      source ? stageOf(source) : 0, slices - 1);
      if (failed(all))
        return failure();
      operand.set(*all);
    }
    return success();
  }

  /// Of what is not sliced.
  void numberStages(Block &body) {
    for (Operation &op : body.without_terminator())
      if (auto stage = op.getAttrOfType<IntegerAttr>(kStageAttr);
          stage && !made.contains(&op))
        op.setAttr(kStageAttr,
                   builder.getI64IntegerAttr(stage.getInt() * slices));
  }

  func::FuncOp main;
  const int64_t slices;
  dist::AxisAttr axis;
  OpBuilder builder;
  llvm::DenseMap<Value, Sliced> sliced;
  llvm::DenseMap<std::pair<Operation *, int64_t>, Operation *> copies;
  llvm::DenseSet<Operation *> made;
};

struct SliceSequencePass : impl::SliceSequencePassBase<SliceSequencePass> {
  using SliceSequencePassBase::SliceSequencePassBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (failed(requireForm(*this, getOperation(), Form::Graph)))
      return signalPassFailure();
    if (!main || !main.getBody().hasOneBlock() || slices < 1) {
      getOperation().emitError()
          << "has no function @main of one block to slice, or no slices";
      return signalPassFailure();
    }
    if (failed(Slicer(main, slices).run()))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createSliceSequencePass(int64_t slices) {
  SliceSequencePassOptions options;
  options.slices = slices;
  return createSliceSequencePass(std::move(options));
}

} // namespace mlc
