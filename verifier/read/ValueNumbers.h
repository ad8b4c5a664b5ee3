//===- ValueNumbers.h - Value numbering -------------------------*- C++ -*-===//
//
// Numbers for the values of functions: one number means the same operators,
// attributes and regions on the same arguments. It decides which results of
// unknown operators are equal, so it compares operators completely.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_VALUENUMBERS_H
#define MLC_VERIFIER_READ_VALUENUMBERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <tuple>
#include <vector>

namespace mlc::verifier {

class ValueNumbers {
public:
  /// Numbers the function's arguments, which all functions share by position,
  /// and what its operators compute, in order.
  void add(mlir::func::FuncOp function);

  /// The number of an argument, or of a result of an operator of the function's
  /// block.
  unsigned lookup(mlir::Value value) const { return numbers.lookup(value); }

private:
  /// An operator without its regions; all parts are uniqued.
  struct Form {
    const void *name, *attributes;
    std::vector<unsigned> operands;
    std::vector<const void *> types;

    bool operator<(const Form &other) const {
      return std::tie(name, attributes, operands, types) <
             std::tie(other.name, other.attributes, other.operands,
                      other.types);
    }
  };
  void add(mlir::Operation &op);
  bool sameRegions(mlir::Operation &a, mlir::Operation &b) const;

  llvm::DenseMap<mlir::Value, unsigned> numbers;
  std::vector<unsigned> arguments;
  /// The first operators of each form; those of one form differ in their
  /// regions.
  std::map<Form, std::vector<mlir::Operation *>> known;
  unsigned next = 0;
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_VALUENUMBERS_H
