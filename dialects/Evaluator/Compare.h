//===- Compare.h - Comparing numbers by a predicate -------------*- C++ -*-===//

#ifndef MLC_DIALECTS_EVALUATOR_COMPARE_H
#define MLC_DIALECTS_EVALUATOR_COMPARE_H

#include "dialects/Definition/Definition.h"

namespace mlc {

template <typename Number>
bool compareNumbers(Number a, ComparePredicate predicate, Number b) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return a == b;
  case ComparePredicate::NE:
    return a != b;
  case ComparePredicate::LT:
    return a < b;
  case ComparePredicate::LE:
    return a <= b;
  case ComparePredicate::GT:
    return a > b;
  case ComparePredicate::GE:
    return a >= b;
  }
  llvm_unreachable("unknown predicate");
}

} // namespace mlc

#endif // MLC_DIALECTS_EVALUATOR_COMPARE_H
