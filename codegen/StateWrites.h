//===- StateWrites.h - New values of states, in place -----------*- C++ -*-===//
//
// All states get their new values at the end of a run, at once. A program
// writes them one after another while others are still read. This decides where
// each new value is computed: in the state's own memory if no later step reads
// the old value, else in a separate buffer that is copied at the end
// (docs/States.md).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_STATEWRITES_H
#define MLC_CODEGEN_STATEWRITES_H

#include "runtime/Program.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlc {

/// At the end of the run, the state in buffer `state` takes the contents of
/// `value`, a buffer of the same size.
struct StateWrite {
  runtime::BufferId state, value;
};

/// Adds the writes to `program`, whose steps write no state yet. Each state has
/// one buffer, before all buffers that steps write, and at most one write.
void addStateWrites(runtime::Program &program,
                    llvm::ArrayRef<StateWrite> writes);

} // namespace mlc

#endif // MLC_CODEGEN_STATEWRITES_H
