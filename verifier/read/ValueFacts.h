//===- ValueFacts.h - Known facts about values ------------------*- C++ -*-===//

#ifndef MLC_VERIFIER_READ_VALUEFACTS_H
#define MLC_VERIFIER_READ_VALUEFACTS_H

#include "mlir/IR/Types.h"
#include <map>
#include <string>
#include <vector>

namespace mlc::verifier {

/// Known facts about the values of an input or a real parameter.
struct ValueFacts {
  bool positive = false, nonNegative = false, nonZero = false;
  bool allEqual = false;
  mlir::Type type; // of an input's elements
};

struct KnownValues {
  std::vector<ValueFacts> inputs;
  std::map<std::string, ValueFacts> reals;
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_VALUEFACTS_H
