//===- EvaluatorTensor.h - Concrete tensors for the evaluator ---*- C++ -*-===//
//
// A tensor with sizes, an element type and dense row-major storage, in one of
// the evaluator's domains. Copies share storage.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATORTENSOR_H
#define MLC_DIALECTS_EVALUATOR_EVALUATORTENSOR_H

#include "dialects/Definition/ScalarArithmetic.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

namespace mlc {

/// The numbers that represent float elements. Integers and bools represent
/// themselves, wrapping at their width, in every domain.
enum class EvalDomain {
  Native,   // as stored: f32 arithmetic for f32, f16/bf16 rounded after each op
  Float64,  // double for every float type
  Interval, // outward-rounded double intervals around the real value
  Modular,  // integers mod 2^61 - 1, unary functions hashed
  Rational, // exact fractions, transcendental functions uninterpreted
  Guided,   // residues beside doubles that tell their order (Guided.h)
};

llvm::StringRef name(EvalDomain domain);

/// Why an evaluation gave no value.
enum class EvalFailure {
  Undefined,   // division by zero, read out of range, ambiguous order, ...
  Requirement, // the definition's own conditions do not hold
  Limit,       // more memory or work than the options allow
  Unsupported, // a type, or a function in this domain
  Input,       // sizes, types or symbols do not fit
};

/// The error of every evaluator function: a failure and where it happened.
class EvalError : public llvm::ErrorInfo<EvalError> {
public:
  static char ID;
  EvalError(EvalFailure failure, const llvm::Twine &message)
      : failure(failure), text(message.str()) {}
  EvalFailure getFailure() const { return failure; }
  llvm::StringRef getText() const { return text; }
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  EvalFailure failure;
  std::string text;
};

llvm::Error evalError(EvalFailure failure, const llvm::Twine &message);

/// The memory format of an element.
enum class ElementStorage : uint8_t {
  Bool, // one byte, 0 or 1
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  Interval,
  Modular, // uint64_t below 2^61 - 1
  Rational,
  Guided,
};

/// The storage of a type in a domain; nothing if there is none (float8, odd
/// integer widths).
std::optional<ElementStorage> storageOf(mlir::Type elementType,
                                        EvalDomain domain);
unsigned bytesOf(ElementStorage storage);

/// Number of elements; nothing on overflow or a negative size.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> dims);

/// A dense tensor. A splat stores one element whatever its sizes.
class EvalTensor {
public:
  EvalTensor() = default;

  /// Uninitialized elements.
  static llvm::Expected<EvalTensor> allocate(llvm::ArrayRef<int64_t> dims,
                                             mlir::Type elementType,
                                             EvalDomain domain,
                                             bool isSplat = false);
  /// Sizes without elements so far (false as a bool).
  static EvalTensor withDims(llvm::ArrayRef<int64_t> dims);
  /// Native elements copied from `values` (one per element, or one for all).
  template <typename T>
  static llvm::Expected<EvalTensor> of(llvm::ArrayRef<int64_t> dims,
                                       mlir::Type elementType,
                                       llvm::ArrayRef<T> values);
  /// Native elements of an attribute. Large data is not copied: the attribute's
  /// context must outlive the tensor.
  static llvm::Expected<EvalTensor> fromAttr(mlir::ElementsAttr attr);
  /// Numbers from a deterministic generator: floats in [low, high] (multiples
  /// of 1/8 in the rational domain, any residue in the modular one), integers
  /// in [low, high].
  static llvm::Expected<EvalTensor> random(llvm::ArrayRef<int64_t> dims,
                                           mlir::Type elementType,
                                           EvalDomain domain, uint64_t seed,
                                           double low = -1.0,
                                           double high = 1.0);

  /// The attribute with these elements (Native only). A splat stays one. More
  /// than `resourceBytes` become a dense resource, so that nothing large is
  /// uniqued by content.
  llvm::Expected<mlir::ElementsAttr> toAttr(int64_t resourceBytes = 1024) const;

  /// The same numbers in another domain, from a Native tensor.
  llvm::Expected<EvalTensor> toDomain(EvalDomain domain) const;

  llvm::ArrayRef<int64_t> getDims() const { return dims; }
  int64_t getRank() const { return dims.size(); }
  int64_t getNumElements() const { return numElements; }
  mlir::Type getElementType() const { return elementType; }
  EvalDomain getDomain() const { return domain; }
  ElementStorage getStorage() const { return storage; }
  bool isSplat() const { return splat; }
  explicit operator bool() const { return data != nullptr; }

  const void *getData() const { return data; }
  /// Only for the owner, right after allocation.
  void *getMutableData() { return const_cast<void *>(data); }
  int64_t getNumBytes() const {
    return (splat ? 1 : numElements) * int64_t(bytesOf(storage));
  }

  /// Element `i` in row-major order, as a number: the middle of an interval,
  /// the residue in the modular domain, the guide in the guided one.
  double getDouble(int64_t i) const;
  /// Element `i` of an integer or bool tensor.
  int64_t getInt(int64_t i) const;
  Interval getInterval(int64_t i) const;
  /// Whether element `i` of both has the same value: bits for floats (any two
  /// NaNs are the same), overlap for intervals.
  bool sameElement(const EvalTensor &other, int64_t i) const;
  /// Prints element `i` for people.
  void printElement(llvm::raw_ostream &os, int64_t i) const;

  /// The same elements in row-major order with other sizes; requires equal
  /// numbers of elements.
  EvalTensor reshaped(llvm::ArrayRef<int64_t> newDims) const;
  /// A splat expanded; otherwise the tensor itself.
  llvm::Expected<EvalTensor> expanded() const;

private:
  const char *elementAddress(int64_t i) const {
    return static_cast<const char *>(data) + (splat ? 0 : i) * bytesOf(storage);
  }

  llvm::SmallVector<int64_t> dims;
  int64_t numElements = 0;
  mlir::Type elementType;
  EvalDomain domain = EvalDomain::Native;
  ElementStorage storage = ElementStorage::F32;
  bool splat = false;
  const void *data = nullptr;
  std::shared_ptr<void> owner; // null when the data belongs to an attribute
};

template <typename T>
llvm::Expected<EvalTensor> EvalTensor::of(llvm::ArrayRef<int64_t> dims,
                                          mlir::Type elementType,
                                          llvm::ArrayRef<T> values) {
  llvm::Expected<EvalTensor> tensor =
      allocate(dims, elementType, EvalDomain::Native);
  if (!tensor)
    return tensor.takeError();
  if (bytesOf(tensor->storage) != sizeof(T) ||
      (values.size() != 1 && int64_t(values.size()) != tensor->numElements))
    return evalError(EvalFailure::Input, "values do not fit the tensor");
  T *out = static_cast<T *>(tensor->getMutableData());
  for (int64_t i = 0; i < tensor->numElements; ++i)
    out[i] = values[values.size() == 1 ? 0 : i];
  return tensor;
}

} // namespace mlc

#endif // MLC_DIALECTS_EVALUATOR_EVALUATORTENSOR_H
