//===- Outline.cpp - Groups as kernel functions ---------------------------===//

#include "passes/Fuse/Outline.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Lower/SizeValues.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

/// Outer values that the ops of a group use, also in their regions.
SmallVector<Value> getUsedValues(ArrayRef<Operation *> ops) {
  llvm::SetVector<Value> used;
  for (Operation *op : ops) {
    used.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
  }
  return used.takeVector();
}

/// Clones ops into a kernel. Index values become sizes of the kernel; scalars
/// and the like are cloned.
class KernelBuilder {
public:
  KernelBuilder(func::FuncOp function, const ShapeTable &shapes,
                ArrayRef<std::string> symbols, unsigned firstSymbol)
      : shapes(shapes), sizes(function, symbols, firstSymbol),
        b(OpBuilder::atBlockEnd(&function.getBody().front())) {}

  void map(Value from, Value to) { mapping.map(from, to); }
  Value lookup(Value value) { return mapping.lookup(value); }

  void copy(Operation *op) {
    for (Value value : getUsedValues(op))
      provide(value);
    Operation *copied = b.clone(*op, mapping);
    copied->setLoc(b.getUnknownLoc());
    copied->walk([&](Operation *inner) { inner->setLoc(b.getUnknownLoc()); });
  }

  OpBuilder &builder() { return b; }

private:
  void provide(Value value) {
    if (mapping.contains(value))
      return;
    if (value.getType().isIndex()) {
      mapping.map(value, sizes.get(shapes.asExpr(value)));
      return;
    }
    copy(value.getDefiningOp());
  }

  const ShapeTable &shapes;
  SizeValues sizes;
  IRMapping mapping;
  OpBuilder b;
};

} // namespace

/// The symbols in all sizes that the kernel's ops use, including those of the
/// ops that it makes itself.
static void collectKernelSymbols(ArrayRef<Operation *> ops,
                                 const ShapeTable &shapes,
                                 llvm::SmallDenseSet<Operation *> &visited,
                                 SmallVectorImpl<std::string> &symbols) {
  for (Value value : getUsedValues(ops)) {
    if (value.getType().isIndex()) {
      collectSymbols(shapes.asExpr(value), symbols);
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (def && isMadeInKernel(def) && visited.insert(def).second)
      collectKernelSymbols(def, shapes, visited, symbols);
  }
}

static DictionaryAttr describe(MLIRContext *context, ArrayRef<IntExpr> dims) {
  bool isStatic =
      llvm::all_of(dims, [](IntExpr dim) { return dim.isConstant(); });
  if (isStatic)
    return DictionaryAttr::get(context);
  return DictionaryAttr::get(
      context, NamedAttribute(StringAttr::get(context, "mlc.dims"),
                              DimsAttr::get(context, dims)));
}

func::FuncOp Outliner::build(const Group &group, OutlinedKernel &kernel) {
  const ShapeTable &shapes = grouping.getShapes();
  MLIRContext *context = module.getContext();
  kernel.inputs = grouping.inputsOf(group);
  kernel.outputs = grouping.outputsOf(group);

  SmallVector<std::string> symbols;
  SmallVector<Type> arguments, results;
  for (Value input : kernel.inputs) {
    collectSymbols(shapes.of(input), symbols);
    arguments.push_back(input.getType());
  }
  for (Value output : kernel.outputs) {
    collectSymbols(shapes.of(output), symbols);
    results.push_back(output.getType());
  }
  llvm::SmallDenseSet<Operation *> visited;
  collectKernelSymbols(group.ops, shapes, visited, symbols);
  arguments.append(symbols.size(), IndexType::get(context));

  auto function =
      func::FuncOp::create(UnknownLoc::get(context), "k",
                           FunctionType::get(context, arguments, results));
  function.setPrivate();
  OpBuilder b(context);
  function->setAttr("mlc.kernel", b.getUnitAttr());
  SmallVector<StringRef> names(symbols.begin(), symbols.end());
  function->setAttr(kSymbolsAttr, b.getStrArrayAttr(names));
  for (auto [i, input] : llvm::enumerate(kernel.inputs))
    function.setArgAttrs(i, describe(context, shapes.of(input)));
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    function.setResultAttrs(i, describe(context, shapes.of(output)));
  function.addEntryBlock();
  KernelBuilder body(function, shapes, symbols, kernel.inputs.size());
  for (auto [i, input] : llvm::enumerate(kernel.inputs))
    body.map(input, function.getArgument(i));
  for (Operation *op : group.ops)
    body.copy(op);
  SmallVector<Value> returned;
  for (Value output : kernel.outputs)
    returned.push_back(body.lookup(output));
  func::ReturnOp::create(body.builder(), function.getLoc(), returned);
  for (auto name : function->getAttrOfType<ArrayAttr>(kSymbolsAttr)
                       .getAsRange<StringAttr>())
    kernel.args.push_back(IntExpr::symbol(context, name.getValue()));
  return function;
}

/// An equal kernel of the module, or `function` itself.
func::FuncOp Outliner::share(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function->print(os, OpPrintingFlags().useLocalScope());
  auto [it, isNew] = known.try_emplace(text, function);
  if (!isNew) {
    function.erase();
    return it->second;
  }
  std::string name = ("k" + llvm::Twine(known.size() - 1)).str();
  while (module.lookupSymbol(name)) // an entry's name
    name += '_';
  function.setName(name);
  module.push_back(function);
  return function;
}

OutlinedKernel Outliner::outline(const Group &group) {
  OutlinedKernel kernel;
  kernel.function = share(build(group, kernel));
  return kernel;
}

} // namespace mlc
