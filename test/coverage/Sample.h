//===- Sample.h - An operator that is asked ---------------------*- C++ -*-===//

#ifndef MLC_TEST_COVERAGE_SAMPLE_H
#define MLC_TEST_COVERAGE_SAMPLE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

namespace mlc::coverage {

/// One sample: an operator inside a function of its own, and values for its
/// symbols.
struct Sample {
  mlir::Operation *op;
  mlir::Operation *function;
  llvm::StringMap<int64_t> symbols;
};

} // namespace mlc::coverage

#endif // MLC_TEST_COVERAGE_SAMPLE_H
