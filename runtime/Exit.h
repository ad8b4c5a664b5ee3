//===- Exit.h - How a tool ends ---------------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_EXIT_H
#define MLC_RUNTIME_EXIT_H

namespace mlc {

/// The exit codes of all tools.
enum class Exit : int {
#define MLC_EXIT(name, code, meaning) name = code,
#include "runtime/ExitCodes.def"
#undef MLC_EXIT
};

} // namespace mlc

#endif // MLC_RUNTIME_EXIT_H
