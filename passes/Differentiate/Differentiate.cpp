//===- Differentiate.cpp - Gradients of functions -------------------------===//

#include "passes/Differentiate/Differentiate.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Derivative/Adjoint.h"
#include "dialects/Dist/Pins.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Module/StageFacts.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Differentiate/Derived.h"
#include "passes/Differentiate/Emit.h"
#include "passes/Differentiate/Rules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

class Accumulation {
public:
  Accumulation(OpBuilder &builder, ValueRange wanted)
      : builder(builder), active(wanted.begin(), wanted.end()) {}

  LogicalResult run(ArrayRef<Seed> seeds) {
    Block *block = builder.getInsertionBlock();
    SmallVector<Operation *> operators;
    for (Operation &op : *block) {
      if (&op == &*builder.getInsertionPoint())
        break;
      if (llvm::any_of(op.getOperands(), [&](Value operand) {
            return isFloatTensor(operand) && active.contains(operand);
          })) {
        active.insert(op.result_begin(), op.result_end());
        operators.push_back(&op);
        takeStage(&op);
      }
    }
    for (const Seed &seed : seeds)
      if (failed(add(seed.value, seed.cotangent)))
        return failure();
    for (Operation *op : llvm::reverse(operators))
      if (failed(inStageOf(op, [&] { return visit(op); })))
        return failure();
    return success();
  }

  FailureOr<Value> gradientOf(Value value) {
    if (Value found = cotangents.lookup(value))
      return found;
    return createFilled(builder, value, 0.0);
  }

private:
  /// An operator that was added to the model, as those of a loss, belongs to
  /// the last stage that it reads of.
  static void takeStage(Operation *op) {
    if (op->hasAttr(kStageAttr))
      return;
    IntegerAttr last;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp())
        if (auto stage = source->getAttrOfType<IntegerAttr>(kStageAttr);
            stage && (!last || stage.getInt() > last.getInt()))
          last = stage;
    if (last)
      op->setAttr(kStageAttr, last);
  }

  /// What `make` inserts belongs to the stage of `op`, if that has one, unless
  /// it belongs to another stage already.
  LogicalResult inStageOf(Operation *op,
                          llvm::function_ref<LogicalResult()> make) {
    Attribute stage = op ? op->getAttr(kStageAttr) : Attribute();
    if (!stage)
      return make();
    Block *block = builder.getInsertionBlock();
    Block::iterator end = builder.getInsertionPoint();
    Operation *before = end == block->begin() ? nullptr : &*std::prev(end);
    if (failed(make()))
      return failure();
    Block::iterator first =
        before ? std::next(before->getIterator()) : block->begin();
    for (Operation &made : llvm::make_range(first, end)) {
      if (!made.hasAttr(kStageAttr))
        made.setAttr(kStageAttr, stage);
      made.setAttr(kBackwardAttr, builder.getUnitAttr());
    }
    return success();
  }

  /// A sum belongs to the stage that has made `value`.
  LogicalResult add(Value value, Value cotangent) {
    return inStageOf(value.getDefiningOp(),
                     [&] { return addTo(value, cotangent); });
  }

  LogicalResult addTo(Value value, Value cotangent) {
    Value &sum = cotangents[value];
    if (!sum) {
      sum = cotangent;
      return success();
    }
    FailureOr<AddOp> added =
        createOp<AddOp>(builder, cotangent.getLoc(), sum, cotangent);
    if (failed(added))
      return failure();
    sum = added->getResult();
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (llvm::none_of(op->getResults(),
                      [&](Value result) { return cotangents.count(result); }))
      return success();
    pinGradient(op);
    SmallVector<bool> wanted;
    for (Value operand : op->getOperands())
      wanted.push_back(isFloatTensor(operand) && active.contains(operand));
    FailureOr<SmallVector<Value>> gradients = gradientsOf(op, wanted);
    if (failed(gradients))
      return failure();
    for (auto [operand, gradient] : llvm::zip(op->getOperands(), *gradients))
      if (gradient && failed(add(operand, gradient)))
        return failure();
    return success();
  }

  /// The gradient of a pinned result is pinned alike, unless it is that of
  /// another one as well.
  void pinGradient(Operation *op) {
    Attribute pin = op->getAttr(dist::kPinAttr);
    Value gradient = pin ? cotangents.lookup(op->getResult(0)) : Value();
    Operation *made = gradient ? gradient.getDefiningOp() : nullptr;
    auto node = op->getLoc()->findInstanceOf<NameLoc>();
    if (!made || !node || made->getNumResults() != 1 ||
        made->hasAttr(dist::kPinAttr) || !active.contains(op->getResult(0)))
      return;
    made->setAttr(dist::kPinAttr, pin);
    if (Attribute leaves = op->getAttr(dist::kPinLeavesAttr))
      made->setAttr(dist::kPinLeavesAttr, leaves);
    made->setAttr(dist::kPinGradientAttr, node.getName());
  }

  /// One per operand, null for those that are not wanted.
  FailureOr<SmallVector<Value>> gradientsOf(Operation *op,
                                            SmallVector<bool> wanted) {
    SmallVector<Value> values(wanted.size());
    SmallVector<Value> given;
    for (Value result : op->getResults())
      given.push_back(cotangents.lookup(result));
    auto known = gradientsByRule(builder, op, given, wanted);
    if (failed(known))
      return failure();
    for (auto [i, value] : llvm::enumerate(*known))
      if (value) {
        values[i] = value;
        wanted[i] = false;
      }
    if (llvm::none_of(wanted, [](bool one) { return one; }))
      return values;
    auto defined = dyn_cast<DefinitionOpInterface>(op);
    if (!defined)
      return op->emitOpError() << "has no gradient; a gradient that does not "
                                  "need it can be taken "
                                  "with respect to what it does not depend on";
    FailureOr<Definition> definition = getDefinition(defined);
    if (failed(definition))
      return failure();
    AdjointDefinition adjoint =
        differentiateReverse(*definition, wanted, builder.getContext());
    if (!adjoint.failure.empty())
      return op->emitOpError() << "has no gradient: " << adjoint.failure;
    SmallVector<Value> inputs(op->getOperands());
    llvm::append_range(inputs, op->getResults());
    for (Value result : op->getResults())
      if (isFloatTensor(result)) {
        FailureOr<Value> cotangent = gradientOf(result);
        if (failed(cotangent))
          return failure();
        inputs.push_back(*cotangent);
      }
    auto emitted =
        emitStages(builder, op->getLoc(), adjoint.definition, inputs);
    if (failed(emitted))
      return failure();
    const Value *next = emitted->begin();
    for (auto [value, isWanted] : llvm::zip(values, wanted))
      if (isWanted)
        value = *next++;
    return values;
  }

  OpBuilder &builder;
  llvm::SmallDenseSet<Value> active;
  llvm::DenseMap<Value, Value> cotangents;
};

} // namespace

FailureOr<SmallVector<Value>>
differentiate(OpBuilder &builder, ArrayRef<Seed> seeds, ValueRange wanted) {
  Accumulation accumulation(builder, wanted);
  if (failed(accumulation.run(seeds)))
    return failure();
  SmallVector<Value> gradients;
  for (Value value : wanted) {
    FailureOr<Value> gradient = accumulation.gradientOf(value);
    if (failed(gradient))
      return failure();
    gradients.push_back(*gradient);
  }
  return gradients;
}

FailureOr<func::FuncOp> addGradient(func::FuncOp function) {
  auto change = [](OpBuilder &builder, Block &block,
                   llvm::SmallVectorImpl<Value> &results) -> LogicalResult {
    SmallVector<Value> wanted;
    for (BlockArgument argument : block.getArguments())
      if (isFloatTensor(argument))
        wanted.push_back(argument);
    SmallVector<Seed> seeds;
    for (Value result : block.getTerminator()->getOperands())
      if (isFloatTensor(result))
        seeds.push_back(
            {result, block.addArgument(result.getType(), result.getLoc())});
    auto gradients = differentiate(builder, seeds, wanted);
    if (failed(gradients))
      return failure();
    llvm::append_range(results, *gradients);
    return success();
  };
  return deriveFunction(function, "_gradient", change);
}

#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct DifferentiatePass : impl::DifferentiatePassBase<DifferentiatePass> {
  using DifferentiatePassBase::DifferentiatePassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)))
      return signalPassFailure();
    auto function = getOperation().lookupSymbol<func::FuncOp>(name);
    if (!function) {
      getOperation().emitError()
          << "has no function @" << name << " to differentiate";
      return signalPassFailure();
    }
    if (getOperation().lookupSymbol(name + "_gradient")) {
      getOperation().emitError()
          << "has a function @" << name << "_gradient already";
      return signalPassFailure();
    }
    if (failed(addGradient(function)))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlc
