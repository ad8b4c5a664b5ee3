//===- ValueNumbers.cpp - Value numbering ---------------------------------===//

#include "verifier/read/ValueNumbers.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace mlc::verifier {

void ValueNumbers::add(func::FuncOp function) {
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    if (i == arguments.size())
      arguments.push_back(next++);
    numbers[argument] = arguments[i];
  }
  for (Operation &op : function.getBody().front())
    add(op);
}

/// Whether the regions of two operators of one form compute the same. Outside
/// values have numbers; inside values are paired in order.
bool ValueNumbers::sameRegions(Operation &a, Operation &b) const {
  llvm::DenseMap<Value, Value> inside;
  auto check = [&](Value x, Value y) {
    if (auto it = inside.find(x); it != inside.end())
      return success(it->second == y);
    auto first = numbers.find(x), second = numbers.find(y);
    return success(first != numbers.end() && second != numbers.end() &&
                   first->second == second->second);
  };
  auto mark = [&](Value x, Value y) { inside[x] = y; };
  return llvm::all_of(llvm::zip(a.getRegions(), b.getRegions()),
                      [&](auto pair) {
                        return OperationEquivalence::isRegionEquivalentTo(
                            &std::get<0>(pair), &std::get<1>(pair), check, mark,
                            OperationEquivalence::IgnoreLocations);
                      });
}

void ValueNumbers::add(Operation &op) {
  Form form{op.getName().getAsOpaquePointer(),
            op.getAttrDictionary().getAsOpaquePointer(),
            {},
            {}};
  for (Value operand : op.getOperands())
    form.operands.push_back(numbers.lookup(operand));
  for (Type type : op.getResultTypes())
    form.types.push_back(type.getAsOpaquePointer());
  std::vector<Operation *> &alike = known[form];
  auto it = llvm::find_if(alike, [&](Operation *other) {
    return op.getNumRegions() == other->getNumRegions() &&
           sameRegions(op, *other);
  });
  if (it != alike.end()) {
    for (auto [mine, other] : llvm::zip(op.getResults(), (*it)->getResults()))
      numbers[mine] = numbers.lookup(other);
    return;
  }
  alike.push_back(&op);
  for (Value result : op.getResults())
    numbers[result] = next++;
}

} // namespace mlc::verifier
