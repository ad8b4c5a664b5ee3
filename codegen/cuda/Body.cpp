//===- Body.cpp - Regions of linalg as CUDA C++ ---------------------------===//

#include "codegen/cuda/Element.h"
#include "codegen/kernel/LoopGroup.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Prints the region of one LinalgOp at one place.
class BodyPrinter {
public:
  BodyPrinter(ElementPrinter &printer, linalg::LinalgOp op,
              ArrayRef<Index> loops, ArrayRef<std::string> accumulators)
      : printer(printer), op(op), loops(loops), accumulators(accumulators),
        extents(loopSizes(printer.kernel, op)) {}

  void give(ArrayRef<std::string> operands) {
    for (auto [argument, value] :
         llvm::zip_equal(op.getBlock()->getArguments(), operands))
      values[argument] = value;
  }

  SmallVector<std::string> run() {
    for (Operation &inner : op.getBlock()->without_terminator())
      evaluate(&inner);
    SmallVector<std::string> yields;
    for (Value value : op.getBlock()->getTerminator()->getOperands())
      yields.push_back(get(value));
    return yields;
  }

private:
  std::string get(Value value) {
    std::string &known = values[value];
    if (!known.empty())
      return known;
    auto argument = dyn_cast<BlockArgument>(value);
    std::string computed = argument && argument.getOwner() == op.getBlock()
                               ? operand(argument.getArgNumber())
                               : printer.scalar(value);
    return values[value] = computed;
  }

  std::string operand(unsigned number) {
    unsigned inputs = op.getNumDpsInputs();
    if (number >= inputs && !accumulators.empty())
      return accumulators[number - inputs];
    OpOperand &source = op->getOpOperand(number);
    AffineMap map = op.getMatchingIndexingMap(&source);
    return printer.element(source.get(), printer.evaluate(map, loops));
  }

  Index getIndex(Value value) {
    if (auto loop = value.getDefiningOp<linalg::IndexOp>();
        loop && loop->getBlock() == op.getBlock())
      return loops[loop.getDim()];
    if (auto constant = value.getDefiningOp<arith::ConstantIndexOp>())
      return Index(constant.value());
    return Index(get(value));
  }

  void evaluate(Operation *inner) {
    if (inner->getNumResults() != 1 || inner->getNumRegions() != 0)
      return unsupported(inner);
    Value result = inner->getResult(0);
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      values[result] = loops[index.getDim()].text;
      return;
    }
    if (auto apply = dyn_cast<affine::AffineApplyOp>(inner)) {
      AffineMap map = apply.getAffineMap();
      Indices operands;
      for (Value value : apply.getOperands())
        operands.push_back(getIndex(value));
      ArrayRef<Index> all(operands);
      values[result] =
          printer
              .evaluate(map.getResult(0), all.take_front(map.getNumDims()),
                        all.drop_front(map.getNumDims()))
              .text;
      return;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      return evaluateExtract(extract);
    if (isa<tensor::DimOp>(inner)) {
      IntExpr expr = printer.kernel.asExpr(result);
      if (!expr)
        return unsupported(inner);
      values[result] = printer.size(expr).text;
      return;
    }
    SmallVector<std::string> operands;
    for (Value value : inner->getOperands())
      operands.push_back(get(value));
    values[result] = printer.compute(inner, operands);
  }

  void evaluateExtract(tensor::ExtractOp extract) {
    Indices position;
    SmallVector<bool> inBounds;
    ArrayRef<IntExpr> shape = printer.kernel.shapeOf(extract.getTensor());
    for (auto [value, size] : llvm::zip_equal(extract.getIndices(), shape)) {
      position.push_back(getIndex(value));
      auto loop = value.getDefiningOp<linalg::IndexOp>();
      inBounds.push_back(loop && extents[loop.getDim()] == size);
    }
    values[extract.getResult()] =
        printer.extract(extract.getTensor(), position, inBounds);
  }

  void unsupported(Operation *inner) {
    printer.fail(inner, "code generation for CUDA does not know this operation "
                        "in the body of a loop");
    for (Value result : inner->getResults())
      values[result] = "0";
  }

  ElementPrinter &printer;
  linalg::LinalgOp op;
  ArrayRef<Index> loops;
  ArrayRef<std::string> accumulators;
  SmallVector<IntExpr> extents;
  llvm::DenseMap<Value, std::string> values;
};

SmallVector<std::string>
ElementPrinter::body(linalg::LinalgOp op, ArrayRef<Index> loops,
                     ArrayRef<std::string> accumulators) {
  return BodyPrinter(*this, op, loops, accumulators).run();
}

SmallVector<std::string> ElementPrinter::apply(linalg::LinalgOp op,
                                               ArrayRef<std::string> operands) {
  BodyPrinter body(*this, op, {}, {});
  body.give(operands);
  return body.run();
}

SmallVector<std::string> ElementPrinter::initials(linalg::LinalgOp op,
                                                  ArrayRef<Index> loops) {
  SmallVector<std::string> values;
  for (OpOperand &init : op.getDpsInitsMutable())
    values.push_back(
        element(init.get(), evaluate(op.getMatchingIndexingMap(&init), loops)));
  return values;
}

SmallVector<std::string> ElementPrinter::reduce(linalg::LinalgOp op,
                                                Indices loops) {
  SmallVector<std::string> accumulators;
  for (auto [value, init] :
       llvm::zip_equal(initials(op, loops), op.getDpsInits())) {
    accumulators.push_back(code.fresh("sum"));
    code.line(computeType(elementOf(init)) + " " + accumulators.back() + " = " +
              value + ";");
  }
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  SmallVector<IntExpr> extents = loopSizes(kernel, op);
  auto level = [&](auto &self, unsigned depth) -> void {
    if (depth < reductions.size()) {
      std::string name = code.fresh("k");
      loops[reductions[depth]] = Index(name);
      code.block("for (Index " + name + " = 0; " + name + " < " +
                     size(extents[reductions[depth]]).text + "; ++" + name +
                     ")",
                 [&] { self(self, depth + 1); });
      return;
    }
    // Compute all of them before any changes.
    SmallVector<std::string> next = body(op, loops, accumulators);
    SmallVector<std::string> kept;
    for (auto [value, init] : llvm::zip_equal(next, op.getDpsInits()))
      kept.push_back(
          next.size() == 1
              ? value
              : code.define(computeType(elementOf(init)), "t", value));
    for (auto [accumulator, value] : llvm::zip_equal(accumulators, kept))
      code.line(accumulator + " = " + value + ";");
  };
  level(level, 0);
  return accumulators;
}

} // namespace mlc::cuda
