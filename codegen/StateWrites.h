//===- StateWrites.h - New values of states, in place ----------*- C++ -*-===//
//
// A run gives states new values at its end, all at once; a program writes them
// one after another, while others are still read. This decides where each new
// value is computed: in the state's own memory where nothing reads the old one
// any more, else beside it, from where it is copied (docs/States.md).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_STATEWRITES_H
#define MLC_CODEGEN_STATEWRITES_H

#include "runtime/Program.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlc {

/// When the run ends, the state of buffer `state` is what `value` was, a buffer
/// of as many bytes.
struct StateWrite {
  runtime::BufferId state, value;
};

/// Makes `program`, whose steps write no state, do so. There is one buffer for
/// each state, before all that the steps write, and a write of each at most.
void addStateWrites(runtime::Program &program,
                    llvm::ArrayRef<StateWrite> writes);

} // namespace mlc

#endif // MLC_CODEGEN_STATEWRITES_H
