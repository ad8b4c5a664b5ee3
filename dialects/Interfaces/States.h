//===- States.h - What lives across runs ------------------------*- C++ -*-===//

#ifndef MLC_DIALECTS_INTERFACES_STATES_H
#define MLC_DIALECTS_INTERFACES_STATES_H

#include "llvm/ADT/StringRef.h"

namespace mlc {

/// On an argument of an entry, and on a result: the name of a state, as a
/// StringAttr. The argument is what the state holds when the entry is run, the
/// result what it holds then. Neither is an input or an output. All functions
/// that name a state mean one memory, of one type of fixed dims
/// (docs/States.md).
inline constexpr llvm::StringLiteral kStateAttr = "mlc.state";

/// On an argument with kStateAttr: the elements that the state has until it is
/// set or written, as an ElementsAttr. Without one it holds nothing until then.
inline constexpr llvm::StringLiteral kInitialAttr = "mlc.initial";

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_STATES_H
