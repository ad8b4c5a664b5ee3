//===- Scalar.h - Scalar operations as CUDA C++ -----------------*- C++ -*-===//
//
// The one place that spells operations on numbers in CUDA C++: a table from
// operations of arith and math to expressions. float16 and bfloat16 are
// computed as float, bool is bool, integers are the signed types of C++ and
// wrap.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_SCALAR_H
#define MLC_CODEGEN_CUDA_SCALAR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <set>
#include <string>

namespace mlc::cuda {

/// The type in which values of `element` are computed ("float" for f16), and
/// the one in memory ("f16"). Empty if there is none. Explicitly unsigned
/// integers exist in memory only.
std::string computeType(mlir::Type element);
std::string storageType(mlir::Type element);
/// Bytes of an element in memory.
int64_t storageBytes(mlir::Type element);

/// Converts what was read from memory to a value, and a value to what is
/// written.
std::string fromStorage(mlir::Type element, const std::string &stored);
std::string toStorage(mlir::Type element, const std::string &value);

/// The constant as an expression of its computed type.
std::string literal(mlir::TypedAttr constant);
std::string literal(mlir::Type type, const llvm::APFloat &value);
std::string literal(mlir::Type type, const llvm::APInt &value);

/// Functions that expressions call and CUDA lacks; they are printed before the
/// kernel.
class Helpers {
public:
  void need(llvm::StringRef name);
  void add(const Helpers &others) {
    needed.insert(others.needed.begin(), others.needed.end());
  }
  /// The texts of the needed functions, in the order of the table.
  std::string text() const;

private:
  std::set<std::string> needed;
};

/// The expression that computes `op` of arith or math, with one result, from
/// the expressions of its operands; nullopt if the table lacks it.
std::optional<std::string> expression(mlir::Operation *op,
                                      llvm::ArrayRef<std::string> operands,
                                      Helpers &helpers);

/// The identity of `op` (a sum, a maximum, ...); nullopt if `op` is no
/// combiner.
std::optional<std::string> neutral(mlir::Operation *op);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_SCALAR_H
