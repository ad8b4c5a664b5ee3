//===- ConstantFold.cpp - Computes constant values ------------------------===//

#include "passes/Optimize/ConstantFold.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Graph/ComputeOps.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/RandomOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Optimize/SymbolicFold.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using llvm::Expected;
using llvm::SmallVector;

namespace mlc {

#define GEN_PASS_DEF_CONSTANTFOLDPASS
#include "passes/Base/Passes.h.inc"

namespace {

/// Bytes when expanded; nothing on overflow.
std::optional<int64_t> fullBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  std::optional<int64_t> count = elementCount(tensor.getShape());
  int64_t bytes;
  if (!count || llvm::MulOverflow(
                    *count, getElementBytes(tensor.getElementType()), bytes))
    return std::nullopt;
  return bytes;
}

/// Bytes that a literal counts: at most `free` if it is a splat.
std::optional<int64_t> heldBytes(Operation *literal, int64_t free) {
  std::optional<int64_t> bytes = fullBytes(literal->getResultTypes()[0]);
  ElementsAttr value;
  bool isHeld = matchPattern(literal, m_Constant(&value)) && !value.isSplat();
  return bytes && !isHeld ? std::min(*bytes, free) : bytes;
}

/// Whether it is a literal, or an operator with the same value everywhere.
bool isLiteral(Operation *op) {
  if (op->getNumOperands() != 0)
    return false;
  if (matchPattern(op, m_Constant()))
    return true;
  auto defined = dyn_cast<DefinitionOpInterface>(op);
  FailureOr<Definition> definition =
      defined ? getDefinition(defined) : FailureOr<Definition>(failure());
  if (failed(definition) || definition->stages.size() != 1 ||
      definition->stages[0].pieces.size() != 1)
    return false;
  bool isSame = true;
  walk(definition->stages[0].pieces[0].body,
       [&](const ExprNode &node) { isSame &= node.kind != Expr::Kind::Loop; });
  return isSame;
}

/// Decides which constant values are worth storing, and computes them.
class Folder {
public:
  Folder(Block &block, const ConstantFoldOptions &options)
      : block(block), options(options) {}

  void run() {
    for (Operation &op : block)
      if (isConstantValued(op))
        constantValued.insert(&op);
    // Operands of non-constant ops have to exist at run time.
    for (Operation &op : block)
      if (!constantValued.contains(&op))
        for (Value operand : op.getOperands())
          need(operand);
    for (size_t i = 0; i < needed.size(); ++i)
      decide(needed[i]);
    // Count uses of intermediate values, so that they can be freed.
    for (Operation *op : folded)
      countUses(op);
    for (Operation &op : llvm::make_early_inc_range(block))
      if (folded.contains(&op))
        replace(&op);
    removeDead();
  }

private:
  bool isConstantValued(Operation &op) {
    if (op.getNumRegions() || op.getNumResults() == 0)
      return false;
    if (matchPattern(&op, m_Constant()))
      return true;
    // Random numbers get a new step per run if the graph runs in a loop.
    if (!isa<DefinitionOpInterface, OpaqueOpInterface>(op) ||
        isa<RandomUniformOp>(op))
      return false;
    for (Type type : op.getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape() ||
          !storageOf(tensor.getElementType(), EvalDomain::Native))
        return false;
    }
    return llvm::all_of(op.getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return def && def->getBlock() == &block && constantValued.contains(def);
    });
  }

  void need(Value value) {
    Operation *def = value.getDefiningOp();
    if (def && constantValued.contains(def) && !matchPattern(def, m_Constant()))
      needed.insert(def);
  }

  /// Collects the literals that `op` was made from, each once. False if the
  /// bytes of something on the way overflow; else `largest` is the maximum.
  bool collectLiterals(Operation *op, llvm::SetVector<Operation *> &literals,
                       int64_t &largest) {
    for (Type type : op->getResultTypes()) {
      std::optional<int64_t> bytes = fullBytes(type);
      if (!bytes)
        return false;
      largest = std::max(largest, *bytes);
    }
    if (isLiteral(op)) {
      literals.insert(op);
      return true;
    }
    if (!visited.insert(op).second)
      return true;
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return collectLiterals(operand.getDefiningOp(), literals, largest);
    });
  }

  bool isWorthwhile(Operation *op) {
    // Weights made by a rule: the rule's cost included their bytes.
    if (isa<ComputeOp>(op))
      return true;
    if (auto defined = dyn_cast<DefinitionOpInterface>(op)) {
      FailureOr<Definition> definition = getDefinition(defined);
      if (failed(definition) || getKind(*definition).isReplicating)
        return false;
    }
    llvm::SetVector<Operation *> literals;
    visited.clear();
    int64_t allowed = 0, bytes = 0, largest = 0;
    if (!collectLiterals(op, literals, largest))
      return false;
    for (Operation *literal : literals) {
      std::optional<int64_t> size = heldBytes(literal, options.workBytes);
      if (!size || llvm::AddOverflow(allowed, *size, allowed))
        return false;
    }
    if (llvm::MulOverflow(allowed, options.growth, allowed))
      return false;
    if (largest > std::max(allowed, options.workBytes))
      return false;
    for (Type type : op->getResultTypes()) {
      std::optional<int64_t> size = fullBytes(type);
      if (!size || llvm::AddOverflow(bytes, *size, bytes))
        return false;
    }
    return bytes <= std::max(allowed, options.smallBytes);
  }

  void decide(Operation *op) {
    if (isWorthwhile(op)) {
      folded.insert(op);
      return;
    }
    for (Value operand : op->getOperands())
      need(operand);
  }

  void countUses(Operation *op) {
    if (!counted.insert(op).second)
      return;
    for (Value operand : op->getOperands()) {
      ++uses[operand];
      countUses(operand.getDefiningOp());
    }
  }

  /// Computes log(1 + x) directly from x if `op` is that, because the sum would
  /// lose most of a small x. Compiled code has the same pattern
  /// (codegen/cpu/Math.cpp).
  bool computeLog1p(Operation *op) {
    auto log = dyn_cast<LogOp>(op);
    auto sum = log ? log.getOperand().getDefiningOp<AddOp>() : AddOp();
    if (!sum)
      return false;
    for (auto [x, one] : {std::pair(sum.getLhs(), sum.getRhs()),
                          std::pair(sum.getRhs(), sum.getLhs())}) {
      if (!compute(one.getDefiningOp()) || !compute(x.getDefiningOp()))
        return false;
      const EvalTensor ones = values.lookup(one), in = values.lookup(x);
      bool isOne = llvm::all_of(
          llvm::seq<int64_t>(ones.isSplat() ? 1 : ones.getNumElements()),
          [&](int64_t i) { return ones.getDouble(i) == 1.0; });
      if (!isOne || x.getType() != log.getType())
        continue;
      auto all = [&](auto number) {
        using T = decltype(number);
        SmallVector<T> out;
        for (int64_t i = 0; i < in.getNumElements(); ++i)
          out.push_back(T(std::log1p(in.getDouble(i))));
        return EvalTensor::of<T>(in.getDims(), in.getElementType(), out);
      };
      if (!in.getElementType().isF32() && !in.getElementType().isF64())
        return false;
      Expected<EvalTensor> result =
          in.getElementType().isF32() ? all(float()) : all(double());
      if (!result) {
        llvm::consumeError(result.takeError());
        return false;
      }
      values[log.getResult()] = *result;
      return true;
    }
    return false;
  }

  /// Computes the results of `op`; false if there are none.
  bool compute(Operation *op) {
    if (failedOps.contains(op))
      return false;
    if (values.contains(op->getResult(0)) || computeLog1p(op))
      return true;
    SmallVector<EvalTensor> inputs;
    for (Value operand : op->getOperands()) {
      if (!compute(operand.getDefiningOp())) {
        failedOps.insert(op);
        return false;
      }
      inputs.push_back(values.lookup(operand));
    }
    EvalOptions limits;
    limits.maxSteps = options.maxSteps;
    Expected<std::vector<EvalTensor>> results = evaluateOp(op, inputs, limits);
    if (!results) {
      // Undefined or too large: it stays and is reported at run time.
      llvm::consumeError(results.takeError());
      failedOps.insert(op);
      return false;
    }
    for (auto [result, tensor] : llvm::zip(op->getResults(), *results))
      values[result] = tensor;
    for (Value operand : op->getOperands())
      if (--uses[operand] == 0 && !isNeededLater(operand))
        values.erase(operand);
    return true;
  }

  bool isNeededLater(Value value) {
    return folded.contains(value.getDefiningOp());
  }

  void replace(Operation *op) {
    if (!compute(op))
      return;
    OpBuilder builder(op);
    for (Value result : op->getResults()) {
      const EvalTensor tensor = values.lookup(result);
      values.erase(result);
      if (result.use_empty())
        continue;
      Expected<ElementsAttr> attr = tensor.toAttr();
      if (!attr) {
        llvm::consumeError(attr.takeError());
        continue;
      }
      auto constant =
          ConstantOp::create(builder, op->getLoc(), result.getType(), *attr);
      // Later operators that are folded reuse the value.
      values[constant.getResult()] = tensor;
      result.replaceAllUsesWith(constant.getResult());
      if (unsigned count = uses.lookup(result))
        uses[constant.getResult()] = count;
      else
        values.erase(constant.getResult());
    }
  }

  void removeDead() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  Block &block;
  const ConstantFoldOptions &options;
  llvm::DenseSet<Operation *> constantValued;
  llvm::SetVector<Operation *> needed, folded;
  llvm::DenseSet<Operation *> visited, counted, failedOps;
  llvm::DenseMap<Value, unsigned> uses;
  llvm::DenseMap<Value, EvalTensor> values;
};

struct ConstantFoldPass : impl::ConstantFoldPassBase<ConstantFoldPass> {
  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)))
      return signalPassFailure();
    foldConstants(getOperation());
  }
};

} // namespace

void foldConstants(Operation *function, const ConstantFoldOptions &options) {
  for (Region &region : function->getRegions())
    for (Block &block : region) {
      foldSymbolicIntegers(block);
      Folder(block, options).run();
    }
}

void foldConstantsFully(Operation *function) {
  constexpr int maxRounds = 16;
  auto countOperators = [&] {
    int64_t count = 0;
    function->walk([&](Operation *op) { count += !isa<ConstantOp>(op); });
    return count;
  };
  int64_t before = -1, after = countOperators();
  for (int i = 0; i < maxRounds && before != after; ++i) {
    foldConstants(function);
    before = std::exchange(after, countOperators());
  }
}

} // namespace mlc
