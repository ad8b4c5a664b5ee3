//===- Misreading.h - Does a definition do what its function does? *- C++
//-*-===//
//
// What is proved of functions of linalg is proved of what FromLinalg made of
// them. Here that reading is held against runs of the function by an
// interpreter that has none of its code (verifier/linalg/Interpreter.h): on
// sizes that the reading admits, on sizes that it excludes, and on any. Both
// must be defined on the same ones, with the same dims and elements.
//
// Deterministic; a function of operators of the mlc dialect alone is its
// definitions, and is not run.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_MISREADING_H
#define MLC_VERIFIER_READ_MISREADING_H

#include "verifier/read/Goal.h"

namespace mlc::verifier {

/// A function, and what was read of it: its inputs are those of a goal.
struct Reading {
  mlir::func::FuncOp function;
  const Definition &definition;
  llvm::ArrayRef<Need> needs;
};

/// What was seen of a reading.
struct ReadingCheck {
  /// Where a run and the reading disagree, or why no run can be held against
  /// it; empty when neither was seen.
  std::string misreading;
  /// On how many instances both were defined, and undefined.
  unsigned numEqual = 0, numUndefined = 0;
  /// On how many one of them could not be told: too large, or not decided by
  /// intervals.
  unsigned numOpen = 0;
};

ReadingCheck checkReading(const Reading &reading, const Goal &goal);

/// The misreading alone.
std::string whyMisread(const Reading &reading, const Goal &goal);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_MISREADING_H
