//===- Questions.h - What every operator must answer ------------*- C++ -*-===//

#ifndef MLC_TEST_COVERAGE_QUESTIONS_H
#define MLC_TEST_COVERAGE_QUESTIONS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace mlc::coverage {

/// One sample: an operator inside a function of its own, and values for its
/// symbols.
struct Sample {
  mlir::Operation *op;
  mlir::Operation *function;
  llvm::StringMap<int64_t> symbols;
};

/// A question answers "" or says what is wrong.
struct Question {
  const char *name;
  std::string (*ask)(const Sample &sample);
};

/// All questions. A derivation of the definition (linalg, logic, gradient, ...)
/// adds one here.
llvm::ArrayRef<Question> getQuestions();

} // namespace mlc::coverage

#endif // MLC_TEST_COVERAGE_QUESTIONS_H
