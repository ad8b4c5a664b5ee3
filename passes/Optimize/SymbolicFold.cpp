//===- SymbolicFold.cpp - Shape arithmetic on integer tensors -------------===//

#include "passes/Optimize/SymbolicFold.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Evaluator/EvaluatorSymbolic.h"
#include "dialects/Evaluator/EvaluatorTensor.h"
#include "dialects/Graph/MovementOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

/// More elements than any shape has dims.
constexpr int64_t maxElements = 64;

bool isSmall(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !isa<IntegerType, Float32Type, Float64Type>(tensor.getElementType()))
    return false;
  std::optional<int64_t> count = elementCount(tensor.getShape());
  return count && *count <= maxElements;
}

class Folder {
public:
  void visit(Operation &op) {
    if (op.getNumResults() != 1 || !isSmall(op.getResult(0).getType()))
      return;
    ElementsAttr value;
    if (matchPattern(&op, m_Constant(&value))) {
      if (std::optional<Elements> elements = elementsOf(value, maxElements))
        remember(op.getResult(0), std::move(*elements));
      return;
    }
    auto defined = dyn_cast<DefinitionOpInterface>(op);
    if (!defined)
      return;
    SmallVector<const Elements *> inputs;
    for (Value operand : op.getOperands()) {
      auto it = known.find(operand);
      inputs.push_back(it == known.end() ? nullptr : it->second.get());
    }
    if (!inputs.empty() && llvm::none_of(inputs, [](auto *e) { return e; }))
      return;
    FailureOr<Definition> definition = getDefinition(defined);
    if (failed(definition))
      return;
    SymbolicOptions options;
    options.maxElements = maxElements;
    std::optional<std::vector<Elements>> results =
        evaluateSymbolically(*definition, inputs, options);
    if (!results)
      return;
    Value result = op.getResult(0);
    if (op.getNumOperands() != 0 && isSymbolic(results->front()))
      result = write(op, results->front());
    remember(result, std::move(results->front()));
  }

private:
  void remember(Value value, Elements elements) {
    known[value] = std::make_unique<Elements>(std::move(elements));
  }

  /// Whether all elements are known integers, and one is not a constant.
  static bool isSymbolic(const Elements &elements) {
    return llvm::all_of(
               elements,
               [](const MaybeNumber &n) { return n && n->isInteger(); }) &&
           llvm::any_of(elements, [](const MaybeNumber &n) {
             return !n->numerator.isConstant();
           });
  }

  /// Creates the value with these elements. `int_tensor` has rank 0 or 1.
  Value write(Operation &op, const Elements &elements) {
    Value old = op.getResult(0);
    auto type = cast<RankedTensorType>(old.getType());
    if (type.getRank() > 1 || !type.getElementType().isSignlessInteger(64))
      return old;
    OpBuilder builder(&op);
    MLIRContext *context = builder.getContext();
    SmallVector<IntExpr> numbers;
    for (const MaybeNumber &number : elements)
      numbers.push_back(number->numerator);
    auto values = DimsAttr::get(context, ArrayRef<IntExpr>(numbers));
    auto dims = DimsAttr::get(context, type.getShape());
    FailureOr<IntTensorOp> folded =
        createOp<IntTensorOp>(builder, op.getLoc(), values, dims);
    if (failed(folded))
      return old;
    old.replaceAllUsesWith(folded->getResult());
    return folded->getResult();
  }

  llvm::DenseMap<Value, std::unique_ptr<Elements>> known;
};

} // namespace

void foldSymbolicIntegers(Block &block) {
  Folder folder;
  for (Operation &op : llvm::make_early_inc_range(block))
    folder.visit(op);
}

} // namespace mlc
