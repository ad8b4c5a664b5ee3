//===- Siblings.cpp - Kernels that compute several things ----------------===//

#include "codegen/kernel/Siblings.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace mlc {

LogicalResult Kernel::readSiblings() {
  Attribute attr = function->getAttr("mlc.siblings");
  if (!attr)
    return success();
  auto counts = dyn_cast<DenseI64ArrayAttr>(attr);
  int64_t count = 0;
  bool isValid = counts && counts.size() >= 2 && repeats == 1;
  for (int64_t results : counts ? counts.asArrayRef() : ArrayRef<int64_t>()) {
    isValid &= results >= 1 && results <= int64_t(outputs.size());
    count += isValid ? results : 0;
  }
  if (!isValid || count != int64_t(outputs.size()))
    return function.emitError(
        "mlc.siblings must be the numbers of results of at "
        "least two siblings, which are all results");
  siblings.append(counts.asArrayRef().begin(), counts.asArrayRef().end());
  return success();
}

Siblings::Siblings(const Kernel &kernel)
    : module(ModuleOp::create(kernel.function->getLoc())) {
  unsigned first = 0;
  for (int64_t count : kernel.siblings) {
    all.push_back(cut(kernel, first, unsigned(count)));
    first += unsigned(count);
  }
}

Siblings::Sibling Siblings::cut(const Kernel &kernel, unsigned firstOutput,
                                unsigned numOutputs) {
  Sibling sibling;
  sibling.function = cast<func::FuncOp>(kernel.function->clone());
  sibling.function->removeAttr("mlc.siblings");
  module->push_back(sibling.function);
  for (unsigned i = 0; i < numOutputs; ++i)
    sibling.outputs.push_back(firstOutput + i);

  Block &body = sibling.function.getBody().front();
  Operation *end = body.getTerminator();
  SmallVector<Value> results(end->getOperands().slice(firstOutput, numOutputs));
  end->setOperands(results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector unused(body.getNumArguments());
  for (size_t i = 0; i < kernel.inputs.size(); ++i) {
    if (body.getArgument(i).use_empty())
      unused.set(i);
    else
      sibling.inputs.push_back(unsigned(i));
  }
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Type> types;
  for (BlockArgument argument : body.getArguments())
    if (unsigned i = argument.getArgNumber(); !unused.test(i)) {
      attributes.push_back(sibling.function.getArgAttrDict(i));
      types.push_back(argument.getType());
    }
  body.eraseArguments(unused);
  // Attributes of results go with the results that are left out.
  sibling.function.removeResAttrsAttr();
  sibling.function.setType(FunctionType::get(kernel.context(), types,
                                             ValueRange(results).getTypes()));
  sibling.function.setAllArgAttrs(attributes);
  return sibling;
}

} // namespace mlc
