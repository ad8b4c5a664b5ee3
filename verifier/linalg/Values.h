//===- Values.h - Numbers and tensors of a run ------------------*- C++ -*-===//

#ifndef MLC_VERIFIER_LINALG_VALUES_H
#define MLC_VERIFIER_LINALG_VALUES_H

#include "dialects/Evaluator/EvaluatorTensor.h"
#include "llvm/ADT/APInt.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlc::interpret {

/// An element. Integers have as many bits as their type, indices 64; a float is
/// an interval around the real number.
struct Scalar {
  enum class State : uint8_t {
    Number,
    Unwritten, // never written: it may be anything
    None,      // no number, for the reason `why`
  };
  State state = State::Unwritten;
  Undefined why = Undefined::None;
  llvm::APInt integer;
  Interval real{0.0, 0.0};

  static Scalar of(llvm::APInt value) {
    return {State::Number, Undefined::None, std::move(value), {0.0, 0.0}};
  }
  static Scalar of(Interval value) {
    return {State::Number, Undefined::None, llvm::APInt(), value};
  }
  static Scalar index(int64_t value) {
    return of(llvm::APInt(64, static_cast<uint64_t>(value)));
  }
  static Scalar none(Undefined why) {
    return {State::None, why, llvm::APInt(), {0.0, 0.0}};
  }
  bool isNumber() const { return state == State::Number; }
};

/// Dense, in row-major order.
struct Tensor {
  llvm::SmallVector<int64_t> dims;
  mlir::Type elementType;
  std::vector<Scalar> elements;
};
using TensorRef = std::shared_ptr<const Tensor>;

/// Calls `visit` for each point of a box in row-major order, until it returns
/// false.
template <typename Visit>
bool forEachPoint(llvm::ArrayRef<int64_t> sizes, Visit visit) {
  llvm::SmallVector<int64_t> at(sizes.size(), 0);
  for (int64_t size : sizes)
    if (size <= 0)
      return true;
  while (true) {
    if (!visit(llvm::ArrayRef<int64_t>(at)))
      return false;
    size_t d = sizes.size();
    while (d > 0 && ++at[d - 1] == sizes[d - 1])
      at[--d] = 0;
    if (d == 0)
      return true;
  }
}

/// The position of an element; nullopt if an index is out of range.
inline std::optional<int64_t> placeOf(llvm::ArrayRef<int64_t> dims,
                                      llvm::ArrayRef<int64_t> at) {
  int64_t place = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (at[d] < 0 || at[d] >= dims[d])
      return std::nullopt;
    place = place * dims[d] + at[d];
  }
  return place;
}

/// Why a run ended early.
struct Stop {
  enum class Kind {
    Undefined, // the function has no meaning on these inputs
    Open,      // its effect is not specified, or is too much work
    Unknown,   // an operation that the interpreter does not know
  };
  Kind kind;
  std::string reason;
};

/// State shared by all parts of a run: why it ended, and the remaining work.
struct Run {
  std::optional<Stop> stop;
  uint64_t stepsLeft = 0;
  /// Whether any computed value was no number, used or not.
  bool sawNone = false;

  bool end(Stop::Kind kind, const llvm::Twine &reason) {
    if (!stop)
      stop = Stop{kind, reason.str()};
    return false;
  }
  bool undefined(const llvm::Twine &reason) {
    return end(Stop::Kind::Undefined, reason);
  }
  bool open(const llvm::Twine &reason) { return end(Stop::Kind::Open, reason); }
  bool unknown(const llvm::Twine &reason) {
    return end(Stop::Kind::Unknown, reason);
  }
  bool spend(uint64_t steps) {
    if (stop)
      return false;
    if (steps > stepsLeft)
      return open("a run takes too many steps");
    stepsLeft -= steps;
    return true;
  }
  /// Spends a step for each element; nullopt if these are too many.
  std::optional<int64_t> spendElements(llvm::ArrayRef<int64_t> dims) {
    bool isNegative = false;
    for (int64_t size : dims)
      isNegative |= size < 0;
    std::optional<int64_t> count = elementCount(dims);
    if (isNegative)
      undefined("a size is negative");
    else if (!count)
      open("a tensor has too many elements");
    else if (spend(static_cast<uint64_t>(*count)))
      return count;
    return std::nullopt;
  }
};

} // namespace mlc::interpret

#endif // MLC_VERIFIER_LINALG_VALUES_H
