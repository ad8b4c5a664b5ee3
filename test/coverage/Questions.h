//===- Questions.h - What every operator must answer ------------*- C++ -*-===//

#ifndef MLC_TEST_COVERAGE_QUESTIONS_H
#define MLC_TEST_COVERAGE_QUESTIONS_H

#include "test/coverage/Sample.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace mlc::coverage {

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
