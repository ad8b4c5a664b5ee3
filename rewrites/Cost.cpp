//===- Cost.cpp - What an operator costs on a target ----------------------===//

#include "rewrites/Cost.h"
#include "dialects/Interfaces/CompileTime.h"
#include "dialects/Interfaces/OpInterfaces.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;

namespace {

/// What one evaluation of a definition does, counted once per stage element.
struct Work {
  double flops = 0;
  double bytes = 0;
  bool contracts = false;   // a sum of products of two tensors
  bool elementwise = true;  // reads at the element's own position only
  bool reinterprets = true; // nothing but row-major reinterpretation
};

double valueOf(IntExpr expr, int64_t symbolValue) {
  std::optional<int64_t> value = expr.evaluate(
      [&](StringRef) -> std::optional<int64_t> { return symbolValue; });
  return value ? static_cast<double>(std::max<int64_t>(*value, 0)) : 1.0;
}

class Counter {
public:
  Counter(const Definition &definition, int64_t symbolValue)
      : definition(definition), symbolValue(symbolValue) {}

  Work run() {
    for (const Stage &stage : definition.stages) {
      work.reinterprets &= stage.reinterprets.has_value();
      for (const Piece &piece : stage.pieces) {
        double points = 1;
        for (const Loop &loop : piece.loops)
          points *= valueOf(loop.extent, symbolValue);
        own = piece.loops;
        count(piece.body, points);
      }
      work.elementwise &= stage.pieces.size() == 1;
    }
    for (const TensorShape &input : definition.inputs)
      work.bytes += bytesOf(input.dims, input.elementType);
    for (unsigned result : definition.results) {
      const Stage &stage = definition.stages[result];
      work.bytes += bytesOf(stage.dims, stage.elementType);
    }
    return work;
  }

private:
  double bytesOf(ArrayRef<IntExpr> dims, Type type) {
    double bytes =
        type.isIntOrFloat() ? (type.getIntOrFloatBitWidth() + 7) / 8 : 8.0;
    for (IntExpr dim : dims)
      bytes *= valueOf(dim, symbolValue);
    return bytes;
  }

  void count(const Expr &expr, double times) {
    const ExprNode &node = *expr;
    switch (node.kind) {
    case Expr::Kind::Loop:
    case Expr::Kind::Int:
    case Expr::Kind::Constant:
    case Expr::Kind::Param:
      return;
    case Expr::Kind::Read:
      for (auto [i, index] : llvm::enumerate(node.indices()))
        work.elementwise &= index->kind == Expr::Kind::Loop && i < own.size() &&
                            index->loop == own[i].id;
      return; // index arithmetic is strength-reduced
    case Expr::Kind::Reduce: {
      for (const Loop &loop : node.loops)
        times *= valueOf(loop.extent, symbolValue);
      work.elementwise = false;
      const ExprNode &body = *node.operands[0];
      work.contracts |= node.reduce == ReduceKind::Sum &&
                        body.kind == Expr::Kind::Binary &&
                        body.binary == BinaryFn::Mul;
      break;
    }
    default:
      break;
    }
    if (!isa<IndexType>(node.type))
      work.flops += times * weight(node);
    for (const Expr &operand : node.operands)
      count(operand, times);
  }

  /// Transcendental functions take about ten operations each.
  static double weight(const ExprNode &node) {
    if (node.kind == Expr::Kind::Binary && node.binary == BinaryFn::Pow)
      return 20;
    if (node.kind == Expr::Kind::Unary)
      switch (node.unary) {
      case UnaryFn::Exp:
      case UnaryFn::Log:
      case UnaryFn::Tanh:
      case UnaryFn::Erf:
      case UnaryFn::Sin:
      case UnaryFn::Cos:
        return 10;
      default:
        return 1;
      }
    return 1;
  }

  const Definition &definition;
  int64_t symbolValue;
  ArrayRef<Loop> own;
  Work work;
};

} // namespace

double CostModel::seconds(Operation *op) const {
  // Done when the model is compiled.
  if (llvm::all_of(op->getResults(),
                   [](Value result) { return isCompileTime(result); }))
    return 0;
  if (auto opaque = dyn_cast<OpaqueOpInterface>(op))
    return valueOf(opaque.countOperations(), parameters.symbolValue) /
               parameters.flopsPerSecond +
           parameters.secondsPerKernel;
  auto defined = dyn_cast<DefinitionOpInterface>(op);
  if (!defined)
    return 0;
  FailureOr<Definition> definition = getDefinition(defined);
  if (failed(definition))
    return 0;
  Work work = Counter(*definition, parameters.symbolValue).run();
  if (work.reinterprets)
    return 0;
  double arithmetic = work.flops / parameters.flopsPerSecond;
  if (work.contracts)
    return std::max(arithmetic / parameters.contractionEfficiency,
                    work.bytes / parameters.bytesPerSecond) +
           parameters.secondsPerKernel;
  // Element-wise work joins the kernel of the operator that feeds it.
  bool isFed = llvm::any_of(op->getOperands(), [](Value operand) {
    return operand.getDefiningOp() && !isCompileTime(operand);
  });
  if (work.elementwise && isFed)
    return arithmetic;
  return std::max(arithmetic, work.bytes / parameters.bytesPerSecond) +
         parameters.secondsPerKernel;
}

double CostModel::seconds(Region &region) const {
  double total = 0;
  for (Block &block : region)
    for (Operation &op : block)
      total += seconds(&op);
  return total;
}
