//===- ValueNumbers.h - Values that are computed alike ----------*- C++ -*-===//
//
// Numbers for the values of functions: one number means the same operators,
// attributes and regions on the same arguments. It is how results of operators
// that nothing is known of are told to be equal, so it compares all that an
// operator is.
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
  /// An operator but for its regions; everything in it is uniqued.
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
  /// The first operators of each form: their regions differ.
  std::map<Form, std::vector<mlir::Operation *>> known;
  unsigned next = 0;
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_VALUENUMBERS_H
